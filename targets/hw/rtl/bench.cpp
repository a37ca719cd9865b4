// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs a program's circuit.
//
// As a library it takes events, one after the other, and gives what became of each, both as the words of the ports, the
// least significant first. At the end it gives the same events to a circuit after a reset, one in each cycle in which
// the circuit takes one: what becomes of them must be the same.
//
// Events of timers must be those for which the circuit's calendar wakes flows. The clock of the circuit goes on to the
// time of an event before it gets the event, and to a later moment only if the calendar has a timer there that was
// wanted before.
//
// As a process, ./circuit --cycles, it measures how often events begin, of distinct flows and of one flow. With
// --registers it gives the circuit events, and prints its registers.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "Vtop.h"
#include "bus.h"
#include "moments.h"
#include "ports.h"
#include "verilated.h"

namespace {

// Cycles after which a circuit that does not answer is broken.
constexpr long patience = 20'000;
// Why nothing becomes of an event: the circuit does not answer; a timer fires in the circuit only, or elsewhere only.
constexpr int silent = 1;
constexpr int fires_here_only = 2;
constexpr int fires_elsewhere_only = 3;
// Bytes of addresses of registers.
constexpr unsigned register_space = 4096;
// Events of a measurement.
constexpr std::size_t many = 1000;

using Words = std::vector<std::uint32_t>;

struct Event {
    Words given;
    std::uint64_t time = 0;
    Words became;
    long begun = 0;
    long done = 0;
};

// A flow that the calendar wakes.
struct Woken {
    Words id;
    unsigned timer = 0;
    // its moment in the calendar, and when it was wanted
    std::uint64_t at = 0, wanted = 0;
};

class Circuit {
  public:
    Circuit() {
        top.rst = 1;
        top.in_valid = 0;
        top.out_ready = 1;
        top.woken_ready = 1;
        for (int cycle = 0; cycle < 16; cycle++)
            edge();
        top.rst = 0;
    }

    // Gives all events to the circuit, each as soon as it takes it.
    bool run(std::vector<Event> &events) {
        std::size_t given = 0;
        std::size_t done = 0;
        for (long waited = 0; done < events.size(); waited++) {
            if (waited > patience)
                return false;
            top.in_valid = given < events.size();
            if (top.in_valid)
                std::memcpy(&top.in_data, events[given].given.data(), sizeof top.in_data);
            skip_to(events[std::min(given, events.size() - 1)].time);
            top.clk = 0;
            top.eval();
            if (top.in_valid && top.in_ready)
                events[given++].begun = now;
            if (top.out_valid) {
                Event &event = events[done++];
                event.became.resize(sizeof top.out_data / sizeof(std::uint32_t));
                std::memcpy(event.became.data(), &top.out_data, sizeof top.out_data);
                event.done = now;
                waited = 0;
            }
            edge();
        }
        top.skip = 0;
        return true;
    }

    // What is in a register; nothing if the circuit answers with an error.
    std::optional<std::uint32_t> read(unsigned offset) {
        return Bus<Vtop>(top, [this] { edge(); }).read(offset);
    }

    // Lets the clock go on to a time; the flows that the calendar wakes. False: the circuit does not answer.
    bool reach(std::uint64_t time, std::vector<Woken> &woken) {
        if (!until([this] { return top.idle; }))
            return false;
        while (const auto entry = moments.take(time)) {
            skip_to(entry->first);
            edge();
            top.skip = 0;
            if (!until([this] { return top.woken_valid; }))
                return false;
            Woken flow{Words((id_bits + 31) / 32), top.woken_timer, top.woken_at, entry->second};
            std::memcpy(flow.id.data(), &top.woken_id,
                        std::min(sizeof top.woken_id, flow.id.size() * sizeof(std::uint32_t)));
            woken.push_back(flow);
            edge();
        }
        return true;
    }

  private:
    // The clock never goes back.
    void skip_to(std::uint64_t time) {
        top.skip = time > top.clock;
        if (top.skip)
            top.clock = time;
    }

    // Lets cycles pass until something is so, before an edge.
    template <typename So> bool until(const So &so) {
        for (long waited = 0; waited < patience; waited++) {
            top.clk = 0;
            top.eval();
            if (so())
                return true;
            edge();
        }
        return false;
    }

    void edge() {
        top.clk = 0;
        top.eval();
        if (!top.rst)
            moments.note(top);
        top.clk = 1;
        top.eval();
        now++;
    }

    Vtop top;
    Moments moments;
    long now = 0;
};

Words empty() {
    return Words(sizeof(Vtop::in_data) / sizeof(std::uint32_t));
}

std::uint64_t get(const Words &words, unsigned from, unsigned bits) {
    std::uint64_t value = 0;
    for (unsigned bit = 0; bit < bits; bit++)
        value |= std::uint64_t{words[(from + bit) / 32] >> (from + bit) % 32 & 1} << bit;
    return value;
}

// Writes other bits in place of those that are there.
void put(Words &words, unsigned from, unsigned bits, std::uint64_t value) {
    for (unsigned bit = 0; bit < bits && bit < 64; bit++) {
        std::uint32_t &word = words[(from + bit) / 32];
        const std::uint32_t one = std::uint32_t{1} << (from + bit) % 32;
        word = value >> bit & 1 ? word | one : word & ~one;
    }
}

bool is_timer(unsigned chain) {
    return std::find(timer_chains.begin(), timer_chains.end(), chain) != timer_chains.end();
}

// The event of a timer, with what is around an event of this time.
Words event_of(const Woken &flow, const Words &around, std::uint64_t time) {
    Words words = around;
    put(words, chain_at, 8, timer_chains[flow.timer]);
    put(words, named_at, 1, 1);
    for (unsigned bit = 0; bit < id_bits; bit++)
        put(words, id_at + bit, 1, get(flow.id, bit, 1));
    put(words, event_at, 8, flow.timer);
    put(words, event_at + 8, 56, flow.at);
    put(words, now_at, 64, time);
    return words;
}

// A comparison: a circuit, the events that it was given if they are kept, and the flows that its calendar woke.
class Comparison {
  public:
    explicit Comparison(bool kept) : kept(kept) {
    }

    int run(const std::uint32_t *given, std::uint64_t time, std::uint32_t *became) {
        const Words words(given, given + empty().size());
        now = std::max(now, time);
        if (!circuit.reach(now, woken))
            return silent;
        const unsigned chain = static_cast<unsigned>(get(words, chain_at, 8));
        return is_timer(chain) ? wake(words, time, became) : exchange(words, became);
    }

    bool same_at_once() const {
        std::vector<Event> again = all;
        Circuit together;
        if (!together.run(again))
            return false;
        for (std::size_t i = 0; i < again.size(); i++)
            if (again[i].became != all[i].became)
                return false;
        return true;
    }

  private:
    int exchange(const Words &given, std::uint32_t *became) {
        std::vector<Event> one(1);
        one[0].given = given;
        one[0].time = now;
        if (!circuit.run(one))
            return silent;
        std::copy(one[0].became.begin(), one[0].became.end(), became);
        ran = get(one[0].became, ran_at, 1) != 0;
        if (kept)
            all.push_back(one[0]);
        return 0;
    }

    // Gives the circuit the event of a flow that is awake; whether a timer fires.
    int exchange(const Woken &flow, const Words &around, std::uint64_t time, std::uint32_t *became, bool &fires) {
        const int code = exchange(event_of(flow, around, time), became);
        fires = code == 0 && ran;
        return code;
    }

    // A timer fires elsewhere: does it here, and none that was due before?
    int wake(const Words &given, std::uint64_t time, std::uint32_t *became) {
        const auto asked = [&](const Woken &flow) {
            bool same = flow.timer == get(given, event_at, 8);
            for (unsigned bit = 0; bit < id_bits; bit++)
                same = same && get(flow.id, bit, 1) == get(given, id_at + bit, 1);
            return same;
        };
        for (auto found = woken.begin(); (found = std::find_if(found, woken.end(), asked)) != woken.end();) {
            const Woken flow = *found;
            woken.erase(found);
            if (const int code = before(flow.wanted, given))
                return code;
            bool fires = false;
            const int code = exchange(flow, given, time, became, fires);
            if (code != 0 || fires)
                return code;
            found = woken.begin();
        }
        return fires_elsewhere_only;
    }

    // No timer fires of the flows that woke for a moment before this one: those have fired, or do not run any more.
    int before(std::uint64_t wanted, const Words &around) {
        const auto later = [wanted](const Woken &flow) { return flow.wanted >= wanted; };
        const auto first = std::stable_partition(woken.begin(), woken.end(), later);
        const std::vector<Woken> others(first, woken.end());
        woken.erase(first, woken.end());
        Words unused(sizeof(Vtop::out_data) / sizeof(std::uint32_t));
        for (const Woken &flow : others) {
            bool fires = false;
            if (const int code = exchange(flow, around, wanted - 1, unused.data(), fires))
                return code;
            if (fires)
                return fires_here_only;
        }
        return 0;
    }

    Circuit circuit;
    bool kept;
    std::vector<Event> all;
    std::vector<Woken> woken;
    std::uint64_t now = 0;
    // whether the last event's chain ran
    bool ran = false;
};

// Events of a chain, of these flows.
std::vector<Event> events_of(unsigned chain, const std::function<std::uint64_t(std::size_t)> &flow) {
    std::vector<Event> events(many);
    for (std::size_t i = 0; i < many; i++) {
        events[i].given = empty();
        put(events[i].given, chain_at, 8, chain);
        put(events[i].given, named_at, 1, 1);
        put(events[i].given, id_at, id_bits, flow(i));
    }
    return events;
}

// Cycles between two events of a chain where they follow each other at once.
double interval(unsigned chain, const std::function<std::uint64_t(std::size_t)> &flow) {
    std::vector<Event> events = events_of(chain, flow);
    Circuit circuit;
    if (!circuit.run(events))
        return -1;
    return static_cast<double>(events[many - 1].done - events[0].done) / (many - 1);
}

long latency() {
    std::vector<Event> one(1);
    one[0].given = empty();
    Circuit circuit;
    circuit.run(one);
    circuit.run(one);
    return one[0].done - one[0].begun;
}

int cycles() {
    std::printf("%ld cycles from an event's arrival to its end\n\n", latency());
    std::printf("%-20s %s\n%-20s %14s %14s\n", "", "cycles between events", "chain", "distinct flows", "one flow");
    for (unsigned chain = 0; chain < chains; chain++) {
        const double distinct = interval(chain, [](std::size_t i) { return i + 1; });
        const double one = interval(chain, [](std::size_t) { return 1; });
        std::printf("%-20s %14.2f %14.2f\n", chain_names[chain], distinct, one);
    }
    return 0;
}

// Prints the registers after events of the first chain. Not 0: an address that has a register gives an error, or one
// that has none does not.
int registers_after_events() {
    std::vector<Event> events = events_of(0, [](std::size_t i) { return i + 1; });
    Circuit circuit;
    if (!circuit.run(events))
        return 1;
    std::size_t next = 0;
    for (unsigned offset = 0; offset < register_space; offset += 4) {
        const std::optional<std::uint32_t> value = circuit.read(offset);
        const bool listed = next < registers.size() && registers[next].offset == offset;
        if (listed != value.has_value()) {
            std::fprintf(stderr, "0x%03x: %s\n", offset, listed ? "no answer" : "a register that is not listed");
            return 1;
        }
        if (listed)
            std::printf("0x%03x %-24s 0x%08x\n", offset, registers[next++].name, *value);
    }
    return 0;
}

} // namespace

// If events are kept, the circuit gets all of them again at the end.
extern "C" Comparison *circuit_begin(int kept) {
    return new Comparison(kept != 0);
}

// What becomes of an event at a time in nanoseconds. Not 0: why nothing does.
extern "C" int circuit_run(Comparison *comparison, const std::uint32_t *given, std::uint64_t time,
                           std::uint32_t *became) {
    return comparison->run(given, time, became);
}

// Not 0: something else became of the events where they follow each other at once.
extern "C" int circuit_end(Comparison *comparison) {
    const std::unique_ptr<Comparison> ended(comparison);
    return ended->same_at_once() ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc > 1 && std::strcmp(argv[1], "--registers") == 0)
        return registers_after_events();
    return cycles();
}
