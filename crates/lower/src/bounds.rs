//! How much one event can cause at most.

use carrick_ir::{Block, EventId, EventKind, FuncId, Function, Instr, Program, Stmt, StmtKind, Ty};

/// What a run of some statements causes at most; counts saturate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Cost {
    /// events raised by the run itself
    raised: u32,
    /// blueprints issued, with those of the events raised
    blueprints: u32,
}

impl Cost {
    fn then(self, other: Cost) -> Cost {
        Cost {
            raised: self.raised.saturating_add(other.raised),
            blueprints: self.blueprints.saturating_add(other.blueprints),
        }
    }

    fn or(self, other: Cost) -> Cost {
        Cost { raised: self.raised.max(other.raised), blueprints: self.blueprints.max(other.blueprints) }
    }

    fn times(self, turns: u32) -> Cost {
        Cost { raised: self.raised.saturating_mul(turns), blueprints: self.blueprints.saturating_mul(turns) }
    }
}

/// Computes every bound of the program. There is no circle among calls or raises.
pub fn compute(program: &mut Program) {
    let costs: Vec<Cost> =
        (0..program.functions.len()).map(|f| function(program, FuncId(f as u32))).collect();
    for (function, cost) in program.functions.iter_mut().zip(&costs) {
        function.max_raised = cost.raised;
    }
    let parser = costs[program.parser.index()];
    program.max_parsed = parser.raised;
    let chains: Vec<Cost> = (0..program.chains.len()).map(|e| chain(program, EventId(e as u32))).collect();
    for (chain, cost) in program.chains.iter_mut().zip(&chains) {
        if let Some(chain) = chain {
            chain.max_raised = cost.raised;
        }
    }
    let outside = program.events.iter().zip(&chains).filter(|(e, _)| e.kind != EventKind::Net);
    let most = outside.map(|(_, cost)| cost.blueprints).max().unwrap_or(0);
    program.max_blueprints = most.max(parser.blueprints);
}

fn chain(program: &Program, event: EventId) -> Cost {
    let Some(chain) = program.chains.get(event.index()).and_then(Option::as_ref) else {
        return Cost::default();
    };
    let run = |functions: &[FuncId]| {
        functions.iter().fold(Cost::default(), |cost, f| cost.then(function(program, *f)))
    };
    run(&chain.present).or(run(chain.absent.as_deref().unwrap_or_default()))
}

fn function(program: &Program, func: FuncId) -> Cost {
    let def = &program.functions[func.index()];
    block(program, def, &def.body)
}

fn block(program: &Program, def: &Function, body: &Block) -> Cost {
    body.stmts.iter().fold(Cost::default(), |cost, s| cost.then(stmt(program, def, s)))
}

fn stmt(program: &Program, def: &Function, stmt: &Stmt) -> Cost {
    match &stmt.kind {
        StmtKind::If { then, otherwise, .. } => block(program, def, then).or(block(program, def, otherwise)),
        StmtKind::Block(body) => block(program, def, body),
        StmtKind::ForRange { max, body, .. } => {
            block(program, def, body).times(u32::try_from(*max).unwrap_or(u32::MAX))
        }
        StmtKind::ForEach { list, body, .. } => {
            let turns = if let Ty::List(_, n) | Ty::Array(_, n) = list.ty { n } else { 1 };
            block(program, def, body).times(turns)
        }
        StmtKind::Call { func, .. } => function(program, *func),
        StmtKind::Instr(Instr::PktGen { .. }) => Cost { raised: 0, blueprints: 1 },
        StmtKind::Instr(Instr::Raise { event }) => match def.locals[event.index()].ty {
            Ty::Event(event) => Cost { raised: 1, blueprints: chain(program, event).blueprints },
            _ => Cost::default(),
        },
        _ => Cost::default(),
    }
}
