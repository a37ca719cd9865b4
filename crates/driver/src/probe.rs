// SPDX-License-Identifier: MIT OR Apache-2.0
//! Questions about a running program, in its own language: from text to a function that answers.

use std::path::Path;
use std::sync::Arc;

use carrick_ir::{ExprKind, Function, Place, Program, Proj, Stmt, StmtKind, effects, walk};
pub use carrick_sema::probe::Named;
use carrick_sema::probe::{Ask, check_probe};
use carrick_syntax::assemble::Assembled;
use carrick_syntax::assemble::features::{self, Choice};
use carrick_syntax::ast;
use carrick_syntax::diag::Diagnostic;
use carrick_syntax::{Sources, Span, parse_exprs, parse_stmt};

use crate::compile::compile_with_text;
use crate::{Compiled, Failure};

/// A program with its text: what it takes to understand a question about it.
pub struct Asked {
    file: String,
    assembled: Assembled,
    /// the program itself
    pub program: Arc<Program>,
}

/// Why there is no answer to a question.
#[derive(Debug)]
pub enum Unanswered {
    /// it is wrong where these point
    Wrong(Box<Compiled>),
    /// it is right, but cannot be asked here
    Refused(String),
}

/// A question: its text, and the function that answers it. The parameters of the function are what it was asked about.
#[derive(Debug, Clone)]
pub struct Question {
    /// as it was asked
    pub text: String,
    /// returns what was asked for
    pub function: Function,
}

/// Compiles a file of which questions are to be asked; without a program if that has errors.
///
/// # Errors
/// [`Failure::Usage`] if the file cannot be read as text, has not the features of the choice, or is a table without its text.
pub fn open(path: &Path, choice: &Choice) -> Result<(Compiled, Option<Asked>), Failure> {
    let file = path.display().to_string();
    let (compiled, mut assembled, choice) = compile_with_text(path, choice)?;
    // What is asked is understood as if the chosen features were all that is written.
    let tree = features::configure(&assembled.tree, &choice).tree;
    assembled.tree = tree;
    let asked = compiled.program.clone().map(|program| Asked { file, assembled, program });
    Ok((compiled, asked))
}

impl Asked {
    /// A line of one of the program's files, both counted as diagnostics do: files from 0, lines from 1.
    pub fn line(&self, file: usize, line: u32) -> Option<&str> {
        let sources = &self.assembled.sources;
        let text = (file < sources.count()).then(|| &sources.text()[sources.range(file)])?;
        text.lines().nth(line.checked_sub(1)? as usize)
    }

    /// The values of expressions with commas between them. `from` is where diagnostics say that the text stands.
    ///
    /// # Errors
    /// What is wrong with them, or that one of them would change something.
    pub fn values(&self, from: &str, text: &str, scope: &[Named]) -> Result<Vec<Question>, Unanswered> {
        self.expressions(from, text, scope, |e| Ask::Value(e))
    }

    /// A condition.
    ///
    /// # Errors
    /// What is wrong with it, or that it would change something.
    pub fn condition(&self, from: &str, text: &str, scope: &[Named]) -> Result<Question, Unanswered> {
        let mut all = self.expressions(from, text, scope, |e| Ask::Condition(e))?;
        match (all.pop(), all.is_empty()) {
            (Some(condition), true) => Ok(condition),
            _ => {
                Err(Unanswered::Refused(format!("`{text}` is more than one condition: join them with `&&`")))
            }
        }
    }

    /// An assignment to what one of the references in scope leads to.
    ///
    /// # Errors
    /// What is wrong with it, or that it is something else.
    pub fn change(&self, from: &str, text: &str, scope: &[Named]) -> Result<Question, Unanswered> {
        let whole = if text.trim_end().ends_with(';') { text.to_owned() } else { format!("{text};") };
        let (sources, part) = self.sources(from, &whole);
        let (stmt, wrong) = parse_stmt(sources.text(), part);
        let Some(stmt) = stmt.filter(|_| wrong.is_empty()) else { return Err(self.wrong(sources, wrong)) };
        let no_change = || {
            Unanswered::Refused(format!("`{text}` does not assign a field; write it like `c.field = value`"))
        };
        if !matches!(stmt.kind, ast::StmtKind::Assign { .. }) {
            return Err(no_change());
        }
        let (program, function) = self.function(&sources, scope, Ask::Change(&stmt))?;
        let assigns =
            |s: &&Stmt| matches!(&s.kind, StmtKind::Assign { place, .. } if is_shared(place, &function));
        if function.body.stmts.iter().filter(assigns).count() != 1 {
            return Err(no_change());
        }
        let rest = function.body.stmts.iter().filter(|s| !assigns(s));
        if !rest.into_iter().all(|s| has_no_effect(s, &function, &program)) {
            return Err(Unanswered::Refused(format!("`{text}` changes more than one field")));
        }
        Ok(Question { text: text.to_owned(), function })
    }

    fn expressions<'a>(
        &self,
        from: &str,
        text: &str,
        scope: &[Named],
        ask: impl for<'e> Fn(&'e ast::Expr) -> Ask<'e>,
    ) -> Result<Vec<Question>, Unanswered> {
        let (sources, part) = self.sources(from, text);
        let (all, wrong) = parse_exprs(sources.text(), part);
        if !wrong.is_empty() {
            return Err(self.wrong(sources, wrong));
        }
        let mut questions = Vec::new();
        for e in &all {
            let (_, function) = self.function(&sources, scope, ask(e))?;
            let text = text_of(&sources, e.span);
            if !function.pure {
                return Err(Unanswered::Refused(format!("`{text}` changes something: only look")));
            }
            questions.push(Question { text, function });
        }
        Ok(questions)
    }

    /// The program's texts, and behind them the one that is asked.
    fn sources(&self, from: &str, text: &str) -> (Sources, std::ops::Range<usize>) {
        let mut sources = self.assembled.sources.clone();
        let file = sources.add(from, text);
        let part = sources.range(file);
        (sources, part)
    }

    fn function(
        &self,
        sources: &Sources,
        scope: &[Named],
        ask: Ask<'_>,
    ) -> Result<(Program, Function), Unanswered> {
        let checked = check_probe(&self.assembled.tree, &self.program.name, sources, scope, ask)
            .map_err(|wrong| self.wrong(sources.clone(), wrong))?;
        let mut program = carrick_lower::lower(checked);
        match program.functions.pop() {
            Some(function) => Ok((program, function)),
            None => Err(Unanswered::Refused("nothing was asked".to_owned())),
        }
    }

    fn wrong(&self, sources: Sources, diagnostics: Vec<Diagnostic>) -> Unanswered {
        let file = self.file.clone();
        Unanswered::Wrong(Box::new(Compiled { file, sources, diagnostics, program: None }))
    }
}

fn text_of(sources: &Sources, span: Span) -> String {
    sources.text().get(span.start as usize..span.end as usize).unwrap_or_default().to_owned()
}

/// Whether a place outlives the function.
fn is_shared(place: &Place, function: &Function) -> bool {
    function.locals[place.root.index()].ty.is_by_ref()
}

fn has_no_effect(stmt: &Stmt, function: &Function, program: &Program) -> bool {
    effects::is_pure(stmt, function, &mut |f| program.functions[f.index()].pure)
        && walk::children(stmt).all(|b| b.stmts.iter().all(|s| has_no_effect(s, function, program)))
}

/// What a question asks for that only a core knows, and no trace of it tells: the room in a data unit, an event's token.
pub fn beyond_traces(question: &Question, program: &Program) -> Option<&'static str> {
    let mut found = None;
    let mut bodies = vec![&question.function.body];
    let mut seen = vec![false; program.functions.len()];
    while let Some(body) = bodies.pop() {
        walk::statements(body, &mut |stmt| {
            walk::of_statement(stmt, &mut |e| match &e.kind {
                ExprKind::TxRoom(_) => found = Some("tx_room()"),
                ExprKind::RxSize(_) => found = Some("rx_size()"),
                ExprKind::Load(place) if place.path.contains(&Proj::Token) => found = Some("a token"),
                _ => {}
            });
            if let StmtKind::Call { func, .. } = &stmt.kind
                && !std::mem::replace(&mut seen[func.index()], true)
            {
                bodies.push(&program.functions[func.index()].body);
            }
        });
    }
    found
}
