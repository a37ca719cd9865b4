// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much one event can cause at most.
//!
//! Targets allocate by these numbers, and refuse an input while they have less room; so there are limits.

use crate::{Block, EventId, FuncId, Function, Instr, Loc, Over, Program, Stmt, StmtKind, Ty, walk};

/// How many blueprints can wait for their packets: no event may issue more.
pub const BLUEPRINTS_MAX: u32 = 1024;

/// Of an event that may issue more, inputs are refused although most of that room is free.
pub const BLUEPRINTS_MANY: u32 = BLUEPRINTS_MAX / 2;

/// How many events one chain, or the parser for one packet, may raise.
pub const RAISED_MAX: u32 = 256;

/// How many functions may call each other, one within the other.
pub const CALLS_MAX: usize = 128;

/// What a run of some statements causes at most; counts saturate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// events raised by the run itself
    pub raised: u32,
    /// blueprints issued, with those of the events raised
    pub blueprints: u32,
    /// instructions issued by the run itself
    pub instructions: u32,
    /// statements that the run itself comes by, each as often as it does; claims do not count
    pub statements: u32,
}

impl Cost {
    /// Of a statement alone, that is an instruction if `instruction`.
    fn of_statement(instruction: bool) -> Cost {
        Cost { instructions: u32::from(instruction), statements: 1, ..Cost::default() }
    }

    fn then(self, other: Cost) -> Cost {
        self.with(other, u32::saturating_add)
    }

    fn or(self, other: Cost) -> Cost {
        self.with(other, u32::max)
    }

    fn times(self, turns: u32) -> Cost {
        self.with(
            Cost { raised: turns, blueprints: turns, instructions: turns, statements: turns },
            u32::saturating_mul,
        )
    }

    fn with(self, other: Cost, join: fn(u32, u32) -> u32) -> Cost {
        Cost {
            raised: join(self.raised, other.raised),
            blueprints: join(self.blueprints, other.blueprints),
            instructions: join(self.instructions, other.instructions),
            statements: join(self.statements, other.statements),
        }
    }
}

/// What a run of some statements causes at most, by where it goes from there; `None`: never there.
#[derive(Debug, Clone, Copy, Default)]
struct Paths {
    /// to what follows
    on: Option<Cost>,
    /// to the end of a turn of the loop around it, or of the loop
    round: Option<Cost>,
    /// out of the function
    out: Option<Cost>,
}

impl Paths {
    fn on(cost: Cost) -> Paths {
        Paths { on: Some(cost), ..Paths::default() }
    }

    fn then(self, next: Paths) -> Paths {
        let Some(before) = self.on else { return self };
        let behind = |cost: Option<Cost>| cost.map(|cost| before.then(cost));
        Paths {
            on: behind(next.on),
            round: either(self.round, behind(next.round)),
            out: either(self.out, behind(next.out)),
        }
    }

    fn or(self, other: Paths) -> Paths {
        Paths {
            on: either(self.on, other.on),
            round: either(self.round, other.round),
            out: either(self.out, other.out),
        }
    }

    /// So many turns of a loop with this body, the last of which may leave the function.
    fn turns(self, turns: u32) -> Paths {
        let turn = either(self.on, self.round).unwrap_or_default();
        let before = turn.times(turns.saturating_sub(1));
        Paths {
            on: Some(turn.times(turns)),
            round: None,
            out: self.out.filter(|_| turns > 0).map(|out| before.then(out)),
        }
    }

    fn most(self) -> Cost {
        either(either(self.on, self.round), self.out).unwrap_or_default()
    }
}

fn either(a: Option<Cost>, b: Option<Cost>) -> Option<Cost> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.or(b)),
        (one, other) => one.or(other),
    }
}

/// What each function and each chain causes at most, in their order. There is no circle among calls or raises.
pub fn costs(program: &Program) -> (Vec<Cost>, Vec<Cost>) {
    let mut costs = Costs::new(program);
    let functions = (0..program.functions.len()).map(|f| costs.function(FuncId(f as u32))).collect();
    let chains = (0..program.chains.len()).map(|e| costs.chain(EventId(e as u32))).collect();
    (functions, chains)
}

/// A loop, and what it causes with all its turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loop {
    pub loc: Loc,
    /// at most
    pub turns: u32,
    pub cost: Cost,
}

/// The loops of a function and of those that it calls, but for those inside others. There is no circle among calls or
/// raises.
pub fn loops(program: &Program, func: FuncId) -> Vec<Loop> {
    let mut costs = Costs::new(program);
    let mut found = Vec::new();
    let mut seen = vec![false; program.functions.len()];
    let mut open = vec![func];
    while let Some(func) = open.pop() {
        if !std::mem::replace(&mut seen[func.index()], true) {
            let def = &program.functions[func.index()];
            costs.loops_in(def, &def.body, &mut found, &mut open);
        }
    }
    found
}

/// What is known so far: each function and each chain is looked at once, however often it is used.
struct Costs<'p> {
    program: &'p Program,
    functions: Vec<Option<Cost>>,
    chains: Vec<Option<Cost>>,
}

impl<'p> Costs<'p> {
    fn new(program: &'p Program) -> Self {
        let functions = vec![None; program.functions.len()];
        Costs { program, functions, chains: vec![None; program.chains.len()] }
    }

    /// The outermost loops of a block, and the functions that are called outside of them.
    fn loops_in(&mut self, def: &Function, body: &Block, found: &mut Vec<Loop>, calls: &mut Vec<FuncId>) {
        for stmt in &body.stmts {
            if let Some(turns) = turns(stmt) {
                found.push(Loop { loc: stmt.loc, turns, cost: self.stmt(def, stmt).most() });
            } else {
                walk::children(stmt).for_each(|child| self.loops_in(def, child, found, calls));
                calls.extend(if let StmtKind::Call { func, .. } = &stmt.kind { Some(*func) } else { None });
            }
        }
    }

    fn chain(&mut self, event: EventId) -> Cost {
        let Some(chain) = self.program.chains.get(event.index()).and_then(Option::as_ref) else {
            return Cost::default();
        };
        if let Some(known) = self.chains[event.index()] {
            return known;
        }
        let present = self.in_turn(&chain.present);
        let cost = present.or(self.in_turn(chain.absent.as_deref().unwrap_or_default()));
        self.chains[event.index()] = Some(cost);
        cost
    }

    fn in_turn(&mut self, functions: &[FuncId]) -> Cost {
        functions.iter().fold(Cost::default(), |cost, f| cost.then(self.function(*f)))
    }

    fn function(&mut self, func: FuncId) -> Cost {
        if let Some(known) = self.functions[func.index()] {
            return known;
        }
        let def = &self.program.functions[func.index()];
        let cost = self.block(def, &def.body).most();
        self.functions[func.index()] = Some(cost);
        cost
    }

    fn block(&mut self, def: &Function, body: &Block) -> Paths {
        body.stmts.iter().fold(Paths::on(Cost::default()), |paths, s| paths.then(self.stmt(def, s)))
    }

    fn stmt(&mut self, def: &Function, stmt: &Stmt) -> Paths {
        let own = Cost::of_statement(matches!(stmt.kind, StmtKind::Instr(_)));
        let inside = match &stmt.kind {
            StmtKind::Assert { .. } => return Paths::on(Cost::default()),
            StmtKind::Block(body) => return self.block(def, body),
            StmtKind::If { then, otherwise, .. } => self.block(def, then).or(self.block(def, otherwise)),
            StmtKind::For { body, .. } => self.block(def, body).turns(turns(stmt).unwrap_or(1)),
            StmtKind::Break | StmtKind::Continue => {
                Paths { round: Some(Cost::default()), ..Paths::default() }
            }
            StmtKind::Return(_) | StmtKind::Stop => Paths { out: Some(Cost::default()), ..Paths::default() },
            StmtKind::Call { func, .. } => Paths::on(self.function(*func)),
            StmtKind::Instr(Instr::PktGen { .. }) => Paths::on(Cost { blueprints: 1, ..Cost::default() }),
            StmtKind::Instr(Instr::Raise { event }) => match def.locals[event.index()].ty {
                Ty::Event(event) => {
                    let blueprints = self.chain(event).blueprints;
                    Paths::on(Cost { raised: 1, blueprints, ..Cost::default() })
                }
                _ => Paths::on(Cost::default()),
            },
            _ => Paths::on(Cost::default()),
        };
        Paths::on(own).then(inside)
    }
}

/// How often a loop goes round at most; `None`: it is no loop.
pub fn turns(stmt: &Stmt) -> Option<u32> {
    match &stmt.kind {
        StmtKind::For { over: Over::Range { max, .. }, .. } => Some(u32::try_from(*max).unwrap_or(u32::MAX)),
        StmtKind::For { over: Over::EachOf(list), .. } => {
            Some(if let Ty::List(_, n, _) | Ty::Array(_, n) = list.ty { n } else { 1 })
        }
        _ => None,
    }
}
