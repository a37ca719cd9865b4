// SPDX-License-Identifier: MIT OR Apache-2.0
// The rows that an id can be in, one in each of four tables. Each bit of a row is the parity of some bits of the id, chosen by
// pseudo-random constants, so that ids that share a row in one table share none in another.
//
// Ids that differ only within ROW_BITS bits (at a multiple of ROW_BITS) have different rows in each table: there the choice is a
// triangular matrix, in an order of bits that depends on the table and on where in the id they are.
module id_hash #(
    parameter int ID = 96,
    parameter int ROW_BITS = 10
) (
    input  logic [ID-1:0]         id,
    // table 0 in the lowest bits
    output logic [4*ROW_BITS-1:0] rows
);
    function automatic logic [ID-1:0] chosen(input int n);
        logic [31:0] x;
        int place;
        x = 32'h9E3779B9 * (n + 1);
        for (int i = 0; i < ID; i++) begin
            x = x ^ (x << 13);
            x = x ^ (x >> 17);
            x = x ^ (x << 5);
            // The place of the bit in that order: row bit `n` takes it, or those after it by chance.
            place = (i + i / ROW_BITS + n / ROW_BITS) % ROW_BITS;
            chosen[i] = place == n % ROW_BITS || (place > n % ROW_BITS && x[16]);
        end
    endfunction

    for (genvar b = 0; b < 4 * ROW_BITS; b++) begin : g_bit
        localparam logic [ID-1:0] Chosen = chosen(b);
        assign rows[b] = ^(id & Chosen);
    end
endmodule
