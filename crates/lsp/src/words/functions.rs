// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions, instructions and registrations.

use carrick_ir::{Builtin, Opcode};

use super::word::{Word, instruction, word};

/// What looks like a call, and is a part of a certain statement or declaration.
pub const FORMS: &[Word] = &[
    word(
        "assert",
        "assert(bool claim)",
        "Claims that a condition holds here; counted and reported if it does not.",
    ),
    word(
        "data",
        "data(c.id, uint64 offset, bytes len[, bytes mss])",
        "A payload: len bytes of a TX data unit, at most mss of them in each packet. `data(addr, len[, mss])`: bytes of the memory of a request.",
    ),
    word("set_flow_id", "set_flow_id(event e, id)", "Sets the id of the context that the event is for."),
    word("internet", "internet(pseudo, header, payload)", "The Internet checksum over these parts."),
    word("crc32", "crc32(part, ..., masked(field, ...))", "The CRC-32 over these parts, in order."),
    word("masked", "masked(field, ...)", "Fields that a CRC-32 reads as all ones."),
    word("ones", "ones(n)", "1 to 64 bytes of ones before the bytes that a CRC-32 covers."),
    word("fields", "fields(first, last)", "Fixed fields that a CRC-32 covers."),
];

pub const FUNCTIONS: &[Word] = &functions();

/// All but two, which only the compiler uses.
const CALLABLE: usize = Builtin::ALL.len() - 2;

const fn functions() -> [Word; CALLABLE] {
    let mut words = [word("", "", ""); CALLABLE];
    let (mut at, mut next) = (0, 0);
    while next < Builtin::ALL.len() {
        let declared = Builtin::ALL[next].declaration();
        if !declared.form.is_empty() {
            words[at] = word(declared.name, declared.form, declared.meaning);
            at += 1;
        }
        next += 1;
    }
    assert!(at == CALLABLE);
    words
}

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
