// SPDX-License-Identifier: MIT OR Apache-2.0
// Between streams of packets and the shell. A packet that arrives is written to the store; the parser, a pipeline, makes an event
// of it or says what else becomes of it. What the event's chain issues becomes packets, by the builder. Events of the host go
// before those of packets.
//
// With `carries` low the host carries out what chains issue: results go out as the shell gives them.
module packets #(
    parameter int DATA = 64,
    parameter int STORE_BITS = 11,
    // packets on their way at most, and events
    parameter int FLIGHT_BITS = 4,
    parameter int ORDER_BITS = 6,
    parameter int ID = 96,
    parameter int EVENT = 64,
    parameter int ENV = 64,
    parameter int ARGS = 64,
    parameter int SLOTS = 4,
    parameter int WIDE = 64,
    parameter int WIDES = 1,
    parameter int OUTPUT = 600,
    parameter int WINDOW = 120,
    parameter int LONGEST = 56
) (
    input  logic                            clk,
    input  logic                            rst,
    input  logic                            carries,
    input  logic [15:0]                     mtu,
    // whether the host has a slot for another instance
    input  logic                            space,
    // packets in and out: by which interface they come; by which they leave, and as `packet_out` says
    input  logic                            s_valid,
    output logic                            s_ready,
    input  logic [DATA-1:0]                 s_data,
    input  logic [DATA/8-1:0]               s_keep,
    input  logic                            s_last,
    input  logic [7:0]                      s_user,
    output logic                            m_valid,
    input  logic                            m_ready,
    output logic [DATA-1:0]                 m_data,
    output logic [DATA/8-1:0]               m_keep,
    output logic                            m_last,
    output logic [9:0]                      m_user,
    // what the parser said of a packet; the packet is done with
    output logic                            looked_valid,
    output logic [1:0]                      looked_verdict,
    output logic [7:0]                      looked_why,
    // it fills half of the store or more, and is dropped
    output logic                            looked_long,
    output logic                            packet_done,
    // a packet is not sent, as `packet_out` says
    output logic [2:0]                      unsent,
    // events of the host, and what became of events
    input  logic                            in_valid,
    output logic                            in_ready,
    input  logic [10+ID+EVENT+ENV-1:0]      in_data,
    output logic                            out_valid,
    input  logic                            out_ready,
    // the shell
    output logic                            event_valid,
    input  logic                            event_ready,
    output logic [10+ID+EVENT+ENV-1:0]      event_data,
    input  logic                            result_valid,
    output logic                            result_ready,
    input  logic [OUTPUT-1:0]               result_data,
    // the parser and the builder
    output logic                            parse_valid,
    output logic [8*WINDOW+40-1:0]          parse_data,
    input  logic                            parsed_valid,
    input  logic [83+ID+EVENT+ENV-1:0]      parsed_data,
    output logic                            build_valid,
    output logic [8+ARGS+WIDE+48-1:0]       build_data,
    input  logic                            built_valid,
    input  logic [28+8*LONGEST-1:0]         built_data
);
    localparam int Parsed = 83 + ID + EVENT + ENV;
    localparam int Meta = 2 + STORE_BITS + 64;
    localparam logic [1:0] Pass = 2'd1, Event = 2'd2;

    // packets that arrived
    logic arrived, taken, sizes_ready, is_long, write, unused_parsed_ready;
    logic [8*WINDOW-1:0] octets;
    logic [15:0] len, sum;
    logic [7:0] interface_;
    logic [STORE_BITS-1:0] write_at, read_at, beats, head_beats, meta_beats;
    logic [STORE_BITS:0] used;
    logic [DATA-1:0] write_data, read_data;
    // the oldest that the parser has read
    logic head_valid, head_sizes, head_long, head_named, is_event, go, metas_ready;
    logic [1:0] verdict;
    logic [7:0] why, chain;
    logic [ID-1:0] id;
    logic [EVENT-1:0] fields;
    logic [ENV-1:0] env;
    logic [15:0] total, from, payload, payload_sum;
    // the oldest that is not done with
    logic meta_valid, meta_event, meta_pass, meta_ready;
    logic [15:0] meta_total, meta_from, meta_payload, meta_sum;
    // whether events are of packets
    logic order_ready, order_valid, of_packet, carried;
    logic [31:0] unused_a, unused_b, unused_c, unused_d;

    packet_in #(
        .DATA(DATA),
        .WINDOW(WINDOW),
        .STORE_BITS(STORE_BITS)
    ) packet_in (
        .out_valid(arrived),
        .out_ready(sizes_ready),
        .out_octets(octets),
        .out_len(len),
        .out_sum(sum),
        .out_interface(interface_),
        .out_beats(beats),
        .out_long(is_long),
        .space(!used[STORE_BITS]),
        .*
    );

    row_memory #(
        .WIDTH(DATA),
        .ROW_BITS(STORE_BITS)
    ) store (
        .clk(clk),
        .read_row(read_at),
        .read_data(read_data),
        .write(write),
        .write_row(write_at),
        .write_data(write_data)
    );

    always_ff @(posedge clk) begin
        if (rst) used <= '0;
        else used <= used + (STORE_BITS + 1)'(write) - (meta_ready ? (STORE_BITS + 1)'(meta_beats) : '0);
    end

    assign taken       = arrived && sizes_ready;
    assign parse_valid = taken;
    assign parse_data  = {octets, len, sum, interface_};

    // There is an entry for each packet in the parser, so what it gives has a place.
    fifo #(
        .WIDTH(STORE_BITS + 1),
        .DEPTH_BITS(FLIGHT_BITS)
    ) sizes (
        .clk(clk),
        .rst(rst),
        .in_valid(arrived),
        .in_ready(sizes_ready),
        .in_data({is_long, beats}),
        .out_valid(head_sizes),
        .out_ready(go),
        .out_data({head_long, head_beats}),
        .dropped(unused_a)
    );
    fifo #(
        .WIDTH(Parsed),
        .DEPTH_BITS(FLIGHT_BITS)
    ) parsed (
        .clk(clk),
        .rst(rst),
        .in_valid(parsed_valid),
        .in_ready(unused_parsed_ready),
        .in_data(parsed_data),
        .out_valid(head_valid),
        .out_ready(go),
        .out_data({verdict, why, chain, head_named, id, fields, env, total, from, payload, payload_sum}),
        .dropped(unused_b)
    );

    assign is_event       = verdict == Event && !head_long;
    assign go             = head_valid && metas_ready && (!is_event || (event_ready && order_ready && !in_valid));
    assign looked_valid   = go;
    assign looked_verdict = verdict;
    assign looked_why     = why;
    assign looked_long    = go && head_long;
    assign event_valid    = order_ready && (in_valid || (head_valid && is_event && metas_ready));
    assign event_data     = in_valid ? in_data : {chain, head_named, space, id, fields, env};
    assign in_ready       = event_ready && order_ready;

    fifo #(
        .WIDTH(Meta),
        .DEPTH_BITS(FLIGHT_BITS)
    ) metas (
        .clk(clk),
        .rst(rst),
        .in_valid(go),
        .in_ready(metas_ready),
        .in_data({is_event, verdict == Pass && !head_long, head_beats, total, from, payload, payload_sum}),
        .out_valid(meta_valid),
        .out_ready(meta_ready),
        .out_data({meta_event, meta_pass, meta_beats, meta_total, meta_from, meta_payload, meta_sum}),
        .dropped(unused_c)
    );
    fifo #(
        .WIDTH(1),
        .DEPTH_BITS(ORDER_BITS)
    ) order (
        .clk(clk),
        .rst(rst),
        .in_valid(event_valid && event_ready),
        .in_ready(order_ready),
        .in_data(!in_valid),
        .out_valid(order_valid),
        .out_ready(result_valid && result_ready),
        .out_data(of_packet),
        .dropped(unused_d)
    );

    packet_out #(
        .DATA(DATA),
        .STORE_BITS(STORE_BITS),
        .ARGS(ARGS),
        .SLOTS(SLOTS),
        .WIDE(WIDE),
        .WIDES(WIDES),
        .LONGEST(LONGEST)
    ) packet_out (
        .result_valid(result_valid && order_valid && carries),
        .result_packet(of_packet),
        .result_slots(result_data[SLOTS*(8+ARGS)-1:0]),
        .result_wide(result_data[SLOTS*(8+ARGS)+:WIDES*WIDE]),
        .result_ready(carried),
        .*
    );

    assign packet_done  = meta_ready;
    assign out_valid    = carries ? carried : result_valid;
    assign result_ready = carries ? carried : out_ready;

    logic unused;
    assign unused = &{1'b0, unused_a, unused_b, unused_c, unused_d, unused_parsed_ready, head_sizes, result_data};
endmodule
