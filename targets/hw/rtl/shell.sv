// SPDX-License-Identifier: MIT OR Apache-2.0
// Between events and the pipelines of chains: finds the context of an event, hands both to the chain's pipeline, and puts the
// context back. One event is under way at a time, so that none sees a context that another one is changing.
//
// A pipeline gives {context, stop, gone, made, instance, rest}: `gone` ends its context; `made` adds the instance. What follows
// is for the host. Programs that make no instances have neither `made` nor `instance` there.
module shell #(
    parameter int ID = 96,
    parameter int CTX = 256,
    parameter int EVENT = 64,
    parameter int ENV = 64,
    parameter int ISSUED = 300,
    parameter bit MAKES = 1'b1,
    parameter int BUCKET_BITS = 8
) (
    input  logic                  clk,
    input  logic                  rst,
    // an event: the number of its chain, whether it names a flow, whether the host has a slot for another one, the flow's id,
    // the fields, what is around the chain
    input  logic                  in_valid,
    output logic                  in_ready,
    input  logic [7:0]            in_chain,
    input  logic                  in_named,
    input  logic                  in_space,
    input  logic [ID-1:0]         in_id,
    input  logic [EVENT-1:0]      in_event,
    input  logic [ENV-1:0]        in_env,
    // to the pipelines
    output logic                  run_valid,
    output logic [7:0]            run_chain,
    output logic                  run_found,
    output logic [EVENT-1:0]      run_event,
    output logic [CTX-1:0]        run_context,
    output logic [ENV-1:0]        run_env,
    input  logic                  end_valid,
    input  logic [CTX+ISSUED-1:0] end_data,
    // what became of the event
    output logic                  out_valid,
    output logic                  out_found,
    output logic                  out_full,
    output logic [CTX+ISSUED-1:0] out_data
);
    typedef enum logic [2:0] {IDLE, LOOK_UP, RUN, WAIT, ADD_NEW, PUT_BACK, REPORT} state_t;
    state_t state;

    logic named, space, gone, made;
    logic [ID-1:0] id;
    logic [CTX-1:0] instance_;
    logic table_valid, table_done, table_found, table_full;
    logic [1:0] table_op;
    logic [ID-1:0] table_id;
    logic [CTX-1:0] table_entry, table_result;

    assign gone = out_data[ISSUED-2];
    if (MAKES) begin : g_makes
        assign made      = out_data[ISSUED-3] && space;
        assign instance_ = out_data[ISSUED-4-:CTX];
    end else begin : g_makes_none
        assign made      = 1'b0;
        assign instance_ = '0;
    end

    assign in_ready    = state == IDLE;
    assign run_valid   = state == RUN;
    assign run_found   = out_found;
    assign out_valid   = state == REPORT;
    assign table_valid = state == LOOK_UP || (state == ADD_NEW && made) || (state == PUT_BACK && out_found);

    always_comb begin
        table_op    = 2'd0;
        table_id    = id;
        table_entry = out_data[CTX+ISSUED-1-:CTX];
        if (state == PUT_BACK) table_op = gone ? 2'd3 : 2'd1;
        if (state == ADD_NEW) begin
            table_op    = 2'd2;
            table_id    = instance_[CTX-1-:ID];
            table_entry = instance_;
        end
    end

    session_table #(
        .ID(ID),
        .CTX(CTX),
        .BUCKET_BITS(BUCKET_BITS)
    ) flows (
        .clk(clk),
        .rst(rst),
        .valid(table_valid),
        .op(table_op),
        .id(table_id),
        .entry(table_entry),
        .done(table_done),
        .found(table_found),
        .full(table_full),
        .result(table_result)
    );

    always_ff @(posedge clk) begin
        unique case (state)
            IDLE:
            if (in_valid) begin
                {named, space, id} <= {in_named, in_space, in_id};
                {run_chain, run_event, run_env} <= {in_chain, in_event, in_env};
                {out_found, out_full} <= 2'b00;
                state <= LOOK_UP;
            end
            LOOK_UP:
            if (table_done) begin
                out_found   <= table_found && named;
                run_context <= table_found && named ? table_result : '0;
                state       <= RUN;
            end
            RUN: state <= WAIT;
            WAIT:
            if (end_valid) begin
                out_data <= end_data;
                state    <= ADD_NEW;
            end
            // A context ends after its chain: a new instance is added before.
            ADD_NEW:
            if (!made) state <= PUT_BACK;
            else if (table_done) begin
                out_full <= table_full;
                state    <= PUT_BACK;
            end
            PUT_BACK: if (!out_found || table_done) state <= REPORT;
            default: state <= IDLE;
        endcase
        if (rst) state <= IDLE;
    end
endmodule
