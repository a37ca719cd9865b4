// SPDX-License-Identifier: MIT OR Apache-2.0
// Timers between a shell that gives results at random and one that takes flows that wake at random: each flow wakes
// once for each request that is not cancelled, no earlier than its moment, and soon after. A tick is 8 ns, and so is a
// cycle.
#include <cstdint>
#include <cstdio>
#include <map>
#include <random>
#include <utility>

#include "Vtimers.h"
#include "clocked.h"

namespace {

constexpr int timers = 3;
// The calendar has 256 rows: flows whose timers find one, and more.
constexpr unsigned few = 64;
constexpr unsigned many = 1000;
constexpr std::uint64_t cycle_ns = 8;
constexpr std::uint64_t soonest = 100'000;
// How late a flow may wake: by requests that wait, by time that stands still while others wake, and by moments that are
// taken.
constexpr std::uint64_t late = 40'000;
constexpr std::uint64_t late_when_full = 400'000;

class Bench {
  public:
    explicit Bench(unsigned flows) : flows(flows) {
        reset(module);
        while (!module.idle)
            edge(module);
    }

    void cycle() {
        if (!module.result_valid && random() % 16 == 0)
            offer();
        module.woken_ready = random() % 4 != 0;
        settle(module);
        module.result_leaves = module.result_valid && module.settled && random() % 2;
        settle(module);
        if (module.woken_valid && module.woken_ready)
            wake();
        edge(module);
        if (module.result_leaves)
            module.result_valid = 0;
        module.clock += cycle_ns;
    }

    // Starts and cancels timers, and waits until all have woken their flows.
    void run() {
        for (int n = 0; n < 400'000; n++)
            cycle();
        offering = false;
        for (int n = 0; n < 200'000; n++)
            cycle();
    }

    // Timers that have not woken their flows.
    std::size_t left() const {
        return model.size();
    }

    unsigned dropped() const {
        return module.timers_dropped;
    }

    long woken = 0, cancelled = 0;

  private:
    using Key = std::pair<std::uint64_t, unsigned>;

    // What a chain says of the timers of a flow that has none or all of them in the calendar.
    void offer() {
        const std::uint64_t id = random() % flows + 1;
        module.result_starts = 0;
        module.result_stops = 0;
        bool any = false;
        for (unsigned n = 0; n < timers; n++) {
            std::uint64_t start = 0;
            std::uint64_t cancel = 0;
            const auto there = model.find({id, n});
            if (there == model.end() && offering) {
                start = module.clock + soonest + random() % 200'000;
                module.result_starts |= 1U << n;
                model[{id, n}] = start;
            } else if (there != model.end() && flows == few && random() % 8 == 0 &&
                       there->second > module.clock + soonest / 2) {
                cancel = there->second;
                module.result_stops |= 1U << n;
                model.erase(there);
                cancelled++;
            }
            any = any || start != 0 || cancel != 0;
            set(n, start, cancel);
        }
        module.result_id = id;
        module.result_valid = any;
    }

    // The moment of a timer, which has the lower half of what the row has of it, and that for which it is cancelled.
    void set(unsigned n, std::uint64_t start, std::uint64_t cancel) {
        put(module.result_timers, 112 * n, start);
        put(module.result_cancels, 56 * n, cancel);
    }

    template <typename Words> static void put(Words &words, unsigned at, std::uint64_t value) {
        for (unsigned bit = 0; bit < 56; bit++) {
            const std::uint32_t one = std::uint32_t{1} << (at + bit) % 32;
            std::uint32_t &word = words[(at + bit) / 32];
            word = value >> bit & 1 ? word | one : word & ~one;
        }
    }

    void wake() {
        const auto wanted = model.find({module.woken_id, module.woken_timer});
        CHECK(wanted != model.end());
        CHECK(module.woken_at >= wanted->second && module.woken_at <= module.clock);
        CHECK(module.clock <= wanted->second + (flows == few ? late : late_when_full));
        model.erase(wanted);
        woken++;
    }

    Vtimers module;
    unsigned flows;
    // of each timer of each flow that is to wake: its moment
    std::map<Key, std::uint64_t> model;
    std::mt19937 random{3};
    bool offering = true;
};

} // namespace

int main() {
    Bench bench(few);
    bench.run();
    CHECK(bench.left() == 0 && bench.dropped() == 0);
    CHECK(bench.woken > 1000 && bench.cancelled > 1000);
    std::printf("timers: %ld flows woken, %ld timers cancelled\n", bench.woken, bench.cancelled);
    Bench full(many);
    full.run();
    CHECK(full.dropped() > 0 && full.woken > 1000);
    CHECK(full.left() == full.dropped());
    std::printf("timers: %u dropped where there are more than rows\n", full.dropped());
    return 0;
}
