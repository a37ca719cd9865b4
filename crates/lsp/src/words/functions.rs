//! Functions, instructions and registrations.

use super::{Word, word};

pub const FUNCTIONS: &[Word] = &[
    word(
        "assert",
        "assert(bool claim)",
        "Claims that a condition holds here; counted and reported if it does not.",
    ),
    word("now", "now() -> time", "When this event happened."),
    word("min", "min(a, b)", "The lesser of two values of one ordered type."),
    word("max", "max(a, b)", "The greater of two values of one ordered type."),
    word("abs", "abs(x)", "Without the sign."),
    word("seq_min", "seq_min(seq32 a, seq32 b) -> seq32", "The earlier of two serial numbers."),
    word("seq_max", "seq_max(seq32 a, seq32 b) -> seq32", "The later of two serial numbers."),
    word(
        "ratio",
        "ratio(a, b) -> fixed",
        "a / b of two integers or two values of one unit, rounded toward zero; 0 if b is 0.",
    ),
    word("sqrt", "sqrt(fixed x) -> fixed", "The square root, rounded down; 0 of a negative number."),
    word("cbrt", "cbrt(fixed x) -> fixed", "The cube root, rounded toward zero."),
    word("handle", "handle(context c) -> handle_t", "Names the context to the application."),
    word("random", "random() -> uint32", "From the stack's seed."),
    word(
        "keyed_hash",
        "keyed_hash(x, ...) -> uint32",
        "A hash of scalars and ids under the stack's secret key.",
    ),
    word("local_ip", "local_ip() -> uint32", "The core's address."),
    word("mtu", "mtu() -> bytes", "What a packet may hold after the network header."),
    word("tx_room", "tx_room(c.id) -> bytes", "How many octets `add_tx_data` would take now."),
    word(
        "data",
        "data(c.id, uint64 offset, bytes len[, bytes mss])",
        "For a payload: len octets of the TX data unit, at most mss of them a packet.",
    ),
    word("set_flow_id", "set_flow_id(event e, id)", "The id of the context that the event is for."),
    word("get_flow_id", "get_flow_id(event e)", "The id of the context that the event is for."),
    word("internet", "internet(pseudo, header, payload)", "The Internet checksum over these."),
    word("crc32", "crc32(part, ..., masked(field, ...))", "The CRC-32 over these, in order."),
    word("masked", "masked(field, ...)", "What counts as ones in a CRC-32."),
    word("ones", "ones(n)", "1 to 64 octets of ones in front of what a CRC-32 covers."),
    word("fields", "fields(first, last)", "Fixed fields that a CRC-32 covers."),
];

pub const INSTRUCTIONS: &[Word] = &[
    word(
        "new_ctx",
        "new_ctx(context v, id)",
        "An instance with the field values of the variable v, found by the id from now on. Refused if the id is taken or there is no room.",
    ),
    word(
        "del_ctx",
        "del_ctx(context c)",
        "After the chain, c is gone: timers stopped, units retired when their queued packets are out.",
    ),
    word(
        "rebind_ctx",
        "rebind_ctx(context, id)",
        "The context is found by this id from now on; handle, timers and units stay. Refused if the id is taken.",
    ),
    word("new_tx_ordered_data", "new_tx_ordered_data(bytes size, c.id)", "A logical unit of data to send."),
    word(
        "new_rx_ordered_data",
        "new_rx_ordered_data(bytes size, c.id)",
        "A logical unit of data to receive.",
    ),
    word(
        "add_tx_data",
        "add_tx_data(addr_t addr, bytes len, c.id)",
        "Appends len octets to the unit; never more than it has room for.",
    ),
    word(
        "tx_flush_and_notify",
        "tx_flush_and_notify(c.id, bytes len)",
        "The first len octets still held are retired.",
    ),
    word(
        "add_rx_data_seg",
        "add_rx_data_seg(addr_t addr, bytes len, c.id, uint64 offset)",
        "len octets at `addr` belong at `offset`. Octets already there are kept.",
    ),
    word(
        "put_data",
        "put_data(addr_t from, bytes len, addr_t to)",
        "Octets of a packet or a request are put into the memory of a request that is not complete, as far as that goes.",
    ),
    word(
        "rx_flush_and_notify",
        "rx_flush_and_notify(c.id, bytes len, addr_t addr)",
        "The next len octets are put at `addr`, and its request completes with `OK` and the count.",
    ),
    word(
        "pkt_gen",
        "pkt_gen(blueprint bp[, seg_rule...][, uint32 queue][, sent_event])",
        "Packets from the blueprint, segmented by the rules.",
    ),
    word("timer_start", "timer_start(c.t, duration d)", "Starts the timer if it does not run."),
    word("timer_restart", "timer_restart(c.t, duration d)", "Starts the timer in any case."),
    word("timer_stop", "timer_stop(c.t)", "Stops the timer."),
    word(
        "notify",
        "notify(token_t token, status_t status[, value])",
        "Completes the request; nothing for `none`.",
    ),
    word(
        "set_queue_rate",
        "set_queue_rate(uint32 queue, rate r)",
        "The rate limiter that the queue's packets pass lets them out at this rate from now on; 0 holds them back.",
    ),
    word(
        "set_queue_prio",
        "set_queue_prio(uint32 queue, uint64 prio)",
        "The queue's place in the block with priorities that its packets pass: the least goes first.",
    ),
    word(
        "forward",
        "forward(e.pkt, uint32 interface[, blueprint h])",
        "The packet of the event leaves by interface 0 or 1, perhaps with another header.",
    ),
    word("drop", "drop(e.pkt)", "The packet of the event goes nowhere."),
    word("pkt_store", "pkt_store(e.pkt, uint64 key)", "The packet of the event is kept under the key."),
    word(
        "pkt_release",
        "pkt_release(uint64 key, uint32 interface)",
        "The packets kept under the key leave by the interface, the oldest first.",
    ),
    word("pkt_discard", "pkt_discard(uint64 key)", "The packets kept under the key are forgotten."),
];

pub const REGISTRATIONS: &[Word] = &[
    word("register_ep_chains", "register_ep_chains(dispatch)", "The chains of event processors."),
    word(
        "register_ctx_spec",
        "register_ctx_spec(context, how_many)",
        "At most so many instances of the context.",
    ),
    word(
        "register_data_spec",
        "register_data_spec(context, bytes tx, bytes rx)",
        "Octets that its TX and RX units hold.",
    ),
    word("register_ev_parser", "register_ev_parser(parser)", "What makes events of packets."),
    word("register_interface", "register_interface(interface)", "What applications can ask for."),
    word("register_seg_rule", "register_seg_rule(rule)", "A segmentation rule that `pkt_gen` may use."),
    word(
        "register_coalescing_rule",
        "register_coalescing_rule(rule)",
        "A coalescing rule; the first whose condition holds counts.",
    ),
    word(
        "register_pkt_sched",
        "register_pkt_sched(block)",
        "How packets wait: in queues of scheduling blocks, of which one can feed another.",
    ),
    word(
        "register_ev_sched",
        "register_ev_sched(block)",
        "Which of the events that wait is handled first: those of packets and requests, and due timers.",
    ),
    word(
        "fifo",
        "fifo()",
        "One queue: first in, first out. Of events: `fifo(an_event, another)`, or all that are not named.",
    ),
    word(
        "register_role",
        "register_role(in_network, packets)",
        "The program runs between two interfaces, and keeps at most so many packets.",
    ),
    word("in_network", "in_network", "The role of a program between two interfaces."),
    word(
        "strict_priority",
        "strict_priority(inputs)",
        "An earlier input goes before the later ones, until `set_queue_prio` says otherwise.",
    ),
    word(
        "drr",
        "drr(inputs, bytes quantum...)",
        "Deficit round robin: the inputs take turns, of a quantum of octets each.",
    ),
    word(
        "rate_limiter",
        "rate_limiter(inputs, rate r...)",
        "Each input sends at its rate at most; `set_queue_rate` changes it.",
    ),
    word("PER_FLOW", "PER_FLOW", "In place of a number of queues: one for each context."),
];
