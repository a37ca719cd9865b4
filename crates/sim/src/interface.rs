//! The `stream` interface of a program: which call is which, and where its arguments go.

use carrick_ir::{CallTarget, Program, Ty};

/// The names of the shape, in the order of [`Call`].
const NAMES: [&str; 8] = ["listen", "accept", "connect", "send", "recv", "shutdown", "close", "abort"];

/// A call of the shape `stream`.
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
}

#[derive(Debug, Clone)]
struct Known {
    number: usize,
    /// the event's fields but for its `addr_t`
    fields: Vec<String>,
    on_handle: bool,
}

/// What applications need to know of a program's interface.
#[derive(Debug, Clone)]
pub struct StreamInterface {
    calls: Vec<Option<Known>>,
}

impl StreamInterface {
    /// Finds the calls.
    ///
    /// # Errors
    /// A sentence, if the program has no such interface.
    pub fn of(program: &Program) -> Result<StreamInterface, String> {
        let interface = program.interface.as_ref().filter(|i| i.name == "stream").ok_or_else(|| {
            format!("{} has no interface `stream`, which the simulator's applications speak", program.file)
        })?;
        let known = |name: &str| {
            let (number, call) = interface.calls.iter().enumerate().find(|(_, c)| c.name == name)?;
            let event = &program.events[call.event.index()];
            let fields = event.fields.iter().filter(|f| f.ty != Ty::Addr).map(|f| f.name.clone()).collect();
            Some(Known { number, fields, on_handle: matches!(call.target, CallTarget::On(_)) })
        };
        Ok(StreamInterface { calls: NAMES.iter().map(|n| known(n)).collect() })
    }

    /// The number of a call and its arguments in the event's order, from those that are known by name; others are 0.
    /// `None` if the program has no such call.
    pub fn arguments(&self, call: Call, given: &[(&str, u64)]) -> Option<(usize, Vec<u64>)> {
        let known = self.calls[call as usize].as_ref()?;
        let value = |field: &String| given.iter().find(|(n, _)| n == field).map_or(0, |(_, v)| *v);
        Some((known.number, known.fields.iter().map(value).collect()))
    }

    /// Whether the call goes to a handle.
    pub fn on_handle(&self, call: Call) -> bool {
        self.calls[call as usize].as_ref().is_some_and(|k| k.on_handle)
    }
}
