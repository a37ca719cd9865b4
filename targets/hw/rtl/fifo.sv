// SPDX-License-Identifier: MIT OR Apache-2.0
// A queue in distributed memory: its oldest entry is at the output before it is taken.
//
// Where DROPS is set, an entry that arrives at a full queue is dropped and counted. Else the queue is not ready while it is full.
module fifo #(
    parameter int WIDTH = 32,
    parameter int DEPTH_BITS = 4,
    parameter bit DROPS = 1'b0
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             in_valid,
    output logic             in_ready,
    input  logic [WIDTH-1:0] in_data,
    output logic             out_valid,
    input  logic             out_ready,
    output logic [WIDTH-1:0] out_data,
    output logic [31:0]      dropped
);
    localparam int DEPTH = 1 << DEPTH_BITS;

    logic [WIDTH-1:0]      entries[DEPTH];
    logic [DEPTH_BITS:0]   count;
    logic [DEPTH_BITS-1:0] first, next;
    logic full, put, take;

    assign full      = count[DEPTH_BITS];
    assign in_ready  = DROPS || !full;
    assign out_valid = count != '0;
    assign out_data  = entries[first];
    assign put       = in_valid && !full;
    assign take      = out_valid && out_ready;

    always_ff @(posedge clk) begin
        if (put) entries[next] <= in_data;
        if (rst) begin
            count   <= '0;
            first   <= '0;
            next    <= '0;
            dropped <= '0;
        end else begin
            count <= count + (DEPTH_BITS + 1)'(put) - (DEPTH_BITS + 1)'(take);
            if (put) next <= next + 1'b1;
            if (take) first <= first + 1'b1;
            if (in_valid && full && DROPS) dropped <= dropped + 1'b1;
        end
    end
endmodule
