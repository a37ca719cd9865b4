// SPDX-License-Identifier: MIT OR Apache-2.0
// The contexts of all flows, found by id: a cuckoo hash table of four tables. An id has one row in each.
//
// A lookup begins in each cycle, and its result is there two cycles later. A write of a row that a lookup found takes one cycle.
// An entry is added while no lookup is under way. Where its four rows are occupied, it takes the row of another entry, which goes
// to one of its own other rows, and so on. After MOVES such moves the table is full: all moves are undone, in reverse.
//
// An entry is a context as the pipelines have it: its id is its most significant bits.
module session_table #(
    parameter int ID = 96,
    parameter int CTX = 256,
    parameter int ROW_BITS = 10,
    parameter int MOVES = 64,
    // whether a reset empties the rows: those of a simulation are empty when it begins
    parameter bit CLEARS = 1'b1
) (
    input  logic                     clk,
    input  logic                     rst,
    // low while the table is emptied after a reset
    output logic                     ready,
    input  logic                     look,
    input  logic [ID-1:0]            look_id,
    input  logic [4*ROW_BITS-1:0]    look_rows,
    // what is in a row of this table, whatever its id
    input  logic                     look_slot,
    input  logic [1:0]               look_table,
    output logic                     seen,
    output logic                     seen_found,
    output logic [ROW_BITS+1:0]      seen_slot,
    output logic [CTX-1:0]           seen_entry,
    // writes a slot, or empties it
    input  logic                     write,
    input  logic                     write_used,
    input  logic [ROW_BITS+1:0]      write_slot,
    input  logic [CTX-1:0]           write_entry,
    // adds an entry unless its id is there; held until `added`
    input  logic                     add,
    input  logic [CTX-1:0]           add_entry,
    output logic                     added,
    output logic                     added_full,
    // its id was not there
    output logic                     added_new,
    // the entry in hand and that of a slot change places
    output logic                     swap,
    output logic [ROW_BITS+1:0]      swap_slot
);
    localparam int COUNT_BITS = $clog2(MOVES + 1);
    typedef enum logic [2:0] {CLEAR, IDLE, READ, CHOOSE, UNDO_READ, UNDO} state_t;
    state_t state;

    logic [ROW_BITS-1:0]      clear_row;
    logic [4*ROW_BITS-1:0] hand_rows, read_rows, compared_rows, put_rows;
    logic [CTX-1:0]           hand;
    logic [1:0]               last, draw;
    logic [15:0]              random;
    logic [2*MOVES-1:0]       path;
    logic [COUNT_BITS-1:0]    moves;

    logic                     first, first_slot, adding;
    logic [1:0]               first_table;
    logic [ID-1:0]            first_id, compared_id;
    logic [4*(CTX+1)-1:0]     data;
    logic [3:0]               used, hit, put;
    logic [1:0]               hit_table, free_table, put_table, other;
    logic [CTX-1:0]           hit_entry, put_entry, put_old;
    logic                     put_used, full;

    id_hash #(
        .ID(ID),
        .ROW_BITS(ROW_BITS)
    ) hash_of_hand (
        .id(hand[CTX-1-:ID]),
        .rows(hand_rows)
    );

    assign ready       = state != CLEAR;
    assign adding      = state != IDLE && state != CLEAR;
    assign read_rows   = adding ? hand_rows : look_rows;
    assign compared_id = adding ? hand[CTX-1-:ID] : first_id;

    // The rows that were read: which one has the id, and which one is free.
    always_comb begin
        hit_table  = '0;
        free_table = '0;
        hit_entry  = '0;
        for (int t = 3; t >= 0; t--) begin
            used[t] = data[t*(CTX+1)+CTX];
            hit[t]  = used[t] && (first_slot && !adding ? first_table == 2'(t) : data[t*(CTX+1)+CTX-1-:ID] == compared_id);
            if (hit[t]) begin
                hit_table = 2'(t);
                hit_entry |= data[t*(CTX+1)+:CTX];
            end
            if (!used[t]) free_table = 2'(t);
        end
    end

    // Another table than the last, so that an entry does not go back at once.
    assign draw      = random[1:0];
    assign other     = draw == last ? draw + 2'd1 + {1'b0, random[2]} : draw;
    assign full      = moves == COUNT_BITS'(MOVES);
    assign put_table = state == UNDO ? path[1:0] : (used == '1) ? other : free_table;
    assign put_old   = data[put_table*(CTX+1)+:CTX];
    assign swap      = state == UNDO || (state == CHOOSE && hit == '0 && !(used == '1 && full));
    assign swap_slot = {put_table, hand_rows[put_table*ROW_BITS+:ROW_BITS]};

    // One write a cycle: of the hand, of a chain's context, or of an empty row.
    always_comb begin
        put       = '0;
        put_used  = 1'b1;
        put_entry = hand;
        put_rows  = hand_rows;
        if (state == CLEAR) begin
            put      = '1;
            put_used = 1'b0;
            put_rows = {4{clear_row}};
        end else if (swap) begin
            put[put_table] = 1'b1;
        end else if (write) begin
            put[write_slot[ROW_BITS+1-:2]] = 1'b1;
            put_used                       = write_used;
            put_entry                      = write_entry;
            put_rows                       = {4{write_slot[ROW_BITS-1:0]}};
        end
    end

    for (genvar t = 0; t < 4; t++) begin : g_table
        row_memory #(
            .WIDTH(CTX + 1),
            .ROW_BITS(ROW_BITS)
        ) memory (
            .clk(clk),
            .read_row(read_rows[t*ROW_BITS+:ROW_BITS]),
            .read_data(data[t*(CTX+1)+:CTX+1]),
            .write(put[t]),
            .write_row(put_rows[t*ROW_BITS+:ROW_BITS]),
            .write_data({put_used, put_entry})
        );
    end

    // The lookups.
    always_ff @(posedge clk) begin
        first         <= look && !rst;
        first_id      <= look_id;
        first_slot    <= look_slot;
        first_table   <= look_table;
        compared_rows <= look_rows;
        seen          <= first && !rst;
        seen_found    <= hit != '0;
        seen_slot     <= {hit_table, compared_rows[hit_table*ROW_BITS+:ROW_BITS]};
        seen_entry    <= hit_entry;
    end

    assign added      = (state == CHOOSE && (hit != '0 || used != '1)) || (state == UNDO_READ && moves == '0);
    assign added_full = state == UNDO_READ;
    assign added_new  = state == CHOOSE && hit == '0 && used != '1;

    always_ff @(posedge clk) begin
        random <= {random[14:0], random[15] ^ random[13] ^ random[12] ^ random[10]};
        case (state)
            CLEAR: begin
                clear_row <= clear_row + 1'b1;
                if (clear_row == '1) state <= IDLE;
            end
            IDLE: begin
                hand  <= add_entry;
                moves <= '0;
                last  <= '0;
                if (add && !look && !first) state <= READ;
            end
            READ: state <= CHOOSE;
            CHOOSE:
            if (added) state <= IDLE;
            else if (full) state <= UNDO_READ;
            else begin
                hand  <= put_old;
                path  <= {path[2*MOVES-3:0], put_table};
                last  <= put_table;
                moves <= moves + 1'b1;
                state <= READ;
            end
            UNDO_READ: state <= moves == '0 ? IDLE : UNDO;
            UNDO: begin
                hand  <= put_old;
                path  <= path >> 2;
                moves <= moves - 1'b1;
                state <= UNDO_READ;
            end
            default: state <= IDLE;
        endcase
        if (rst) begin
            state     <= CLEARS ? CLEAR : IDLE;
            clear_row <= '0;
            random    <= 16'h1;
        end
    end
endmodule
