// SPDX-License-Identifier: MIT OR Apache-2.0
//! What keeps a chain from running at a site.

use carrick_ir::bounds::Cost;
use carrick_ir::uses::event_kind_name;
use carrick_ir::{EventId, EventKind, FuncId, Instr, Program, StmtKind, walk};

use super::placed::{Site, Why};
use super::reach::reachable;

/// Everything about these processors that the site cannot do, each once, in their order.
pub fn of(program: &Program, costs: &[Cost], site: &Site, event: EventId, processors: &[FuncId]) -> Vec<Why> {
    let mut found = Vec::new();
    let def = &program.events[event.index()];
    let first = processors.first().map(|f| program.functions[f.index()].loc).unwrap_or_default();
    if !site.waits && waits(program, event) {
        let text = format!("`{}` is queued (its kind is {})", def.name, event_kind_name(def.kind));
        found.push(Why { text, loc: first });
    }
    for func in reachable(program, processors) {
        in_function(program, site, func, &mut found);
    }
    let sum =
        |of: fn(&Cost) -> u32| processors.iter().map(|f| of(&costs[f.index()])).fold(0, u32::saturating_add);
    for (most, count, what) in [
        (site.blueprints, sum(|cost| cost.blueprints), "packets issued for one event"),
        (site.statements, sum(|cost| cost.statements), "statements in one run"),
    ] {
        if let Some(most) = most.filter(|most| count > *most) {
            found.push(Why { text: format!("up to {count} {what}, but the site allows {most}"), loc: first });
        }
    }
    found
}

/// Whether an event is queued before its chain runs.
fn waits(program: &Program, event: EventId) -> bool {
    let timer = program.events[event.index()].kind == EventKind::Timer;
    program.event_schedule.as_ref().is_some_and(|schedule| {
        schedule.queues.get(event.index()).is_some_and(Option::is_some) || timer && schedule.timers.is_some()
    })
}

fn in_function(program: &Program, site: &Site, func: FuncId, found: &mut Vec<Why>) {
    walk::statements(&program.functions[func.index()].body, &mut |stmt| {
        let StmtKind::Instr(instr) = &stmt.kind else { return };
        if let Some(text) = instruction(program, site, instr)
            && found.iter().all(|why| why.text != text)
        {
            found.push(Why { text, loc: stmt.loc });
        }
    });
}

fn instruction(program: &Program, site: &Site, instr: &Instr) -> Option<String> {
    let name = instr.opcode().name();
    if let Instr::NewCtx { ctx, .. } = instr
        && !site.memory
    {
        let def = &program.contexts[ctx.index()];
        if def.holds_data() {
            return Some(format!("`{name}` of `{}`, which needs memory for data units", def.name));
        }
    }
    let units = matches!(instr, Instr::NewTxOrderedData { .. } | Instr::NewRxOrderedData { .. });
    if units && !site.memory {
        return Some(format!("`{name}` allocates memory"));
    }
    let known = site.instructions.as_ref().is_none_or(|all| all.iter().any(|n| n == name));
    (!known).then(|| format!("`{name}` is not supported there"))
}
