// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes a stream of beats of pieces that have from one byte to those of a beat. The first byte of a piece is in its highest
// bits, that of a beat in its lowest.
module packer #(
    parameter int DATA = 64
) (
    input  logic                      clk,
    input  logic                      rst,
    input  logic                      in_valid,
    output logic                      in_ready,
    input  logic [DATA-1:0]           in_data,
    input  logic [$clog2(DATA/8):0]   in_count,
    input  logic                      in_last,
    // the same for all pieces of a packet
    input  logic [9:0]                in_user,
    output logic                      m_valid,
    input  logic                      m_ready,
    output logic [DATA-1:0]           m_data,
    output logic [DATA/8-1:0]         m_keep,
    output logic                      m_last,
    output logic [9:0]                m_user
);
    localparam int Lanes = DATA / 8;
    localparam int Log = $clog2(Lanes);

    // What is kept until a beat is full; with `ends` it is the last beat of the packet.
    logic [DATA-1:0] kept;
    logic [Log:0] filled;
    logic ends, full, take;
    logic [2*DATA-1:0] joined;
    logic [Log+1:0] count;
    logic [9:0] user;

    assign joined   = ends ? {kept, DATA'(0)} : {kept, DATA'(0)} | ({in_data, DATA'(0)} >> (8 * filled));
    assign count    = (Log + 2)'(filled) + (ends ? '0 : (Log + 2)'(in_count));
    assign full     = count >= (Log + 2)'(Lanes);
    assign m_valid  = ends || (in_valid && (full || in_last));
    assign m_last   = ends || (in_last && count <= (Log + 2)'(Lanes));
    assign m_user   = ends ? user : in_user;
    assign in_ready = !ends && (m_ready || !m_valid);
    assign take     = in_valid && in_ready;

    always_comb begin
        for (int lane = 0; lane < Lanes; lane++) begin
            m_keep[lane]      = (Log + 2)'(lane) < count;
            m_data[8*lane+:8] = joined[2*DATA-1-8*lane-:8];
        end
    end

    always_ff @(posedge clk) begin
        if (take) user <= in_user;
        if (rst || (ends && m_ready)) begin
            kept   <= '0;
            filled <= '0;
            ends   <= 1'b0;
        end else if (take) begin
            kept   <= full ? joined[DATA-1:0] : in_last ? '0 : joined[2*DATA-1-:DATA];
            filled <= full ? (Log + 1)'(count - (Log + 2)'(Lanes)) : in_last ? '0 : (Log + 1)'(count);
            ends   <= in_last && count > (Log + 2)'(Lanes);
        end
    end
endmodule
