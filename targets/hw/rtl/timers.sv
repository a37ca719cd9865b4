// SPDX-License-Identifier: MIT OR Apache-2.0
// Between the shell and the calendar. What a chain says of its timers becomes requests, one in each cycle: its result leaves when all
// are queued. What the calendar has for the present moment wakes a flow.
//
// The clock counts nanoseconds; a tick of the calendar is 2^TICK_BITS of them. A moment within a tick is the end of this tick.
module timers #(
    parameter int ID = 96,
    parameter int TIMERS = 1,
    parameter int TIME = 56,
    parameter int TICK_BITS = 6,
    parameter int ROW_BITS = 12,
    parameter int QUEUE_BITS = 4,
    parameter bit CLEARS = 1'b1
) (
    input  logic                      clk,
    input  logic                      rst,
    // of a chain: for each timer, whether the calendar gets it, the moment; whether it no longer has it, of which moment
    input  logic                      result_valid,
    input  logic                      result_leaves,
    input  logic [ID-1:0]             result_id,
    input  logic [TIMERS-1:0]         result_starts,
    input  logic [2*TIME*TIMERS-1:0]  result_timers,
    input  logic [TIMERS-1:0]         result_stops,
    input  logic [TIME*TIMERS-1:0]    result_cancels,
    output logic                      settled,
    // the clock, which may skip moments while all requests are carried out
    input  logic [TIME-1:0]           clock,
    input  logic                      skip,
    output logic                      idle,
    // the flow of a timer wakes, and for which moment
    output logic                      woken_valid,
    input  logic                      woken_ready,
    output logic [ID-1:0]             woken_id,
    output logic [7:0]                woken_timer,
    output logic [TIME-1:0]           woken_at,
    // the calendar has an entry more, or less: of this moment, which was wanted for that
    output logic                      set_valid,
    output logic                      cleared_valid,
    output logic [TIME-1:0]           set_moment,
    output logic [TIME-1:0]           set_wanted,
    // timers for which the calendar had no row
    output logic [31:0]               timers_dropped
);
    localparam int DATA = ID + 8;
    localparam int Requests = 2 * TIMERS;

    logic [Requests-1:0] open, sent;
    logic put, put_ready, put_stop, request_valid, request_stop, ready, blocked, unused_ready;
    logic done, done_well, done_stop, fired;
    logic [TIME-1:0] put_time, put_moment, request_moment, fired_moment, unused_now;
    logic [DATA-1:0] request_data, fired_data;
    logic [7:0] put_timer;
    logic [31:0] unused_a, unused_b;

    // Timers that leave the calendar are before those that enter it.
    always_comb begin
        for (int n = 0; n < TIMERS; n++) begin
            open[n]        = result_stops[n] && !sent[n];
            open[TIMERS+n] = result_starts[n] && !sent[TIMERS+n];
        end
        put_time  = '0;
        put_timer = '0;
        for (int n = TIMERS - 1; n >= 0; n--)
            if (open[TIMERS+n]) begin
                put_timer = 8'(n);
                put_time  = result_timers[2*n*TIME+:TIME];
            end
        for (int n = TIMERS - 1; n >= 0; n--)
            if (open[n]) begin
                put_timer = 8'(n);
                put_time  = result_cancels[n*TIME+:TIME];
            end
    end

    assign settled    = open == '0;
    assign put        = result_valid && !settled;
    assign put_stop   = open[TIMERS-1:0] != '0;
    assign put_moment = (put_time >> TICK_BITS) + TIME'((put_time & TIME'((1 << TICK_BITS) - 1)) != '0);

    always_ff @(posedge clk) begin
        if (rst || result_leaves) sent <= '0;
        else if (put && put_ready) sent <= sent | (open & (~open + 1'b1));
    end

    fifo #(
        .WIDTH(1 + TIME + DATA),
        .DEPTH_BITS(QUEUE_BITS)
    ) requests (
        .clk(clk),
        .rst(rst),
        .in_valid(put),
        .in_ready(put_ready),
        .in_data({put_stop, put_moment, put_timer, result_id}),
        .out_valid(request_valid),
        .out_ready(ready),
        .out_data({request_stop, request_moment, request_data}),
        .dropped(unused_a)
    );

    calendar #(
        .TIME(TIME),
        .DATA(DATA),
        .ROW_BITS(ROW_BITS),
        .CLEARS(CLEARS)
    ) calendar (
        .clk(clk),
        .rst(rst),
        .clock(clock >> TICK_BITS),
        .hold(blocked),
        .skip(skip),
        .now(unused_now),
        .ready(ready),
        .start(request_valid && !request_stop),
        .stop(request_valid && request_stop),
        .moment(request_moment),
        .data(request_data),
        .done(done),
        .done_well(done_well),
        .done_stop(done_stop),
        .done_wanted(set_wanted),
        .done_moment(set_moment),
        .fired(fired),
        .fired_moment(fired_moment),
        .fired_data(fired_data)
    );

    assign idle          = ready && !request_valid && !done && !put;
    assign set_valid     = done && done_well && !done_stop;
    assign cleared_valid = done && done_well && done_stop;

    always_ff @(posedge clk) begin
        if (rst) timers_dropped <= '0;
        else if (done && !done_well && !done_stop) timers_dropped <= timers_dropped + 1'b1;
    end

    // Time stands still while a flow that wakes waits, so the queue has a place for each one that fires.
    assign blocked = woken_valid && !woken_ready;
    fifo #(
        .WIDTH(TIME + DATA),
        .DEPTH_BITS(3)
    ) woken (
        .clk(clk),
        .rst(rst),
        .in_valid(fired),
        .in_ready(unused_ready),
        .in_data({fired_moment << TICK_BITS, fired_data}),
        .out_valid(woken_valid),
        .out_ready(woken_ready),
        .out_data({woken_at, woken_timer, woken_id}),
        .dropped(unused_b)
    );

    logic unused;
    assign unused = &{1'b0, unused_now, unused_a, unused_b, unused_ready, result_timers};
endmodule
