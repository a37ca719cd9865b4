// SPDX-License-Identifier: MIT OR Apache-2.0
// Rows of block memory with two ports: one reads, the other one reads or writes.
module timer_memory #(
    parameter int WIDTH = 72,
    parameter int ROW_BITS = 12
) (
    input  logic                clk,
    input  logic [ROW_BITS-1:0] check_row,
    output logic [WIDTH-1:0]    check_data,
    input  logic [ROW_BITS-1:0] row,
    output logic [WIDTH-1:0]    data,
    input  logic                write,
    input  logic [WIDTH-1:0]    write_data
);
    logic [WIDTH-1:0] rows[1 << ROW_BITS];

    always_ff @(posedge clk) check_data <= rows[check_row];

    always_ff @(posedge clk) begin
        if (write) rows[row] <= write_data;
        else data <= rows[row];
    end
endmodule
