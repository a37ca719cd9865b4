// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is declared in vain: data units, fields, values.

use std::collections::BTreeSet;

use carrick_ir::{self as ir, Change, CtxId, Instr, Place, Proj, StmtKind, Ty, walk};
use carrick_syntax::Span;
use carrick_syntax::ast::{Expr, ExprKind, Field, ItemKind};
use carrick_syntax::diag::Diagnostic;

use super::Facts;
use crate::env::GLOBAL_ID;
use crate::{Checker, codes};

const EVENT: u8 = 0;
const SCRATCHPAD: u8 = 1;

/// A field of an event or a scratchpad.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct FieldOf {
    kind: u8,
    of: u32,
    field: u32,
}

fn field_of(ty: &Ty, field: u32) -> Option<FieldOf> {
    match ty {
        Ty::Event(id) => Some(FieldOf { kind: EVENT, of: id.0, field }),
        Ty::Scratch(id) => Some(FieldOf { kind: SCRATCHPAD, of: id.0, field }),
        _ => None,
    }
}

impl Checker<'_> {
    /// Registrations that nothing needs or that leave no room, and units that are made or used alone.
    pub(super) fn advise_units(&mut self, facts: &Facts) {
        for (number, ctx) in self.program.contexts.clone().iter().enumerate().filter(|(_, c)| !c.global) {
            let id = CtxId(number as u32);
            let name = ctx.name.as_str();
            let (tx, rx) = (facts.tx_made.contains(&id), facts.rx_made.contains(&id));
            let registered = self.registered(name, "register_ctx_spec");
            if self.fold(&ctx.capacity) == Some(0) {
                let what = (format!("there is never space for a `{name}`"), "no instances");
                self.advise_of(codes::NO_INSTANCES, (name, registered), what, "give a number above zero");
            }
            let data = self.registered(name, "register_data_spec");
            if ctx.tx_capacity.is_some() && !tx && !rx {
                let what = (format!("`{name}` creates no data units"), "no unit has these sizes");
                let mend =
                    "remove this line, or create a unit with `new_tx_ordered_data` or `new_rx_ordered_data`";
                self.advise_of(codes::DATA_SPEC_UNUSED, (name, data), what, mend);
            }
            let empty = |made: bool, size: &Option<ir::Expr>| {
                made && size.as_ref().and_then(|s| self.fold(s)) == Some(0)
            };
            if empty(tx, &ctx.tx_capacity) || empty(rx, &ctx.rx_capacity) {
                let what = (format!("a data unit of `{name}` holds nothing"), "no bytes");
                self.advise_of(codes::EMPTY_UNIT, (name, data), what, "give a number above zero");
            }
            let at = (name, self.declared_at(name));
            self.advise_unit(at, "new_tx_ordered_data", "data to send", (tx, facts.tx_used.contains(&id)));
            self.advise_unit(at, "new_rx_ordered_data", "received data", (rx, facts.rx_used.contains(&id)));
        }
    }

    fn advise_unit(&mut self, at: (&str, Span), maker: &str, data: &str, (made, used): (bool, bool)) {
        if used && !made {
            let message = format!("`{}` has no unit for {data}", at.0);
            let mend = format!("create the unit first: `{maker}(INF, c.id);`");
            self.advise_of(codes::UNIT_NEVER_MADE, at, (message, "counted as `no_unit`"), &mend);
        }
    }

    /// Where a context is registered.
    fn registered(&self, context: &str, what: &str) -> Span {
        let names = |e: &Expr, name: &str| matches!(&e.kind, ExprKind::Name(n) if n == name);
        let calls = self.file.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Deploy { calls } => Some(calls),
            _ => None,
        });
        let found = calls.flatten().find(|call| {
            matches!(&call.kind, ExprKind::Call(callee, args)
                if names(callee, what) && args.first().is_some_and(|a| names(a, context)))
        });
        found.map_or_else(|| self.declared_at(context), |call| call.span)
    }

    /// A window beside received data that remembers more than the unit can hold.
    pub(super) fn advise_windows(&mut self) {
        let mut found: BTreeSet<(u32, u32)> = BTreeSet::new();
        for function in &self.program.functions {
            let mut receives = false;
            let mut windows = Vec::new();
            walk::statements(&function.body, &mut |stmt| match &stmt.kind {
                StmtKind::Instr(Instr::AddRxDataSeg { .. }) => receives = true,
                StmtKind::Change { what: Change::WndSet | Change::WndUnset, on: wnd, .. } => {
                    let of = &function.locals[wnd.root.index()].ty;
                    if let (Ty::Wnd { runs, .. }, Ty::Context(ctx), [Proj::Field(field)]) =
                        (&wnd.ty, of, &wnd.path[..])
                        && runs.is_none()
                    {
                        windows.push((ctx.0, *field));
                    }
                }
                _ => {}
            });
            if receives {
                found.extend(windows);
            }
        }
        let file = self.file;
        let contexts: Vec<&[Field]> = file
            .items
            .iter()
            .filter_map(|item| match &item.kind {
                ItemKind::Context { fields, .. } => Some(&fields[..]),
                _ => None,
            })
            .collect();
        for (ctx, field) in found {
            let Some(field) = contexts.get(ctx as usize).and_then(|f| f.get(field as usize)) else {
                continue;
            };
            let name = &field.name.name;
            let what = (
                format!("`{name}` has more ranges than received data can have"),
                "as many ranges as numbers",
            );
            let mend = "write `sliding_wnd(N, R)`, for R ranges, and store data only if `set` returns true";
            self.advise_of(codes::RX_RUNS, (name, field.span), what, mend);
        }
    }

    /// Fields of events and scratchpads that no statement mentions: nobody sees them but the chain. Those of contexts
    /// are seen by whoever looks into a running program.
    pub(super) fn advise_fields(&mut self) {
        let used = self.fields_used();
        let mut unused = Vec::new();
        let file = self.file;
        let mut counts = [0_u32; 2];
        for item in &file.items {
            let (kind, fields): (u8, &[Field]) = match &item.kind {
                ItemKind::Event { fields, .. } => (EVENT, fields),
                ItemKind::Scratchpad { fields, .. } => (SCRATCHPAD, fields),
                _ => continue,
            };
            let of = counts[kind as usize];
            counts[kind as usize] += 1;
            // What an application gives is the matter of its interface.
            if kind == EVENT && self.program.events[of as usize].kind == ir::EventKind::App {
                continue;
            }
            let is_used = |field: u32| used.contains(&FieldOf { kind, of, field });
            let event = ir::Ty::Event(ir::EventId(of));
            let optional = |field: u32| kind == EVENT && self.is_optional(&event, field);
            // Of an optional field and its presence, a program names one or both.
            let left = (0_u32..).zip(fields).filter(|(field, _)| {
                !(is_used(*field) || optional(*field) && is_used(*field - 1) || optional(*field + 1))
            });
            unused.extend(left.map(|(_, def)| &def.name));
        }
        for name in unused {
            let what = (format!("the field `{}` is never used", name.name), "declared here");
            self.advise_of(codes::UNUSED_FIELD, (&name.name, name.span), what, "use it, or remove it");
        }
    }

    fn fields_used(&self) -> BTreeSet<FieldOf> {
        let mut used = BTreeSet::new();
        for function in &self.program.functions {
            let mut note = |place: &Place| {
                if let Some(Proj::Field(field)) = place.path.first() {
                    used.extend(field_of(&function.locals[place.root.index()].ty, *field));
                }
            };
            walk::statements(&function.body, &mut |stmt| {
                let mut look = |e: &ir::Expr| e.reads().into_iter().for_each(&mut note);
                walk::of_statement(stmt, &mut look);
                if let StmtKind::Instr(instr) = &stmt.kind {
                    instr.exprs().for_each(|e| walk::expressions(e, &mut look));
                }
                stmt.works_on().into_iter().for_each(&mut note);
            });
        }
        used
    }

    /// Parameters that cannot be set, ids without parts, and enums whose zero has no name.
    pub(super) fn advise_values(&mut self) {
        for param in self.program.params.clone() {
            if param.lo == param.hi {
                let what = (format!("`{}` can only have one value", param.name), "its range is one value");
                let at = (param.name.as_str(), self.declared_at(&param.name));
                self.advise_of(codes::PARAM_FIXED, at, what, "widen the range, or make it a `const`");
            }
        }
        let ids: Vec<String> =
            self.program.ids.iter().filter(|i| i.parts.is_empty()).map(|i| i.name.clone()).collect();
        for name in ids.iter().filter(|name| *name != GLOBAL_ID) {
            let what = (format!("all `{name}` are the same"), "an id without parts");
            let mend = "add the parts that distinguish its contexts, or declare a `global context`";
            self.advise_of(codes::EMPTY_ID, (name, self.declared_at(name)), what, mend);
        }
        for def in self.program.enums.clone() {
            if def.variants.iter().all(|(_, value)| *value != 0) {
                let at = (def.name.as_str(), self.declared_at(&def.name));
                let span = at.1;
                self.report(
                    Diagnostic::warning(
                        codes::ENUM_WITHOUT_ZERO,
                        format!("no variant of `{}` is 0", def.name),
                        span,
                        "a variable of it begins as none of them",
                    )
                    .mend("give a variant the number 0: it is what a field without a value begins with"),
                );
            }
        }
    }
}
