// SPDX-License-Identifier: MIT OR Apache-2.0
// Does with packets what chains say, one after the other: the packets that arrived are in the store, in order, and what became of
// their events comes in the same order. Of each instruction the builder says what packet it is. A packet of which no instruction
// says what becomes of it goes where its destination leads.
module packet_out #(
    parameter int DATA = 64,
    parameter int STORE_BITS = 11,
    parameter int ARGS = 64,
    parameter int SLOTS = 4,
    // operands for which a slot has no space: it has their number
    parameter int WIDE = 64,
    parameter int WIDES = 1,
    // bytes of the longest header that is made
    parameter int LONGEST = 56
) (
    input  logic                         clk,
    input  logic                         rst,
    // bytes of a packet at most
    input  logic [15:0]                  mtu,
    // the oldest packet: whether it has an event; if not, whether it goes on
    input  logic                         meta_valid,
    input  logic                         meta_event,
    input  logic                         meta_pass,
    input  logic [STORE_BITS-1:0]        meta_beats,
    input  logic [15:0]                  meta_total,
    input  logic [15:0]                  meta_from,
    input  logic [15:0]                  meta_payload,
    input  logic [15:0]                  meta_sum,
    // it is done with
    output logic                         meta_ready,
    // what became of the oldest event: its instructions, whether it is a packet's
    input  logic                         result_valid,
    input  logic                         result_packet,
    input  logic [SLOTS*(8+ARGS)-1:0]    result_slots,
    input  logic [WIDES*WIDE-1:0]        result_wide,
    output logic                         result_ready,
    // to the builder, and from it
    output logic                         build_valid,
    output logic [8+ARGS+WIDE+48-1:0]    build_data,
    input  logic                         built_valid,
    input  logic [28+8*LONGEST-1:0]      built_data,
    // the store
    output logic [STORE_BITS-1:0]        read_at,
    input  logic [DATA-1:0]              read_data,
    // packets: by which interface, whether the header is made here, whether a packet that arrived goes on
    output logic                         m_valid,
    input  logic                         m_ready,
    output logic [DATA-1:0]              m_data,
    output logic [DATA/8-1:0]            m_keep,
    output logic                         m_last,
    output logic [9:0]                   m_user,
    // a packet is not sent: it is longer than the MTU; a field is out of its range; an earlier instruction decided on the packet
    output logic [2:0]                   unsent
);
    localparam int Lanes = DATA / 8;
    localparam int Log = $clog2(Lanes);
    localparam logic [7:0] Route = 8'd255;
    typedef enum logic [2:0] {
        Idle,
        Slot,
        Build,
        Header,
        Fetch,
        Body,
        Finish
    } state_t;
    // what an instruction becomes, as in the builder
    localparam logic [2:0] New = 3'd1, Rewritten = 3'd2, Unchanged = 3'd3, Dropped = 3'd4, Replaced = 3'd5;

    state_t state;
    logic replaces, decides, gone, has_packet, of_result, bad, fits, sends, whole, in_valid, in_ready, in_last;
    logic made, tried, there;
    logic [7:0] slot, here, interface_;
    logic [8+ARGS-1:0] instruction;
    logic [WIDE-1:0] wide;
    logic [2:0] kind;
    logic [15:0] identification, len, head_left, at, left;
    logic [8*LONGEST-1:0] octets, head;
    logic [STORE_BITS-1:0] base;
    logic [DATA-1:0] in_data;
    logic [Log:0] in_count, room;
    logic [Log-1:0] skip;
    logic [16:0] made_len;
    logic [9:0] in_user;

    assign {kind, bad, interface_, len, octets} = built_data;
    assign made_len = 17'(len) + (kind == Rewritten ? 17'(meta_payload) : 17'd0);
    assign fits = kind == Unchanged ? meta_total <= mtu : made_len <= 17'(mtu);
    // What is said of a packet that is gone, or of one that is not there, has no effect.
    assign replaces = kind == Rewritten || kind == Replaced || kind == Unchanged;
    assign decides = replaces || kind == Dropped;
    assign tried = kind == New || (replaces && !gone && has_packet);
    assign sends = fits && !bad && tried;

    // A new packet whose header is too long is not written, so its fields do not count.
    assign made = state == Build && built_valid;
    always_comb begin
        unsent = '0;
        if (made && tried && !sends) unsent = bad && (kind != New || fits) ? 3'b010 : 3'b001;
        else if (made && decides && gone && has_packet) unsent = 3'b100;
        else if (state == Finish && has_packet && !gone && meta_total > mtu) unsent = 3'b001;
    end

    // Slots may be empty.
    assign build_valid = state == Slot && there;
    always_comb begin
        {there, here, instruction, wide} = '0;
        for (int n = SLOTS - 1; n >= 0; n--)
            if (8'(n) >= slot && result_slots[n*(8+ARGS)+ARGS+:8] != '0)
                {there, here, instruction} = {1'b1, 8'(n), result_slots[n*(8+ARGS)+:8+ARGS]};
        for (int n = 0; n < WIDES; n++) if (instruction[7:0] == 8'(n)) wide = result_wide[n*WIDE+:WIDE];
    end
    assign build_data = {instruction, wide, identification, meta_payload, meta_sum};
    assign whole = state == Finish && has_packet && !gone && meta_total <= mtu;
    // A packet without an event has no result.
    assign result_ready = state == Finish && !whole && of_result;
    assign meta_ready = state == Finish && !whole && has_packet;

    assign skip = at[Log-1:0];
    assign room = (Log + 1)'(Lanes) - (Log + 1)'(skip);
    assign read_at = base + STORE_BITS'(at >> Log);
    always_comb begin
        in_valid = state == Header || state == Body;
        if (state == Header) begin
            in_data  = head[8*LONGEST-1-:DATA];
            in_count = head_left < 16'(Lanes) ? (Log + 1)'(head_left) : (Log + 1)'(Lanes);
            in_last  = head_left <= 16'(Lanes) && left == '0;
        end else begin
            in_data  = read_data << (8 * skip);
            in_count = left < 16'(room) ? (Log + 1)'(left) : room;
            in_last  = left <= 16'(room);
            // Nothing stands behind the bytes of the packet.
            for (int lane = 0; lane < Lanes; lane++)
                if ((Log + 1)'(lane) >= in_count) in_data[DATA-1-8*lane-:8] = 8'd0;
        end
    end

    packer #(
        .DATA(DATA)
    ) packer (
        .*
    );

    always_ff @(posedge clk) begin
        case (state)
            Idle: begin
                slot <= '0;
                if (meta_valid && !meta_event) begin
                    {has_packet, of_result, gone} <= {2'b10, !meta_pass};
                    state <= Finish;
                end else if (result_valid && (!result_packet || meta_valid)) begin
                    {has_packet, of_result, gone} <= {result_packet, 2'b10};
                    state <= Slot;
                end
            end
            Slot: state <= there ? Build : Finish;
            Build:
            if (built_valid) begin
                slot      <= here + 1'b1;
                head      <= octets;
                head_left <= kind == Unchanged ? '0 : len;
                at        <= kind == Unchanged ? '0 : meta_from;
                left      <= kind == Unchanged ? meta_total : kind == Rewritten ? meta_payload : '0;
                in_user   <= {kind != Unchanged, kind != New, interface_};
                gone      <= gone || decides;
                state     <= !sends ? Slot : kind == Unchanged ? Fetch : Header;
                if (sends && kind != Unchanged) identification <= identification + 1'b1;
            end
            Header:
            if (in_ready) begin
                head      <= head << DATA;
                head_left <= head_left - 16'(in_count);
                if (head_left <= 16'(Lanes)) state <= left != '0 ? Fetch : Slot;
            end
            Fetch: state <= Body;
            Body:
            if (in_ready) begin
                at    <= at + 16'(in_count);
                left  <= left - 16'(in_count);
                state <= !in_last ? Fetch : of_result ? Slot : Finish;
            end
            default: begin
                // A packet of which nothing was said goes on.
                gone <= 1'b1;
                if (whole) begin
                    at     <= '0;
                    left   <= meta_total;
                    in_user <= {2'b01, Route};
                    state  <= Fetch;
                end else begin
                    if (has_packet) base <= base + meta_beats;
                    state <= Idle;
                end
            end
        endcase
        if (rst) begin
            state          <= Idle;
            base           <= '0;
            identification <= '0;
        end
    end
endmodule
