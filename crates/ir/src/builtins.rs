// SPDX-License-Identifier: MIT OR Apache-2.0
//! The built-in functions. Each is declared here, once: its operands, its result, how it is computed, and its row in the reference.
//!
//! [`Builtin`] and all functions on it come from the declarations. So do the reserved names, the checks of operands, the printed
//! form, the validation of tables, the words of editors, and the table of `docs/reference/language.md`. A function of numbers alone
//! ([`Compute::One`], [`Compute::Two`]) needs nothing else in the interpreter and in constants; in C it is a function of
//! `runtime/include/carrick`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Ty, fixed, numbers};

/// What is declared of a function.
#[derive(Debug)]
pub struct Declaration {
    /// its name in the language
    pub name: &'static str,
    /// how it is written, with its type unless that is the operands'; empty: only the compiler uses it
    pub form: &'static str,
    pub takes: Takes,
    pub gives: Gives,
    pub compute: Compute,
    /// nested calls of its implementation in C, where each call is a frame of its own
    pub depth: u32,
    /// its result: sentences, in Markdown
    pub meaning: &'static str,
}

/// The operands of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// one value of each kind
    Each(&'static [Kind]),
    /// this many values of one type, which is of the kind
    Alike(usize, Kind),
    /// one or more values of the kind, each of any type
    Many(Kind),
    /// a name of the program, such as a context
    Name,
}

/// The type of a function's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gives {
    /// the type of its operands
    Operands,
    Is(Kind),
}

/// How a function is computed.
#[derive(Debug, Clone, Copy)]
pub enum Compute {
    /// from one number of this type
    One(fn(&Ty, u64) -> u64),
    /// from two numbers of this type
    Two(fn(&Ty, u64, u64) -> u64),
    /// from the core's state, or from values that are not numbers: each engine has it
    Engine,
    /// by other operations, which stand in its place in the IR
    Elaborated,
}

/// A type, or a group of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Bool,
    U32,
    U64,
    Seq32,
    Fixed,
    Time,
    Bytes,
    Addr,
    Handle,
    /// the address of a host: `ip_t`
    Address,
    /// numbers and units: all values have one order
    Ordered,
    /// numbers that may be negative
    Signed,
    /// integers, and units that have a ratio to each other
    Quantity,
    /// numbers from 0 to the greatest of their type
    Unsigned,
    /// such numbers, and `seq32`
    Distance,
    /// scalars and ids
    Hashed,
}

impl Kind {
    /// The type, if there is only one; `address` is that of a host's address.
    pub fn ty(self, address: &Ty) -> Option<Ty> {
        Some(match self {
            Kind::Bool => Ty::Bool,
            Kind::U32 => Ty::U32,
            Kind::U64 => Ty::U64,
            Kind::Seq32 => Ty::Seq32,
            Kind::Fixed => Ty::Fixed,
            Kind::Time => Ty::Time,
            Kind::Bytes => Ty::Bytes,
            Kind::Addr => Ty::Addr,
            Kind::Handle => Ty::Handle,
            Kind::Address => address.clone(),
            _ => return None,
        })
    }

    /// Whether the type is one of them.
    pub fn has(self, ty: &Ty, address: &Ty) -> bool {
        let int = matches!(ty, Ty::Int { .. });
        let unit = matches!(ty, Ty::Fixed | Ty::Duration | Ty::Bytes | Ty::Rate);
        match self {
            Kind::Ordered => int || unit || *ty == Ty::Time,
            Kind::Signed => matches!(ty, Ty::Int { signed: true, .. } | Ty::Duration | Ty::Fixed),
            Kind::Quantity => int || unit,
            Kind::Unsigned => matches!(ty, Ty::Int { signed: false, .. } | Ty::Bytes | Ty::Rate),
            Kind::Distance => *ty == Ty::Seq32 || Kind::Unsigned.has(ty, address),
            Kind::Hashed => ty.is_scalar() || matches!(ty, Ty::Id(_)),
            exact => exact.ty(address).as_ref() == Some(ty),
        }
    }
}

impl Declaration {
    /// Whether operands of these types give this result.
    pub fn fits(&self, address: &Ty, operands: &[&Ty], result: &Ty) -> bool {
        let taken = match self.takes {
            Takes::Each(kinds) => {
                kinds.len() == operands.len() && kinds.iter().zip(operands).all(|(k, ty)| k.has(ty, address))
            }
            Takes::Alike(count, kind) => {
                let same = operands.iter().all(|ty| *ty == operands[0]);
                operands.len() == count && same && kind.has(operands[0], address)
            }
            Takes::Many(kind) => !operands.is_empty() && operands.iter().all(|ty| kind.has(ty, address)),
            Takes::Name => false,
        };
        let given = match self.gives {
            Gives::Operands => operands.first() == Some(&result),
            Gives::Is(kind) => kind.has(result, address),
        };
        taken && given && !matches!(self.compute, Compute::Elaborated)
    }
}

macro_rules! declare {
    ($($Name:ident => $declaration:expr,)*) => {
        /// A built-in function.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case", deny_unknown_fields)]
        pub enum Builtin {
            $($Name,)*
        }

        impl Builtin {
            /// All functions, in the order of the reference.
            pub const ALL: &'static [Builtin] = &[$(Builtin::$Name),*];

            /// What is declared of it.
            pub const fn declaration(self) -> &'static Declaration {
                match self {
                    $(Builtin::$Name => const { &$declaration },)*
                }
            }
        }
    };
}

declare! {
    Now => Declaration {
        name: "now",
        form: "now() -> time",
        takes: Takes::Each(&[]),
        gives: Gives::Is(Kind::Time),
        compute: Compute::Engine,
        depth: 0,
        meaning: "When this event happened.",
    },
    Min => Declaration {
        name: "min",
        form: "min(a, b)",
        takes: Takes::Alike(2, Kind::Ordered),
        gives: Gives::Operands,
        compute: Compute::Two(numbers::least),
        depth: 0,
        meaning: "The smaller of two values of one ordered type. For `seq32`, use `seq_min`.",
    },
    Max => Declaration {
        name: "max",
        form: "max(a, b)",
        takes: Takes::Alike(2, Kind::Ordered),
        gives: Gives::Operands,
        compute: Compute::Two(numbers::greatest),
        depth: 0,
        meaning: "The greater of two values of one ordered type. For `seq32`, use `seq_max`.",
    },
    Abs => Declaration {
        name: "abs",
        form: "abs(x)",
        takes: Takes::Alike(1, Kind::Signed),
        gives: Gives::Operands,
        compute: Compute::One(numbers::absolute),
        depth: 0,
        meaning: "The absolute value of a number that may be negative.",
    },
    SatAdd => Declaration {
        name: "sat_add",
        form: "sat_add(a, b)",
        takes: Takes::Alike(2, Kind::Unsigned),
        gives: Gives::Operands,
        compute: Compute::Elaborated,
        depth: 0,
        meaning: "The sum, or the greatest value of the type if the sum would wrap. The type is an unsigned integer, `bytes` or `rate`.",
    },
    SatSub => Declaration {
        name: "sat_sub",
        form: "sat_sub(a, b)",
        takes: Takes::Alike(2, Kind::Distance),
        gives: Gives::Operands,
        compute: Compute::Elaborated,
        depth: 0,
        meaning: "The difference, or 0 if a is not greater. Types as for `sat_add`. For two `seq32` the result is a `uint32`: the forward distance from b to a, or 0 if there is none.",
    },
    SeqMin => Declaration {
        name: "seq_min",
        form: "seq_min(seq32 a, seq32 b) -> seq32",
        takes: Takes::Alike(2, Kind::Seq32),
        gives: Gives::Operands,
        compute: Compute::Two(numbers::least),
        depth: 0,
        meaning: "The earlier of two serial numbers.",
    },
    SeqMax => Declaration {
        name: "seq_max",
        form: "seq_max(seq32 a, seq32 b) -> seq32",
        takes: Takes::Alike(2, Kind::Seq32),
        gives: Gives::Operands,
        compute: Compute::Two(numbers::greatest),
        depth: 0,
        meaning: "The later of two serial numbers.",
    },
    Ratio => Declaration {
        name: "ratio",
        form: "ratio(a, b) -> fixed",
        takes: Takes::Alike(2, Kind::Quantity),
        gives: Gives::Is(Kind::Fixed),
        compute: Compute::Two(|ty, a, b| fixed::ratio(numbers::shape(ty).1, a, b)),
        depth: 1,
        meaning: "a / b of two integers or two values of one unit, via 128 bits, rounded toward zero; 0 if b is 0. `ratio(7, 10)` is 0.7.",
    },
    Sqrt => Declaration {
        name: "sqrt",
        form: "sqrt(fixed x) -> fixed",
        takes: Takes::Each(&[Kind::Fixed]),
        gives: Gives::Is(Kind::Fixed),
        compute: Compute::One(|_, x| fixed::sqrt(x)),
        depth: 2,
        meaning: "The square root, rounded down; 0 of a negative number.",
    },
    Cbrt => Declaration {
        name: "cbrt",
        form: "cbrt(fixed x) -> fixed",
        takes: Takes::Each(&[Kind::Fixed]),
        gives: Gives::Is(Kind::Fixed),
        compute: Compute::One(|_, x| fixed::cbrt(x)),
        depth: 2,
        meaning: "The cube root, rounded toward zero.",
    },
    Log2 => Declaration {
        name: "log2",
        form: "log2(fixed x) -> fixed",
        takes: Takes::Each(&[Kind::Fixed]),
        gives: Gives::Is(Kind::Fixed),
        compute: Compute::One(|_, x| fixed::log2(x)),
        depth: 1,
        meaning: "The logarithm to base 2, rounded down, or less by one in the last place; 0 of a number that is not above 0. Every target gives the same.",
    },
    Handle => Declaration {
        name: "handle",
        form: "handle(context c) -> handle_t",
        takes: Takes::Name,
        gives: Gives::Is(Kind::Handle),
        compute: Compute::Elaborated,
        depth: 0,
        meaning: "The handle of a context, which names it to the application.",
    },
    Random => Declaration {
        name: "random",
        form: "random() -> uint32",
        takes: Takes::Each(&[]),
        gives: Gives::Is(Kind::U32),
        compute: Compute::Elaborated,
        depth: 0,
        meaning: "A random number from the stack's seed (PCG32).",
    },
    KeyedHash => Declaration {
        name: "keyed_hash",
        form: "keyed_hash(x, ...) -> uint32",
        takes: Takes::Many(Kind::Hashed),
        gives: Gives::Is(Kind::U32),
        compute: Compute::Engine,
        depth: 0,
        meaning: "SipHash-2-4 of the scalar arguments and ids, under the stack's secret key.",
    },
    Mtu => Declaration {
        name: "mtu",
        form: "mtu() -> bytes",
        takes: Takes::Each(&[]),
        gives: Gives::Is(Kind::Bytes),
        compute: Compute::Engine,
        depth: 0,
        meaning: "The space of a packet after the network header (over `link`: the whole packet).",
    },
    HeaderLen => Declaration {
        name: "header_len",
        form: "header_len(blueprint) -> bytes",
        takes: Takes::Name,
        gives: Gives::Is(Kind::Bytes),
        compute: Compute::Elaborated,
        depth: 0,
        meaning: "The length of the longest header of the blueprint, without the network header: `mtu() - header_len(B)` is the largest payload of a packet. Not in constants and initialisers.",
    },
    LocalIp => Declaration {
        name: "local_ip",
        form: "local_ip() -> ip_t",
        takes: Takes::Each(&[]),
        gives: Gives::Is(Kind::Address),
        compute: Compute::Engine,
        depth: 0,
        meaning: "The core's address.",
    },
    IsUnicast => Declaration {
        name: "is_unicast",
        form: "is_unicast(ip_t ip) -> bool",
        takes: Takes::Each(&[Kind::Address]),
        gives: Gives::Is(Kind::Bool),
        compute: Compute::Elaborated,
        depth: 0,
        meaning: "Whether an address is that of one host: not the unspecified one, and below 224.0.0.0 or ff00::.",
    },
    IpHigh => Declaration {
        name: "ip_high",
        form: "ip_high(ip_t ip) -> uint64",
        takes: Takes::Each(&[Kind::Address]),
        gives: Gives::Is(Kind::U64),
        compute: Compute::Elaborated,
        depth: 0,
        meaning: "The high 64 bits of an address; 0 over IPv4.",
    },
    IpLow => Declaration {
        name: "ip_low",
        form: "ip_low(ip_t ip) -> uint64",
        takes: Takes::Each(&[Kind::Address]),
        gives: Gives::Is(Kind::U64),
        compute: Compute::Elaborated,
        depth: 0,
        meaning: "The low 64 bits of an address; over IPv4, the address.",
    },
    TxRoom => Declaration {
        name: "tx_room",
        form: "tx_room(c.id) -> bytes",
        takes: Takes::Name,
        gives: Gives::Is(Kind::Bytes),
        compute: Compute::Elaborated,
        depth: 0,
        meaning: "How many bytes `add_tx_data` would take now; 0 without a TX unit. A queued packet keeps its bytes until it has been sent (`sent_event`), even if they are flushed earlier.",
    },
    RxSize => Declaration {
        name: "rx_size",
        form: "rx_size(c.id) -> bytes",
        takes: Takes::Name,
        gives: Gives::Is(Kind::Bytes),
        compute: Compute::Elaborated,
        depth: 0,
        meaning: "The size of the buffer of the RX unit, with the bytes that it holds: as registered, or as `rx_resize` left it; 0 without an RX unit.",
    },
    GetFlowId => Declaration {
        name: "get_flow_id",
        form: "get_flow_id(event e) -> id",
        takes: Takes::Name,
        gives: Gives::Operands,
        compute: Compute::Elaborated,
        depth: 0,
        meaning: "The id of the context that the event is for.",
    },
    AddrSkip => Declaration {
        name: "addr_skip",
        form: "",
        takes: Takes::Each(&[Kind::Addr, Kind::U64]),
        gives: Gives::Is(Kind::Addr),
        compute: Compute::Engine,
        depth: 0,
        meaning: "An address moved forward, never past its end.",
    },
    AddrIsNone => Declaration {
        name: "addr_is_none",
        form: "",
        takes: Takes::Each(&[Kind::Addr]),
        gives: Gives::Is(Kind::Bool),
        compute: Compute::Engine,
        depth: 0,
        meaning: "Whether an address is `none`.",
    },
}

impl Builtin {
    /// The functions that a program can call.
    pub fn callable() -> impl Iterator<Item = Builtin> {
        Builtin::ALL.iter().copied().filter(|function| !function.declaration().form.is_empty())
    }

    /// The function that a program calls by this name.
    pub fn named(name: &str) -> Option<Builtin> {
        Builtin::callable().find(|function| function.name() == name)
    }

    /// The name in the language.
    pub const fn name(self) -> &'static str {
        self.declaration().name
    }

    /// The value of a function of numbers alone; `None` of another one. `ty` is the type of the numbers.
    pub fn value(self, ty: &Ty, numbers: &[u64]) -> Option<u64> {
        match (self.declaration().compute, numbers) {
            (Compute::One(of), [x]) => Some(of(ty, *x)),
            (Compute::Two(of), [x, y]) => Some(of(ty, *x, *y)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Builtin, Compute, Takes};

    #[test]
    fn a_declaration_agrees_with_itself() {
        for function in Builtin::ALL {
            let declared = function.declaration();
            let operands = match declared.takes {
                Takes::Each(kinds) => Some(kinds.len()),
                Takes::Alike(count, _) => Some(count),
                Takes::Many(_) | Takes::Name => None,
            };
            match declared.compute {
                Compute::One(_) => assert_eq!(operands, Some(1), "{function:?}"),
                Compute::Two(_) => assert_eq!(operands, Some(2), "{function:?}"),
                Compute::Engine => assert_ne!(declared.takes, Takes::Name, "{function:?}"),
                Compute::Elaborated => assert!(!declared.form.is_empty(), "{function:?}"),
            }
            assert!(declared.form.is_empty() || declared.form.starts_with(&format!("{}(", declared.name)));
        }
    }
}
