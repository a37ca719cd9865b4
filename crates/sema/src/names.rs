// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collecting the names that a program declares, and looking them up.

use carrick_ir::{self as ir, Builtin};
use carrick_syntax::ast::{Ident, ItemKind};
use carrick_syntax::diag::Diagnostic;
use carrick_syntax::suggest::nearest;

use crate::body::instr::is_instruction;
use crate::env::Def;
use crate::{Checker, codes, habits};

/// Names that have a meaning before any declaration, beside functions, instructions and statuses.
const BUILT_IN: &[&str] = &[
    "bool",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int8",
    "int16",
    "int32",
    "int64",
    "seq32",
    "fixed",
    "duration",
    "time",
    "rate",
    "bytes",
    "addr_t",
    "ip_t",
    "token_t",
    "handle_t",
    "status_t",
    "list",
    "sorted_list",
    "sliding_wnd",
    "timer_t",
    "data_t",
    "checksum16_t",
    "crc32_t",
    "varint_t",
    "instr_t",
    "event_t",
    "pkt_t",
    "report_t",
    "void",
    "invariant",
    "assert",
    "data",
    "payload_len",
    "set_flow_id",
    "feature",
];

/// The place of ids among the kinds that are counted.
pub(crate) const ID: usize = 4;

fn is_built_in(name: &str) -> bool {
    BUILT_IN.contains(&name)
        || Builtin::named(name).is_some()
        || is_instruction(name)
        || ir::STATUS_NAMES.contains(&name)
}

/// Most fields that a message lists.
const FIELDS_LISTED: usize = 16;

/// Which fields there are instead.
fn fields_there(fields: &[&str]) -> String {
    let listed = fields[..fields.len().min(FIELDS_LISTED)].join("`, `");
    match fields.len() {
        0 => "it has no fields".to_owned(),
        n if n > FIELDS_LISTED => format!("the fields are `{listed}` and {} more", n - FIELDS_LISTED),
        _ => format!("the fields are `{listed}`"),
    }
}

impl Checker<'_> {
    /// Numbers every declaration, in the order of the file.
    pub(crate) fn collect_names(&mut self) {
        let mut counts = [0_u32; 17];
        let mut next = |kind: usize| {
            counts[kind] += 1;
            counts[kind] - 1
        };
        self.declare_address(&mut next);
        let file = self.file;
        for item in &file.items {
            let (name, def) = match &item.kind {
                ItemKind::Const { name, .. } => (name, Def::Const(ir::ConstId(next(0)))),
                ItemKind::ConstArray { name, .. } => (name, Def::ConstArray(ir::ArrayId(next(16)))),
                ItemKind::Param { name, .. } => (name, Def::Param(ir::ParamId(next(1)))),
                ItemKind::Enum { name, variants, .. } => {
                    let id = ir::EnumId(next(2));
                    for (i, variant) in variants.iter().enumerate() {
                        self.declare(&variant.name, Def::Variant(id, i as u32));
                    }
                    (name, Def::Enum(id))
                }
                ItemKind::Struct { name, .. } => (name, Def::Struct(ir::StructId(next(3)))),
                ItemKind::Id { name, .. } => (name, Def::Id(ir::IdId(next(ID)))),
                ItemKind::Event { name, .. } => (name, Def::Event(ir::EventId(next(5)))),
                ItemKind::Context { name, .. } => (name, Def::Context(ir::CtxId(next(6)))),
                ItemKind::Scratchpad { name, .. } => (name, Def::Scratchpad(ir::ScratchId(next(7)))),
                ItemKind::NetHeader { name, .. } => (name, Def::NetHeader),
                ItemKind::Opt { name, .. } => (name, Def::Opt(ir::OptId(next(8)))),
                ItemKind::OptUnion { name, .. } => (name, Def::OptUnion(next(9))),
                ItemKind::OptList { name, .. } => (name, Def::OptList(ir::OptListId(next(10)))),
                ItemKind::FrameUnion { name, .. } => (name, Def::FrameUnion(next(14))),
                ItemKind::Blueprint { name, .. } => (name, Def::Blueprint(ir::BpId(next(11)))),
                ItemKind::SegRule { name, .. } => (name, Def::SegRule(ir::RuleId(next(12)))),
                ItemKind::CoalescingRule { name, .. } => (name, Def::CoalescingRule),
                ItemKind::Function { name, .. } => (name, Def::Function(ir::FuncId(next(13)))),
                ItemKind::Machine { name, states, .. } => {
                    let id = ir::EnumId(next(2));
                    for (i, state) in states.iter().enumerate() {
                        self.declare(&state.name, Def::Variant(id, i as u32));
                    }
                    (name, Def::Machine(id, next(15)))
                }
                ItemKind::Dispatch { name, .. } => (name, Def::Dispatch),
                ItemKind::Interface { name, .. } => (name, Def::Interface),
                // There is no feature any more when a program is checked.
                ItemKind::Require { .. }
                | ItemKind::Deploy { .. }
                | ItemKind::Layout { .. }
                | ItemKind::Feature(_)
                | ItemKind::Extension { .. } => continue,
            };
            self.declare(name, def);
        }
        self.declare_report_names(ir::EnumId(next(2)));
    }

    fn declare(&mut self, name: &Ident, def: Def) {
        if is_built_in(&name.name) {
            // An enum may have a variant called as a status: it is then the program's own.
            if !matches!(def, Def::Variant(..)) {
                return self.report(
                    Diagnostic::error(
                        codes::BUILT_IN_NAME,
                        format!("`{}` is built in", name.name),
                        name.span,
                        "cannot be declared again",
                    )
                    .mend("choose another name"),
                );
            }
        }
        if let Some(first) = self.env.span(&name.name) {
            return self.report(
                Diagnostic::error(
                    codes::DUPLICATE_NAME,
                    format!("`{}` is declared twice", name.name),
                    name.span,
                    "again here",
                )
                .cause(first, "declared first here")
                .mend("give one of them another name"),
            );
        }
        self.env.names.insert(name.name.clone(), (def, name.span));
    }

    /// All declared names, for a mend; none where mistakes are only counted.
    pub(crate) fn names_to_suggest(&self) -> impl Iterator<Item = &str> {
        self.env.names().take(if self.diagnostics.is_full() { 0 } else { usize::MAX })
    }

    /// Reports an unknown name, with the nearest of the names that are possible, or with all of them if none can be declared.
    pub(crate) fn unknown(&mut self, code: u16, what: &str, name: &Ident, candidates: &[&str]) {
        let mut diagnostic =
            Diagnostic::error(code, format!("there is no {what} `{}`", name.name), name.span, "not declared");
        let meant = match code {
            codes::UNKNOWN_TYPE => habits::of_type(&name.name),
            codes::UNKNOWN_FUNCTION => habits::of_function(&name.name),
            _ => None,
        };
        diagnostic = match (meant, nearest(&name.name, candidates.iter().copied())) {
            (Some("int32"), _) => {
                diagnostic.fix("write `int32`, or `uint32` for what is never negative", name.span, "int32")
            }
            (Some(meant), _) => diagnostic.fix(format!("write `{meant}`"), name.span, meant),
            (None, Some(near)) => diagnostic.fix(format!("did you mean `{near}`?"), name.span, near),
            (None, None) if crate::unknown::is_fixed(code) => {
                diagnostic.mend(format!("use one of `{}`", candidates.join("`, `")))
            }
            (None, None) if code == codes::UNKNOWN_FIELD => diagnostic.mend(fields_there(candidates)),
            (None, None) => diagnostic.mend("declare it, or use a name that is declared"),
        };
        self.report(diagnostic);
    }

    /// The declared name, which must be of a kind that `pick` takes.
    pub(crate) fn lookup<T>(
        &mut self,
        what: &str,
        name: &Ident,
        pick: impl Fn(Def) -> Option<T>,
    ) -> Option<T> {
        if let Some(found) = self.env.get(&name.name).and_then(&pick) {
            self.usage.mark(&name.name);
            return Some(found);
        }
        if self.another_kind(what, name) {
            return None;
        }
        let candidates: Vec<String> = self
            .names_to_suggest()
            .filter(|n| self.env.get(n).and_then(&pick).is_some())
            .map(str::to_owned)
            .collect();
        let candidates: Vec<&str> = candidates.iter().map(String::as_str).collect();
        self.unknown(crate::unknown::code_of(what), what, name, &candidates);
        None
    }
}
