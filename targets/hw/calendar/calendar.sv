// SPDX-License-Identifier: MIT OR Apache-2.0
// Timers by the moment when they fire, in ticks of the clock: a hash table of four tables, in which a moment has one row each (XTRA,
// section IV-A). In each tick the rows of this moment are read: a timer that is there fires.
//
// No two timers have one moment. Where a moment is taken, or all its rows are, the timer gets the next moment, and so on, one a tick.
// A row whose moment has passed is free: nothing clears it. Time does not wrap: 56 bits of 5 ns are 11 years.
module calendar #(
    parameter int TIME = 56,
    parameter int DATA = 16,
    parameter int ROW_BITS = 12,
    // moments that are tried for a timer
    parameter int STEPS = 1024
) (
    input  logic            clk,
    input  logic            rst,
    output logic [TIME-1:0] now,
    // takes a request: no other one is under way
    output logic            ready,
    // starts a timer
    input  logic            start,
    input  logic [TIME-1:0] start_delay,
    input  logic [DATA-1:0] start_data,
    // stops the timer of a moment
    input  logic            stop,
    input  logic [TIME-1:0] stop_moment,
    // the request is carried out: when the timer fires, or would have; false if there is no row for it, or no such timer any more
    output logic            done,
    output logic            done_well,
    output logic [TIME-1:0] done_moment,
    // the timer of `now` two ticks ago
    output logic            fired,
    output logic [DATA-1:0] fired_data
);
    localparam int WIDTH = TIME + DATA;
    localparam int STEP_BITS = $clog2(STEPS + 1);
    // From a request to the row that is written, in ticks: what fires sooner might be read before.
    localparam int SOON = 5;
    typedef enum logic [1:0] {CLEAR, IDLE, LOOK, WRITE} state_t;
    state_t state;

    logic [ROW_BITS-1:0]   clear_row;
    logic                  stopping, looked, chosen_well;
    logic [TIME-1:0]       soonest, wanted, tried, chosen, checked;
    logic [DATA-1:0]       put_data;
    logic [STEP_BITS-1:0]  steps;
    logic [4*ROW_BITS-1:0] check_rows, wanted_rows, tried_rows, chosen_rows, rows;
    logic [4*WIDTH-1:0]    check_data, data;
    logic [3:0]            same, free, due, place, chosen_put;
    logic [DATA-1:0]       due_data;
    logic                  found;

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
            .data(data[t*WIDTH+:WIDTH]),
            .write(state == CLEAR || (state == WRITE && chosen_put[t])),
            .write_data(state == CLEAR || stopping ? '0 : {chosen, put_data})
        );
        assign same[t] = data[t*WIDTH+DATA+:TIME] == tried;
        assign free[t] = data[t*WIDTH+DATA+:TIME] < now;
        assign due[t]  = check_data[t*WIDTH+DATA+:TIME] == checked;
    end

    always_comb begin
        due_data = '0;
        for (int t = 0; t < 4; t++) if (due[t]) due_data |= check_data[t*WIDTH+:DATA];
    end

    // The first of the free rows.
    assign place = same == '0 ? free & (~free + 1'b1) : '0;
    assign found = stopping || place != '0 || steps == STEP_BITS'(STEPS);

    // A moment is read in each tick; what is known of it a tick later decides, and a tick after that its row is written.
    always_ff @(posedge clk) begin
        done        <= 1'b0;
        tried       <= wanted;
        tried_rows  <= wanted_rows;
        chosen      <= tried;
        chosen_rows <= tried_rows;
        chosen_put  <= stopping ? same : place;
        chosen_well <= stopping ? same != '0 : place != '0;
        looked      <= state == LOOK;
        case (state)
            CLEAR: begin
                clear_row <= clear_row + 1'b1;
                if (clear_row == '1) state <= IDLE;
            end
            IDLE: begin
                stopping <= stop;
                put_data <= start_data;
                steps    <= '0;
                wanted   <= stop ? stop_moment : start_delay < TIME'(SOON) ? soonest : now + start_delay;
                if (stop && stop_moment < soonest) begin
                    done        <= 1'b1;
                    done_well   <= 1'b0;
                    done_moment <= stop_moment;
                end else if (start || stop) state <= LOOK;
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
            state     <= CLEAR;
            clear_row <= '0;
            looked    <= 1'b0;
            done      <= 1'b0;
        end
    end

    // Timers fire.
    always_ff @(posedge clk) begin
        now        <= state == CLEAR ? TIME'(1) : now + 1'b1;
        checked    <= now;
        fired      <= due != '0;
        fired_data <= due_data;
    end

    logic unused;
    assign unused = &{1'b0, data};
endmodule
