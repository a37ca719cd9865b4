// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names that do not stand for what is wanted.

use carrick_syntax::ast::Ident;
use carrick_syntax::diag::Diagnostic;

use crate::env::Def;
use crate::{Checker, codes};

/// The code for a name of this kind that is not declared.
pub(crate) fn code_of(what: &str) -> u16 {
    match what {
        "event" | "app event" => codes::UNKNOWN_EVENT,
        "context" => codes::UNKNOWN_CONTEXT,
        "event processor" => codes::UNKNOWN_PROCESSOR,
        "blueprint" | "frame" => codes::UNKNOWN_BLUEPRINT,
        "option" | "option union" => codes::UNKNOWN_OPTION,
        _ => codes::UNKNOWN_NAME,
    }
}

/// Whether the language defines all names of this kind, so that a program cannot declare one.
pub(crate) fn is_fixed(code: u16) -> bool {
    matches!(
        code,
        codes::UNKNOWN_METHOD
            | codes::NET_FIELD
            | codes::NET_HEADER
            | codes::DEPLOY_CALL
            | codes::LAYOUT_SHAPE
            | codes::EVENT_KIND
    )
}

pub(crate) fn kind(def: Def) -> &'static str {
    match def {
        Def::Const(_) => "a constant",
        Def::ConstArray(_) => "a constant array",
        Def::Param(_) => "a parameter",
        Def::Enum(_) => "an enum",
        Def::Variant(..) => "a value of an enum",
        Def::Struct(_) => "a struct",
        Def::Id(_) => "an id",
        Def::Event(_) => "an event",
        Def::Context(_) => "a context",
        Def::Scratchpad(_) => "a scratchpad",
        Def::NetHeader => "a network header",
        Def::Opt(_) => "an option",
        Def::OptUnion(_) => "an option union",
        Def::OptList(_) => "an option list",
        Def::FrameUnion(_) => "a frame union",
        Def::Blueprint(_) => "a blueprint",
        Def::SegRule(_) => "a segmentation rule",
        Def::CoalescingRule => "a coalescing rule",
        Def::Machine(..) => "a machine",
        Def::Function(_) => "a function",
        Def::Dispatch => "a dispatch",
        Def::Interface => "an interface",
    }
}

impl Checker<'_> {
    /// Reports a name that is declared as something else than what is wanted.
    pub(crate) fn another_kind(&mut self, what: &str, name: &Ident) -> bool {
        let (Some(def), Some(declared)) = (self.env.get(&name.name), self.env.span(&name.name)) else {
            return false;
        };
        let found = kind(def);
        // Of the same kind, and wrong for another reason: an option of another list, an event that does not wait.
        if found.ends_with(what)
            || what == "such declaration"
            || what.ends_with("event") && found == "an event"
        {
            return false;
        }
        self.usage.mark(&name.name);
        self.report(
            Diagnostic::error(
                codes::ANOTHER_KIND,
                format!("`{}` is {found}", name.name),
                name.span,
                format!("expected: {what}"),
            )
            .cause(declared, "declared here")
            .mend("use a name of this kind, or declare one"),
        );
        true
    }
}
