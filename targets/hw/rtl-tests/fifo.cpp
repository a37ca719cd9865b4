// SPDX-License-Identifier: MIT OR Apache-2.0
// The queue against a queue of the standard library, with random arrivals and departures; DROPS is the module's
// parameter.
#include <cstdint>
#include <deque>
#include <random>

#include "Vfifo.h"
#include "clocked.h"

int main() {
    constexpr std::size_t depth = 8;
    Vfifo fifo;
    reset(fifo);
    std::mt19937 random(1);
    std::deque<std::uint32_t> model;
    std::uint32_t dropped = 0;
    std::uint32_t refused = 0;
    for (int cycle = 0; cycle < 20'000; cycle++) {
        // Long phases in which the queue fills, and in which it empties.
        const unsigned busy = cycle / 100 % 2 ? 8 : 3;
        fifo.in_valid = random() % 10 < busy;
        fifo.out_ready = random() % 10 >= busy;
        fifo.in_data = random();
        settle(fifo);
        const bool full = model.size() == depth;
        CHECK(fifo.in_ready == (DROPS || !full));
        CHECK(fifo.out_valid == !model.empty());
        if (fifo.out_valid)
            CHECK(fifo.out_data == model.front());
        if (fifo.in_valid && full) {
            dropped += DROPS;
            refused += !DROPS;
        }
        if (fifo.out_valid && fifo.out_ready)
            model.pop_front();
        if (fifo.in_valid && !full)
            model.push_back(fifo.in_data);
        edge(fifo);
        CHECK(fifo.dropped == dropped);
    }
    CHECK(dropped + refused > 100);
    return 0;
}
