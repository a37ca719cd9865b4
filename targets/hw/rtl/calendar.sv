// SPDX-License-Identifier: MIT OR Apache-2.0
// Entries by the moment when they are due, in ticks of a clock: a hash table of four tables, in which a moment has one row each
// (XTRA, section IV-A). In each tick the rows of this moment are read: an entry that is there fires.
//
// No two entries have one moment. Where a moment is taken, or all its rows are, the entry gets the next moment, and so on, one a
// cycle. A row whose moment has passed is free: nothing clears it. Time does not wrap: 56 bits of a nanosecond are two years.
module calendar #(
    parameter int TIME = 56,
    parameter int DATA = 16,
    parameter int ROW_BITS = 12,
    // moments that are tried for an entry, and moments in which an entry is searched that is to go
    parameter int STEPS = 1024,
    parameter int SEARCHED = 64,
    // whether a reset empties the rows: those of a simulation are empty when it begins
    parameter bit CLEARS = 1'b1
) (
    input  logic            clk,
    input  logic            rst,
    // the clock: the moment that `now` goes on to, a tick in each cycle; held: it stays; skip: it is there at once
    input  logic [TIME-1:0] clock,
    input  logic            hold,
    input  logic            skip,
    output logic [TIME-1:0] now,
    // takes a request: no other one is under way
    output logic            ready,
    // adds an entry for a moment, or the first free one behind it
    input  logic            start,
    // removes the entry with this data that was added for this moment
    input  logic            stop,
    input  logic [TIME-1:0] moment,
    input  logic [DATA-1:0] data,
    // the request is carried out: the moment of the entry; false if there is no row for it, or no such entry any more
    output logic            done,
    output logic            done_well,
    output logic            done_stop,
    output logic [TIME-1:0] done_wanted,
    output logic [TIME-1:0] done_moment,
    // the entry of the moment that `now` was two cycles ago
    output logic            fired,
    output logic [TIME-1:0] fired_moment,
    output logic [DATA-1:0] fired_data
);
    localparam int WIDTH = TIME + DATA;
    localparam int STEP_BITS = $clog2(STEPS + 1);
    // From a request to the row that is written, in ticks: what is due sooner might be read before.
    localparam int SOON = 5;
    typedef enum logic [1:0] {CLEAR, IDLE, LOOK, WRITE} state_t;
    state_t state;

    logic [ROW_BITS-1:0]   clear_row;
    logic                  stopping, looked, chosen_well, fresh, check;
    logic [TIME-1:0]       soonest, wanted, tried, chosen, checked;
    logic [DATA-1:0]       put_data;
    logic [STEP_BITS-1:0]  steps;
    logic [4*ROW_BITS-1:0] check_rows, wanted_rows, tried_rows, chosen_rows, rows;
    logic [4*WIDTH-1:0]    check_data, row_data;
    logic [3:0]            same, free, due, own, place, chosen_put;
    logic [DATA-1:0]       due_data;
    logic                  found, last, late;

    id_hash #(
        .ID(TIME),
        .ROW_BITS(ROW_BITS)
    ) hash_of_now (
        .id(now),
        .rows(check_rows)
    );

    id_hash #(
        .ID(TIME),
        .ROW_BITS(ROW_BITS)
    ) hash_of_wanted (
        .id(wanted),
        .rows(wanted_rows)
    );

    assign ready   = state == IDLE;
    assign soonest = now + TIME'(SOON);
    assign late    = moment < soonest;
    assign rows    = state == CLEAR ? {4{clear_row}} : state == WRITE ? chosen_rows : wanted_rows;

    for (genvar t = 0; t < 4; t++) begin : g_table
        timer_memory #(
            .WIDTH(WIDTH),
            .ROW_BITS(ROW_BITS)
        ) memory (
            .clk(clk),
            .check_row(check_rows[t*ROW_BITS+:ROW_BITS]),
            .check_data(check_data[t*WIDTH+:WIDTH]),
            .row(rows[t*ROW_BITS+:ROW_BITS]),
            .data(row_data[t*WIDTH+:WIDTH]),
            .write(state == CLEAR || (state == WRITE && chosen_put[t])),
            .write_data(state == CLEAR || stopping ? '0 : {chosen, put_data})
        );
        assign same[t] = row_data[t*WIDTH+DATA+:TIME] == tried;
        assign own[t]  = same[t] && row_data[t*WIDTH+:DATA] == put_data;
        assign free[t] = row_data[t*WIDTH+DATA+:TIME] < now;
        assign due[t]  = check && check_data[t*WIDTH+DATA+:TIME] == checked;
    end

    always_comb begin
        due_data = '0;
        for (int t = 0; t < 4; t++) if (due[t]) due_data |= check_data[t*WIDTH+:DATA];
    end

    // The row with the entry that is to go, or the first of the free rows.
    assign place = stopping ? own : same == '0 ? free & (~free + 1'b1) : '0;
    assign last  = steps == STEP_BITS'(stopping ? SEARCHED : STEPS);
    assign found = place != '0 || last;

    // A moment is read in each cycle; what is known of it a cycle later decides, and a cycle after that its row is written.
    always_ff @(posedge clk) begin
        done        <= 1'b0;
        tried       <= wanted;
        tried_rows  <= wanted_rows;
        chosen      <= tried;
        chosen_rows <= tried_rows;
        chosen_put  <= place;
        chosen_well <= place != '0;
        looked      <= state == LOOK;
        case (state)
            CLEAR: begin
                clear_row <= clear_row + 1'b1;
                if (clear_row == '1) state <= IDLE;
            end
            IDLE: begin
                stopping    <= stop;
                done_stop   <= stop;
                done_wanted <= moment;
                put_data    <= data;
                steps       <= '0;
                wanted      <= late ? soonest : moment;
                if (start || stop) state <= LOOK;
            end
            LOOK: begin
                wanted <= wanted + 1'b1;
                if (looked) steps <= steps + 1'b1;
                if (looked && found) state <= WRITE;
            end
            WRITE: begin
                done        <= 1'b1;
                done_well   <= chosen_well;
                done_moment <= chosen;
                state       <= IDLE;
            end
        endcase
        if (rst) begin
            state     <= CLEARS ? CLEAR : IDLE;
            clear_row <= '0;
            looked    <= 1'b0;
            done      <= 1'b0;
        end
    end

    // Entries fire. The first moment is not 0, which empty rows have.
    always_ff @(posedge clk) begin
        fresh <= 1'b0;
        if (rst || state == CLEAR) now <= clock == '0 ? TIME'(1) : clock;
        else if (skip) begin
            now   <= clock;
            fresh <= 1'b1;
        end else if (now < clock && !hold) begin
            now   <= now + 1'b1;
            fresh <= 1'b1;
        end
        check        <= fresh && !rst;
        checked      <= now;
        fired        <= due != '0;
        fired_moment <= checked;
        fired_data   <= due_data;
    end
endmodule
