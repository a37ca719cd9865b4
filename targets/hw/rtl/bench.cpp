// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs a program's circuit.
//
// As a library it takes events, one after the other, and gives what became of each, both as the words of the ports, the
// least significant first. At the end it gives the same events to a circuit after a reset, one in each cycle in which
// the circuit takes one: what becomes of them must be the same.
//
// As a process, ./circuit --cycles, it measures how often events begin, of distinct flows and of one flow.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "Vtop.h"
#include "ports.h"
#include "verilated.h"

namespace {

// Cycles after which a circuit that does not answer is broken.
constexpr long patience = 20'000;
// Events of a measurement.
constexpr std::size_t many = 1000;

using Words = std::vector<std::uint32_t>;

struct Event {
    Words given;
    Words became;
    long begun = 0;
    long done = 0;
};

class Circuit {
  public:
    Circuit() {
        top.rst = 1;
        top.in_valid = 0;
        top.out_ready = 1;
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
        return true;
    }

  private:
    void edge() {
        top.clk = 0;
        top.eval();
        top.clk = 1;
        top.eval();
        now++;
    }

    Vtop top;
    long now = 0;
};

Words empty() {
    return Words(sizeof(Vtop::in_data) / sizeof(std::uint32_t));
}

// A comparison: a circuit, and all that it was given.
struct Comparison {
    Circuit circuit;
    std::vector<Event> all;
};

void put(Words &words, unsigned from, unsigned bits, std::uint64_t value) {
    for (unsigned bit = 0; bit < bits && bit < 64; bit++)
        if (value >> bit & 1)
            words[(from + bit) / 32] |= 1U << (from + bit) % 32;
}

// Cycles between two events of a chain where they follow each other at once.
double interval(unsigned chain, const std::function<std::uint64_t(std::size_t)> &flow) {
    std::vector<Event> events(many);
    for (std::size_t i = 0; i < many; i++) {
        events[i].given = empty();
        put(events[i].given, chain_at, 8, chain);
        put(events[i].given, named_at, 1, 1);
        put(events[i].given, id_at, id_bits, flow(i));
    }
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

} // namespace

extern "C" Comparison *circuit_begin() {
    return new Comparison;
}

// What becomes of an event. Not 0: the circuit does not answer.
extern "C" int circuit_run(Comparison *comparison, const std::uint32_t *given, std::uint32_t *became) {
    std::vector<Event> one(1);
    one[0].given.assign(given, given + empty().size());
    if (!comparison->circuit.run(one))
        return 1;
    std::copy(one[0].became.begin(), one[0].became.end(), became);
    comparison->all.push_back(one[0]);
    return 0;
}

// Not 0: something else became of the events where they follow each other at once.
extern "C" int circuit_end(Comparison *comparison) {
    const std::unique_ptr<Comparison> ended(comparison);
    std::vector<Event> again = ended->all;
    Circuit together;
    if (!together.run(again))
        return 1;
    for (std::size_t i = 0; i < again.size(); i++)
        if (again[i].became != ended->all[i].became)
            return 1;
    return 0;
}

int main() {
    return cycles();
}
