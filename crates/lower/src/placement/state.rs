// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which sites work on which contexts, and on which of their fields.

use std::collections::{BTreeMap, BTreeSet};

use carrick_ir::{CtxId, FuncId, Place, Program, Proj, StmtKind, Ty, walk};

use super::placed::{Held, Placed};
use super::reach::{contexts, reachable};

/// Of all contexts, in their order.
pub fn held(program: &Program, chains: &[Placed]) -> Vec<Held> {
    let all = (0..program.contexts.len()).map(|number| CtxId(number as u32));
    all.map(|context| Held { context, sites: sites(program, chains, context) }).collect()
}

fn sites(program: &Program, chains: &[Placed], context: CtxId) -> BTreeMap<usize, Vec<u32>> {
    let mut found: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
    for placed in chains {
        let takes = program.chains[placed.event.index()].iter().flat_map(contexts).any(|c| c == context);
        let makes = !placed.absent && takes;
        let mut used = BTreeSet::new();
        let functions = reachable(program, &placed.processors);
        let mut created = false;
        for function in functions {
            created |= in_function(program, function, context, &mut used);
        }
        if makes || created || !used.is_empty() {
            found.entry(placed.site).or_default().extend(used);
        }
    }
    found.into_iter().map(|(site, used)| (site, used.into_iter().collect())).collect()
}

/// The fields of the context that a function uses; whether it makes an instance.
fn in_function(program: &Program, func: FuncId, context: CtxId, used: &mut BTreeSet<u32>) -> bool {
    let def = &program.functions[func.index()];
    let mut made = false;
    let mut note = |place: &Place| {
        if let (Ty::Context(of), Some(Proj::Field(field))) =
            (&def.locals[place.root.index()].ty, place.path.first())
            && *of == context
        {
            used.insert(*field);
        }
    };
    walk::statements(&def.body, &mut |stmt| {
        if let StmtKind::Instr(instr) = &stmt.kind {
            made |= matches!(instr, carrick_ir::Instr::NewCtx { ctx, .. } if *ctx == context);
            instr
                .exprs()
                .for_each(|e| walk::expressions(e, &mut |e| e.reads().into_iter().for_each(&mut note)));
        }
        walk::of_statement(stmt, &mut |e| e.reads().into_iter().for_each(&mut note));
        stmt.works_on().into_iter().for_each(&mut note);
    });
    made
}
