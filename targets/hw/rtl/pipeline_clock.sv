// SPDX-License-Identifier: MIT OR Apache-2.0
// The clock of a pipeline. Where Verilator simulates a circuit, it stops while the pipeline has no event: most of a simulation's
// time would go to empty pipelines. In a device it is the clock itself. Both are the same circuit, because a pipeline's registers
// keep what they have where no event enters their stage.
module pipeline_clock #(
    parameter int STAGES = 4
) (
    input  logic clk,
    input  logic rst,
    // an event enters the pipeline
    input  logic enter,
    output logic gated
);
`ifdef VERILATOR
    // Of the last edges, whether an event entered; the last one is that at which the pipeline's valid output falls.
    logic [STAGES:0] entered;
    logic open;

    always_ff @(posedge clk) entered <= rst ? '0 : {entered[STAGES-1:0], enter};
    always_ff @(negedge clk) open <= rst || enter || entered != '0;
    assign gated = clk && open;
`else
    assign gated = clk;
    logic unused;
    assign unused = &{1'b0, rst, enter, STAGES};
`endif
endmodule
