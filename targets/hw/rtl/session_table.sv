// SPDX-License-Identifier: MIT OR Apache-2.0
// The contexts of all flows, found by id. An id has one bucket, of WAYS entries. A command takes two cycles: the bucket is
// read in the first, compared and changed in the second, in which `done` is high.
//
// An entry is a context as the pipelines have it: its id is its most significant bits.
module session_table #(
    parameter int ID = 96,
    parameter int CTX = 256,
    parameter int BUCKET_BITS = 8,
    parameter int WAYS = 8
) (
    input  logic           clk,
    input  logic           rst,
    input  logic           valid,
    // 0: look up, 1: write an entry that is there, 2: add an entry, 3: remove an entry
    input  logic [1:0]     op,
    input  logic [ID-1:0]  id,
    input  logic [CTX-1:0] entry,
    output logic           done,
    // there is an entry with this id
    output logic           found,
    // an entry was to be added, and its bucket has no free one
    output logic           full,
    output logic [CTX-1:0] result
);
    localparam logic [1:0] WRITE = 2'd1, ADD = 2'd2, REMOVE = 2'd3;
    localparam int BUCKETS = 1 << BUCKET_BITS;

    logic [CTX-1:0]  entries[BUCKETS][WAYS];
    logic [BUCKETS-1:0][WAYS-1:0] used;

    // The exclusive or of the id's parts, each as wide as the number of a bucket.
    function automatic logic [BUCKET_BITS-1:0] bucket_of(input logic [ID-1:0] of);
        bucket_of = '0;
        for (int i = 0; i < ID; i++) bucket_of[i%BUCKET_BITS] ^= of[i];
    endfunction

    logic                   second;
    logic [BUCKET_BITS-1:0] bucket;
    logic [CTX-1:0]         read[WAYS];
    logic [WAYS-1:0]        read_used;
    logic [WAYS-1:0]        hit;
    logic [WAYS-1:0]        free;
    logic [WAYS-1:0]        chosen;

    always_comb begin
        result = '0;
        for (int way = 0; way < WAYS; way++) begin
            hit[way] = read_used[way] && read[way][CTX-1-:ID] == id;
            if (hit[way]) result |= read[way];
        end
    end

    // The lowest free entry.
    assign free   = ~read_used & (read_used + 1'b1);
    assign done   = second;
    assign found  = |hit;
    assign full   = op == ADD && !found && free == '0;
    assign chosen = op == ADD ? (found ? '0 : free) : (op == WRITE || op == REMOVE) ? hit : '0;

    always_ff @(posedge clk) begin
        second <= valid && !second && !rst;
        if (valid && !second) begin
            bucket    <= bucket_of(id);
            read      <= entries[bucket_of(id)];
            read_used <= used[bucket_of(id)];
        end
        if (rst) begin
            used <= '0;
        end else if (second) begin
            for (int way = 0; way < WAYS; way++) begin
                if (chosen[way] && op != REMOVE) entries[bucket][way] <= entry;
            end
            used[bucket] <= op == REMOVE ? read_used & ~chosen : read_used | chosen;
        end
    end
endmodule
