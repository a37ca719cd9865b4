// SPDX-License-Identifier: MIT OR Apache-2.0
// What all testbenches need: a clock, a reset, and checks that end the process.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "verilated.h"

#define CHECK(holds)                                                                                                   \
    do {                                                                                                               \
        if (!(holds)) {                                                                                                \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #holds);                                   \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    } while (0)

// Computes outputs from inputs, within a cycle.
template <typename Module> void settle(Module &module) {
    module.clk = 0;
    module.eval();
}

// Ends a cycle.
template <typename Module> void edge(Module &module) {
    settle(module);
    module.clk = 1;
    module.eval();
}

template <typename Module> void reset(Module &module) {
    module.rst = 1;
    for (int cycle = 0; cycle < 4; cycle++)
        edge(module);
    module.rst = 0;
}
