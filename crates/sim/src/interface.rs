// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interface of a program: which call is which, and where its arguments go.

use carrick_ir::{CallTarget, FieldDef, NetLayer, Program, Ty};
use serde::{Deserialize, Serialize};

use crate::ip;

/// The names of the calls, in the order of [`Call`].
const NAMES: [&str; 26] = [
    "listen",
    "accept",
    "connect",
    "send",
    "recv",
    "shutdown",
    "close",
    "abort",
    "open",
    "request",
    "recv_request",
    "respond",
    "recv_response",
    "cancel",
    "open_stream",
    "accept_stream",
    "reset",
    "register",
    "deregister",
    "post_recv",
    "post_send",
    "post_write",
    "post_read",
    "take",
    "put",
    "consume",
];

/// What an interface is like: what its calls are, and what they mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// bytes in order, from listeners and to them
    Stream,
    /// messages between two ends that both open
    Message,
    /// requests from clients, each with a response of its server
    Rpc,
    /// streams of bytes, several on a connection, from listeners and to them
    Multistream,
    /// sends, receives, and access to the peer's memory
    Verbs,
}

impl Shape {
    /// Whether it carries bytes without boundaries.
    pub fn carries_streams(self) -> bool {
        matches!(self, Shape::Stream | Shape::Multistream)
    }
}

/// A call of some shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Call {
    Listen,
    Accept,
    Connect,
    Send,
    Recv,
    Shutdown,
    Close,
    Abort,
    Open,
    Request,
    RecvRequest,
    Respond,
    RecvResponse,
    Cancel,
    OpenStream,
    AcceptStream,
    Reset,
    Register,
    Deregister,
    PostRecv,
    PostSend,
    PostWrite,
    PostRead,
    Take,
    Put,
    Consume,
}

/// What calls of the shape may want to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arg {
    LocalIp,
    LocalPort,
    RemoteIp,
    RemotePort,
    Backlog,
    Len,
    LocalQp,
    RemoteQp,
    SendPsn,
    RecvPsn,
    Key,
    Addr,
    MayRead,
    MayWrite,
    WithImm,
    Imm,
    Buffer,
}

/// The names of the fields that take them, in the order of [`Arg`].
const ARG_NAMES: [&str; 17] = [
    "local_ip",
    "local_port",
    "remote_ip",
    "remote_port",
    "backlog",
    "len",
    "local_qp",
    "remote_qp",
    "send_psn",
    "recv_psn",
    "key",
    "addr",
    "may_read",
    "may_write",
    "with_imm",
    "imm",
    "buffer",
];

/// The arguments of a call, by [`Arg`]; 0 where there is nothing to say.
pub type Args = [u64; ARG_NAMES.len()];

/// Arguments with these values.
pub fn args(given: &[(Arg, u64)]) -> Args {
    let mut all = Args::default();
    given.iter().for_each(|(arg, value)| all[*arg as usize] = *value);
    all
}

/// An argument of a program's call.
#[derive(Debug, Clone, Copy)]
enum Given {
    /// 0: nobody knows the field
    Nothing,
    /// where among [`Args`] it is
    Arg(usize),
    /// the high and the low half of the IPv6 address of the host whose IPv4 address is there
    High(usize),
    Low(usize),
}

#[derive(Debug, Clone)]
struct Known {
    number: usize,
    /// what each argument of the call is, in the order of the event's fields
    fields: Vec<Given>,
    on_handle: bool,
}

impl Shape {
    /// That of a program at an end.
    ///
    /// # Errors
    /// A sentence, if the program has no such interface.
    pub fn of(program: &Program) -> Result<Shape, String> {
        let shape = match program.interface.as_ref().map(|interface| interface.name.as_str()) {
            Some("stream") => Shape::Stream,
            Some("message") => Shape::Message,
            Some("rpc") => Shape::Rpc,
            Some("multistream") => Shape::Multistream,
            Some("verbs") => Shape::Verbs,
            _ => {
                return Err(format!(
                    "{} has no interface `stream`, `multistream`, `message`, `rpc` or `verbs`, which the simulator's applications speak",
                    program.file.raw()
                ));
            }
        };
        Ok(shape)
    }
}

/// Where the arguments of a program's calls go.
#[derive(Debug, Clone)]
pub struct Interface {
    calls: Vec<Option<Known>>,
}

impl Interface {
    /// Finds the calls of a program at an end.
    ///
    /// # Errors
    /// A sentence, if the program has no interface of a known [`Shape`].
    pub fn of(program: &Program) -> Result<Interface, String> {
        Shape::of(program)?;
        Ok(Interface::calls(program))
    }

    /// Finds the calls of a program in the network that hands messages to an offload; `None`: it is no such program.
    pub fn of_offload(program: &Program) -> Option<Interface> {
        let named = program.interface.as_ref().is_some_and(|interface| interface.name == "offload");
        named.then(|| Interface::calls(program))
    }

    /// Finds the calls of a program, if it has any, whatever applications speak.
    pub fn calls(program: &Program) -> Interface {
        let calls = program.interface.as_ref().map_or(&[][..], |interface| &interface.calls);
        let known = |name: &str| {
            let (number, call) = calls.iter().enumerate().find(|(_, c)| c.name == name)?;
            let event = &program.events[call.event.index()];
            let place = |name: &str| ARG_NAMES.iter().position(|n| *n == name);
            let given = |f: &FieldDef| match (&f.ty, place(&f.name)) {
                (Ty::Addr, _) => Vec::new(),
                (Ty::Id(_), Some(at)) => vec![Given::High(at), Given::Low(at)],
                (Ty::Id(_), None) => vec![Given::Nothing; 2],
                (_, place) => vec![place.map_or(Given::Nothing, Given::Arg)],
            };
            let fields = event.fields.iter().flat_map(given).collect();
            Some(Known { number, fields, on_handle: matches!(call.target, CallTarget::On(_)) })
        };
        Interface { calls: NAMES.iter().map(|n| known(n)).collect() }
    }

    /// The number of a call; its arguments, in the event's order, go to `to`, which is cleared. `None` if the program has
    /// no such call.
    pub fn arguments(&self, call: Call, given: &Args, to: &mut Vec<u64>) -> Option<usize> {
        let known = self.calls[call as usize].as_ref()?;
        to.clear();
        let address = |at: usize| ip::address(NetLayer::Ipv6, given[at] as u32);
        to.extend(known.fields.iter().map(|field| match *field {
            Given::Nothing => 0,
            Given::Arg(at) => given[at],
            Given::High(at) => (address(at) >> 64) as u64,
            Given::Low(at) => address(at) as u64,
        }));
        Some(known.number)
    }

    /// Whether the program has such a call.
    pub fn has(&self, call: Call) -> bool {
        self.calls[call as usize].is_some()
    }

    /// Whether the call goes to a handle.
    pub fn on_handle(&self, call: Call) -> bool {
        self.calls[call as usize].as_ref().is_some_and(|k| k.on_handle)
    }
}
