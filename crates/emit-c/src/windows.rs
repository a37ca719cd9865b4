// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sliding windows: each operation that a program uses is a function for each kind of window, which a verifier looks at apart.

use std::collections::BTreeSet;

use carrick_ir::methods::Gives;
use carrick_ir::{Change, Expr, ExprKind, LocalId, Place, Query, Stmt, StmtKind, Ty, walk};

use crate::Emitter;
use crate::expr::Operands;
use crate::names::window_words;

impl Emitter<'_> {
    /// A call of the function for this kind of window, with the arguments after its own.
    pub(crate) fn window_call(&self, wnd: &Place, name: &str, args: &[String]) -> String {
        let Ty::Wnd { size, runs } = &wnd.ty else { return String::new() };
        let sized = if is_sized(name, runs.is_some()) { format!(", {size}u") } else { String::new() };
        let args: String = args.iter().map(|arg| format!(", {arg}")).collect();
        if let Some((window, at, max)) = self.window_beside(wnd) {
            let at = if name == "reset" { String::new() } else { format!(", {at}") };
            let bound = if is_bounded(name) { format!(", {max}u") } else { String::new() };
            return format!("carrick_wnd_{name}(&{window}{at}{sized}{bound}{args})");
        }
        let at = self.place(wnd).text;
        format!("{}_{name}(&{at}{sized}{args})", self.names.window(*size, *runs))
    }

    pub(crate) fn window(
        &mut self,
        stmt: &Stmt,
        (what, dest): (Change, Option<LocalId>),
        wnd: &Place,
        args: &[Expr],
    ) {
        if matches!(what, Change::WndSet | Change::WndUnset) {
            self.take_beside(stmt, wnd);
        }
        let mut given: Vec<String> = args.iter().map(|e| self.value(e)).collect();
        if what == Change::WndSlide && given.is_empty() {
            given.push(self.window_call(wnd, Query::WndFirstUnset.name(), &[]));
        }
        let call = self.window_call(wnd, what.name(), &given);
        let text = match dest {
            Some(dest) => format!("{} = {call};", self.declared_local(dest)),
            None if what.declaration().gives == Gives::Nothing => format!("{call};"),
            None => format!("(void){call};"),
        };
        self.line(stmt, text);
    }

    /// What a window is asked.
    pub(crate) fn window_query(&self, query: Query, wnd: &Place, args: &[Expr], of: Operands<'_>) -> String {
        if query == Query::WndHead {
            let runs = matches!(wnd.ty, Ty::Wnd { runs: Some(_), .. });
            return format!("{}.{}", self.place(wnd).text, if runs { "wnd.head" } else { "head" });
        }
        let args: Vec<String> = args.iter().map(|e| self.value_of(e, of)).collect();
        self.window_call(wnd, query.name(), &args)
    }

    /// The functions of the windows that are this struct.
    pub(crate) fn window_functions(&mut self, window: &str, size: u64, runs: Option<u32>) {
        for name in self.window_operations(window) {
            let ret = if name.starts_with("first") { "uint32_t" } else { "int" };
            let params: &[&str] = match name {
                "set" | "unset" => &["from", "to"],
                "reset" | "test" => &["at"],
                "slide" => &["to"],
                _ => &[],
            };
            let sized = is_sized(name, runs.is_some()).then_some("size");
            let params: Vec<&str> = sized.into_iter().chain(params.iter().copied()).collect();
            let shown: String = params.iter().map(|param| format!(", uint32_t {param}")).collect();
            self.w.open(format!("CARRICK_GLOBAL_FN {ret} {window}_{name}(struct {window} *w{shown}) {{"));
            self.w.line("CARRICK_GIVEN(w);");
            let by_pointer = name == "slide" || name == "reset";
            let mut args: Vec<String> = match runs {
                Some(_) if name == "reset" => vec!["&w->wnd".into()],
                Some(_) => vec!["&w->wnd".into(), "w->runs".into()],
                None => vec![format!("{}w->head", if by_pointer { "&" } else { "" }), "w->bits".into()],
            };
            if runs.is_none() {
                args.push(format!("{}u", window_words(size)));
            }
            args.extend(sized.map(str::to_owned));
            if let Some(max) = runs.filter(|_| is_bounded(name)) {
                args.push(format!("{max}u"));
            }
            args.extend(params.iter().filter(|param| **param != "size").map(|param| (*param).to_owned()));
            let family = if runs.is_some() { "wnd" } else { "bits" };
            let call = format!("carrick_{family}_{name}({})", args.join(", "));
            if by_pointer {
                self.w.line(format!("{call};"));
                self.w.line("return 0;");
            } else {
                self.w.line(format!("return {call};"));
            }
            self.w.end();
        }
    }

    /// What the program does with windows that are this struct.
    fn window_operations(&self, window: &str) -> BTreeSet<&'static str> {
        let mut found = BTreeSet::new();
        let is_it = |wnd: &Place| matches!(&wnd.ty, Ty::Wnd { size, runs } if self.names.window(*size, *runs) == window);
        for function in &self.p.functions {
            walk::statements(&function.body, &mut |stmt| {
                let StmtKind::Change { what, on, args, .. } = &stmt.kind else { return };
                if is_it(on) {
                    found.insert(what.name());
                    if *what == Change::WndSlide && args.is_empty() {
                        found.insert(Query::WndFirstUnset.name());
                    }
                }
            });
            walk::all(&function.body, &mut |e| {
                if let ExprKind::Query(query, on, _) = &e.kind
                    && is_it(on)
                    && *query != Query::WndHead
                {
                    found.insert(query.name());
                }
            });
        }
        found
    }
}

/// Whether an operation on runs has to be told how many there may be.
fn is_bounded(name: &str) -> bool {
    matches!(name, "set" | "unset" | "test" | "slide")
}

/// Whether an operation has to be told how many numbers the window has.
fn is_sized(name: &str, runs: bool) -> bool {
    match name {
        "reset" => false,
        "set" | "unset" | "first_set" => true,
        _ => !runs,
    }
}
