// SPDX-License-Identifier: MIT OR Apache-2.0
// Between events and the pipelines of chains: finds the context of an event, hands both to the chain's pipeline, and puts the
// context back. An event begins in each cycle. One is held, and those behind it, while an event of its flow is under way, so that
// none sees a context that another one is changing.
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
    // the lowest bits of a context, which are 0 in a new instance
    parameter int FRESH = 0,
    // chains that make instances of other flows than their own: they run alone
    parameter logic [255:0] ALONE = '0,
    parameter int ROW_BITS = 10,
    // events that wait, and events under way
    parameter int QUEUE_BITS = 4,
    parameter int FLIGHT_BITS = 4,
    // whether events at a full queue are dropped
    parameter bit DROPS = 1'b0,
    // whether a reset empties the session table
    parameter bit CLEARS = 1'b1
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
    input  logic                  out_ready,
    output logic                  out_found,
    output logic                  out_full,
    // its chain made an instance, which the session table has now
    output logic                  out_new,
    output logic [CTX+ISSUED-1:0] out_data,
    // events that were dropped, instances that the session table could not hold, and contexts that it has
    output logic [31:0]           events_dropped,
    output logic [31:0]           instances_dropped,
    output logic [ROW_BITS+2:0]   flows_now,
    // a context is read, or changed, by its slot or its id: held until it is done, with no event under way. It is written a cycle
    // after it is seen.
    input  logic                  access_valid,
    input  logic                  access_by_slot,
    input  logic                  access_change,
    input  logic [ROW_BITS+1:0]   access_slot,
    input  logic [ID-1:0]         access_id,
    output logic                  access_seen,
    output logic                  access_found,
    output logic [ROW_BITS+1:0]   access_found_slot,
    output logic [CTX-1:0]        access_found_context,
    input  logic [CTX-1:0]        access_context,
    output logic                  access_done
);
    localparam int Input = 10 + ID + EVENT + ENV;

    // The next event, with the rows of its flow.
    logic queue_valid, queue_ready, queue_in_ready, next_valid, next_named, next_space, next_alone;
    logic [Input-1:0] queued;
    logic [7:0] next_chain, queued_chain;
    logic [ID-1:0] next_id;
    logic [4*ROW_BITS-1:0] queued_rows, next_rows;
    logic [EVENT+ENV-1:0] next_rest;
    // The lookup, and the oldest event under way.
    logic begin_, held, alone, empty, ready, seen, seen_found, found, space, leave;
    logic [ROW_BITS+1:0] seen_slot, slot, swap_slot;
    logic [CTX-1:0] seen_entry;
    logic [8+EVENT+ENV:0] first_rest, second_rest;
    logic second_named;
    // The access under way.
    logic accessing, access_look, access_write;
    logic [4*ROW_BITS-1:0] access_rows;
    // What its chain gave.
    logic result_valid, made, gone, add, added, added_full, added_new, is_added, is_new, full, swap, unused_ready;
    logic [CTX-1:0] instance_;
    logic [31:0] unused_dropped;

    fifo #(
        .WIDTH(Input),
        .DEPTH_BITS(QUEUE_BITS),
        .DROPS(DROPS)
    ) events (
        .clk(clk),
        .rst(rst),
        .in_valid(in_valid && ready),
        .in_ready(queue_in_ready),
        .in_data({in_chain, in_named, in_space, in_id, in_event, in_env}),
        .out_valid(queue_valid),
        .out_ready(queue_ready),
        .out_data(queued),
        .dropped(events_dropped)
    );

    assign in_ready     = queue_in_ready && ready;
    assign queue_ready  = begin_ || !next_valid;
    assign queued_chain = queued[Input-1-:8];

    id_hash #(
        .ID(ID),
        .ROW_BITS(ROW_BITS)
    ) hash_of_event (
        .id(queued[EVENT+ENV+:ID]),
        .rows(queued_rows)
    );

    always_ff @(posedge clk) begin
        if (queue_ready) begin
            {next_chain, next_named, next_space, next_id, next_rest} <= queued;
            next_rows  <= queued_rows;
            next_alone <= ALONE[queued_chain];
        end
        if (rst) next_valid <= 1'b0;
        else if (queue_ready) next_valid <= queue_valid;
    end

    assign begin_ = next_valid && !held && !(next_alone && !empty) && !alone && !add && !access_valid;

    scoreboard #(
        .TAG(2 * ROW_BITS),
        .SLOT(ROW_BITS + 2),
        .DEPTH_BITS(FLIGHT_BITS)
    ) under_way (
        .clk(clk),
        .rst(rst),
        .enter(begin_),
        .enter_named(next_named),
        .enter_space(next_space),
        .enter_tag(next_rows[2*ROW_BITS-1:0]),
        .held(held),
        .empty(empty),
        .locate(run_valid),
        .locate_found(run_found),
        .locate_slot(seen_slot),
        .swap(swap),
        .swap_slot(swap_slot),
        .leave(leave),
        .oldest_found(found),
        .oldest_space(space),
        .oldest_slot(slot)
    );

    session_table #(
        .ID(ID),
        .CTX(CTX),
        .ROW_BITS(ROW_BITS),
        .CLEARS(CLEARS)
    ) flows (
        .clk(clk),
        .rst(rst),
        .ready(ready),
        .look(begin_ || access_look),
        .look_id(access_look ? access_id : next_id),
        .look_rows(!access_look ? next_rows : access_by_slot ? {4{access_slot[ROW_BITS-1:0]}} : access_rows),
        .look_slot(access_look && access_by_slot),
        .look_table(access_slot[ROW_BITS+1-:2]),
        .seen(seen),
        .seen_found(seen_found),
        .seen_slot(seen_slot),
        .seen_entry(seen_entry),
        .write((leave && found) || access_write),
        .write_used(!gone || access_write),
        .write_slot(access_write ? access_slot : slot),
        .write_entry(access_write ? access_context : out_data[CTX+ISSUED-1-:CTX]),
        .add(add),
        .add_entry(instance_),
        .added(added),
        .added_full(added_full),
        .added_new(added_new),
        .swap(swap),
        .swap_slot(swap_slot)
    );

    always_ff @(posedge clk) begin
        first_rest                  <= {next_chain, next_named, next_rest};
        second_rest                 <= first_rest;
        alone                       <= !rst && (begin_ ? next_alone : alone && !leave);
    end

    assign {run_chain, second_named, run_event, run_env} = second_rest;
    assign run_valid   = seen && !accessing;
    assign run_found   = seen_found && second_named;
    assign run_context = run_found ? seen_entry : '0;

    // There is an entry for each event under way.
    fifo #(
        .WIDTH(CTX + ISSUED),
        .DEPTH_BITS(FLIGHT_BITS)
    ) results (
        .clk(clk),
        .rst(rst),
        .in_valid(end_valid),
        .in_ready(unused_ready),
        .in_data(end_data),
        .out_valid(result_valid),
        .out_ready(leave),
        .out_data(out_data),
        .dropped(unused_dropped)
    );

    assign gone = out_data[ISSUED-2];
    if (MAKES) begin : g_makes
        assign made      = out_data[ISSUED-3] && space;
        assign instance_ = CTX'(out_data[ISSUED-4-:CTX-FRESH]) << FRESH;
    end else begin : g_makes_none
        assign made      = 1'b0;
        assign instance_ = '0;
    end

    // A context ends after its chain: a new instance is added before.
    assign add       = result_valid && made && !is_added;
    assign out_valid = result_valid && !add;
    assign out_found = found;
    assign out_full  = is_added && full;
    assign out_new   = is_added && is_new;
    assign leave     = out_valid && out_ready;

    always_ff @(posedge clk) begin
        if (rst) begin
            is_added          <= 1'b0;
            instances_dropped <= '0;
        end else begin
            if (added) {full, is_new} <= {added_full, added_new};
            is_added <= leave ? 1'b0 : is_added || added;
            if (added && added_full) instances_dropped <= instances_dropped + 1'b1;
        end
    end

    id_hash #(
        .ID(ID),
        .ROW_BITS(ROW_BITS)
    ) hash_of_access (
        .id(access_id),
        .rows(access_rows)
    );

    // Nothing is under way, so what the table gives is the access's, and no event changes the context.
    assign access_look          = access_valid && ready && empty && !accessing;
    assign access_seen          = accessing && seen;
    assign access_found         = seen_found;
    assign access_found_slot    = seen_slot;
    assign access_found_context = seen_entry;

    always_ff @(posedge clk) begin
        access_done  <= access_seen && !rst;
        access_write <= access_seen && seen_found && access_change && !rst;
        accessing    <= !rst && (access_look || (accessing && !access_done));
        if (rst) flows_now <= '0;
        else flows_now <= flows_now + (ROW_BITS + 3)'(added_new) - (ROW_BITS + 3)'(leave && found && gone);
    end

    logic unused;
    assign unused = &{1'b0, unused_ready, unused_dropped};
endmodule
