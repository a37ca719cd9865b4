// SPDX-License-Identifier: MIT OR Apache-2.0
// Registers of a shell under load, against a map of its flows: events and commands at random, on a bus where the
// manager takes answers late. What a command reads is the context as the events before it left it. What it changes, the
// events after it find.
#include <array>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <random>

#include "Vinspected.h"
#include "clocked.h"

namespace {

constexpr unsigned slots = 64;
constexpr unsigned ids = 90;
constexpr unsigned first_id = 0x0a000000;
constexpr std::uint64_t value_mask = (std::uint64_t{1} << 40) - 1;
constexpr long patience = 2000;
constexpr unsigned reasons = 12;
constexpr unsigned okay = 0, slave_error = 2;
enum : unsigned {
    identification = 0x000,
    context_bits = 0x008,
    slot_count = 0x00c,
    flows = 0x010,
    events_in = 0x014,
    events_out = 0x018,
    contexts_dropped = 0x020,
    timers_dropped = 0x024,
    packets_in = 0x028,
    packets_out = 0x02c,
    packets_long = 0x030,
    too_long = 0x034,
    bad_field = 0x038,
    packet_gone = 0x03c,
    command = 0x040,
    status = 0x044,
    slot = 0x048,
    mask = 0x04c,
    snapshot = 0x050,
    snapshot_every = 0x054,
    snapshots_sent = 0x058,
    snapshots_dropped = 0x05c,
    refused = 0x080,
    id = 0x100,
    context = 0x200,
};
// Registers of packets that are not counted by reason.
constexpr std::array<unsigned, 6> others = {packets_in, packets_out, packets_long, too_long, bad_field, packet_gone};
enum : unsigned { read_slot = 1, read_id = 2, change_id = 3 };

struct Event {
    bool ends;
    std::uint32_t id;
    std::uint64_t value;
};

// What a command is to find, noted when the circuit carries it out.
struct Found {
    bool there;
    std::uint64_t value;
};

// A context as words of the bus.
struct Words {
    std::uint32_t word[3];
    std::uint32_t id() const {
        return word[1] >> 24 | word[2] << 8;
    }
    std::uint64_t value() const {
        return word[0] >> 16 | std::uint64_t{word[1] & 0xffffff} << 16;
    }
};

class Bench {
  public:
    Bench() {
        reset(module);
    }

    // A cycle: an event may go in, and a result out.
    void cycle() {
        if (!module.in_valid && loaded && random() % 3 != 0)
            offer();
        module.out_ready = random() % 4 != 0;
        module.packet_in = random() % 8 == 0;
        module.packet_why = random() % 2 ? 255 : static_cast<std::uint8_t>(random() % (reasons + 4));
        module.packet_out = random() % 8 == 0;
        module.packet_long = random() % 8 == 0;
        module.unsent = random() % 8;
        settle(module);
        count();
        const bool taken = module.in_valid && module.in_ready;
        if (taken)
            under_way.push_back({module.in_ends != 0, module.in_id, module.in_value});
        if (module.out_valid && module.out_ready)
            finish();
        if (module.access_done)
            note();
        edge(module);
        if (taken)
            module.in_valid = 0;
    }

    unsigned write(unsigned address, std::uint32_t data, unsigned strobes = 15) {
        const unsigned late = random() % 8;
        bool at = false;
        bool beat = false;
        module.s_axil_awaddr = static_cast<std::uint16_t>(address);
        module.s_axil_wdata = data;
        module.s_axil_wstrb = static_cast<std::uint8_t>(strobes);
        for (unsigned waited = 0; waited < patience; waited++) {
            module.s_axil_awvalid = !at && (late < 4 || waited >= late);
            module.s_axil_wvalid = !beat && (late >= 4 || waited >= late);
            module.s_axil_bready = at && beat && random() % 2;
            settle(module);
            at |= module.s_axil_awvalid && module.s_axil_awready;
            beat |= module.s_axil_wvalid && module.s_axil_wready;
            const bool answered = module.s_axil_bvalid && module.s_axil_bready;
            const unsigned response = module.s_axil_bresp;
            CHECK(!module.s_axil_bvalid || (at && beat));
            cycle();
            module.s_axil_awvalid = module.s_axil_wvalid = 0;
            if (answered)
                return response;
        }
        CHECK(!"a write is answered");
        return 0;
    }

    std::uint32_t read(unsigned address, unsigned wanted = okay) {
        bool at = false;
        module.s_axil_araddr = static_cast<std::uint16_t>(address);
        std::uint32_t held = 0;
        bool holds = false;
        for (unsigned waited = 0; waited < patience; waited++) {
            module.s_axil_arvalid = !at;
            module.s_axil_rready = random() % 2;
            settle(module);
            at |= module.s_axil_arvalid && module.s_axil_arready;
            const bool answered = module.s_axil_rvalid && module.s_axil_rready;
            if (module.s_axil_rvalid) {
                // An answer stays as it is until it is taken.
                CHECK(at && (!holds || held == module.s_axil_rdata));
                CHECK(module.s_axil_rresp == wanted);
                held = module.s_axil_rdata;
                holds = true;
            }
            cycle();
            module.s_axil_arvalid = 0;
            if (answered)
                return held;
        }
        CHECK(!"a read is answered");
        return 0;
    }

    void store(unsigned address, std::uint32_t data) {
        CHECK(write(address, data) == okay);
    }

    // Carries out a command; whether it found a context.
    bool carry_out(unsigned what) {
        done = false;
        store(command, what);
        for (long waited = 0; (read(status) & 1) != 0; waited++)
            CHECK(waited < patience);
        CHECK(done);
        const bool there = (read(status) & 2) != 0;
        CHECK(what == read_slot || there == expected.there);
        return there;
    }

    Words words() {
        return {{read(context), read(context + 4), read(context + 8)}};
    }

    // Reads the context of a flow.
    void look(std::uint32_t flow) {
        named = flow;
        store(id, flow);
        if (!carry_out(read_id))
            return;
        const Words found = words();
        CHECK(found.id() == flow && found.value() == expected.value && (found.word[0] & 0xffff) == 0);
        looked++;
    }

    // Changes some bits of it. The rest stays, and so do id and timers.
    void change(std::uint32_t flow) {
        named = flow;
        store(id, flow);
        for (unsigned n = 0; n < 3; n++) {
            new_words.word[n] = static_cast<std::uint32_t>(random());
            masks[n] = random() % 2 ? 0 : random() % 2 ? UINT32_MAX : static_cast<std::uint32_t>(random());
            if (masks[n] == 0)
                continue;
            store(mask, masks[n]);
            store(context + 4 * n, new_words.word[n]);
        }
        if (!carry_out(change_id))
            return;
        const Words found = words();
        CHECK(found.id() == flow && found.value() == expected.value && (found.word[0] & 0xffff) == 0);
        changed++;
    }

    // Reads slots one after the other, without events under way: all flows are there, once.
    void walk() {
        loaded = false;
        while (module.in_valid || !under_way.empty())
            cycle();
        std::map<std::uint32_t, std::uint64_t> found;
        for (unsigned n = 0; n < slots; n++) {
            store(slot, n);
            if (!carry_out(read_slot))
                continue;
            CHECK(read(slot) == n);
            const Words one = words();
            CHECK(found.emplace(one.id(), one.value()).second);
        }
        CHECK(found == model && read(flows) == model.size());
        CHECK(read(events_in) == events && read(events_out) == events);
        CHECK(read(contexts_dropped) == dropped && read(timers_dropped) == 77);
        CHECK(read(identification) == 0x4341524b && read(context_bits) == 88 && read(slot_count) == slots);
        loaded = true;
    }

    // Counters of packets, of which there are some in each cycle: between what they were before and after the read.
    void counters() {
        for (unsigned n = 0; n < reasons + others.size(); n++) {
            const unsigned address = n < reasons ? refused + 4 * n : others[n - reasons];
            const std::uint32_t before = counted[n];
            const std::uint32_t said = read(address);
            CHECK(before <= said && said <= counted[n]);
        }
    }

    // Snapshots are of the flow that ID names when they are switched on, whatever it names later.
    void select(std::uint32_t flow) {
        const unsigned mode = random() % 3;
        const std::uint32_t every = static_cast<std::uint32_t>(random());
        store(id, flow);
        store(snapshot, mode);
        store(snapshot_every, every);
        store(id, flow + 1);
        CHECK(read(snapshot) == mode && module.snapshot_mode == mode && module.snapshot_flow == flow);
        CHECK(read(snapshot_every) == every && module.snapshot_every == every);
        CHECK(read(snapshots_sent) == 78 && read(snapshots_dropped) == 79);
    }

    void wrong() {
        read(0x07c, slave_error);
        read(0xffc, slave_error);
        CHECK(write(identification, 1) == slave_error);
        CHECK(write(flows, 1) == slave_error);
        CHECK(write(context + 12, 1) == slave_error);
        store(slot, 5);
        CHECK(write(slot, 9, 7) == slave_error);
        CHECK(read(slot) == 5);
    }

    std::mt19937 random{1};
    std::map<std::uint32_t, std::uint64_t> model;
    std::uint32_t events = 0, dropped = 0;
    unsigned looked = 0, changed = 0, raced = 0;

  private:
    void offer() {
        module.in_valid = 1;
        module.in_ends = random() % (model.size() > slots * 3 / 4 ? 3 : 12) == 0;
        module.in_id = first_id + random() % ids;
        module.in_value = (std::uint64_t{random()} << 8 | random() % 256) & value_mask;
    }

    void count() {
        if (module.packet_in && module.packet_why < reasons)
            counted[module.packet_why]++;
        counted[reasons] += module.packet_in;
        counted[reasons + 1] += module.packet_out;
        counted[reasons + 2] += module.packet_long;
        for (unsigned n = 0; n < 3; n++)
            counted[reasons + 3 + n] += module.unsent >> n & 1;
    }

    void finish() {
        CHECK(!under_way.empty());
        const Event event = under_way.front();
        under_way.pop_front();
        events++;
        const auto known = model.find(event.id);
        CHECK(module.out_found == (known != model.end()));
        CHECK(module.out_new == (known == model.end() && !event.ends && !module.out_full));
        if (event.ends) {
            model.erase(event.id);
        } else if (known != model.end()) {
            known->second = (known->second + event.value) & value_mask;
        } else if (module.out_full) {
            dropped++;
        } else {
            model[event.id] = event.value;
        }
    }

    // A command is carried out now.
    void note() {
        done = true;
        raced += !under_way.empty();
        const auto known = model.find(named);
        expected = {known != model.end(), known != model.end() ? known->second : 0};
        if (!module.access_change || !expected.there)
            return;
        const auto value_of = [](const std::uint32_t word[3]) {
            return word[0] >> 16 | static_cast<std::uint64_t>(word[1] & 0xffffff) << 16;
        };
        const std::uint64_t bits = value_of(masks);
        expected.value = (expected.value & ~bits) | (value_of(new_words.word) & bits);
        known->second = expected.value;
    }

    Vinspected module;
    std::deque<Event> under_way;
    std::uint32_t counted[reasons + others.size()] = {};
    Found expected{};
    Words new_words{};
    std::uint32_t masks[3] = {};
    std::uint32_t named = 0;
    bool done = false, loaded = true;
};

} // namespace

int main() {
    Bench bench;
    for (int n = 0; n < 3000; n++) {
        const std::uint32_t flow = first_id + bench.random() % ids;
        if (bench.random() % 2)
            bench.look(flow);
        else
            bench.change(flow);
        if (n % 100 == 0) {
            bench.counters();
            bench.select(flow);
            bench.wrong();
        }
        if (n % 500 == 0)
            bench.walk();
    }
    bench.walk();
    CHECK(bench.looked > 500 && bench.changed > 500 && bench.dropped > 0 && bench.raced > 500);
    std::printf("registers: %u contexts read and %u changed, %u while events waited, of %u events\n", bench.looked,
                bench.changed, bench.raced, bench.events);
    return 0;
}
