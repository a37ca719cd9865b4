// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each function can do, with all that it calls.

use std::collections::BTreeSet;

use carrick_ir::{EventId, FuncId, Instr, Program, StmtKind, Ty, walk};

/// Of one function, or of a chain.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    pub instructions: BTreeSet<&'static str>,
    /// the events that it raises, as numbers
    pub raises: BTreeSet<u32>,
    /// the blueprints of which it makes packets, as numbers
    pub packets: BTreeSet<u32>,
    pub stops: bool,
}

impl Reach {
    pub fn join(&mut self, other: &Reach) {
        self.instructions.extend(&other.instructions);
        self.raises.extend(&other.raises);
        self.packets.extend(&other.packets);
        self.stops |= other.stops;
    }

    /// What of it an event's chain can do.
    pub fn of_event(program: &Program, reach: &[Reach], event: EventId) -> Reach {
        let mut all = Reach::default();
        let chain = program.chains.get(event.index()).and_then(Option::as_ref);
        for func in chain.into_iter().flat_map(|c| c.present.iter().chain(c.absent.iter().flatten())) {
            all.join(&reach[func.index()]);
        }
        all
    }
}

/// In the order of the functions, of which callees come first.
pub fn reach(program: &Program) -> Vec<Reach> {
    let mut all: Vec<Reach> = Vec::with_capacity(program.functions.len());
    for function in &program.functions {
        let mut own = Reach { stops: function.may_stop, ..Reach::default() };
        let mut called: Vec<FuncId> = Vec::new();
        walk::statements(&function.body, &mut |stmt| match &stmt.kind {
            StmtKind::Call { func, .. } => called.push(*func),
            StmtKind::Instr(instr) => {
                own.instructions.insert(instr.opcode().name());
                let of = |local: carrick_ir::LocalId| &function.locals[local.index()].ty;
                match instr {
                    Instr::Raise { event } => {
                        if let Ty::Event(id) = of(*event) {
                            own.raises.insert(id.0);
                        }
                    }
                    Instr::PktGen { bp, .. } => {
                        if let Ty::Blueprint(id) = of(*bp) {
                            own.packets.insert(id.0);
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        });
        for func in called {
            if let Some(callee) = all.get(func.index()) {
                own.join(callee);
            }
        }
        all.push(own);
    }
    all
}
