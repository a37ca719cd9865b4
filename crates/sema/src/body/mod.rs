// SPDX-License-Identifier: MIT OR Apache-2.0
//! Expressions and statements: from trees without types to trees with them.
//!
//! Whatever has an effect inside an expression is hoisted into a statement of its own before it, in the
//! order of evaluation (left to right); operands that were evaluated earlier are kept in temporaries.

mod address;
mod advice;
mod call;
mod choice;
mod collected;
mod elaboration;
mod elements;
mod expr;
mod fraction;
pub(crate) mod instr;
mod loops;
mod machine;
mod methods;
mod mixed;
mod operation;
mod operators;
mod packet;
mod paths;
mod payload;
mod place;
mod presence;
mod probe;
mod record;
mod retain;
mod saturating;
mod stmt;
mod temporary;
mod timers;

use carrick_syntax::ast;

use crate::Checker;

use elaboration::{Binding, Present, Val};
pub(crate) use elaboration::{Body, Scope};

impl Checker<'_> {
    pub(crate) fn check_bodies(&mut self) {
        let file = self.file;
        let mut index = 0;
        for item in &file.items {
            if let ast::ItemKind::Function { ret, params, body, name } = &item.kind {
                let params: Vec<&ast::Ident> = params.iter().map(|p| &p.name).collect();
                Body::new(self, Scope::Function).function(index, (name, ret), &params, body);
                index += 1;
            }
        }
        self.check_reactions();
    }
}
