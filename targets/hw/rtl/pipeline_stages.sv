// SPDX-License-Identifier: MIT OR Apache-2.0
// Which stages of a pipeline have an event, and the pipeline's clock.
//
// Registers of a pipeline take a value in each cycle, also without an event: an enable for thousands of registers would be the longest
// path of a stage. Where Verilator simulates a circuit, the clock stops while the pipeline is empty, because most of a simulation's
// time would go to empty pipelines. In a device it is the clock itself. Nothing reads the result of a stage without an event.
module pipeline_stages #(
    parameter int STAGES = 4
) (
    input  logic clk,
    input  logic rst,
    // an event enters the pipeline, and one leaves it
    input  logic enter,
    output logic leave,
    output logic gated
);
    // Of the registers at the pipeline's input, of those between its stages, and of those at its output.
    logic [STAGES:0] busy;

    always_ff @(posedge clk) busy <= rst ? '0 : {busy[STAGES-1:0], enter};
    assign leave = busy[STAGES];

`ifdef VERILATOR
    logic open;
    always_ff @(negedge clk) open <= enter || busy[STAGES-1:0] != '0;
    assign gated = clk && open;
`else
    assign gated = clk;
`endif
endmodule
