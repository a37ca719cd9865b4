// SPDX-License-Identifier: MIT OR Apache-2.0
// A manager on the bus of a circuit that Verilator simulates: it reads and writes registers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

template <typename Top> class Bus {
  public:
    // `cycle` lets a clock cycle pass.
    Bus(Top &top, std::function<void()> cycle) : top(top), cycle(std::move(cycle)) {}

    // What is in a register; nothing if the circuit answers with an error, or does not answer.
    std::optional<std::uint32_t> read(unsigned offset) {
        top.s_axil_araddr = static_cast<std::uint16_t>(offset);
        top.s_axil_arvalid = 1;
        top.s_axil_rready = 1;
        for (long waited = 0; waited < longest; waited++) {
            top.clk = 0;
            top.eval();
            const bool taken = top.s_axil_arready;
            const bool answered = top.s_axil_rvalid;
            const bool fine = top.s_axil_rresp == 0;
            const std::uint32_t data = top.s_axil_rdata;
            cycle();
            if (taken)
                top.s_axil_arvalid = 0;
            if (answered)
                return fine ? std::optional<std::uint32_t>(data) : std::nullopt;
        }
        return {};
    }

    // Writes a register; whether the circuit took it.
    bool write(unsigned offset, std::uint32_t data) {
        top.s_axil_awaddr = static_cast<std::uint16_t>(offset);
        top.s_axil_wdata = data;
        top.s_axil_wstrb = 15;
        top.s_axil_awvalid = top.s_axil_wvalid = top.s_axil_bready = 1;
        for (long waited = 0; waited < longest; waited++) {
            top.clk = 0;
            top.eval();
            const bool taken = top.s_axil_awready && top.s_axil_wready;
            const bool answered = top.s_axil_bvalid;
            const bool fine = top.s_axil_bresp == 0;
            cycle();
            if (taken)
                top.s_axil_awvalid = top.s_axil_wvalid = 0;
            if (answered)
                return fine;
        }
        return false;
    }

  private:
    static constexpr long longest = 100;

    Top &top;
    std::function<void()> cycle;
};
