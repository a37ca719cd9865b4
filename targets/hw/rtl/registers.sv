// SPDX-License-Identifier: MIT OR Apache-2.0
// Registers on an AXI4-Lite bus: what the circuit is, its counters, and the contexts of its flows. A subordinate that carries out
// one read and one write at a time. `registers.md` lists the registers.
//
// A command reads a context by the number of its slot, or by the id of its flow, or changes it by the id. The shell carries it out
// while no event is under way. A change writes the bits that were written to CONTEXT since the last command; of a word that is
// written there, these are the bits of MASK. The id and the timers of a flow stay: the session table and the calendar depend on
// them.
//
// An address without a register, a write of a register that is read only, and a write of less than 32 bits give SLVERR.
module registers #(
    parameter int ID = 96,
    parameter int CTX = 256,
    // the lowest bits of a context, which are its timers
    parameter int FRESH = 0,
    parameter int ROW_BITS = 10,
    // reasons for which packets are refused: the first counters
    parameter int REASONS = 12
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                s_axil_awvalid,
    output logic                s_axil_awready,
    input  logic [11:0]         s_axil_awaddr,
    input  logic [2:0]          s_axil_awprot,
    input  logic                s_axil_wvalid,
    output logic                s_axil_wready,
    input  logic [31:0]         s_axil_wdata,
    input  logic [3:0]          s_axil_wstrb,
    output logic                s_axil_bvalid,
    input  logic                s_axil_bready,
    output logic [1:0]          s_axil_bresp,
    input  logic                s_axil_arvalid,
    output logic                s_axil_arready,
    input  logic [11:0]         s_axil_araddr,
    input  logic [2:0]          s_axil_arprot,
    output logic                s_axil_rvalid,
    input  logic                s_axil_rready,
    output logic [31:0]         s_axil_rdata,
    output logic [1:0]          s_axil_rresp,
    // what is counted
    input  logic                event_in,
    input  logic                event_out,
    input  logic                packet_in,
    input  logic [7:0]          packet_why,
    input  logic                packet_long,
    input  logic                packet_out,
    input  logic [2:0]          unsent,
    input  logic [31:0]         events_dropped,
    input  logic [31:0]         instances_dropped,
    input  logic [31:0]         timers_dropped,
    input  logic [ROW_BITS+2:0] flows,
    // a command, held until it is done
    output logic                access_valid,
    output logic                access_by_slot,
    output logic                access_change,
    output logic [ROW_BITS+1:0] access_slot,
    output logic [ID-1:0]       access_id,
    // the context, as it is now if `seen`; what is written if it changes
    input  logic                access_seen,
    input  logic                access_found,
    input  logic [ROW_BITS+1:0] access_found_slot,
    input  logic [CTX-1:0]      access_found_context,
    output logic [CTX-1:0]      access_context,
    input  logic                access_done,
    // of which events snapshots are sent
    output logic [1:0]          snapshot_mode,
    output logic [ID-1:0]       snapshot_flow,
    output logic [31:0]         snapshot_every,
    input  logic [31:0]         snapshots_sent,
    input  logic [31:0]         snapshots_dropped
);
    localparam logic [31:0] Identification = 32'h4341524B;
    localparam logic [31:0] Version = 32'h0001_0001;
    localparam int IdWords = (ID + 31) / 32;
    localparam int Words = (CTX + 31) / 32;
    // Numbers of registers: their offsets are four times as large.
    localparam int Command = 16;
    localparam int Slot = 18;
    localparam int Mask = 19;
    localparam int Snapshot = 20;
    localparam int Every = 21;
    localparam int Lost = 13;
    localparam int Refused = 32;
    localparam int Id = 64;
    localparam int Context = 128;
    localparam int Width = 32 * Words;
    // What a change leaves as it is: the timers, the id, and what is no bit of a context.
    localparam logic [Width-1:0] Kept = ~((~Width'(0) >> (Width - CTX + ID)) & (~Width'(0) << FRESH));
    localparam logic [1:0] Okay = 2'b00, SlvErr = 2'b10;
    localparam logic [1:0] ReadSlot = 2'd1, ChangeId = 2'd3;

    logic [9:0]  write_at, read_at;
    logic [31:0] write_data, read_data;
    logic [3:0]  write_strb;
    logic        at_held, data_held, read_held, write, writable, readable, is_command;
    logic        found;
    logic [31:0] events_in, events_out, packets_in, packets_out, packets_long;
    logic [31:0] refused[REASONS];
    logic [31:0] lost[3];
    logic [32*IdWords-1:0] id;
    logic [31:0]           mask;
    logic [Width-1:0]      words, seen_words, written, kept;

    // The write channels: address and data arrive in any order.
    assign s_axil_awready = !at_held;
    assign s_axil_wready  = !data_held;
    assign write          = at_held && data_held && !s_axil_bvalid;

    always_ff @(posedge clk) begin
        if (s_axil_awready) write_at <= s_axil_awaddr[11:2];
        if (s_axil_wready) {write_strb, write_data} <= {s_axil_wstrb, s_axil_wdata};
        if (write) s_axil_bresp <= writable ? Okay : SlvErr;
        if (rst) begin
            at_held       <= 1'b0;
            data_held     <= 1'b0;
            s_axil_bvalid <= 1'b0;
        end else begin
            at_held       <= !write && (at_held || s_axil_awvalid);
            data_held     <= !write && (data_held || s_axil_wvalid);
            s_axil_bvalid <= write || (s_axil_bvalid && !s_axil_bready);
        end
    end

    // While a command is carried out, nothing is written.
    always_comb begin
        writable = 1'b0;
        if (write_strb == '1 && !access_valid)
            writable = write_at == 10'(Command) || write_at == 10'(Slot) || write_at == 10'(Mask)
                || write_at == 10'(Snapshot) || write_at == 10'(Every)
                || (write_at >= 10'(Id) && write_at < 10'(Id + IdWords))
                || (write_at >= 10'(Context) && write_at < 10'(Context + Words));
    end

    // The read channels.
    assign s_axil_arready = !read_held && !s_axil_rvalid;

    always_ff @(posedge clk) begin
        if (s_axil_arready) read_at <= s_axil_araddr[11:2];
        if (read_held) begin
            s_axil_rdata <= readable ? read_data : '0;
            s_axil_rresp <= readable ? Okay : SlvErr;
        end
        if (rst) begin
            read_held     <= 1'b0;
            s_axil_rvalid <= 1'b0;
        end else begin
            read_held     <= s_axil_arready && s_axil_arvalid;
            s_axil_rvalid <= read_held || (s_axil_rvalid && !s_axil_rready);
        end
    end

    always_comb begin
        readable  = 1'b1;
        read_data = '0;
        case (read_at)
            10'd0:  read_data = Identification;
            10'd1:  read_data = Version;
            10'd2:  read_data = 32'(CTX);
            10'd3:  read_data = 32'(4 << ROW_BITS);
            10'd4:  read_data = 32'(flows);
            10'd5:  read_data = events_in;
            10'd6:  read_data = events_out;
            10'd7:  read_data = events_dropped;
            10'd8:  read_data = instances_dropped;
            10'd9:  read_data = timers_dropped;
            10'd10: read_data = packets_in;
            10'd11: read_data = packets_out;
            10'd12: read_data = packets_long;
            10'd16: read_data = '0;
            10'd17: read_data = {30'd0, found, access_valid};
            10'd18: read_data = 32'(access_slot);
            10'd19: read_data = mask;
            10'd20: read_data = {30'd0, snapshot_mode};
            10'd21: read_data = snapshot_every;
            10'd22: read_data = snapshots_sent;
            10'd23: read_data = snapshots_dropped;
            default: readable = 1'b0;
        endcase
        for (int n = 0; n < 3; n++) if (read_at == 10'(Lost + n)) {readable, read_data} = {1'b1, lost[n]};
        for (int n = 0; n < REASONS; n++)
            if (read_at == 10'(Refused + n)) {readable, read_data} = {1'b1, refused[n]};
        for (int n = 0; n < IdWords; n++)
            if (read_at == 10'(Id + n)) {readable, read_data} = {1'b1, id[32*n+:32]};
        for (int n = 0; n < Words; n++)
            if (read_at == 10'(Context + n)) {readable, read_data} = {1'b1, words[32*n+:32]};
    end

    // The counters wrap.
    always_ff @(posedge clk) begin
        if (rst) begin
            events_in    <= '0;
            events_out   <= '0;
            packets_in   <= '0;
            packets_out  <= '0;
            packets_long <= '0;
            for (int n = 0; n < 3; n++) lost[n] <= '0;
            for (int n = 0; n < REASONS; n++) refused[n] <= '0;
        end else begin
            events_in    <= events_in + 32'(event_in);
            events_out   <= events_out + 32'(event_out);
            packets_in   <= packets_in + 32'(packet_in);
            packets_out  <= packets_out + 32'(packet_out);
            packets_long <= packets_long + 32'(packet_long);
            for (int n = 0; n < 3; n++) lost[n] <= lost[n] + 32'(unsent[n]);
            for (int n = 0; n < REASONS; n++) refused[n] <= refused[n] + 32'(packet_in && packet_why == 8'(n));
        end
    end

    // Commands. What is read replaces all words but those that are to be written.
    assign is_command     = write && writable && write_at == 10'(Command) && write_data[1:0] != '0;
    assign access_id      = id[ID-1:0];
    assign access_context = words[CTX-1:0];
    assign seen_words     = access_found ? Width'(access_found_context) : '0;

    always_ff @(posedge clk) begin
        if (is_command) begin
            access_by_slot <= write_data[1:0] == ReadSlot;
            access_change  <= write_data[1:0] == ChangeId;
        end
        if (access_seen) begin
            found <= access_found;
            if (access_found) access_slot <= access_found_slot;
        end else if (write && writable && write_at == 10'(Slot)) access_slot <= write_data[ROW_BITS+1:0];
        if (rst) begin
            access_valid <= 1'b0;
            found        <= 1'b0;
        end else access_valid <= is_command || (access_valid && !access_done);
    end

    for (genvar n = 0; n < IdWords; n++) begin : g_id
        always_ff @(posedge clk) if (write && writable && write_at == 10'(Id + n)) id[32*n+:32] <= write_data;
    end

    always_ff @(posedge clk) begin
        if (rst) mask <= '1;
        else if (write && writable && write_at == 10'(Mask)) mask <= write_data;
    end

    // The flow of snapshots is the one that ID names when they are switched on: ID may then serve commands.
    always_ff @(posedge clk) begin
        if (write && writable && write_at == 10'(Snapshot)) snapshot_flow <= access_id;
        if (rst) begin
            snapshot_mode  <= '0;
            snapshot_every <= 32'd1;
        end else if (write && writable && write_at == 10'(Snapshot)) snapshot_mode <= write_data[1:0];
        else if (write && writable && write_at == 10'(Every)) snapshot_every <= write_data;
    end

    // As whole words, which are less for a simulation to do than bits.
    assign kept = access_change ? Kept | ~written : '1;

    always_ff @(posedge clk) begin
        if (write && writable) begin
            for (int n = 0; n < Words; n++)
                if (write_at == 10'(Context + n)) begin
                    words[32*n+:32]   <= (words[32*n+:32] & ~mask) | (write_data & mask);
                    written[32*n+:32] <= written[32*n+:32] | mask;
                end
        end else if (access_seen) words <= (words & ~kept) | (seen_words & kept);
        if (rst || access_done) written <= '0;
    end

    logic unused;
    assign unused = &{1'b0, s_axil_awprot, s_axil_arprot, s_axil_awaddr[1:0], s_axil_araddr[1:0]};
endmodule
