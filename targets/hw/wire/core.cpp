// SPDX-License-Identifier: MIT OR Apache-2.0
// The circuit as a core for hosts: packets go in and out of it as bytes. Its clock is set to the host's, and its timers
// fire in it. Parameters and random numbers are here, and the events that chains raise wait here.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "Vtop.h"
#include "verilated.h"

extern "C" {
#include "carrick/counters.h"
#include "carrick/program.h"
#include "carrick/rand.h"
}

#include "bus.h"
#include "moments.h"
#include "ports.h"
#include "snapshots.h"

// The same program compiled to C, which has the descriptions of its parameters.
extern "C" const carrick_program compiled_program;

namespace {

// Cycles after which a circuit that does not answer is broken.
constexpr long patience = 100'000;
constexpr unsigned octets_of_beat = 8;
constexpr std::uint8_t fine = 255;
// Which events snapshots show.
constexpr std::uint32_t of_all_flows = 1;
// The counters of packets that are not sent.
constexpr std::array<unsigned, 3> of_unsent = {CARRICK_COUNT_TX_TOO_LONG, CARRICK_COUNT_TX_BAD_FIELD,
                                               CARRICK_COUNT_PACKET_GONE};
// What `random()` draws from, as in other cores.
constexpr std::uint64_t random_stream = 54;

using Bits = std::vector<std::uint32_t>;

std::uint64_t get(const Bits &bits, unsigned from, unsigned count) {
    std::uint64_t value = 0;
    for (unsigned bit = 0; bit < count && bit < 64; bit++)
        value |= static_cast<std::uint64_t>(bits[(from + bit) / 32] >> (from + bit) % 32 & 1) << bit;
    return value;
}

void put(Bits &bits, unsigned from, unsigned count, std::uint64_t value) {
    for (unsigned bit = 0; bit < count && bit < 64; bit++)
        if (value >> bit & 1)
            bits[(from + bit) / 32] |= 1U << (from + bit) % 32;
}

// Bits of one row in another.
void copy(Bits &to, unsigned at, const Bits &from, unsigned begin, unsigned count) {
    for (unsigned bit = 0; bit < count; bit += 32)
        put(to, at + bit, count - bit < 32 ? count - bit : 32,
            get(from, begin + bit, 32 < count - bit ? 32 : count - bit));
}

Bits row(unsigned count) {
    return Bits((count + 31) / 32);
}

// Of one thread: another one would get the signals that the host waits for.
struct Alone : VerilatedContext {
    Alone() {
        threads(1);
    }
};

struct Packet {
    std::vector<std::uint8_t> octets;
    // by which interface, and as the circuit says
    unsigned user = 0;
};

class Core {
  public:
    Core(const carrick_config &config, std::uint32_t most)
        : random(carrick_pcg_make(config.seed, random_stream)), address(config.address), mtu(config.mtu), most(most),
          snapshots(config.trace, config.trace_user) {
        for (std::uint32_t i = 0; i < compiled_program.param_count; i++)
            params.push_back(config.params ? config.params[i] : compiled_program.params[i].initial);
        top.rst = 1;
        top.carries = 1;
        top.out_ready = 1;
        top.m_ready = 1;
        top.snapshot_ready = 1;
        for (int n = 0; n < 16; n++)
            cycle();
        top.rst = 0;
        until([this] { return cycle_with(top.in_ready); }); // it clears its table
        if (snapshots.wanted() && !Bus<Vtop>(top, [this] { cycle(); }).write(snapshot_at, of_all_flows))
            broken("has no snapshots");
    }

    // A packet goes in; whether it was one of IPv4 that is right.
    bool take(std::uint32_t interface, const std::uint8_t *packet, std::uint32_t len, std::uint64_t at) {
        now = at;
        if (len == 0) { // a stream has no such packet
            counters[CARRICK_COUNT_IP_SHORT]++;
            return false;
        }
        surround();
        follow_clock();
        top.s_user = static_cast<std::uint8_t>(interface < 254 ? interface : 254);
        done = refused = false;
        for (std::uint32_t from = 0; from < len; from += octets_of_beat) {
            const std::uint32_t count = len - from < octets_of_beat ? len - from : octets_of_beat;
            std::uint64_t data = 0;
            std::memcpy(&data, packet + from, count);
            top.s_valid = 1;
            top.s_data = data;
            top.s_keep = static_cast<std::uint8_t>((1U << count) - 1);
            top.s_last = from + count == len;
            until([this] { return cycle_with(top.s_ready); });
        }
        top.s_valid = 0;
        until([this] { return cycle() && done; });
        handle_raised();
        settle();
        count_packets();
        return !refused;
    }

    // Lets the clock go on: what the calendar has until now wakes its flows.
    void advance(std::uint64_t at) {
        now = at > now ? at : now;
        while (const auto entry = moments.take(now)) {
            surround();
            ended = false;
            top.skip = 1;
            top.clock = entry->first;
            cycle();
            top.skip = 0;
            until([this] { return cycle() && ended; });
            handle_raised();
            settle();
            count_packets();
        }
    }

    // When the calendar may have a timer: not before one fires.
    std::uint64_t deadline() const {
        return moments.next(CARRICK_NEVER);
    }

    std::deque<Packet> leaving;
    std::uint64_t counters[CARRICK_COUNTERS] = {};
    std::uint32_t open = 0;
    unsigned left_by = 0;

  private:
    // A clock cycle. What the circuit says in it is noted.
    bool cycle() {
        cycle_with(top.in_ready);
        return true;
    }

    // The same; what a pin of the circuit says before the clock's edge.
    template <typename Pin> bool cycle_with(const Pin &pin) {
        top.clk = 0;
        top.eval();
        const bool said = pin;
        if (!top.rst)
            note();
        top.clk = 1;
        top.eval();
        return said;
    }

    // Lets the clock run until something has happened, which takes so many cycles only in a circuit that is broken.
    template <typename Happened> void until(const Happened &happened) {
        for (long waited = 0; !happened(); waited++)
            if (waited == patience)
                broken("does not answer");
    }

    // Until the calendar has all timers that were started, and all snapshots have left.
    void settle() {
        until([this] { return cycle_with(top.idle) && !top.snapshot_valid; });
    }

    // The clock of the circuit goes on to the host's, unless a timer is due before: `advance` comes to that one.
    void follow_clock() {
        top.skip = now > top.clock && now < moments.next(CARRICK_NEVER);
        if (top.skip)
            top.clock = now;
        cycle();
        top.skip = 0;
    }

    void note() {
        moments.note(top);
        if (top.snapshot_valid)
            snapshots.take(top.snapshot_data, top.snapshot_last);
        if (top.m_valid) {
            for (unsigned lane = 0; lane < octets_of_beat; lane++)
                if (top.m_keep >> lane & 1)
                    made.octets.push_back(static_cast<std::uint8_t>(top.m_data >> 8 * lane));
            made.user = top.m_user;
            if (top.m_last)
                leaving.push_back(std::exchange(made, {}));
        }
        if (top.looked_valid)
            looked(top.looked_verdict, top.looked_why);
        if (top.packet_done)
            done = true;
        unsent |= top.unsent;
        if (top.out_valid) {
            Bits result(sizeof top.out_data / sizeof(std::uint32_t));
            std::memcpy(result.data(), &top.out_data, sizeof top.out_data);
            became(result);
            ended = true;
        }
    }

    void looked(unsigned verdict, std::uint8_t why) {
        refused = verdict == 0;
        reason = why;
        if (verdict != 0 && !(verdict == 1 && why == fine))
            counters[CARRICK_COUNT_RX_PACKETS]++;
    }

    // Packets that are refused, or not sent, are counted in the circuit.
    void count_packets() {
        if (reason != fine)
            count(reason, refused_at + 4 * reason);
        reason = fine;
        for (unsigned n = 0; n < unsent_at.size(); n++)
            if (unsent >> n & 1)
                count(of_unsent[n], unsent_at[n]);
        unsent = 0;
    }

    // Brings a counter up to what is in its register.
    void count(unsigned counter, unsigned offset) {
        const auto total = Bus<Vtop>(top, [this] { cycle(); }).read(offset);
        if (!total)
            broken("does not count a packet that it refuses or does not send");
        counters[counter] += *total - counted[counter];
        counted[counter] = *total;
    }

    // Carries out what a chain issued, but for packets.
    void became(const Bits &result) {
        if (timer_chains.size() != 0 && get(result, ran_at, 1) == 0)
            return; // of a timer that does not fire
        counters[CARRICK_COUNT_EVENTS]++;
        const bool found = get(result, found_at, 1) != 0;
        const bool full = get(result, full_at, 1) != 0;
        for (unsigned i = 0; i < get(result, drawn_at, drawn_bits); i++)
            carrick_pcg_next(&random);
        for (unsigned n = 0; n < slots; n++) {
            const unsigned at = n * slot_bits;
            const auto number = get(result, at + args_bits, 8);
            if (number == 0)
                continue; // an empty slot
            const Site &site = sites[number - 1];
            switch (site.does) {
            case Does::nothing:
                break;
            case Does::make:
                counters[CARRICK_COUNT_CTX_REFUSED] += full || open >= most ? 1 : 0;
                open += full || open >= most ? 0 : 1;
                break;
            case Does::end:
                open -= found;
                break;
            case Does::raise:
                raised.emplace_back(site.number, row(event_bits));
                copy(raised.back().second, 0, result, site.wide ? wide_at + wide_bits * get(result, at, 8) : at,
                     of_events[site.number].bits);
                break;
            }
        }
    }

    void handle_raised() {
        while (!raised.empty()) {
            const auto [chain, event] = raised.front();
            raised.pop_front();
            Bits id = row(id_bits);
            if (of_events[chain].named)
                copy(id, 0, event, of_events[chain].bits - id_bits, id_bits);
            run(chain, of_events[chain].named, id, event);
        }
    }

    // Gives the circuit an event.
    void run(unsigned chain, bool named, const Bits &id, const Bits &event) {
        Bits in(sizeof top.in_data / sizeof(std::uint32_t));
        const Bits around = surround();
        copy(in, 0, around, 0, env_bits);
        copy(in, env_bits, event, 0, event_bits);
        copy(in, id_at, id, 0, id_bits);
        put(in, named_at - 1, 1, open < most);
        put(in, named_at, 1, named);
        put(in, chain_at, 8, chain);
        std::memcpy(&top.in_data, in.data(), sizeof top.in_data);
        top.in_valid = 1;
        ended = false;
        until([this] { return cycle_with(top.in_ready); });
        top.in_valid = 0;
        until([this] { return cycle() && ended; });
    }

    // What is around chains now.
    Bits surround() {
        Bits around = row(env_bits);
        carrick_pcg ahead = random;
        for (const Input &input : inputs) {
            switch (input.kind) {
            case Around::now:
                put(around, input.at, input.bits, now);
                break;
            case Around::mtu:
                put(around, input.at, input.bits, mtu > 20 ? mtu - 20 : 0);
                break;
            case Around::local_ip:
                put(around, input.at, input.bits, address);
                break;
            case Around::param:
                put(around, input.at, input.bits, params[input.number]);
                break;
            case Around::random:
                for (unsigned bit = 0; bit < input.bits; bit += 32)
                    put(around, input.at + bit, 32, carrick_pcg_next(&ahead));
                break;
            case Around::other:
                break;
            }
        }
        std::memcpy(&top.around, around.data(), sizeof top.around);
        top.space = open < most;
        top.mtu = static_cast<std::uint16_t>(mtu);
        return around;
    }

    [[noreturn]] static void broken(const char *how) {
        std::fprintf(stderr, "the circuit %s\n", how);
        std::abort();
    }

    Alone context;
    Vtop top{&context};
    carrick_pcg random;
    std::vector<std::uint64_t> params;
    std::uint32_t address, mtu, most;
    std::uint64_t now = 0;
    Moments moments;
    Snapshots snapshots;
    std::deque<std::pair<unsigned, Bits>> raised;
    Packet made;
    bool done = false, refused = false, ended = false;
    // why the last packet was refused, why some were not sent, a bit each, and what the circuit has counted until then
    std::uint8_t reason = fine;
    unsigned unsent = 0;
    std::uint32_t counted[CARRICK_COUNTERS] = {};
};

Core &of(carrick_core *core) {
    return **reinterpret_cast<Core **>(core);
}

const Core &of(const carrick_core *core) {
    return **reinterpret_cast<Core *const *>(core);
}

std::size_t footprint(const carrick_config *config) {
    return compiled_program.footprint(config) != 0 ? sizeof(Core *) : 0;
}

carrick_core *init(void *memory, const carrick_config *config) {
    if (compiled_program.footprint(config) == 0)
        return nullptr;
    *static_cast<Core **>(memory) = new Core(*config, compiled_program.capacity(config));
    return static_cast<carrick_core *>(memory);
}

int rx_on(carrick_core *core, std::uint32_t interface, const std::uint8_t *packet, std::uint32_t len,
          std::uint64_t now) {
    if (!of(core).leaving.empty())
        return CARRICK_AGAIN;
    return of(core).take(interface, packet, len, now) ? 0 : CARRICK_DROPPED;
}

int rx(carrick_core *core, const std::uint8_t *packet, std::uint32_t len, std::uint64_t now) {
    return rx_on(core, 0, packet, len, now);
}

std::uint32_t rx_burst(carrick_core *core, const std::uint8_t *const *packets, const std::uint32_t *lens,
                       std::uint32_t count, std::uint64_t now) {
    std::uint32_t taken = 0;
    while (taken < count && rx(core, packets[taken], lens[taken], now) != CARRICK_AGAIN)
        taken++;
    return taken;
}

std::uint32_t tx(carrick_core *core, std::uint8_t *buffer, std::uint32_t cap, std::uint64_t now) {
    (void)now;
    Core &it = of(core);
    while (!it.leaving.empty() && it.leaving.front().octets.size() > cap)
        it.leaving.pop_front();
    if (it.leaving.empty())
        return 0;
    const Packet packet = std::move(it.leaving.front());
    it.leaving.pop_front();
    it.left_by = packet.user & 0xff;
    it.counters[CARRICK_COUNT_TX_FORWARDED] += packet.user >> 8 & 1;
    it.counters[CARRICK_COUNT_TX_PACKETS] += packet.user >> 9 & 1;
    std::memcpy(buffer, packet.octets.data(), packet.octets.size());
    return static_cast<std::uint32_t>(packet.octets.size());
}

std::uint32_t tx_burst(carrick_core *core, std::uint8_t *const *buffers, std::uint32_t cap, std::uint32_t *lens,
                       std::uint16_t *segments, std::uint32_t count, std::uint64_t now) {
    std::uint32_t given = 0;
    for (; given < count && (lens[given] = tx(core, buffers[given], cap, now)) != 0; given++)
        if (segments)
            segments[given] = 0;
    return given;
}

int call(carrick_core *, std::uint32_t, const carrick_request *, std::uint64_t) {
    return CARRICK_BAD_ARG;
}

int advance(carrick_core *core, std::uint64_t now) {
    of(core).advance(now);
    return 0;
}

std::uint64_t next_deadline(carrick_core *core, std::uint64_t before) {
    const std::uint64_t deadline = of(core).deadline();
    return deadline < before ? deadline : CARRICK_NEVER;
}

std::uint64_t wake_by(const carrick_core *core) {
    return of(core).deadline();
}

bool next_completion(carrick_core *, carrick_completion *) {
    return false;
}

const std::uint64_t *counters(const carrick_core *core) {
    return of(core).counters;
}

std::uint32_t open_contexts(const carrick_core *core) {
    return of(core).open;
}

std::uint32_t tx_interface(const carrick_core *core) {
    return of(core).left_by;
}

bool identify(carrick_core *, std::uint64_t, carrick_identity *out) {
    out->count = 0;
    return false;
}

carrick_program in_circuit() {
    carrick_program program = compiled_program;
    program.traced = 1;
    program.footprint = footprint;
    program.init = init;
    program.rx = rx;
    program.rx_on = rx_on;
    program.rx_burst = rx_burst;
    program.tx = tx;
    program.tx_burst = tx_burst;
    program.tx_interface = tx_interface;
    program.call = call;
    program.advance = advance;
    program.next_deadline = next_deadline;
    program.wake_by = wake_by;
    program.next_completion = next_completion;
    program.counters = counters;
    program.open_contexts = open_contexts;
    program.identify = identify;
    return program;
}

} // namespace

// The core's table, under the name that the table of a compiled core has: the Makefile gives it.
extern "C" const carrick_program PROGRAM;
const carrick_program PROGRAM = in_circuit();
