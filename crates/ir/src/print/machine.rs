// SPDX-License-Identifier: MIT OR Apache-2.0
//! State machines, and where a program runs.

use super::names::name;
use super::printer::Printer;
use crate::Machine;

impl<'p> Printer<'p> {
    pub(super) fn role(&mut self) {
        if let Some(packets) = &self.program.in_network {
            let packets = self.expr(packets);
            self.line(&format!("in the network, keeps {packets} packets"));
        }
    }

    /// The states, the first first, and a line for each reaction.
    pub(super) fn machine(&mut self, machine: &'p Machine) {
        let of = name(&self.program.contexts, machine.context.index(), |d| &d.name);
        let states: Vec<&str> = machine.states.iter().map(|(state, _)| state.as_str()).collect();
        self.line(&format!("machine {} of {of}: {}", machine.name, states.join(", ")));
        self.indent += 1;
        for transition in &machine.transitions {
            let state = |number: u32| states.get(number as usize).copied().unwrap_or("?");
            let event = name(&self.program.events, transition.event.index(), |d| &d.name);
            let guard = transition.guard.iter().map(|guard| format!(" if ({})", guard.raw()));
            let mut leads: Vec<&str> = transition.to.iter().map(|to| state(*to)).collect();
            leads.extend(transition.ends.then_some("the end"));
            let leads = if leads.is_empty() { "stays".to_owned() } else { leads.join(", ") };
            let from = transition.from.map_or("any", state);
            self.line(&format!("{from} on {event}{}: {leads}", guard.collect::<String>()));
        }
        self.indent -= 1;
    }
}
