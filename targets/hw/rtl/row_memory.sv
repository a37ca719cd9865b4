// SPDX-License-Identifier: MIT OR Apache-2.0
// Rows of block memory with a port to read and a port to write. A row that is read while it is written has its old value.
module row_memory #(
    parameter int WIDTH = 512,
    parameter int ROW_BITS = 10
) (
    input  logic                clk,
    input  logic [ROW_BITS-1:0] read_row,
    output logic [WIDTH-1:0]    read_data,
    input  logic                write,
    input  logic [ROW_BITS-1:0] write_row,
    input  logic [WIDTH-1:0]    write_data
);
    logic [WIDTH-1:0] rows[1 << ROW_BITS];

    always_ff @(posedge clk) begin
        read_data <= rows[read_row];
        if (write) rows[write_row] <= write_data;
    end
endmodule
