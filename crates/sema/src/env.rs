// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each top-level name stands for.

use std::collections::BTreeMap;

use carrick_ir as ir;
use carrick_syntax::Span;

/// The id of global contexts, which no program writes.
pub(crate) const GLOBAL_ID: &str = "the__only";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Def {
    Const(ir::ConstId),
    ConstArray(ir::ArrayId),
    Param(ir::ParamId),
    Enum(ir::EnumId),
    /// a variant: its enum and which one it is
    Variant(ir::EnumId, u32),
    Struct(ir::StructId),
    Id(ir::IdId),
    Event(ir::EventId),
    Context(ir::CtxId),
    Scratchpad(ir::ScratchId),
    NetHeader,
    Opt(ir::OptId),
    /// index into `Checker::unions`
    OptUnion(u32),
    OptList(ir::OptListId),
    /// index into `Checker::frame_unions`
    FrameUnion(u32),
    Blueprint(ir::BpId),
    SegRule(ir::RuleId),
    CoalescingRule,
    /// the type of its states, and which machine it is
    Machine(ir::EnumId, u32),
    Function(ir::FuncId),
    Dispatch,
    Interface,
}

#[derive(Debug, Default)]
pub struct Env {
    pub names: BTreeMap<String, (Def, Span)>,
}

impl Env {
    pub fn get(&self, name: &str) -> Option<Def> {
        self.names.get(name).map(|(def, _)| *def)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// Where the name was declared.
    pub fn span(&self, name: &str) -> Option<Span> {
        self.names.get(name).map(|(_, span)| *span)
    }
}
