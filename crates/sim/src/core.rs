// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the simulator knows of a core; see docs/reference/execution.md.

pub use carrick_interp::{Completion, Data, FailedClaim, Record, RecordSet, Refused, Request, TraceKind};
use carrick_ir::Function;

/// A core: packets, calls and time go in; packets, completions and the next deadline come out.
pub trait Core {
    /// A packet from the network.
    ///
    /// # Errors
    /// [`Refused::Again`] if nothing happened, [`Refused::Dropped`] if it was refused and counted.
    fn rx(&mut self, packet: &[u8], now: u64) -> Result<(), Refused>;

    /// As [`Core::rx`], of a program in the network: the packet came by this interface.
    ///
    /// # Errors
    /// [`Refused::Again`] also while a packet waits to leave.
    fn rx_on(&mut self, interface: u32, packet: &[u8], now: u64) -> Result<(), Refused>;

    /// By which interface the packet leaves that [`Core::tx`] made last, of a program in the network; [`carrick_ir::ROUTE`] is
    /// the one to which its destination leads.
    fn tx_interface(&self) -> u32;

    /// A request of the application: the number of the interface call, and what it brings.
    ///
    /// # Errors
    /// [`Refused::Again`] or [`Refused::BadArg`].
    fn call(&mut self, call: usize, request: Request<'_>, now: u64) -> Result<(), Refused>;

    /// Fires the timers that are due.
    ///
    /// # Errors
    /// [`Refused::Again`] if some are left.
    fn advance(&mut self, now: u64) -> Result<(), Refused>;

    /// Puts the next packet into `out` (which is cleared); false if there is none.
    fn tx(&mut self, out: &mut Vec<u8>, now: u64) -> bool;

    /// When the next timer is due, or a packet goes that waits for its moment only.
    fn next_deadline(&self) -> Option<u64> {
        self.next_deadline_before(u64::MAX)
    }

    /// The same, if that is before `before`. Cheaper, since most events put timers off and bring none forward.
    fn next_deadline_before(&self, before: u64) -> Option<u64>;

    /// The oldest completion.
    fn next_completion(&mut self) -> Option<Completion>;

    /// Gives back the bytes of a completion, for later ones.
    fn recycle(&mut self, octets: Vec<u8>) {
        drop(octets);
    }

    /// Moves the trace records since the last time to the end of `to`.
    fn take_trace(&mut self, to: &mut Vec<Record>);

    /// Takes records back, whose memory it may use for later ones.
    fn recycle_trace(&mut self, records: &mut Vec<Record>) {
        records.clear();
    }

    /// By number: [`carrick_ir::COUNTERS`].
    fn counters(&self) -> Vec<u64>;

    /// The first claims of the program that did not hold, where claims are checked.
    fn failed_claims(&self) -> &[FailedClaim];

    /// Instances over all contexts.
    fn open_contexts(&self) -> usize;

    /// Changes the context with this handle, by a function whose only parameter it is: the record of its new state, or
    /// `None` if it is gone.
    ///
    /// # Errors
    /// Why this core cannot do that.
    fn change(&mut self, change: &Function, handle: u64, now: u64) -> Result<Option<Record>, String>;
}

/// When to look at the timers of a core next, if that is earlier than `planned`, which it becomes.
pub(crate) fn plan_earlier(core: &dyn Core, planned: &mut u64, now: u64) -> Option<u64> {
    let at = core.next_deadline_before(*planned)?.max(now);
    (at < *planned).then(|| {
        *planned = at;
        at
    })
}
