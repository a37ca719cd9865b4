// SPDX-License-Identifier: MIT OR Apache-2.0
// Takes packets from a stream, one beat in a cycle: writes them to the store, and gives the first bytes of each, its length, and
// the sum of its 16-bit words up to the length that its IPv4 header says. The first byte of a beat has the lowest bits.
module packet_in #(
    parameter int DATA = 64,
    // bytes of a packet that are given
    parameter int WINDOW = 120,
    parameter int STORE_BITS = 11
) (
    input  logic                  clk,
    input  logic                  rst,
    input  logic                  s_valid,
    output logic                  s_ready,
    input  logic [DATA-1:0]       s_data,
    input  logic [DATA/8-1:0]     s_keep,
    input  logic                  s_last,
    input  logic [7:0]            s_user,
    // whether the store takes another beat
    input  logic                  space,
    output logic                  write,
    output logic [STORE_BITS-1:0] write_at,
    output logic [DATA-1:0]       write_data,
    output logic                  out_valid,
    input  logic                  out_ready,
    output logic [8*WINDOW-1:0]   out_octets,
    output logic [15:0]           out_len,
    output logic [15:0]           out_sum,
    output logic [7:0]            out_interface,
    // its beats in the store; a packet of half of the store or more is too long
    output logic [STORE_BITS-1:0] out_beats,
    output logic                  out_long
);
    localparam int Lanes = DATA / 8;
    localparam int Words = (8 * WINDOW + DATA - 1) / DATA;

    logic take, first, too_long;
    logic [DATA-1:0] beat, summed;
    logic [Words*DATA-1:0] window;
    logic [15:0] total, all, count;
    logic [31:0] sum;
    logic [STORE_BITS:0] beats;

    assign s_ready    = space && (!out_valid || out_ready);
    assign take       = s_valid && s_ready;
    assign too_long   = beats[STORE_BITS-1];
    assign write      = take && !(too_long && !first);
    assign write_data = beat;
    assign out_octets = window[Words*DATA-1-:8*WINDOW];

    // The beat with its first byte in the highest bits, and its bytes that are summed.
    assign all = first ? beat[DATA-17-:16] : total;
    always_comb begin
        count = '0;
        for (int lane = 0; lane < Lanes; lane++) begin
            beat[DATA-1-8*lane-:8] = s_keep[lane] ? s_data[8*lane+:8] : 8'd0;
            count += 16'(s_keep[lane]);
        end
    end
    always_comb begin
        for (int lane = 0; lane < Lanes; lane++)
            summed[DATA-1-8*lane-:8] = (first ? 16'd0 : out_len) + 16'(lane) < all ? beat[DATA-1-8*lane-:8] : 8'd0;
        sum = first ? '0 : 32'(out_sum);
        for (int word = 0; word < DATA / 16; word++) sum += 32'(summed[16*word+:16]);
        sum = 32'(sum[31:16]) + 32'(sum[15:0]);
    end

    always_ff @(posedge clk) begin
        if (take) begin
            if (first) begin
                window        <= '0;
                out_interface <= s_user;
                total         <= all;
            end
            for (int word = 0; word < Words; word++)
                if ((first ? '0 : beats) == (STORE_BITS + 1)'(word)) window[Words*DATA-1-word*DATA-:DATA] <= beat;
            out_len <= (first ? 16'd0 : out_len) + count;
            out_sum <= sum[15:0] + 16'(sum[16]);
            beats   <= first ? 1 : beats + (STORE_BITS + 1)'(!too_long);
        end
        if (rst) begin
            first     <= 1'b1;
            out_valid <= 1'b0;
            write_at  <= '0;
        end else begin
            if (take) first <= s_last;
            if (write) write_at <= write_at + 1'b1;
            if (take && s_last) out_valid <= 1'b1;
            else if (out_ready) out_valid <= 1'b0;
        end
    end
    assign out_beats = beats[STORE_BITS-1:0];
    assign out_long  = too_long;
endmodule
