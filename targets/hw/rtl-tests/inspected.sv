// SPDX-License-Identifier: MIT OR Apache-2.0
// Registers, and a shell with a chain of four stages. An event of chain 0 adds its value to that of its flow, or makes a context with
// it; one of chain 1 ends the context. A context is {id, value, timers}.
module inspected #(
    parameter int ROW_BITS = 4
) (
    input  logic        clk,
    input  logic        rst,
    input  logic        in_valid,
    output logic        in_ready,
    input  logic        in_ends,
    input  logic [31:0] in_id,
    input  logic [39:0] in_value,
    output logic        out_valid,
    input  logic        out_ready,
    output logic        out_found,
    output logic        out_full,
    output logic        out_new,
    // a packet that is counted, for this reason or none
    input  logic        packet_in,
    input  logic        packet_long,
    input  logic [7:0]  packet_why,
    input  logic        packet_out,
    input  logic [2:0]  unsent,
    // a command is carried out
    output logic        access_done,
    output logic        access_by_slot,
    output logic        access_change,
    output logic        access_found,
    // of which events snapshots are wanted
    output logic [1:0]  snapshot_mode,
    output logic [31:0] snapshot_flow,
    output logic [31:0] snapshot_every,
    // the bus
    input  logic        s_axil_awvalid,
    output logic        s_axil_awready,
    input  logic [11:0] s_axil_awaddr,
    input  logic        s_axil_wvalid,
    output logic        s_axil_wready,
    input  logic [31:0] s_axil_wdata,
    input  logic [3:0]  s_axil_wstrb,
    output logic        s_axil_bvalid,
    input  logic        s_axil_bready,
    output logic [1:0]  s_axil_bresp,
    input  logic        s_axil_arvalid,
    output logic        s_axil_arready,
    input  logic [11:0] s_axil_araddr,
    output logic        s_axil_rvalid,
    input  logic        s_axil_rready,
    output logic [31:0] s_axil_rdata,
    output logic [1:0]  s_axil_rresp
);
    localparam int Id = 32;
    localparam int Value = 40;
    localparam int Fresh = 16;
    localparam int Context = Id + Value + Fresh;
    localparam int Issued = 3 + Context - Fresh + 1;
    localparam int Stages = 4;

    logic run_valid, run_found, end_valid, seen_found;
    logic [7:0] run_chain;
    logic [Id+Value-1:0] run_event;
    logic [Context-1:0] run_context, access_context, access_found_context;
    logic [Context+Issued-1:0] given, end_data, out_data;
    logic run_env, access_valid, access_seen;
    logic [ROW_BITS+1:0] access_slot, access_found_slot;
    logic [Id-1:0] access_id;
    logic [ROW_BITS+2:0] flows_now;
    logic [31:0] events_dropped, instances_dropped;
    logic [Stages-1:0] valid;
    logic [Stages-1:0][Context+Issued-1:0] stage;

    shell #(
        .ID(Id),
        .CTX(Context),
        .EVENT(Id + Value),
        .ENV(1),
        .ISSUED(Issued),
        .FRESH(Fresh),
        .ROW_BITS(ROW_BITS)
    ) shell (
        .in_chain({7'd0, in_ends}),
        .in_named(1'b1),
        .in_space(1'b1),
        .in_event({in_id, in_value}),
        .in_env(1'b0),
        .access_found(seen_found),
        .*
    );

    registers #(
        .ID(Id),
        .CTX(Context),
        .FRESH(Fresh),
        .ROW_BITS(ROW_BITS)
    ) registers (
        .s_axil_awprot(3'd0),
        .s_axil_arprot(3'd0),
        .event_in(in_valid && in_ready),
        .event_out(out_valid && out_ready),
        .timers_dropped(32'd77),
        .snapshots_sent(32'd78),
        .snapshots_dropped(32'd79),
        .flows(flows_now),
        .access_found(seen_found),
        .*
    );

    // {context, stop, gone, made, instance, rest}
    always_comb begin
        given = '0;
        given[Context+Issued-1-:Context] = run_context;
        given[Issued+Fresh+:Value] = run_context[Fresh+:Value] + run_event[Value-1:0];
        given[Issued-2] = run_chain[0];
        given[Issued-3] = !run_chain[0] && !run_found;
        given[1+:Context-Fresh] = run_event;
    end

    always_ff @(posedge clk) begin
        valid <= rst ? '0 : {valid[Stages-2:0], run_valid};
        stage <= {stage[Stages-2:0], given};
        if (access_seen) access_found <= seen_found;
    end

    assign end_valid = valid[Stages-1];
    assign end_data  = stage[Stages-1];

    logic unused;
    assign unused = &{1'b0, run_env, run_chain, out_data};
endmodule
