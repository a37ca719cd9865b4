// SPDX-License-Identifier: MIT OR Apache-2.0
// Snapshots against a queue of frames: events at random, of which all, those of one flow, or each n-th are shown, and a
// port that does not always take a beat. Each frame has what its event left; those that find the queue full are
// counted.
#include <array>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <random>
#include <vector>

#include "Vsnapshot.h"
#include "clocked.h"

namespace {

constexpr unsigned id_bits = 16, context_bits = 100, event_bits = 40;
constexpr std::size_t under_way_most = 8, queue = 4;
constexpr unsigned flows = 5;
enum : unsigned { of_none, of_all, of_flow };

using Frame = std::vector<std::uint8_t>;

// A context as bytes, the most significant first: 28 zeros, 16 bits of its id, 84 of the rest.
using Context = std::array<std::uint8_t, 16>;

struct Event {
    std::uint8_t chain;
    std::uint64_t fields;
};

class Bench {
  public:
    Bench() {
        reset(module);
        module.every = 1;
    }

    void cycle() {
        enter();
        leave();
        module.clock += random() % 1000;
        module.snapshot_ready = random() % (busy ? 16 : 2) == 0;
        settle(module);
        const bool full = waiting.size() == queue;
        read();
        if (module.leave)
            left(full);
        else if (module.run_valid)
            under_way.push_back({module.run_chain, module.run_event});
        edge(module);
        CHECK(module.snapshots_dropped == dropped && module.snapshots_sent == sent);
    }

    // Which events are shown from now on, and how fast the port is.
    void choose() {
        module.mode = random() % 3;
        module.flow = random() % flows;
        busy = random() % 2;
        if (random() % 2)
            module.every = random() % 4;
    }

    std::uint32_t sent = 0, dropped = 0, quiet = 0;
    unsigned of_mode[3] = {};

  private:
    // An event enters its chain, or one leaves.
    void enter() {
        module.run_valid = random() % 2 && under_way.size() < under_way_most;
        module.run_chain = static_cast<std::uint8_t>(random());
        module.run_event = (std::uint64_t{random()} << 32 | random()) & ((std::uint64_t{1} << event_bits) - 1);
    }

    void leave() {
        module.leave = !module.run_valid && !under_way.empty() && random() % 2;
        module.leave_ran = random() % 4 != 0;
        module.leave_found = random() % 2;
        module.leave_gone = random() % 4 == 0;
        module.leave_made = random() % 3 == 0;
        context = a_context(module.leave_context);
        instance = a_context(module.leave_instance);
    }

    // Words of a port at random, and their bytes.
    template <typename Words> Context a_context(Words &words) {
        for (int n = 0; n < 4; n++)
            words[n] = static_cast<std::uint32_t>(random());
        const unsigned id = random() % flows;
        words[3] = id >> 12;
        words[2] = (words[2] & 0xfffff) | id << 20;
        Context bytes;
        for (unsigned at = 0; at < bytes.size(); at++)
            bytes[at] = static_cast<std::uint8_t>(words[3 - at / 4] >> 8 * (3 - at % 4));
        return bytes;
    }

    // An event leaves: what its frame is to be, if it has one.
    void left(bool full) {
        const Event event = under_way.front();
        under_way.pop_front();
        const bool has = module.leave_found || module.leave_made;
        const Context shown = module.leave_found ? context : module.leave_made ? instance : Context{};
        const unsigned id = (shown[3] & 15U) << 12 | shown[4] << 4 | shown[5] >> 4;
        const bool chosen =
            module.leave_ran && (module.mode == of_all || (module.mode == of_flow && has && id == module.flow));
        if (!chosen || ++passed < module.every) {
            quiet++;
            return;
        }
        passed = 0;
        of_mode[module.mode]++;
        const std::uint32_t this_number = number++;
        if (full) {
            dropped++;
            return;
        }
        Frame frame = {255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 0, 0x88, 0xb5, 1};
        const bool ends = module.leave_found && module.leave_gone;
        frame.push_back(static_cast<std::uint8_t>(ends << 2 | (module.leave_made && !module.leave_found) << 1 | has));
        add(frame, module.clock, 8);
        add(frame, this_number, 4);
        add(frame, event.chain, 1);
        add(frame, 0, 3);
        add(frame, event.fields, 8);
        frame.insert(frame.end(), shown.begin(), shown.end());
        waiting.push_back(frame);
    }

    static void add(Frame &frame, std::uint64_t value, unsigned bytes) {
        while (bytes-- > 0)
            frame.push_back(static_cast<std::uint8_t>(value >> 8 * bytes));
    }

    // The port may take a beat.
    void read() {
        CHECK(module.snapshot_valid == !waiting.empty());
        if (!module.snapshot_valid || !module.snapshot_ready)
            return;
        for (unsigned lane = 0; lane < 8; lane++)
            arrived.push_back(static_cast<std::uint8_t>(module.snapshot_data >> 8 * lane));
        CHECK(module.snapshot_last == (arrived.size() == waiting.front().size()));
        if (!module.snapshot_last)
            return;
        CHECK(arrived == waiting.front());
        waiting.pop_front();
        arrived.clear();
        sent++;
    }

    Vsnapshot module;
    std::mt19937 random{1};
    std::deque<Event> under_way;
    // frames in the module, and the bytes of one that have left
    std::deque<Frame> waiting;
    Frame arrived;
    Context context{}, instance{};
    std::uint32_t passed = 0, number = 0;
    bool busy = false;
};

} // namespace

int main() {
    Bench bench;
    for (int n = 0; n < 200'000; n++) {
        if (n % 500 == 0)
            bench.choose();
        bench.cycle();
    }
    CHECK(bench.sent > 1000 && bench.dropped > 1000 && bench.quiet > 1000);
    CHECK(bench.of_mode[of_all] > 1000 && bench.of_mode[of_flow] > 1000 && bench.of_mode[of_none] == 0);
    std::printf("snapshot: %u sent, %u dropped\n", bench.sent, bench.dropped);
    return 0;
}
