// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes of contexts while a stack runs: a program that takes them as requests.
//!
//! A change is a function of the program then, and runs as the chain of one more event: between two other events, with the
//! context held as for any chain, on every target. A program without changes has nothing of this.

use carrick_ir::{
    Arg, BinOp, Block, CallTarget, Chain, CtxId, EventDef, EventId, EventKind, Expr, ExprKind, FieldDef,
    FuncId, Function, Instr, Interface, InterfaceCall, Loc, Local, LocalId, Place, Program, Proj,
    STATUS_NAMES, Stmt, StmtKind, Text, Ty,
};
use carrick_sim::watch::Ask;
use carrick_sim::watch::change::{BREAKS, EVENT as CHANGE, GONE, MADE};

/// The file of a change, in messages and in generated code.
const ASKED: &str = "--set";
/// Fields of the event: which of the changes, and the process that asks for it.
const ITEM: u32 = 0;
const BY: u32 = 1;

/// Returns the program with the event [`CHANGE`], whose chain makes the change that its field `item` numbers on a context of
/// this type. A change that would break an invariant is undone, and the request completes with `INVALID` and the claim's number.
///
/// # Errors
/// Why the program or a change does not allow that.
pub fn with_changes(program: &Program, ctx: usize, changes: &[Ask]) -> Result<Program, String> {
    let mut made = Made { program: program.clone(), ctx: CtxId(ctx as u32) };
    // The text of a change stands behind those of the program: its places are in a file of that number.
    made.program.imports.push(ASKED.into());
    if program.events.iter().any(|e| e.name == CHANGE) || program.functions.iter().any(|f| f.name == CHANGE) {
        return Err(format!(
            "the program has a declaration `{CHANGE}`, which changes of a running stack need"
        ));
    }
    let claims = made.claims();
    let changes: Vec<FuncId> =
        changes.iter().map(|change| made.change(change, &claims)).collect::<Result<_, _>>()?;
    let present = made.processor(&changes);
    let absent = made.absent();
    made.event(present, absent);
    Ok(made.program)
}

struct Made {
    program: Program,
    /// the type of the contexts that are changed
    ctx: CtxId,
}

impl Made {
    fn context(&self) -> Local {
        Local { name: "c".into(), ty: Ty::Context(self.ctx) }
    }

    /// The event, which is added last.
    fn event_local(&self) -> Local {
        Local { name: "e".into(), ty: Ty::Event(EventId(self.program.events.len() as u32)) }
    }

    fn add(&mut self, function: Function) -> FuncId {
        self.program.functions.push(function);
        FuncId(self.program.functions.len() as u32 - 1)
    }

    /// For each invariant of the context a function that returns the number of the first claim that does not hold, or [`MADE`].
    fn claims(&mut self) -> Vec<FuncId> {
        let of_context = |f: &&Function| f.locals[0].ty == Ty::Context(self.ctx);
        let invariants = self.program.invariants.iter().map(|f| &self.program.functions[f.index()]);
        let found: Vec<Function> = invariants.filter(of_context).cloned().collect();
        let first = self.program.functions.len();
        for (at, mut invariant) in found.into_iter().enumerate() {
            invariant.name = format!("{CHANGE}_claims_{at}");
            invariant.ret = Ty::U64;
            answers(&mut invariant.body);
            invariant.body.stmts.push(stmt(StmtKind::Return(Some(number(MADE)))));
            self.add(invariant);
        }
        (first..self.program.functions.len()).map(|at| FuncId(at as u32)).collect()
    }

    /// The function of a change: it returns the claim for which it was undone, or [`MADE`].
    fn change(&mut self, change: &Ask, claims: &[FuncId]) -> Result<FuncId, String> {
        let mut function = change.function.clone();
        let assigned = function
            .body
            .stmts
            .iter()
            .position(|s| matches!(&s.kind, StmtKind::Assign { place, .. } if place.root == LocalId(0)));
        let (Some(at), 1) = (assigned, function.params) else {
            return Err(format!("`{}` does not assign a field of a context", change.text));
        };
        let StmtKind::Assign { place, .. } = &function.body.stmts[at].kind else {
            unreachable!("it was found")
        };
        let place = place.clone();
        if reads_itself(&place) {
            return Err(format!(
                "`{}`: the index must not depend on the context; write a number",
                change.text
            ));
        }
        let loc = function.body.stmts[at].loc;
        let old = local(&mut function, "old__", place.ty.clone());
        let broken = local(&mut function, "broken__", Ty::U64);
        let before = [
            StmtKind::Let { local: old, init: Some(load(place.clone(), loc)) },
            StmtKind::Let { local: broken, init: Some(number(MADE)) },
        ];
        let holds = || equal(load(whole(broken, Ty::U64), loc), MADE, BinOp::Eq);
        let mut after: Vec<StmtKind> = claims
            .iter()
            .map(|claims| only_if(holds(), answer(&mut function, broken, *claims, LocalId(0))))
            .collect();
        let undone = StmtKind::Assign { place: place.clone(), value: load(whole(old, place.ty), loc) };
        after.push(only_if(equal(load(whole(broken, Ty::U64), loc), MADE, BinOp::Ne), vec![undone]));
        after.push(StmtKind::Return(Some(load(whole(broken, Ty::U64), loc))));
        let stmts = &mut function.body.stmts;
        stmts.truncate(at + 1);
        stmts.splice(at..at, before.map(stmt));
        stmts.extend(after.into_iter().map(stmt));
        function.name = format!("{CHANGE}_{}", self.program.functions.len());
        function.ret = Ty::U64;
        function.pure = false;
        Ok(self.add(function))
    }

    /// The processor: the change that is asked for, and an answer.
    fn processor(&mut self, changes: &[FuncId]) -> FuncId {
        let (event, ctx) = (LocalId(0), LocalId(1));
        let mut function = self.function(CHANGE, vec![self.event_local(), self.context()]);
        let broken = local(&mut function, "broken", Ty::U64);
        let item = || load(Place { root: event, path: vec![Proj::Field(ITEM)], ty: Ty::U64 }, Loc::default());
        let mut body = vec![StmtKind::Let { local: broken, init: Some(number(GONE)) }];
        body.extend(changes.iter().enumerate().map(|(at, change)| {
            let asked = equal(item(), at as u64, BinOp::Eq);
            only_if(asked, answer(&mut function, broken, *change, ctx))
        }));
        let value = || load(whole(broken, Ty::U64), Loc::default());
        body.push(StmtKind::If {
            cond: equal(value(), MADE, BinOp::Eq),
            then: block(vec![notify("OK", value())]),
            otherwise: block(vec![notify("INVALID", value())]),
        });
        function.body = block(body);
        self.add(function)
    }

    /// The processor where the context is gone.
    fn absent(&mut self) -> FuncId {
        let mut function = self.function(&format!("{CHANGE}_gone"), vec![self.event_local()]);
        function.body = block(vec![notify("CLOSED", number(GONE))]);
        self.add(function)
    }

    fn function(&self, name: &str, locals: Vec<Local>) -> Function {
        Function {
            name: name.to_owned(),
            doc: Text::default(),
            loc: Loc::default(),
            params: locals.len() as u32,
            locals,
            ret: Ty::Void,
            body: Block::default(),
            pure: false,
            may_stop: false,
            max_raised: 0,
        }
    }

    fn event(&mut self, present: FuncId, absent: FuncId) {
        let p = &mut self.program;
        let (def, event) = (&p.contexts[self.ctx.index()], EventId(p.events.len() as u32));
        let own = (!def.global).then_some(self.ctx);
        let field =
            |name: &str| FieldDef { name: name.to_owned(), doc: Text::default(), ty: Ty::U64, init: None };
        let mut fields = vec![field(""), field("")];
        (fields[ITEM as usize].name, fields[BY as usize].name) = ("item".into(), "by".into());
        p.events.push(EventDef {
            name: CHANGE.into(),
            doc: Text::default(),
            kind: EventKind::App,
            fields,
            optional: Vec::new(),
            id: own.map(|_| def.id),
        });
        p.chains.push(Some(Chain {
            context: own,
            fallback: Vec::new(),
            shared: Vec::new(),
            globals: if own.is_some() { Vec::new() } else { vec![self.ctx] },
            present: vec![present],
            absent: own.map(|_| vec![absent]),
            scratchpads: Vec::new(),
            max_raised: 0,
        }));
        if let Some(schedule) = &mut p.event_schedule {
            schedule.queues.push(Some(0));
        }
        let interface =
            p.interface.get_or_insert_with(|| Interface { name: CHANGE.into(), calls: Vec::new() });
        interface.calls.push(InterfaceCall {
            name: CHANGE.into(),
            doc: Text::default(),
            event,
            target: own.map_or(CallTarget::Nowhere, CallTarget::On),
        });
    }
}

/// Makes each claim the end of the function, with its number, if it does not hold.
fn answers(block: &mut Block) {
    block.statements_mut(&mut |stmt| match &mut stmt.kind {
        StmtKind::Return(value) => *value = Some(number(MADE)),
        StmtKind::Assert { claim, cond } => {
            stmt.kind = StmtKind::If {
                cond: cond.clone(),
                then: Block::default(),
                otherwise: self::block(vec![StmtKind::Return(Some(number(BREAKS | u64::from(*claim))))]),
            };
        }
        _ => {}
    });
}

/// Whether an index on the path to a place may be another one after the change.
fn reads_itself(place: &Place) -> bool {
    let fixed = |e: &Expr| matches!(e.kind, ExprKind::Lit(_) | ExprKind::Const(_) | ExprKind::Param(_));
    place.path.iter().any(|step| match step {
        Proj::Index(index) | Proj::Elem(index) => !fixed(index),
        _ => false,
    })
}

fn local(function: &mut Function, name: &str, ty: Ty) -> LocalId {
    function.locals.push(Local { name: name.to_owned(), ty });
    LocalId(function.locals.len() as u32 - 1)
}

fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, loc: Loc::default() }
}

fn block(kinds: Vec<StmtKind>) -> Block {
    Block { stmts: kinds.into_iter().map(stmt).collect() }
}

fn only_if(cond: Expr, then: Vec<StmtKind>) -> StmtKind {
    StmtKind::If { cond, then: block(then), otherwise: Block::default() }
}

/// Puts what a function of a context returns into the local `to`.
fn answer(function: &mut Function, to: LocalId, func: FuncId, ctx: LocalId) -> Vec<StmtKind> {
    let dest = local(function, &format!("answer_{}__", function.locals.len()), Ty::U64);
    let value = load(whole(dest, Ty::U64), Loc::default());
    vec![
        StmtKind::Call { dest: Some(dest), func, args: vec![Arg::Ref(ctx)] },
        StmtKind::Assign { place: whole(to, Ty::U64), value },
    ]
}

fn number(value: u64) -> Expr {
    Expr { kind: ExprKind::Lit(value), ty: Ty::U64, loc: Loc::default() }
}

fn whole(root: LocalId, ty: Ty) -> Place {
    Place { root, path: Vec::new(), ty }
}

fn load(place: Place, loc: Loc) -> Expr {
    Expr { ty: place.ty.clone(), kind: ExprKind::Load(place), loc }
}

fn equal(left: Expr, right: u64, op: BinOp) -> Expr {
    let kind = ExprKind::Binary(op, Box::new(left), Box::new(number(right)));
    Expr { kind, ty: Ty::Bool, loc: Loc::default() }
}

/// Completes the request of the event, the first local.
fn notify(status: &str, value: Expr) -> StmtKind {
    let token = load(Place { root: LocalId(0), path: vec![Proj::Token], ty: Ty::Token }, Loc::default());
    let status = STATUS_NAMES.iter().position(|name| *name == status).expect("a status of the language");
    let status = Expr { kind: ExprKind::Lit(status as u64), ty: Ty::Status, loc: Loc::default() };
    StmtKind::Instr(Instr::Notify { token, status, value: Some(value) })
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use carrick_ir::validate::validate;
    use carrick_syntax::assemble::features::Choice;

    use super::*;
    use crate::probe::{self, Asked, Named};

    fn file(of_tests: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs").join(of_tests)
    }

    fn asked(path: &Path) -> Asked {
        let (_, asked) = probe::open(path, &Choice::default()).expect("readable");
        asked.expect("a program")
    }

    /// An assignment to a field of a context, which is called by its name; `None` if the checker refuses it.
    fn change(asked: &Asked, ctx: usize, text: &str) -> Option<Ask> {
        let name = asked.program.contexts[ctx].name.clone();
        let scope = [Named { name, ty: Ty::Context(CtxId(ctx as u32)), open: true }];
        let question = asked.change("--set", text, &scope).ok()?;
        Some(Ask { text: question.text, function: question.function })
    }

    #[test]
    fn each_field_of_each_program_can_be_changed() {
        let mut count = 0;
        for entry in std::fs::read_dir(file("")).expect("readable") {
            let path = entry.expect("a file").path();
            if path.extension().is_none_or(|ext| ext != "mtp") {
                continue;
            }
            let asked = asked(&path);
            for (ctx, def) in asked.program.contexts.iter().enumerate() {
                let fields = def.declared_fields().filter(|field| field.ty.is_scalar());
                let changes: Vec<Ask> = fields
                    .filter_map(|field| {
                        change(&asked, ctx, &format!("{0}.{1} = {0}.{1}", def.name, field.name))
                    })
                    .collect();
                let program = with_changes(&asked.program, ctx, &changes).expect("changes");
                assert_eq!(validate(&program), Ok(()), "{}: {}", path.display(), def.name);
                count += changes.len();
            }
        }
        assert!(count > 50, "{count} fields");
    }

    #[test]
    fn an_index_that_the_change_may_move_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("least.mtp");
        let text = std::fs::read_to_string(file("least.mtp")).expect("readable");
        let text = text.replace("{ uint32 count; }", "{ uint32 count; uint32 of[4]; }");
        std::fs::write(&path, text).expect("writable");
        let asked = asked(&path);
        let made =
            |text: &str| with_changes(&asked.program, 0, &[change(&asked, 0, text).expect("an assignment")]);
        assert!(made("conn.of[2] = 1").is_ok());
        let refused = made("conn.of[conn.count] = 1").expect_err("it may be another element then");
        assert!(refused.contains("write a number"), "{refused}");
    }
}
