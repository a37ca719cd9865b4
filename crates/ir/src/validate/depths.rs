// SPDX-License-Identifier: MIT OR Apache-2.0
//! How deep and how large things are: nothing leads to itself, and the bounds that were computed of it are within their limits.

use super::check::Check;
use super::names::contained;
use crate::bounds::{BLUEPRINTS_MAX, CALLS_MAX, RAISED_MAX};
use crate::size::{STRUCT_DEPTH_MAX, STRUCT_MAX, Sizes};
use crate::{Chain, FuncId, Function, Instr, StmtKind, StructId, Ty, graph, walk};

impl Check<'_> {
    /// Without this, nobody can compute how much an event causes.
    pub(super) fn depths(&mut self) {
        let p = self.program;
        self.place = "functions".into();
        let count = p.functions.len();
        let known = p
            .functions
            .iter()
            .all(|def| def.params as usize <= def.locals.len() && callees(def).all(|f| f < count));
        if !known || p.chains.iter().flatten().flat_map(processors).any(|f| f >= count) {
            return self.fail("a function or a parameter that is not there");
        }
        let calls: Vec<Vec<usize>> = p.functions.iter().map(|def| callees(def).collect()).collect();
        let raised =
            |event: usize| p.chains.get(event).and_then(Option::as_ref).into_iter().flat_map(processors);
        let steps = p.functions.iter().zip(&calls);
        let steps =
            steps.map(|(def, calls)| calls.iter().copied().chain(raises(def).flat_map(raised)).collect());
        let steps: Vec<Vec<usize>> = steps.collect();
        if !graph::circles(&steps).is_empty() {
            return self.fail("a function that calls itself, or an event that raises itself");
        }
        let deep = graph::depths(&calls).into_iter().any(|depth| depth > CALLS_MAX);
        self.must(!deep, "calls that nest too deeply");
        let of_chains = p.chains.iter().flatten().map(|chain| chain.max_raised);
        let most = p.functions.iter().map(|def| def.max_raised).chain(of_chains).chain([p.max_parsed]).max();
        self.must(most.is_none_or(|most| most <= RAISED_MAX), "too many events at once");
        self.must(p.max_blueprints <= BLUEPRINTS_MAX, "too many blueprints at once");
        self.struct_sizes();
    }

    fn struct_sizes(&mut self) {
        let structs = &self.program.structs;
        let parts: Vec<Vec<usize>> =
            structs.iter().map(|def| def.fields.iter().filter_map(|f| contained(&f.ty)).collect()).collect();
        // Whether they contain themselves, or what is not there, is reported with their names.
        let known = parts.iter().flatten().all(|to| *to < structs.len()) && graph::circles(&parts).is_empty();
        if !known || !structs.iter().flat_map(|def| &def.fields).all(|field| self.has_size(&field.ty)) {
            return;
        }
        self.place = "structs".into();
        let deep = graph::depths(&parts).into_iter().any(|depth| depth > STRUCT_DEPTH_MAX);
        let mut sizes = Sizes::new(self.program);
        let size = |n: usize| sizes.value(&Ty::Struct(StructId(n as u32)));
        self.must(
            !deep && (0..structs.len()).map(size).all(|n| n <= STRUCT_MAX),
            "one is too large or too deep",
        );
    }

    /// Whether its size can be looked up.
    fn has_size(&self, ty: &Ty) -> bool {
        let p = self.program;
        match ty {
            Ty::Array(element, _) | Ty::List(element, ..) => self.has_size(element),
            Ty::Enum(id) => id.index() < p.enums.len(),
            Ty::Id(id) => id.index() < p.ids.len() && p.ids[id.index()].parts.iter().all(|f| f.ty != *ty),
            Ty::Event(_) | Ty::Context(_) | Ty::Scratch(_) | Ty::Blueprint(_) => false,
            _ => true,
        }
    }
}

fn processors(chain: &Chain) -> impl Iterator<Item = usize> {
    chain.present.iter().chain(chain.absent.iter().flatten()).map(|f: &FuncId| f.index())
}

fn callees(def: &Function) -> impl Iterator<Item = usize> {
    let mut found = Vec::new();
    walk::statements(&def.body, &mut |stmt| {
        if let StmtKind::Call { func, .. } = &stmt.kind {
            found.push(func.index());
        }
    });
    found.into_iter()
}

/// The events that a function raises itself.
fn raises(def: &Function) -> impl Iterator<Item = usize> {
    let mut found = Vec::new();
    walk::statements(&def.body, &mut |stmt| {
        if let StmtKind::Instr(Instr::Raise { event }) = &stmt.kind
            && let Some(Ty::Event(event)) = def.locals.get(event.index()).map(|local| &local.ty)
        {
            found.push(event.index());
        }
    });
    found.into_iter()
}
