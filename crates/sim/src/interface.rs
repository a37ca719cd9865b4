// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interface of a program: which call is which, and where its arguments go.

use carrick_ir::{CallTarget, Program, Ty};

/// The names of the calls, in the order of [`Call`].
const NAMES: [&str; 23] = [
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
];

/// What an interface is like: what its calls are, and what they mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// octets in order, from listeners and to them
    Stream,
    /// messages between two ends that both open
    Message,
    /// requests from clients, each with a response of its server
    Rpc,
    /// streams of octets, several on a connection, from listeners and to them
    Multistream,
    /// sends, receives, and access to the peer's memory
    Verbs,
}

/// A call of some shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
}

/// The names of the fields that take them, in the order of [`Arg`].
const ARG_NAMES: [&str; 16] = [
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
];

/// The arguments of a call, by [`Arg`]; 0 where there is nothing to say.
pub type Args = [u64; ARG_NAMES.len()];

/// Arguments with these values.
pub fn args(given: &[(Arg, u64)]) -> Args {
    let mut all = Args::default();
    given.iter().for_each(|(arg, value)| all[*arg as usize] = *value);
    all
}

#[derive(Debug, Clone)]
struct Known {
    number: usize,
    /// for each of the event's fields but its `addr_t` where among [`Args`] its value is, if it is known
    fields: Vec<Option<usize>>,
    on_handle: bool,
}

/// What applications need to know of a program's interface.
#[derive(Debug, Clone)]
pub struct Interface {
    pub shape: Shape,
    calls: Vec<Option<Known>>,
}

impl Interface {
    /// Finds the calls.
    ///
    /// # Errors
    /// A sentence, if the program has no such interface.
    pub fn of(program: &Program) -> Result<Interface, String> {
        let none = || {
            format!(
                "{} has no interface `stream`, `multistream`, `message`, `rpc` or `verbs`, which the simulator's applications speak",
                program.file
            )
        };
        let interface = program.interface.as_ref().ok_or_else(none)?;
        let shape = match interface.name.as_str() {
            "stream" => Shape::Stream,
            "message" => Shape::Message,
            "rpc" => Shape::Rpc,
            "multistream" => Shape::Multistream,
            "verbs" => Shape::Verbs,
            _ => return Err(none()),
        };
        let known = |name: &str| {
            let (number, call) = interface.calls.iter().enumerate().find(|(_, c)| c.name == name)?;
            let event = &program.events[call.event.index()];
            let place = |name: &str| ARG_NAMES.iter().position(|n| *n == name);
            let scalars = event.fields.iter().filter(|f| f.ty != Ty::Addr);
            let fields = scalars.map(|f| place(&f.name)).collect();
            Some(Known { number, fields, on_handle: matches!(call.target, CallTarget::On(_)) })
        };
        Ok(Interface { shape, calls: NAMES.iter().map(|n| known(n)).collect() })
    }

    /// The number of a call; its arguments, in the event's order, go to `to`, which is cleared. `None` if the program has
    /// no such call.
    pub fn arguments(&self, call: Call, given: &Args, to: &mut Vec<u64>) -> Option<usize> {
        let known = self.calls[call as usize].as_ref()?;
        to.clear();
        to.extend(known.fields.iter().map(|place| place.map_or(0, |at| given[at])));
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
