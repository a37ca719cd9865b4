// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parser, and the functions that it calls.

use carrick_ir::print::without_parentheses;
use carrick_ir::{
    Arg, Block, Change, Expr, ExprKind, FuncId, Function, Instr, LocalId, Order, Over, Place, Stmt, StmtKind,
    Ty, walk,
};

use crate::emitter::Emitter;
use crate::expr::capacity;
use crate::names;
use crate::text;
use crate::types::{Rep, power};

/// Lua lets a function have 200 locals, loops' own included.
const LOCALS_MAX: usize = 150;

impl<'p> Emitter<'p> {
    pub(crate) fn functions(&mut self) {
        let called: Vec<FuncId> = self.reach.functions.iter().copied().collect();
        if called.len() > 1 {
            self.w.line("-- What the parser calls.");
            self.w.line("local fn = {}");
            self.w.line("");
        }
        for id in called.into_iter().filter(|id| *id != self.p.parser) {
            self.one_function(&self.p.functions[id.index()], false);
        }
        if let Some(parser) = self.p.functions.get(self.p.parser.index()) {
            self.one_function(parser, true);
        }
    }

    fn one_function(&mut self, function: &'p Function, parser: bool) {
        self.enter(function);
        if function.locals.len() > LOCALS_MAX {
            self.refuse("the parser, or a function that it calls, has too many variables for Lua");
        }
        self.w.comment(&function.doc);
        // The packet itself is at hand everywhere.
        let params = self.locals[..function.params as usize].iter().skip(usize::from(parser));
        let params = params.map(String::as_str).collect::<Vec<_>>().join(", ");
        if parser {
            self.w.open(format!("local function parse({params})"));
        } else {
            self.w.open(names::function("fn", &function.name, &params));
        }
        self.stmts(&function.body);
        self.w.close("end");
        self.w.line("");
        self.function = None;
    }

    /// What follows a statement that leaves its block is never reached, and Lua has no place for it.
    fn stmts(&mut self, block: &'p Block) {
        for stmt in &block.stmts {
            self.stmt(stmt);
            if matches!(stmt.kind, StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue) {
                break;
            }
        }
    }

    fn stmt(&mut self, stmt: &'p Stmt) {
        match &stmt.kind {
            StmtKind::Let { local, init } => {
                let value =
                    init.as_ref().map_or_else(|| self.initial(self.local_ty(*local)), |e| self.own(e));
                self.assign_local(*local, &value);
            }
            StmtKind::Assign { place, value } => {
                let value = self.own(value);
                let text = self.store(place, without_parentheses(&value));
                self.w.line(text);
            }
            StmtKind::Call { dest, func, args } => self.call(*dest, *func, args),
            StmtKind::Random { dest } => self.assign_local(*dest, "unknown(\"random()\")"),
            StmtKind::If { cond, then, otherwise } => self.if_stmt(cond, then, otherwise),
            StmtKind::Block(body) => {
                self.w.open("do");
                self.stmts(body);
                self.w.close("end");
            }
            StmtKind::For { var, over, body } => match over {
                Over::Range { from, to, max } => self.range(*var, from, to, *max, body),
                Over::EachOf(list) => self.each(*var, list, body),
            },
            StmtKind::Break => self.w.line("break"),
            StmtKind::Continue => self.w.line(format!("goto next_{}", self.label)),
            StmtKind::Return(value) => {
                let value = value.as_ref().map(|e| format!(" {}", without_parentheses(&self.own(e))));
                self.w.line(format!("return{}", value.unwrap_or_default()));
            }
            StmtKind::Assert { claim, cond } => {
                let claim = self.p.claims.get(*claim as usize);
                let text = text::string(&claim.map(|c| c.text.clone()).unwrap_or_default());
                let cond = self.expr(cond);
                self.w.line(format!("claim({}, {text})", without_parentheses(&cond)));
            }
            // Contexts have ids; a capture has no contexts.
            StmtKind::SetFlowId { .. } => {}
            StmtKind::Extract { bp } => self.extraction(*bp),
            StmtKind::Instr(Instr::Raise { event }) => self.raise(*event),
            _ => self.list(stmt),
        }
    }

    fn assign_local(&mut self, local: LocalId, value: &str) {
        let text = format!("local {} = {}", self.local(local), without_parentheses(value));
        self.w.line(text);
    }

    fn call(&mut self, dest: Option<LocalId>, func: FuncId, args: &[Arg]) {
        let args: Vec<String> = args
            .iter()
            .map(|arg| match arg {
                Arg::Value(e) => self.own(e),
                Arg::Ref(local) => self.local(*local),
            })
            .collect();
        let name = self.p.functions.get(func.index()).map_or("", |f| &f.name);
        let text = format!("{}({})", names::field("fn", name), args.join(", "));
        match dest {
            Some(dest) => self.assign_local(dest, &text),
            None => self.w.line(text),
        }
    }

    fn if_stmt(&mut self, cond: &'p Expr, then: &'p Block, otherwise: &'p Block) {
        let text = self.expr(cond);
        self.w.open(format!("if {} then", without_parentheses(&text)));
        self.stmts(then);
        let mut otherwise = otherwise;
        // A chain of `else if` stays one.
        while let [Stmt { kind: StmtKind::If { cond, then, otherwise: next }, .. }] = &otherwise.stmts[..] {
            let text = self.expr(cond);
            self.w.turn(format!("elseif {} then", without_parentheses(&text)));
            self.stmts(then);
            otherwise = next;
        }
        if !otherwise.stmts.is_empty() {
            self.w.turn("else");
            self.stmts(otherwise);
        }
        self.w.close("end");
    }

    /// The end is evaluated once, and turns are counted unless the bounds themselves are few enough.
    fn range(&mut self, var: LocalId, from: &Expr, to: &Expr, max: u64, body: &'p Block) {
        let name = self.local(var);
        if let (ExprKind::Lit(a), ExprKind::Lit(b), Rep::Narrow { signed: false, .. }) =
            (&from.kind, &to.kind, self.rep(&from.ty))
            && b.saturating_sub(*a) <= max
            && *b > 0
        {
            self.w.open(format!("for {name} = {a}, {} do", b - 1));
            return self.body(body);
        }
        let rep = self.rep(&from.ty);
        // What only the loop knows has names that no program has.
        self.w.open("do");
        let (first, last) = (self.expr(from), self.expr(to));
        self.w.line(format!("local first__, last__ = {first}, {last}"));
        let any = self.less(&from.ty, "first__", "last__");
        let distance = match rep {
            Rep::Narrow { bits, .. } => format!("(last__ - first__) % {}", power(bits)),
            _ => "last__ - first__".to_owned(),
        };
        self.w.open(format!("for step__ = 0, turns({any}, {distance}, {max}) - 1 do"));
        let next = match rep {
            Rep::Narrow { .. } => crate::expr::wrapped(rep, "first__ + step__"),
            _ => "first__ + step__".to_owned(),
        };
        self.w.line(format!("local {name} = {}", without_parentheses(&next)));
        self.body(body);
        self.w.close("end");
    }

    fn each(&mut self, var: LocalId, list: &Place, body: &'p Block) {
        let (name, list) = (self.local(var), self.load(list));
        self.w.open(format!("for _, item__ in ipairs({list}) do"));
        self.w.line(format!("local {name} = copy(item__)"));
        self.body(body);
    }

    /// A loop's body and end, with a label for `continue`.
    fn body(&mut self, body: &'p Block) {
        let outer = self.label;
        let mut extracts = false;
        walk::statements(body, &mut |stmt| extracts |= matches!(stmt.kind, StmtKind::Extract { .. }));
        if extracts {
            // Nothing follows the frame for which the program drops the packet.
            self.w.line("if packet.refused then break end");
        }
        let mut continues = false;
        continues_in(body, &mut continues);
        if continues {
            self.labels += 1;
            self.label = self.labels;
            self.w.open("do");
            self.stmts(body);
            self.w.close("end");
            self.w.line(format!("::next_{}::", self.label));
        } else {
            self.stmts(body);
        }
        self.label = outer;
        self.w.close("end");
    }

    fn extraction(&mut self, local: LocalId) {
        let Ty::Blueprint(bp) = self.local_ty(local) else { return };
        let name = self.p.blueprints.get(bp.index()).map_or("", |b| &b.name);
        self.found.borrow_mut().constructors.insert(name.to_owned());
        let (read, initial) = (names::field("extract", name), names::field("new", name));
        self.w.line(format!("take({read}, {initial}, {})", self.local(local)));
    }

    fn raise(&mut self, event: LocalId) {
        let Ty::Event(id) = self.local_ty(event) else { return };
        let name = self.p.events.get(id.index()).map_or("", |e| &e.name);
        self.w.line(format!("raise({}, copy({}))", text::quoted(name), self.local(event)));
    }

    fn list(&mut self, stmt: &Stmt) {
        let StmtKind::Change { what, dest, on: list, args } = &stmt.kind else {
            self.refuse("the parser does what only an event processor can");
            return;
        };
        if matches!(&list.ty, Ty::List(_, _, order) if *order != Order::Given) {
            self.refuse("the parser uses a sorted list, which dissectors do not support");
        }
        let (name, most) = (self.load(list), capacity(list));
        let text = match (what, &args[..]) {
            (Change::ListAdd, [value]) => format!("list_add({name}, {most}, {})", self.own(value)),
            (Change::ListInsert, [index, value]) => {
                format!("list_insert({name}, {most}, {}, {})", self.number(index), self.own(value))
            }
            (Change::ListRemove, [index]) => format!("list_remove({name}, {})", self.number(index)),
            (Change::ListPop, _) => {
                let Ty::List(of, ..) = &list.ty else { return };
                let text = format!("list_pop({name}, {})", self.zero(of));
                match dest {
                    Some(dest) => return self.assign_local(*dest, &text),
                    None => text,
                }
            }
            (Change::ListClear, _) => format!("list_clear({name})"),
            _ => self.refuse("the parser uses a sliding window, which dissectors do not support"),
        };
        self.w.line(text);
    }
}

/// Whether a loop with this body goes on with its next turn somewhere: one inside it has its own.
fn continues_in(block: &Block, found: &mut bool) {
    for stmt in &block.stmts {
        match &stmt.kind {
            StmtKind::Continue => *found = true,
            StmtKind::For { .. } => {}
            _ => carrick_ir::walk::children(stmt).for_each(|child| continues_in(child, found)),
        }
    }
}
