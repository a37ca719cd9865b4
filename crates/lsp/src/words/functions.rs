// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions, instructions and registrations.

use carrick_ir::Opcode;

use super::word::{Word, instruction, word};

pub const FUNCTIONS: &[Word] = &[
    word(
        "assert",
        "assert(bool claim)",
        "Claims that a condition holds here; counted and reported if it does not.",
    ),
    word("now", "now() -> time", "When this event happened."),
    word("min", "min(a, b)", "The lesser of two values of one ordered type."),
    word("max", "max(a, b)", "The greater of two values of one ordered type."),
    word("abs", "abs(x)", "The absolute value."),
    word("sat_add", "sat_add(a, b)", "The sum of two unsigned values of one type, or its greatest value."),
    word(
        "sat_sub",
        "sat_sub(a, b)",
        "a - b of two unsigned values of one type or two seq32, or 0 if b is not less.",
    ),
    word("seq_min", "seq_min(seq32 a, seq32 b) -> seq32", "The earlier of two serial numbers."),
    word("seq_max", "seq_max(seq32 a, seq32 b) -> seq32", "The later of two serial numbers."),
    word(
        "ratio",
        "ratio(a, b) -> fixed",
        "a / b of two integers or two values of one unit, rounded toward zero; 0 if b is 0.",
    ),
    word("sqrt", "sqrt(fixed x) -> fixed", "The square root, rounded down; 0 of a negative number."),
    word("cbrt", "cbrt(fixed x) -> fixed", "The cube root, rounded toward zero."),
    word(
        "log2",
        "log2(fixed x) -> fixed",
        "The logarithm to base 2, rounded down; 0 of what is not above 0.",
    ),
    word("handle", "handle(context c) -> handle_t", "Names the context to the application."),
    word("random", "random() -> uint32", "A random number, from the seed of the stack."),
    word(
        "keyed_hash",
        "keyed_hash(x, ...) -> uint32",
        "A hash of scalars and ids under the stack's secret key.",
    ),
    word("local_ip", "local_ip() -> ip_t", "The core's address."),
    word(
        "is_unicast",
        "is_unicast(ip) -> bool",
        "Whether an address is that of one host: neither unspecified nor multicast.",
    ),
    word("ip_high", "ip_high(ip) -> uint64", "The high 64 bits of an address; 0 over IPv4."),
    word("ip_low", "ip_low(ip) -> uint64", "The low 64 bits of an address; over IPv4, the address."),
    word("mtu", "mtu() -> bytes", "The space of a packet after the network header."),
    word(
        "tx_room",
        "tx_room(c.id) -> bytes",
        "The free buffer space: bytes that `add_tx_data` would take now.",
    ),
    word(
        "rx_size",
        "rx_size(c.id) -> bytes",
        "The size of the buffer of received data, as `rx_resize` left it.",
    ),
    word(
        "data",
        "data(c.id, uint64 offset, bytes len[, bytes mss])",
        "A payload: len bytes of a TX data unit, at most mss of them in each packet. `data(addr, len[, mss])`: bytes of the memory of a request.",
    ),
    word("set_flow_id", "set_flow_id(event e, id)", "Sets the id of the context that the event is for."),
    word("get_flow_id", "get_flow_id(event e)", "Returns the id of the context that the event is for."),
    word("internet", "internet(pseudo, header, payload)", "The Internet checksum over these parts."),
    word("crc32", "crc32(part, ..., masked(field, ...))", "The CRC-32 over these parts, in order."),
    word("masked", "masked(field, ...)", "Fields that a CRC-32 reads as all ones."),
    word("ones", "ones(n)", "1 to 64 bytes of ones before the bytes that a CRC-32 covers."),
    word("fields", "fields(first, last)", "Fixed fields that a CRC-32 covers."),
];

pub const INSTRUCTIONS: &[Word] = &calls();

/// All but `raise`, which is a keyword.
const CALLS: usize = Opcode::ALL.len() - 1;

const fn calls() -> [Word; CALLS] {
    let mut words = [word("", "", ""); CALLS];
    let (mut at, mut next) = (0, 0);
    while next < Opcode::ALL.len() {
        if Opcode::ALL[next].is_call() {
            words[at] = instruction(Opcode::ALL[next]);
            at += 1;
        }
        next += 1;
    }
    assert!(at == CALLS);
    words
}

pub const REGISTRATIONS: &[Word] = &[
    word("register_ep_chains", "register_ep_chains(dispatch)", "The chains of event processors."),
    word(
        "register_ctx_spec",
        "register_ctx_spec(context, how_many)",
        "The largest number of instances of the context.",
    ),
    word(
        "register_data_spec",
        "register_data_spec(context, bytes tx, bytes rx[, bytes rx_most, bytes pool])",
        "Bytes that its TX and RX units hold; what an RX unit can grow to, and by how much all of them together.",
    ),
    word("register_ev_parser", "register_ev_parser(parser)", "The parser, which turns packets into events."),
    word("register_interface", "register_interface(interface)", "The requests of applications."),
    word("register_seg_rule", "register_seg_rule(rule)", "A segmentation rule that `pkt_gen` may use."),
    word(
        "register_coalescing_rule",
        "register_coalescing_rule(rule)",
        "A coalescing rule; the first rule whose condition holds is used.",
    ),
    word(
        "register_pkt_sched",
        "register_pkt_sched(block)",
        "The queues of packets: scheduling blocks, of which one can feed another.",
    ),
    word(
        "register_ev_sched",
        "register_ev_sched(block)",
        "The order of queued events: those of packets and requests, and due timers.",
    ),
    word(
        "fifo",
        "fifo()",
        "A queue: first in, first out. For events, `fifo(an_event, another)`; without names, all events that no other queue names.",
    ),
    word(
        "register_role",
        "register_role(in_network, packets)",
        "The program runs between the interfaces of a node, and stores at most this many packets.",
    ),
    word("in_network", "in_network", "The role of a program in the network."),
    word("ROUTE", "ROUTE", "The interface to which a packet's destination leads."),
    word(
        "strict_priority",
        "strict_priority(inputs)",
        "An earlier input has priority over the later ones, until `set_queue_prio` says otherwise.",
    ),
    word(
        "drr",
        "drr(inputs, bytes quantum...)",
        "Deficit round robin: each input may send a quantum of bytes in each round.",
    ),
    word(
        "rate_limiter",
        "rate_limiter(inputs, rate r...)",
        "Each input sends at its rate at most; `set_queue_rate` changes it.",
    ),
    word("PER_FLOW", "PER_FLOW", "In place of a number of queues: one for each context."),
];
