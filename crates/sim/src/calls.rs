// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests on their way to a core, and completions on their way back.

use crate::app::{App, Ask};
use crate::core::{Completion, Core, Refused, Request};
use crate::interface::Interface;
use crate::observe::Observer;

/// Makes requests over a program's interface.
pub struct Calls {
    interface: Interface,
    /// used again and again
    asks: Vec<Ask>,
    args: Vec<u64>,
}

impl Calls {
    /// Over this interface.
    pub fn new(interface: Interface) -> Calls {
        Calls { interface, asks: Vec::new(), args: Vec::new() }
    }

    /// Makes these requests; those that the core refuses for now stay in `asks`. Applications that want to be woken go to
    /// `wake`, with the time and their number; after each request that the core took, it is shown to `took`. True if there was
    /// something, and nothing was refused for now.
    pub fn make(
        &mut self,
        core: &mut dyn Core,
        asks: &mut Vec<Ask>,
        now: u64,
        mut wake: impl FnMut(u64, usize),
        mut took: impl FnMut(&mut dyn Core),
    ) -> bool {
        let any = !asks.is_empty();
        std::mem::swap(asks, &mut self.asks);
        for ask in self.asks.drain(..) {
            match ask {
                Ask::Wake { at, conn } => wake(at, conn),
                Ask::Call { call, handle, ref args, token, ref data } => {
                    let Some(number) = self.interface.arguments(call, args, &mut self.args) else { continue };
                    let request = Request { handle, token, args: &self.args, data: data.as_data() };
                    match core.call(number, request, now) {
                        Err(Refused::Again) => asks.push(ask),
                        _ => took(core),
                    }
                }
            }
        }
        any && asks.is_empty()
    }
}

/// Takes a core's completions, each of which is shown to `done`, and gives their bytes back; false if there was none.
pub fn completions(core: &mut dyn Core, mut done: impl FnMut(&Completion)) -> bool {
    let mut any = false;
    while let Some(completion) = core.next_completion() {
        any = true;
        done(&completion);
        if let Some(octets) = completion.data {
            core.recycle(octets);
        }
    }
    any
}

/// Takes what an application asks for, after something reached it.
pub fn collect(app: &mut App, asks: &mut Vec<Ask>, host: usize, observer: &mut dyn Observer) {
    let before = asks.len();
    app.take_asks(asks);
    observer.asked(host, &asks[before..]);
}
