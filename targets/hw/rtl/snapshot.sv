// SPDX-License-Identifier: MIT OR Apache-2.0
// Snapshots: packets that show the context of a flow after an event, for people who debug a program. Registers say of which events.
//
// A snapshot is an Ethernet frame of whole beats, all numbers in network order:
//
//   destination ff:ff:ff:ff:ff:ff, source 02:00:00:00:00:00, type 88b5 (IEEE 802, for local experiments)
//   8 bits   version, 1
//   8 bits   0: the flow has a context; 1: the event made it; 2: the event ended it
//   64 bits  the clock, in nanoseconds
//   32 bits  number of the snapshot; of those that are dropped there is none, so a gap shows them
//   8 bits   number of the event's chain
//   24 bits  0
//   the event, and the context with its timers, each with zeros in front of it up to a whole beat
//
// A snapshot for which the queue has no place is dropped and counted. Events never wait for snapshots.
module snapshot #(
    parameter int ID = 96,
    parameter int CTX = 256,
    parameter int EVENT = 64,
    // events under way, and snapshots that wait
    parameter int FLIGHT_BITS = 4,
    parameter int QUEUE_BITS = 2
) (
    input  logic             clk,
    input  logic             rst,
    input  logic [55:0]      clock,
    // of which events: none (0), all (1), those of one flow (2); each n-th of them
    input  logic [1:0]       mode,
    input  logic [ID-1:0]    flow,
    input  logic [31:0]      every,
    // an event enters its chain
    input  logic             run_valid,
    input  logic [7:0]       run_chain,
    input  logic [EVENT-1:0] run_event,
    // the oldest event leaves; whether its chain ran, its flow had a context, that ends, an instance was made. An instance that
    // the chain of another flow makes is first seen at its own first event.
    input  logic             leave,
    input  logic             leave_ran,
    input  logic             leave_found,
    input  logic             leave_gone,
    input  logic             leave_made,
    input  logic [CTX-1:0]   leave_context,
    input  logic [CTX-1:0]   leave_instance,
    output logic             snapshot_valid,
    input  logic             snapshot_ready,
    output logic [63:0]      snapshot_data,
    output logic             snapshot_last,
    output logic [31:0]      snapshots_sent,
    output logic [31:0]      snapshots_dropped
);
    localparam int EventBeats = (EVENT + 63) / 64;
    localparam int ContextBeats = (CTX + 63) / 64;
    localparam int Beats = 4 + EventBeats + ContextBeats;
    localparam int BeatBits = $clog2(Beats);
    localparam int Entry = 3 + 56 + 32 + 8 + EVENT + CTX;
    localparam logic [1:0] OfAll = 2'd1, OfFlow = 2'd2;

    // The event that leaves.
    logic [7:0] chain;
    logic [EVENT-1:0] fields;
    logic [CTX-1:0] context_;
    logic has, chosen, due;
    logic [31:0] passed, number;
    // The oldest snapshot.
    logic [Entry-1:0] oldest;
    logic [2:0] flags;
    logic [55:0] at;
    logic [31:0] number_of;
    logic [7:0] chain_of;
    logic [EVENT-1:0] fields_of;
    logic [CTX-1:0] context_of;
    logic [64*Beats-1:0] frame;
    logic [63:0] beat_data;
    logic [BeatBits-1:0] beat;
    logic unused_valid, unused_ready, unused_place;
    logic [31:0] unused_dropped;

    // Events leave in the order in which they entered, so their fields wait in a queue.
    fifo #(
        .WIDTH(8 + EVENT),
        .DEPTH_BITS(FLIGHT_BITS)
    ) events (
        .clk(clk),
        .rst(rst),
        .in_valid(run_valid),
        .in_ready(unused_ready),
        .in_data({run_chain, run_event}),
        .out_valid(unused_valid),
        .out_ready(leave),
        .out_data({chain, fields}),
        .dropped(unused_dropped)
    );

    assign has      = leave_found || leave_made;
    assign context_ = leave_found ? leave_context : leave_made ? leave_instance : '0;
    assign chosen   = leave && leave_ran && (mode == OfAll || (mode == OfFlow && has && context_[CTX-1-:ID] == flow));
    assign due      = chosen && passed + 1'b1 >= every;

    always_ff @(posedge clk) begin
        if (rst) begin
            passed <= '0;
            number <= '0;
        end else begin
            if (chosen) passed <= due ? '0 : passed + 1'b1;
            if (due) number <= number + 1'b1;
        end
    end

    fifo #(
        .WIDTH(Entry),
        .DEPTH_BITS(QUEUE_BITS),
        .DROPS(1'b1)
    ) queue (
        .clk(clk),
        .rst(rst),
        .in_valid(due),
        .in_ready(unused_place),
        .in_data({leave_found && leave_gone, leave_made && !leave_found, has, clock, number, chain, fields, context_}),
        .out_valid(snapshot_valid),
        .out_ready(snapshot_ready && snapshot_last),
        .out_data(oldest),
        .dropped(snapshots_dropped)
    );

    assign {flags, at, number_of, chain_of, fields_of, context_of} = oldest;
    assign frame = {
        {64'hffff_ffff_ffff_0200, 32'd0, 16'h88b5, 8'd1, 5'd0, flags},
        {8'd0, at, number_of, chain_of, 24'd0},
        (64 * EventBeats)'(fields_of),
        (64 * ContextBeats)'(context_of)
    };
    assign snapshot_last = beat == BeatBits'(Beats - 1);
    // The first byte is in the first lane.
    always_comb begin
        beat_data = '0;
        for (int n = 0; n < Beats; n++) if (beat == BeatBits'(n)) beat_data = frame[64*(Beats-1-n)+:64];
        for (int lane = 0; lane < 8; lane++) snapshot_data[8*lane+:8] = beat_data[63-8*lane-:8];
    end

    always_ff @(posedge clk) begin
        if (rst) begin
            beat           <= '0;
            snapshots_sent <= '0;
        end else if (snapshot_valid && snapshot_ready) begin
            beat           <= snapshot_last ? '0 : beat + 1'b1;
            snapshots_sent <= snapshots_sent + 32'(snapshot_last);
        end
    end

    logic unused;
    assign unused = &{1'b0, unused_valid, unused_ready, unused_place, unused_dropped};
endmodule
