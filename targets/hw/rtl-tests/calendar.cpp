// SPDX-License-Identifier: MIT OR Apache-2.0
// The calendar against a map from moments to timers: each timer fires at its moment and no other one does, while timers
// are started and stopped at random, and the clock stands still or skips moments. Then it is filled as far as its
// authors filled theirs, and timers take the places of those that fire; and until it has no row for another one.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <random>

#include "Vcalendar.h"
#include "clocked.h"

namespace {

constexpr std::uint64_t rows = std::uint64_t{4} << 12;
// The ticks that the authors' timers run, in one of which of them each moment is.
constexpr std::uint64_t span = 2'000'000;
constexpr int turns = 1000;
constexpr int patience = 2000;
// From a moment to the cycle in which it is said.
constexpr int late = 2;
constexpr std::uint64_t forever = (std::uint64_t{1} << 56) - 1;

struct Timer {
    unsigned data;
    std::uint64_t wanted;
};

struct Answer {
    bool well;
    std::uint64_t moment;
    int ticks;
};

class Calendar {
  public:
    Calendar() {
        module.clock = 1;
        reset(module);
        for (int tick = 0; tick < 5000 && !module.ready; tick++)
            edge(module);
        CHECK(module.ready);
        module.clock = forever;
    }

    // A cycle, in which the timer of the moment fires that the clock came to two cycles ago, and no other one.
    void tick() {
        settle(module);
        CHECK(module.fired == (expected.front() != 0));
        if (module.fired) {
            const auto due = model.find(expected.front());
            CHECK(due != model.end() && module.fired_data == due->second.data && module.fired_moment == due->first);
            model.erase(due);
            fired++;
        }
        expected.pop_front();
        const std::uint64_t before = module.now;
        edge(module);
        settle(module);
        // What was there when the clock came to its moment fires; once.
        const bool due = module.now != before && model.count(module.now) != 0;
        expected.push_back(due ? std::uint64_t{module.now} : 0);
    }

    Answer start(std::uint64_t delay, unsigned data) {
        const std::uint64_t wanted = module.now + delay;
        module.start = 1;
        module.moment = wanted;
        module.data = data;
        const Answer answer = request();
        CHECK(!module.done_stop && module.done_wanted == wanted);
        if (answer.well) {
            CHECK(answer.moment >= wanted && answer.moment <= wanted + patience);
            CHECK(model.emplace(answer.moment, Timer{data, wanted}).second);
        }
        return answer;
    }

    // Removes the timer with this data that was wanted at this moment.
    bool stop(std::uint64_t wanted, unsigned data) {
        module.stop = 1;
        module.moment = wanted;
        module.data = data;
        const Answer answer = request();
        CHECK(module.done_stop && module.done_wanted == wanted);
        if (answer.well) {
            const auto stopped = model.find(answer.moment);
            CHECK(stopped != model.end() && stopped->second.data == data && stopped->second.wanted == wanted);
            model.erase(stopped);
        }
        return answer.well;
    }

    // The clock stands still for some cycles.
    void hold(int cycles) {
        module.hold = 1;
        const std::uint64_t before = module.now;
        while (cycles-- > 0)
            tick();
        CHECK(module.now == before);
        module.hold = 0;
    }

    // The clock skips the moments before the next timer.
    void skip() {
        module.hold = 1;
        tick();
        tick();
        tick();
        module.hold = 0;
        const auto next = model.upper_bound(module.now);
        if (next == model.end())
            return;
        module.skip = 1;
        module.clock = next->first;
        tick();
        module.skip = 0;
        module.clock = forever;
    }

    std::uint64_t now() const {
        return module.now;
    }

    std::map<std::uint64_t, Timer> model;
    long fired = 0;

  private:
    Answer request() {
        CHECK(module.ready);
        tick();
        module.start = module.stop = 0;
        for (int ticks = 1; ticks < patience; ticks++) {
            settle(module);
            if (module.done) {
                CHECK(module.ready);
                return {module.done_well != 0, module.done_moment, ticks};
            }
            tick();
        }
        CHECK(!"it answers");
        return {};
    }

    Vcalendar module;
    // the moments that fire in this cycle and the next ones; 0: none does
    std::deque<std::uint64_t> expected = std::deque<std::uint64_t>(late + 1, 0);
};

// Short and long timers, and some that are stopped, one of them twice.
void at_random() {
    Calendar calendar;
    std::mt19937 random(1);
    long stopped = 0;
    unsigned number = 0;
    for (int step = 0; step < 20'000; step++) {
        const unsigned what = random() % 10;
        if (what < 5) {
            const bool is_short = random() % 2;
            CHECK(calendar.start(random() % (is_short ? 16 : 20'000), ++number & 0xffff).well);
        } else if (what == 5 && !calendar.model.empty()) {
            const auto next = calendar.model.lower_bound(calendar.now() + random() % 20'000);
            if (next != calendar.model.end() && next->first > calendar.now() + 5) {
                const Timer timer = next->second;
                CHECK(calendar.stop(timer.wanted, timer.data));
                CHECK(!calendar.stop(timer.wanted, timer.data));
                stopped++;
            }
        } else if (what == 6) {
            calendar.hold(1 + random() % 8);
        } else if (what == 7) {
            calendar.skip();
        } else {
            calendar.tick();
        }
    }
    while (!calendar.model.empty())
        calendar.tick();
    CHECK(stopped > 1000 && calendar.fired > 5000);
}

// How many moments are tried for a timer, at this load.
void at_load(unsigned percent) {
    Calendar calendar;
    std::mt19937 random(1);
    const auto delay = [&random] { return 1 + random() % span; };
    const std::uint64_t load = rows * percent / 100;
    while (calendar.model.size() < load)
        CHECK(calendar.start(delay(), 7).well);
    int most = 0;
    long all = 0;
    for (int turn = 0; turn < turns; turn++) {
        while (calendar.model.size() >= load)
            calendar.tick();
        const Answer answer = calendar.start(delay(), 8);
        CHECK(answer.well);
        most = std::max(most, answer.ticks - 3);
        all += answer.ticks - 3;
    }
    std::printf("calendar: with %u %% of %lu timers, a timer is started in %.1f steps, at most %d\n", percent,
                static_cast<unsigned long>(rows), static_cast<double>(all) / turns, most);
}

// A full calendar starts no timer, and does again when some have fired.
void when_full() {
    Calendar calendar;
    std::uint64_t started = 0;
    while (calendar.start(300'000, 9).well)
        started++;
    CHECK(started > rows * 9 / 10 && started <= rows);
    while (!calendar.model.empty())
        calendar.tick();
    CHECK(calendar.fired == static_cast<long>(started));
    CHECK(calendar.start(300'000, 9).well);
}

} // namespace

int main() {
    at_random();
    when_full();
    for (unsigned percent : {50, 90, 97})
        at_load(percent);
    return 0;
}
