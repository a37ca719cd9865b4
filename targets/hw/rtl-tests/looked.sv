// SPDX-License-Identifier: MIT OR Apache-2.0
// The session table with the hash of the id that is looked up, as in the shell.
module looked (
    input  logic        clk,
    input  logic        rst,
    output logic        ready,
    input  logic        look,
    input  logic [31:0] look_id,
    input  logic        look_slot,
    input  logic [1:0]  look_table,
    // the row that is read, if it is not that of the id
    input  logic [5:0]  look_row,
    output logic        seen,
    output logic        seen_found,
    output logic [7:0]  seen_slot,
    output logic [63:0] seen_entry,
    input  logic        write,
    input  logic        write_used,
    input  logic [7:0]  write_slot,
    input  logic [63:0] write_entry,
    input  logic        add,
    input  logic [63:0] add_entry,
    output logic        added,
    output logic        added_full,
    output logic        added_new,
    output logic        swap,
    output logic [7:0]  swap_slot
);
    logic [23:0] look_rows, rows;

    assign look_rows = look_slot ? {4{look_row}} : rows;

    id_hash #(
        .ID(32),
        .ROW_BITS(6)
    ) hash (
        .id(look_id),
        .rows(rows)
    );

    session_table #(
        .ID(32),
        .CTX(64),
        .ROW_BITS(6)
    ) flows (
        .*
    );
endmodule
