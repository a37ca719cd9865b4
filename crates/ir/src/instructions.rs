// SPDX-License-Identifier: MIT OR Apache-2.0
//! The transport instructions. Each is declared here, once: its number in traces, its operands, what it needs of a target, and its
//! lines in the reference.
//!
//! [`Instr`], [`Opcode`] and all functions on them come from the declarations. So do the names in traces, the instructions that
//! target files group, the words of editors, the constants of generated C (`runtime/include/carrick/instr.h`), and the tables of
//! `docs/reference/instructions.md`. What an instruction does is written in each engine: the interpreter, and the emitter of C.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Expr;
use crate::operand::{MaybeExpr, Operand, kind};

/// What a declaration says beside the number and the operands.
#[derive(Debug)]
pub struct Declaration {
    /// its name in the language, in traces and in target files
    pub name: &'static str,
    /// how it is written
    pub form: &'static str,
    /// the section of the reference that lists it
    pub section: Section,
    pub needs: Needs,
    /// what it does: sentences, in Markdown
    pub meaning: &'static str,
    /// what can go wrong, in Markdown; empty: nothing
    pub fails: &'static str,
    /// the words of its trace record
    pub record: &'static str,
    /// what to write instead, if a target does not support it
    pub instead: Option<&'static str>,
}

/// The sections of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    Contexts,
    Data,
    Packets,
    Network,
}

impl Section {
    pub const ALL: [Section; 4] = [Section::Contexts, Section::Data, Section::Packets, Section::Network];

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Section::Contexts => "Contexts and events",
            Section::Data => "Data and requests",
            Section::Packets => "Packets",
            Section::Network => "In the network",
        }
    }
}

/// What a target must have to carry out an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// nothing but what every target has
    Core,
    /// the bytes of the received packet
    Received,
    /// memory of requests, by address
    Memory,
    /// a location between the interfaces of a node
    Passing,
    /// memory for packets that wait there
    Store,
}

impl Needs {
    pub const ALL: [Needs; 5] = [Needs::Core, Needs::Received, Needs::Memory, Needs::Passing, Needs::Store];

    /// The word for all such instructions in target files.
    pub fn word(self) -> &'static str {
        match self {
            Needs::Core => "core",
            Needs::Received => "received",
            Needs::Memory => "memory",
            Needs::Passing => "passing",
            Needs::Store => "store",
        }
    }

    /// Whether only programs in the network issue such instructions.
    pub fn in_network(self) -> bool {
        matches!(self, Needs::Passing | Needs::Store)
    }
}

/// Calls the macro `then` with all declarations, each `NAME = NUMBER { operand: kind, ... } => declaration`. A crate that has
/// a form of its own of every instruction (the interpreter) makes it of this, too.
///
/// The order is that of the reference. A new instruction takes the next free number; a number is never used again.
#[macro_export]
macro_rules! for_each_instruction {
    ($then:ident) => {
        $then! {
            NewCtx = 0 { ctx: ContextType, value: Initial, id: Id } => Declaration {
                name: "new_ctx",
                form: "new_ctx(context v, id)",
                section: Section::Contexts,
                needs: Needs::Core,
                meaning: "Creates an instance with the field values of `v` (`conn_ctx v;`). It is found by `id` from now on.",
                fails: "the id is in use, or all instances are and none is retired: `ctx_refused`; a flow event raised to the id then finds no context",
                record: "context type, handle or 0, id",
                instead: None,
            },
            DelCtx = 1 { ctx: OwnContext } => Declaration {
                name: "del_ctx",
                form: "del_ctx(context c)",
                section: Section::Contexts,
                needs: Needs::Core,
                meaning: "Deletes c after the chain: its timers stop, its data units are freed when their queued packets have been sent.",
                fails: "a global context: [MTP0323](../errors/MTP0323.md)",
                record: "handle",
                instead: None,
            },
            RebindCtx = 14 { ctx: OwnContext, id: Id } => Declaration {
                name: "rebind_ctx",
                form: "rebind_ctx(context c, id)",
                section: Section::Contexts,
                needs: Needs::Core,
                meaning: "Finds c by `id` instead of its old id from now on; its handle, timers and data units stay.",
                fails: "another instance has the id: `ctx_refused`",
                record: "handle, id",
                instead: Some("make a context with the other id by `new_ctx`, and end this one by `del_ctx`"),
            },
            RetireCtx = 25 { ctx: OwnContext } => Declaration {
                name: "retire_ctx",
                form: "retire_ctx(context c)",
                section: Section::Contexts,
                needs: Needs::Core,
                meaning: "Lets `new_ctx` delete c when all instances are in use: the instance that was [retired](execution.md#one-event) first goes first. Until then c stays as it is. Retired again, it is the last to go.",
                fails: "a chain that has c creates such an instance: [MTP0324](../errors/MTP0324.md)",
                record: "handle",
                instead: Some("end the context by `del_ctx`, or by a timer"),
            },
            TimerStart = 9 { ctx: Context, timer: Timer, which: Which, after: Duration } => Declaration {
                name: "timer_start",
                form: "timer_start(c.t, duration d[, fields])",
                section: Section::Contexts,
                needs: Needs::Core,
                meaning: "Starts the timer with the duration d, unless it runs already. Its event will have these [fields](language.md#timers). `d` below 1 ns counts as 1 ns: a timer never fires in the `advance` that starts it.",
                fails: "",
                record: "handle, timer, duration",
                instead: None,
            },
            TimerRestart = 10 { ctx: Context, timer: Timer, which: Which, after: Duration } => Declaration {
                name: "timer_restart",
                form: "timer_restart(c.t, duration d[, fields])",
                section: Section::Contexts,
                needs: Needs::Core,
                meaning: "Starts the timer with the duration d, whether it runs or not. Its event will have these fields.",
                fails: "",
                record: "handle, timer, duration",
                instead: Some("write `timer_stop(c.t);` and `timer_start(c.t, d);`"),
            },
            TimerStop = 11 { ctx: Context, timer: Timer, which: Which } => Declaration {
                name: "timer_stop",
                form: "timer_stop(c.t)",
                section: Section::Contexts,
                needs: Needs::Core,
                meaning: "Stops the timer.",
                fails: "",
                record: "handle, timer",
                instead: None,
            },
            Raise = 13 { event: Event } => Declaration {
                name: "raise",
                form: "raise e",
                section: Section::Contexts,
                needs: Needs::Core,
                meaning: "Raises the event. A flow event runs right after this chain, before any other event. In a parser, the net event runs when the parser has ended.",
                fails: "an event of another kind: [MTP0259](../errors/MTP0259.md); events that raise each other in a cycle: [MTP0215](../errors/MTP0215.md)",
                record: "event",
                instead: Some("put the processors of that event into this chain"),
            },

            NewTxOrderedData = 2 { ctx: OwnContext, size: Bytes } => Declaration {
                name: "new_tx_ordered_data",
                form: "new_tx_ordered_data(bytes size, c.id[, none])",
                section: Section::Data,
                needs: Needs::Core,
                meaning: "Creates a unit of data to send, of at most `size` bytes (`INF`: unbounded).",
                fails: "the unit exists: it starts again, empty, and `units_restarted` goes up; where the compiler knows, [MTP0498](../errors/MTP0498.md)",
                record: "handle, size",
                instead: None,
            },
            NewRxOrderedData = 3 { ctx: OwnContext, size: Bytes } => Declaration {
                name: "new_rx_ordered_data",
                form: "new_rx_ordered_data(bytes size, c.id[, none])",
                section: Section::Data,
                needs: Needs::Core,
                meaning: "Creates a unit of received data, of at most `size` bytes (`INF`: unbounded).",
                fails: "the unit exists: it starts again, empty, and `units_restarted` goes up; where the compiler knows, [MTP0498](../errors/MTP0498.md)",
                record: "handle, size",
                instead: None,
            },
            AddTxData = 4 { ctx: OwnContext, addr: Addr, len: Bytes } => Declaration {
                name: "add_tx_data",
                form: "add_tx_data(addr_t addr, bytes len, c.id)",
                section: Section::Data,
                needs: Needs::Core,
                meaning: "Appends len bytes to the unit; the application may reuse its memory when its request completes.",
                fails: "what exceeds the free space is cut: `tx_cut`; no unit: `no_unit`",
                record: "handle, length taken",
                instead: None,
            },
            TxFlushAndNotify = 5 { ctx: OwnContext, len: Bytes } => Declaration {
                name: "tx_flush_and_notify",
                form: "tx_flush_and_notify(c.id, bytes len)",
                section: Section::Data,
                needs: Needs::Core,
                meaning: "Frees the first len bytes that the unit holds.",
                fails: "no unit: `no_unit`",
                record: "handle, length taken",
                instead: None,
            },
            AddRxDataSeg = 6 { ctx: OwnContext, addr: Addr, len: Bytes, offset: U64 } => Declaration {
                name: "add_rx_data_seg",
                form: "add_rx_data_seg(addr_t addr, bytes len, c.id, uint64 offset)",
                section: Section::Data,
                needs: Needs::Received,
                meaning: "Stores len bytes from `addr` at `offset`, counted from the beginning of the unit; bytes already there are kept.",
                fails: "what lies beyond the unit's buffer is cut: `rx_cut`; too many out-of-order ranges: `rx_runs_full`; no unit: `no_unit`",
                record: "handle, length, offset",
                instead: None,
            },
            RxFlushAndNotify = 7 { ctx: OwnContext, len: Bytes, addr: Addr } => Declaration {
                name: "rx_flush_and_notify",
                form: "rx_flush_and_notify(c.id, bytes len, addr_t addr)",
                section: Section::Data,
                needs: Needs::Core,
                meaning: "Copies the next len bytes, but no more than have been received in order, to `addr`. The request of `addr` completes with `OK` and the count.",
                fails: "no unit: `no_unit`",
                record: "handle, length delivered",
                instead: None,
            },
            RxResize = 24 { ctx: OwnContext, size: Bytes } => Declaration {
                name: "rx_resize",
                form: "rx_resize(c.id, bytes size)",
                section: Section::Data,
                needs: Needs::Core,
                meaning: "Gives the buffer of the unit room for `size` bytes, rounded up to a power of two, within what is [registered](language.md#deploy). Out-of-order bytes beyond it are dropped.",
                fails: "less than the unit holds in order, or more than is left in the pool: the buffer stays as it is; no unit: `no_unit`",
                record: "handle, size",
                instead: None,
            },
            PutData = 22 { from: Addr, len: Bytes, to: Addr } => Declaration {
                name: "put_data",
                form: "put_data(addr_t from, bytes len, addr_t to)",
                section: Section::Data,
                needs: Needs::Memory,
                meaning: "Copies len bytes from `from` (in the received packet, or in memory of a request) to `to` (in memory of a request).",
                fails: "what is no longer there, or exceeds one of the two regions, is not copied: `rx_cut`",
                record: "token of `to`, length copied",
                instead: None,
            },
            Notify = 12 { token: Token, status: Status, value: Answer } => Declaration {
                name: "notify",
                form: "notify(token_t token, status_t status[, value])",
                section: Section::Data,
                needs: Needs::Core,
                meaning: "Completes the request; `value` is an integer or a handle. Does nothing if the token is `none`.",
                fails: "a request completed twice, while the completion queue is full: `completion_lost`",
                record: "token, status, value",
                instead: None,
            },

            PktGen = 8 { bp: Packet, rules: Rules, queue: Queue, sent: Sent } => Declaration {
                name: "pkt_gen",
                form: "pkt_gen(bp[, rule...][, uint32 queue][, e])",
                section: Section::Packets,
                needs: Needs::Core,
                meaning: "Makes packets from the blueprint, segmented by the rules. `queue` is the queue in which they wait (default 0). The sent event `e` runs when the last packet has been sent.",
                fails: "a rule of another blueprint: [MTP0242](../errors/MTP0242.md); a payload that is not all there is cut: `payload_cut`; the queue is full: `tx_queue_full`; too long for the MTU: `tx_too_long`; a field out of range: `tx_bad_field`",
                record: "blueprint, payload offset, payload length (after the cut), `mss` as given (2^64-1 if not given); zeros without payload. With frames: 0, the bytes of their payloads, the number of frames",
                instead: None,
            },
            SetQueueRate = 15 { queue: U32, rate: Rate } => Declaration {
                name: "set_queue_rate",
                form: "set_queue_rate(uint32 queue, rate r)",
                section: Section::Packets,
                needs: Needs::Core,
                meaning: "Sets the rate of the queue in the nearest rate limiter that its packets pass; 0 stops them.",
                fails: "there is no rate limiter: [MTP0361](../errors/MTP0361.md)",
                record: "number of the queue, rate",
                instead: Some("say the rate where the queue is declared, in `register_pkt_sched`"),
            },
            SetQueuePrio = 16 { queue: U32, prio: U64 } => Declaration {
                name: "set_queue_prio",
                form: "set_queue_prio(uint32 queue, uint64 prio)",
                section: Section::Packets,
                needs: Needs::Core,
                meaning: "Sets the priority of the queue in the nearest `strict_priority` that its packets pass; the lowest number is sent first. The initial priority is the input's position there, or 0 with `PER_FLOW`.",
                fails: "there is no such block: [MTP0361](../errors/MTP0361.md)",
                record: "number of the queue, priority",
                instead: Some("put the queues in their order: `strict_priority(inputs)`"),
            },

            Forward = 17 { interface: U32, header: Header } => Declaration {
                name: "forward",
                form: "forward(e.pkt, uint32 interface[, bp])",
                section: Section::Network,
                needs: Needs::Passing,
                meaning: "Sends the packet by that interface, or by `ROUTE`: unchanged, or with the header and network header of bp, a blueprint without frames. With bp, the payload is the one that was read into bp, and computed fields are computed again.",
                fails: "frames: [MTP0307](../errors/MTP0307.md); longer than the MTU: `tx_too_long`; a field out of range: `tx_bad_field`",
                record: "interface",
                instead: None,
            },
            PktCopy = 23 { interface: U32, header: Header } => Declaration {
                name: "pkt_copy",
                form: "pkt_copy(e.pkt, uint32 interface[, bp])",
                section: Section::Network,
                needs: Needs::Store,
                meaning: "Sends a copy of the packet by that interface, as `forward` does. It decides nothing about the packet itself: a program can forward, store or drop it as well, and copy it several times.",
                fails: "as for forwarding; the limit of packets, stored or about to be sent, is reached, and the copy is lost: `store_full`",
                record: "interface",
                instead: Some("make a packet with `pkt_gen`"),
            },
            Drop = 18 => Declaration {
                name: "drop",
                form: "drop(e.pkt)",
                section: Section::Network,
                needs: Needs::Passing,
                meaning: "Drops the packet.",
                fails: "",
                record: "",
                instead: None,
            },
            PktStore = 19 { key: U64 } => Declaration {
                name: "pkt_store",
                form: "pkt_store(e.pkt, uint64 key)",
                section: Section::Network,
                needs: Needs::Store,
                meaning: "Stores the packet under the key, after those stored there already.",
                fails: "the limit of packets, stored or about to be sent, is reached, and the packet is lost: `store_full`; longer than the MTU: `tx_too_long`",
                record: "key",
                instead: None,
            },
            PktRelease = 20 { key: U64, interface: U32 } => Declaration {
                name: "pkt_release",
                form: "pkt_release(uint64 key, uint32 interface)",
                section: Section::Network,
                needs: Needs::Store,
                meaning: "Sends the packets stored under the key by the interface, the oldest first.",
                fails: "",
                record: "key, interface, number of packets",
                instead: None,
            },
            PktDiscard = 21 { key: U64 } => Declaration {
                name: "pkt_discard",
                form: "pkt_discard(uint64 key)",
                section: Section::Network,
                needs: Needs::Store,
                meaning: "Drops the packets stored under the key.",
                fails: "",
                record: "key, number of packets",
                instead: None,
            },
        }
    };
}

macro_rules! declare {
    ($($Name:ident = $number:literal $({ $($operand:ident: $Kind:ident),* })? => $declaration:expr,)*) => {
        /// An instruction with its operands.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case", deny_unknown_fields)]
        pub enum Instr {
            $($Name $({ $($operand: kind::$Kind),* })?,)*
        }

        /// An instruction without its operands; as a number, that of traces.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Opcode {
            $($Name = $number,)*
        }

        impl Opcode {
            /// All instructions, in the order of the reference.
            pub const ALL: &'static [Opcode] = &[$(Opcode::$Name),*];

            /// What is declared of it.
            pub const fn declaration(self) -> &'static Declaration {
                match self {
                    $(Opcode::$Name => const { &$declaration },)*
                }
            }
        }

        impl Instr {
            pub const fn opcode(&self) -> Opcode {
                match self {
                    $(Instr::$Name { .. } => Opcode::$Name,)*
                }
            }

            /// The operands by name, in the order of the declaration.
            pub fn operands(&self) -> Vec<(&'static str, Operand<'_>)> {
                match self {
                    $(Instr::$Name $({ $($operand),* })? => {
                        vec![$($((stringify!($operand), Operand::$Kind($operand))),*)?]
                    })*
                }
            }

            /// The operands that are expressions, in the order of the declaration, to change them.
            pub fn exprs_mut(&mut self) -> Vec<&mut Expr> {
                let all: Vec<Option<&mut Expr>> = match self {
                    $(Instr::$Name $({ $($operand),* })? => vec![$($($operand.expr_mut()),*)?],)*
                };
                all.into_iter().flatten().collect()
            }
        }
    };
}

for_each_instruction!(declare);

impl Instr {
    /// The operands that are expressions, in the order of the declaration.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.operands().into_iter().filter_map(|(_, operand)| operand.expr())
    }
}

impl Opcode {
    /// The name in the language.
    pub const fn name(self) -> &'static str {
        self.declaration().name
    }

    /// The number in traces.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The instruction with this number in traces.
    pub fn numbered(number: u32) -> Option<Opcode> {
        Opcode::ALL.iter().copied().find(|op| op.number() == number)
    }

    /// The instruction with this name.
    pub fn named(name: &str) -> Option<Opcode> {
        Opcode::ALL.iter().copied().find(|op| op.name() == name)
    }

    /// Whether it is written as a call.
    pub const fn is_call(self) -> bool {
        matches!(self.declaration().form.as_bytes(), [.., b')'])
    }

    /// The constant that is its number in C.
    pub fn c_name(self) -> String {
        format!("CARRICK_INSTR_{}", self.name().to_uppercase())
    }
}

#[cfg(test)]
mod tests {
    use super::Opcode;

    #[test]
    fn numbers_and_names_are_those_of_one_instruction() {
        let mut numbers: Vec<u32> = Opcode::ALL.iter().map(|op| op.number()).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..numbers.len() as u32).collect::<Vec<_>>(), "a gap between the numbers");
        for op in Opcode::ALL {
            assert_eq!(Opcode::named(op.name()), Some(*op));
            assert_eq!(Opcode::numbered(op.number()), Some(*op));
            assert!(op.declaration().form.starts_with(op.name()), "{op:?}");
        }
    }
}
