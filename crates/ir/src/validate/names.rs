// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names and texts that generated code repeats, and structures that contain each other.

use super::check::Check;
use crate::{FieldDef, Program, TimerDef, Ty, graph};

impl Check<'_> {
    /// Names are identifiers, and what generated code quotes is one line.
    pub(super) fn names(&mut self) {
        self.place = "names".into();
        for name in names(self.program) {
            let mut bytes = name.bytes();
            let first = bytes.next().is_some_and(|c| c.is_ascii_alphabetic() || c == b'_');
            let rest = bytes.all(|c| c.is_ascii_alphanumeric() || c == b'_');
            self.must(first && rest, &format!("{name:?} is no identifier"));
        }
        for line in lines(self.program) {
            self.must(!line.contains(char::is_control), &format!("{line:?} is not one line"));
        }
    }

    /// No structure contains itself.
    pub(super) fn structures(&mut self) {
        let structs = &self.program.structs;
        let edges: Vec<Vec<usize>> =
            structs.iter().map(|def| def.fields.iter().filter_map(|f| contained(&f.ty)).collect()).collect();
        if edges.iter().flatten().any(|to| *to >= structs.len()) {
            return;
        }
        for circle in graph::circles(&edges) {
            self.place = format!("struct {}", structs[circle[0]].name);
            self.fail("it contains itself");
        }
    }
}

/// The structure in a type.
fn contained(ty: &Ty) -> Option<usize> {
    match ty {
        Ty::Struct(id) => Some(id.index()),
        Ty::Array(element, _) | Ty::List(element, ..) => contained(element),
        _ => None,
    }
}

/// What generated code takes as a name, or as a part of one.
fn names(p: &Program) -> Vec<&str> {
    fn fields(of: &[FieldDef]) -> impl Iterator<Item = &String> {
        of.iter().map(|f| &f.name)
    }
    let mut all: Vec<&String> = vec![&p.name, &p.net_header.name];
    all.extend(p.consts.iter().map(|d| &d.name));
    all.extend(p.params.iter().map(|d| &d.name));
    all.extend(p.enums.iter().flat_map(|d| d.variants.iter().map(|(name, _)| name).chain([&d.name])));
    all.extend(p.structs.iter().chain(&p.scratchpads).flat_map(|d| fields(&d.fields).chain([&d.name])));
    all.extend(p.ids.iter().flat_map(|d| fields(&d.parts).chain([&d.name])));
    all.extend(p.events.iter().flat_map(|d| fields(&d.fields).chain([&d.name])));
    for def in &p.contexts {
        all.extend(fields(&def.fields).chain([&def.name]));
    }
    all.extend(p.net_header.fields.iter().map(|f| &f.name));
    all.extend(p.opts.iter().flat_map(|d| d.fields.iter().map(|f| &f.name).chain([&d.name])));
    all.extend(p.opts.iter().filter_map(|d| d.list.as_ref().map(|list| &list.name)));
    all.extend(p.opt_lists.iter().map(|d| &d.name));
    for def in &p.blueprints {
        all.extend(def.fields.iter().map(|f| &f.name).chain(def.groups.iter().map(|g| &g.name)));
        all.extend(def.options_name.iter().chain(&def.payload_name).chain([&def.name]));
    }
    all.extend(p.seg_rules.iter().map(|d| &d.name));
    all.extend(p.coalescing.iter().map(|d| &d.name));
    all.extend(p.functions.iter().flat_map(|d| d.locals.iter().map(|l| &l.name).chain([&d.name])));
    all.extend(p.interface.iter().flat_map(|i| i.calls.iter().map(|c| &c.name).chain([&i.name])));
    let timers = p.contexts.iter().flat_map(|d| &d.timers).map(TimerDef::base);
    all.into_iter().map(String::as_str).chain(timers).collect()
}

/// What generated code quotes.
fn lines(p: &Program) -> impl Iterator<Item = &String> {
    let machines = p.machines.iter().flat_map(|m| {
        m.states.iter().map(|(name, _)| name).chain(m.transitions.iter().filter_map(|t| t.guard.as_ref()))
    });
    let quoted = p.claims.iter().map(|c| &c.text).chain(p.requirements.iter().map(|r| &r.text));
    p.imports.iter().chain([&p.file]).chain(&p.features).chain(quoted).chain(machines)
}
