// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is asked of a program from outside of it, in its own language: by a debugger, of a context that lives.

use carrick_ir as ir;
use carrick_syntax::Sources;
use carrick_syntax::ast;
use carrick_syntax::diag::Diagnostic;
use carrick_syntax::diagnostics::Diagnostics;

use crate::Checker;
use crate::body::{Body, Scope};

/// Something that a probe can name.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// as the probe spells it
    pub name: String,
    /// what it is
    pub ty: ir::Ty,
    /// its fields, timers and id can be named without it, where nothing before it has such a name
    pub open: bool,
}

/// What a probe does.
#[derive(Debug, Clone, Copy)]
pub enum Ask<'a> {
    /// whether this holds
    Condition(&'a ast::Expr),
    /// what this is
    Value(&'a ast::Expr),
    /// a statement, for what it changes
    Change(&'a ast::Stmt),
}

/// Checks a probe of a program that is right itself. The result is the program with one more function, the last: its
/// parameters are what is in scope, in that order, and it returns what was asked for.
///
/// # Errors
/// What is wrong with the probe.
pub fn check_probe(
    file: &ast::File,
    name: &str,
    sources: &Sources,
    scope: &[Named],
    ask: Ask<'_>,
) -> Result<ir::Program, Vec<Diagnostic>> {
    let mut checker = Checker::new(file, name, sources);
    checker.run();
    checker.diagnostics = Diagnostics::default();
    let function = Body::new(&mut checker, Scope::Function).probe(scope, ask);
    let wrong = checker.has_errors();
    match function {
        Some(function) if !wrong => {
            checker.program.functions.push(function);
            Ok(checker.program)
        }
        _ => Err(checker.diagnostics.into_vec()),
    }
}
