// SPDX-License-Identifier: MIT OR Apache-2.0
// The events between the session table's lookup and the end of their chains, in order. An event is held while one of its flow is
// among them.
//
// Flows are compared by a hash of their id, TAG bits wide. Two flows with one hash wait for each other, which is rare and right.
module scoreboard #(
    parameter int TAG = 20,
    parameter int SLOT = 12,
    parameter int DEPTH_BITS = 4
) (
    input  logic            clk,
    input  logic            rst,
    // the event that is to enter next
    input  logic            enter,
    input  logic            enter_named,
    input  logic            enter_space,
    input  logic [TAG-1:0]  enter_tag,
    // an event of its flow is under way, or there is no entry for it
    output logic            held,
    output logic            empty,
    // where the context is, of the oldest event of which that is not known
    input  logic            locate,
    input  logic            locate_found,
    input  logic [SLOT-1:0] locate_slot,
    // the session table exchanges the entry in its hand with the one in this slot
    input  logic            swap,
    input  logic [SLOT-1:0] swap_slot,
    // the oldest event, which leaves
    input  logic            leave,
    output logic            oldest_found,
    output logic            oldest_space,
    output logic [SLOT-1:0] oldest_slot
);
    localparam int DEPTH = 1 << DEPTH_BITS;

    logic [DEPTH-1:0] busy, named, space, found, in_hand, same;
    logic [TAG-1:0]        tag  [DEPTH];
    logic [SLOT-1:0]       slot [DEPTH];
    logic [DEPTH_BITS-1:0] next, unlocated, oldest;

    always_comb begin
        for (int i = 0; i < DEPTH; i++) same[i] = busy[i] && named[i] && tag[i] == enter_tag;
    end

    assign held         = busy[next] || (enter_named && same != '0);
    assign empty        = busy == '0;
    assign oldest_found = found[oldest];
    assign oldest_space = space[oldest];
    assign oldest_slot  = slot[oldest];

    always_ff @(posedge clk) begin
        for (int i = 0; i < DEPTH; i++) begin
            if (swap && in_hand[i]) slot[i] <= swap_slot;
            if (swap) in_hand[i] <= !in_hand[i] && found[i] && slot[i] == swap_slot;
        end
        if (enter) begin
            tag[next]     <= enter_tag;
            named[next]   <= enter_named;
            space[next]   <= enter_space;
            found[next]   <= 1'b0;
            in_hand[next] <= 1'b0;
        end
        if (locate) begin
            found[unlocated] <= locate_found;
            slot[unlocated]  <= locate_slot;
        end
        if (rst) begin
            busy      <= '0;
            next      <= '0;
            unlocated <= '0;
            oldest    <= '0;
        end else begin
            if (leave) busy[oldest] <= 1'b0;
            if (enter) busy[next] <= 1'b1;
            next      <= next + DEPTH_BITS'(enter);
            unlocated <= unlocated + DEPTH_BITS'(locate);
            oldest    <= oldest + DEPTH_BITS'(leave);
        end
    end
endmodule
