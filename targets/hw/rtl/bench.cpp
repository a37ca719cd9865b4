// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs a program's circuit: reads events from standard input and writes what became of them to standard output, both as the words
// of the ports, the least significant first.
#include <cstdio>

#include "Vtop.h"
#include "verilated.h"

namespace {

// Cycles after which a circuit that does not answer is broken.
constexpr int patience = 1000;

void tick(Vtop &top) {
    top.clk = 0;
    top.eval();
    top.clk = 1;
    top.eval();
}

bool run(Vtop &top) {
    top.in_valid = 1;
    tick(top);
    top.in_valid = 0;
    for (int cycle = 0; cycle < patience; cycle++) {
        tick(top);
        if (top.out_valid)
            return true;
    }
    return false;
}

} // namespace

int main() {
    Vtop top;
    top.rst = 1;
    top.in_valid = 0;
    for (int cycle = 0; cycle < 16; cycle++)
        tick(top);
    top.rst = 0;
    tick(top);
    while (std::fread(&top.in_data, sizeof top.in_data, 1, stdin) == 1) {
        if (!run(top)) {
            std::fputs("the circuit does not answer\n", stderr);
            return 1;
        }
        std::fwrite(&top.out_data, sizeof top.out_data, 1, stdout);
        std::fflush(stdout);
        // The event after this one begins where the shell is idle again.
        tick(top);
    }
    return 0;
}
