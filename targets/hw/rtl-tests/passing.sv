// SPDX-License-Identifier: MIT OR Apache-2.0
// The modules of packets between a parser, a shell and a builder that do next to nothing. A packet's first byte is the parser's
// verdict; the second says what becomes of its event: nothing, dropped, rewritten, unchanged, two new packets, replaced and then
// unchanged, rewritten with a field out of its range. A header that is made has the identification, the length of the payload, and the sum.
module passing #(
    parameter int DATA = 64
) (
    input  logic              clk,
    input  logic              rst,
    input  logic [15:0]       mtu,
    input  logic              s_valid,
    output logic              s_ready,
    input  logic [DATA-1:0]   s_data,
    input  logic [DATA/8-1:0] s_keep,
    input  logic              s_last,
    input  logic [7:0]        s_user,
    output logic              m_valid,
    input  logic              m_ready,
    output logic [DATA-1:0]   m_data,
    output logic [DATA/8-1:0] m_keep,
    output logic              m_last,
    output logic [9:0]        m_user,
    output logic              looked_long,
    output logic [2:0]        unsent,
    output logic              packet_done
);
    localparam int Octets = 16;
    localparam int Made = 24;
    localparam int Input = 10 + 24;

    logic event_valid, event_ready, result_valid, result_ready;
    logic [Input-1:0] event_data;
    logic [39:0] result_data;
    logic parse_valid, parsed_valid, build_valid, built_valid;
    logic [8*Octets+40-1:0] parse_data;
    logic [83+24-1:0] parsed_data;
    logic [71:0] build_data;
    logic [28+8*Made-1:0] built_data;
    logic looked_valid, in_ready, out_valid;
    logic [1:0] looked_verdict;
    logic [7:0] looked_why, interface_, what, site, args, wide;
    logic [15:0] len, sum, identification, payload, payload_sum;
    logic [8*Octets-1:0] octets;
    logic [31:0] unused_dropped;

    packets #(
        .DATA(DATA),
        .STORE_BITS(6),
        .FLIGHT_BITS(2),
        .ORDER_BITS(3),
        .ID(8),
        .EVENT(8),
        .ENV(8),
        .ARGS(8),
        .SLOTS(2),
        .WIDE(8),
        .WIDES(1),
        .OUTPUT(40),
        .WINDOW(Octets),
        .LONGEST(Made)
    ) packets (
        .carries(1'b1),
        .space(1'b1),
        .in_valid(1'b0),
        .in_data('0),
        .out_ready(1'b1),
        .*
    );

    assign {octets, len, sum, interface_} = parse_data;
    assign {site, args, wide, identification, payload, payload_sum} = build_data;
    always_ff @(posedge clk) begin
        parsed_valid <= parse_valid && !rst;
        parsed_data  <= {octets[8*Octets-7-:2], 8'd255, 8'd0, 1'b1, 8'd0, octets[8*Octets-9-:8], 8'd0, len, 16'd4, len - 16'd4, sum};
        built_valid  <= build_valid && !rst;
        built_data   <= {site[2:0], site[3], 8'd9, 16'd6, identification, payload, payload_sum, (8 * Made - 48)'(0)};
    end

    fifo #(
        .WIDTH(8),
        .DEPTH_BITS(2)
    ) shell (
        .clk(clk),
        .rst(rst),
        .in_valid(event_valid),
        .in_ready(event_ready),
        .in_data(event_data[15:8]),
        .out_valid(result_valid),
        .out_ready(result_ready),
        .out_data(what),
        .dropped(unused_dropped)
    );
    always_comb
        case (what)
            8'd0: result_data = {8'd0, 32'd0};
            8'd1: result_data = {8'd0, 16'd0, 16'h0400};
            8'd2: result_data = {8'd0, 16'h0200, 16'd0};
            8'd3: result_data = {8'd0, 16'd0, 16'h0300};
            8'd4: result_data = {8'd0, 16'h0100, 16'h0100};
            8'd5: result_data = {8'd0, 16'h0300, 16'h0500};
            default: result_data = {8'd0, 16'h0a00, 16'd0};
        endcase

    logic unused;
    assign unused = &{1'b0, unused_dropped, looked_valid, looked_verdict, looked_why, in_ready, out_valid, event_data, interface_,
                      octets, args, site, wide};
endmodule
