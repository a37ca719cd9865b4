// SPDX-License-Identifier: MIT OR Apache-2.0
// The calendar against a map from moments to timers: each timer fires at its moment and no other one does, while timers
// are started and stopped at random. Then it is filled as far as its authors filled theirs, and timers take the places
// of those that fire.
#include <algorithm>
#include <cstdint>
#include <cstdio>
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
// From a moment to the tick in which it is said.
constexpr std::uint64_t late = 2;

struct Answer {
    bool well;
    std::uint64_t moment;
    int ticks;
};

class Calendar {
  public:
    Calendar() {
        reset(module);
        for (int tick = 0; tick < 5000 && !module.ready; tick++)
            edge(module);
        CHECK(module.ready);
    }

    // A tick, in which the timer of this moment fires, and no other one.
    void tick() {
        settle(module);
        const auto due = model.find(module.now - late);
        CHECK(module.fired == (due != model.end()));
        if (due != model.end()) {
            CHECK(module.fired_data == due->second);
            model.erase(due);
            fired++;
        }
        edge(module);
    }

    Answer start(std::uint64_t delay, unsigned data) {
        const std::uint64_t earliest = module.now + delay;
        module.start = 1;
        module.start_delay = delay;
        module.start_data = data;
        const Answer answer = request();
        module.start = 0;
        if (answer.well) {
            CHECK(answer.moment >= earliest && answer.moment <= earliest + patience);
            CHECK(model.emplace(answer.moment, data).second);
        }
        return answer;
    }

    bool stop(std::uint64_t moment) {
        module.stop = 1;
        module.stop_moment = moment;
        const Answer answer = request();
        module.stop = 0;
        CHECK(answer.moment == moment);
        if (answer.well)
            CHECK(model.erase(moment) == 1);
        return answer.well;
    }

    std::uint64_t now() const {
        return module.now;
    }

    std::map<std::uint64_t, unsigned> model;
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
};

// Short and long timers, and some that are stopped, one of them twice.
void at_random() {
    Calendar calendar;
    std::mt19937 random(1);
    long stopped = 0;
    for (int step = 0; step < 20'000; step++) {
        const unsigned what = random() % 8;
        if (what < 5) {
            const bool is_short = random() % 2;
            CHECK(calendar.start(random() % (is_short ? 16 : 20'000), random() & 0xffff).well);
        } else if (what == 5 && !calendar.model.empty()) {
            const auto next = calendar.model.lower_bound(calendar.now() + random() % 20'000);
            if (next != calendar.model.end() && next->first > calendar.now() + 5) {
                const std::uint64_t moment = next->first;
                CHECK(calendar.stop(moment));
                CHECK(!calendar.stop(moment));
                stopped++;
            }
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

} // namespace

int main() {
    at_random();
    for (unsigned percent : {50, 90, 97})
        at_load(percent);
    return 0;
}
