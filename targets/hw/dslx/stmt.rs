// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statements. Each gives its variables new values; a branch gives those that either of its blocks changes.

use std::collections::BTreeSet;

use carrick_ir::{Arg, Block, Change, Expr, FuncId, Loc, LocalId, Over, Place, Stmt, StmtKind, Ty, walk};

use super::body::{Body, Places, either, tuple, tuple as tuple_of};
use super::effects::{Var, changed, does_something, of_statement, of_statements};
use super::emitter::{Emitted, Emitter, Input, unsupported};
use super::names::variable;

/// Variables that say that what follows does not run.
const FLAGS: [Var; 3] = [Var::Left, Var::Brk, Var::Cont];

/// Branches in a row of statements. XLS follows each name to all that it is made of, which takes very long behind many branches,
/// and ends at parameters: what follows becomes a function of its own.
const BRANCHES: u32 = 3;

type Vars = BTreeSet<Var>;

impl Emitter<'_> {
    /// Writes statements in a row; `wanted`: the variables that whoever is behind them needs. What follows a branch that ends the
    /// block is its other arm, so that no value of one arm is on the path of the other. What follows another statement that may
    /// end the block is guarded in a block of its own: blocks that nest deeply take XLS very long.
    pub fn statements(&mut self, stmts: &[Stmt], wanted: &Vars, body: &mut Body<'_>) -> Emitted<()> {
        let stmts = flattened(stmts);
        let mut rest = stmts.as_slice();
        let mut flags = Vars::new();
        let mut branches = 0;
        while !rest.is_empty() {
            let alternative = alternative(rest);
            if branches == BRANCHES || (alternative.is_some() && !flags.is_empty()) {
                return self.remainder(rest, &flags, wanted, body);
            }
            if let Some((cond, [then, otherwise], loc)) = alternative {
                return self.branch("", cond, [&then, &otherwise], wanted, loc, body);
            }
            let ending = rest.iter().position(|stmt| !self.ends(stmt).is_empty());
            let branch = rest.iter().position(|stmt| walk::children(stmt).next().is_some());
            // A branch is a part alone.
            let branch = branch.map(|at| at.max(1)).unwrap_or(rest.len());
            let (part, behind) = rest.split_at(ending.map_or(rest.len(), |at| at + 1).min(branch));
            branches += u32::from(part.iter().any(|stmt| walk::children(stmt).next().is_some()));
            let ends = part.last().map(|last| self.ends(last)).unwrap_or_default();
            let mut after = Vars::new();
            of_statements(&self.effects, self.program, behind, &mut after);
            let mut needed = wanted.clone();
            if after.iter().any(|v| !FLAGS.contains(v) || wanted.contains(v)) {
                needed.extend(flags.iter().chain(&ends));
                rest = behind;
            } else {
                rest = &[];
            }
            self.guarded(part, !rest.is_empty(), &flags, &needed, body)?;
            flags.extend(ends);
        }
        Ok(())
    }

    /// Writes the rest of a row as a function of its own.
    fn remainder(&mut self, rest: &[Stmt], flags: &Vars, wanted: &Vars, body: &mut Body<'_>) -> Emitted<()> {
        let mut vars = Vars::new();
        of_statements(&self.effects, self.program, rest, &mut vars);
        vars.retain(|v| !FLAGS.contains(v) || wanted.contains(v));
        if vars.is_empty() {
            return Ok(());
        }
        let before = body.places;
        let (tuple, call) = (body.tuple(&vars), self.hoist(rest, &vars, body)?);
        if flags.is_empty() {
            body.line(&format!("let {tuple} = {call};"));
            return Ok(());
        }
        let cond = disjunction(flags, body);
        if body.places == before {
            body.line(&format!("let {tuple} = if {cond} {{ {tuple} }} else {{ {call} }};"));
            return Ok(());
        }
        body.line(&format!("let (when__, then__, else__) = ({cond}, {tuple}, {call});"));
        body.line(&either(&body.names_of(&vars), before, before, body.places));
        Ok(())
    }

    /// Makes statements a function of its own, which gives these variables; the call of it.
    fn hoist(&mut self, stmts: &[Stmt], vars: &Vars, body: &mut Body<'_>) -> Emitted<String> {
        let mut part = body.part();
        self.statements(stmts, vars, &mut part)?;
        let result = part.tuple(vars);
        part.line(&result);
        let name = body.part_done(&part);
        // A loop within the part has a `brk` and a `cont` of its own.
        let of_loop: &[Var] = if body.in_loop { &[Var::Brk, Var::Cont] } else { &[] };
        let all = [Var::Io, Var::Ret, Var::Left].iter().chain(of_loop).copied();
        let all = all.chain(body.live.iter().map(|local| Var::Local(*local)));
        let (mut params, mut given) = (vec!["env: Env".to_owned()], vec!["env".to_owned()]);
        for var in all {
            let variable = body.var(var);
            if part.mentions(&variable) {
                if var == Var::Io {
                    params.push("at: Place".into());
                    given.push("at".into());
                }
                params.push(format!("{variable}: {}", self.type_of(var, body)));
                given.push(variable);
            }
        }
        let types: Vec<String> = vars.iter().map(|var| self.type_of(*var, body)).collect();
        let text = format!("fn {name}({}) -> {} {{\n{}}}\n\n", params.join(", "), tuple(&types), part.text);
        body.hoisted.push_str(&text);
        Ok(format!("{name}({})", given.join(", ")))
    }

    /// Writes a block of a branch, which ends with these variables.
    fn arm(&mut self, block: &Block, vars: &Vars, body: &mut Body<'_>) -> Emitted<()> {
        let live = body.live.clone();
        let branches = block.stmts.iter().any(|stmt| walk::children(stmt).next().is_some());
        let result = match branches {
            true => self.hoist(&block.stmts, vars, body)?,
            false => {
                self.statements(&block.stmts, vars, body)?;
                body.tuple(vars)
            }
        };
        body.line(&result);
        body.live = live;
        Ok(())
    }

    /// The flags that a statement may set.
    fn ends(&self, stmt: &Stmt) -> Vars {
        let mut vars = Vars::new();
        of_statement(&self.effects, self.program, stmt, &mut vars);
        vars.retain(|v| FLAGS.contains(v));
        vars
    }

    /// Writes statements that run unless one of the flags is set.
    /// `followed`: what begins to live there is used behind.
    fn guarded(
        &mut self,
        part: &[Stmt],
        followed: bool,
        flags: &Vars,
        needed: &Vars,
        body: &mut Body<'_>,
    ) -> Emitted<()> {
        if let [Stmt { kind: StmtKind::If { cond, then, otherwise }, loc }] = part
            && (flags.is_empty() || otherwise.stmts.is_empty())
        {
            let guard: String = flags.iter().map(|flag| format!("!{} && ", body.var(*flag))).collect();
            return self.branch(&guard, cond, [then, otherwise], needed, *loc, body);
        }
        if flags.is_empty() {
            return part.iter().try_for_each(|stmt| self.statement(stmt, needed, body));
        }
        let mut vars = Vars::new();
        of_statements(&self.effects, self.program, part, &mut vars);
        vars.retain(|v| !FLAGS.contains(v) || needed.contains(v));
        let begun: Vars = part.iter().filter_map(Stmt::begins).map(Var::Local).filter(|_| followed).collect();
        vars.extend(&begun);
        if vars.is_empty() {
            return Ok(());
        }
        let mut without = Vec::new();
        for var in &vars {
            without.push(match begun.contains(var) {
                true => format!("zero!<{}>()", self.type_of(*var, body)),
                false => body.var(*var),
            });
        }
        let mut fork = body.fork(Loc::default(), &disjunction(flags, body), body.names_of(&vars));
        body.line(&tuple_of(&without));
        body.second_arm(&mut fork);
        part.iter().try_for_each(|stmt| self.statement(stmt, &vars, body))?;
        body.line(&body.tuple(&vars));
        body.joined(&fork);
        Ok(())
    }

    fn statement(&mut self, stmt: &Stmt, needed: &Vars, body: &mut Body<'_>) -> Emitted<()> {
        let loc = stmt.loc;
        match &stmt.kind {
            StmtKind::If { cond, then, otherwise } => {
                self.branch("", cond, [then, otherwise], needed, loc, body)
            }
            StmtKind::For { var, over: Over::Range { from, to, max }, body: inner } => {
                let ty = body.function.locals[var.index()].ty.clone();
                let (from, to) = (self.expr(from, body.scope(loc))?, self.expr(to, body.scope(loc))?);
                let name = body.name(*var).to_owned();
                body.line_of(loc, &format!("let {name}_from = {from};"));
                body.line(&format!("let {name}_to = {to};"));
                let step = self.cast(&Ty::U32, &ty, "step__".into());
                let item = format!("{name}_from + {step}");
                let goes_on = self.less(&ty, &name, &format!("{name}_to"));
                self.repeat(*max, *var, &item, &goes_on, inner, needed, loc, body)
            }
            StmtKind::For { var, over: Over::EachOf(list), body: inner } => {
                let text = self.load(list, body.scope(loc))?;
                let (max, item, goes_on) = match &list.ty {
                    Ty::List(_, n, _) => {
                        (*n, format!("{text}.items[step__]"), format!("(step__ < {text}.len)"))
                    }
                    Ty::Array(_, n) => (*n, format!("{text}[step__]"), "u1:1".to_owned()),
                    _ => return unsupported("a loop over what has no elements", loc),
                };
                self.repeat(max.into(), *var, &item, &goes_on, inner, needed, loc, body)
            }
            StmtKind::Return(value) => {
                if let Some(value) = value {
                    let value = self.expr(value, body.scope(loc))?;
                    body.line_of(loc, &format!("let ret = {value};"));
                }
                flag(Var::Left, needed, loc, body);
                Ok(())
            }
            StmtKind::Stop => {
                body.line_of(loc, "let io = Issued { stop: u1:1, ..io };");
                flag(Var::Left, needed, loc, body);
                Ok(())
            }
            StmtKind::Break => {
                flag(Var::Brk, needed, loc, body);
                Ok(())
            }
            StmtKind::Continue => {
                flag(Var::Cont, needed, loc, body);
                Ok(())
            }
            StmtKind::Call { dest, func, args } => self.call(*dest, *func, args, needed, loc, body),
            StmtKind::Instr(instr) => self.issue(instr, loc, body),
            // A claim has no effect on what a program does.
            StmtKind::Assert { .. } => Ok(()),
            _ => self.value(stmt, body),
        }
    }

    /// A list that a method changed: the variable that holds it, and its new value.
    fn changed(
        &mut self,
        (what, dest): (Change, Option<LocalId>),
        list: &Place,
        args: &[Expr],
        body: &mut Body<'_>,
        loc: Loc,
    ) -> Emitted<(LocalId, String)> {
        let scope = body.scope(loc);
        match (what, args) {
            (Change::ListAdd, [value]) => {
                let (add, value) = (self.push(&list.ty)?, self.expr(value, scope)?);
                self.changed_list(list, &add, &[value], body, loc)
            }
            (Change::ListInsert, [index, value]) => {
                let insert = self.insert(&list.ty)?;
                let (at, value) = (self.index32(index, body, loc)?, self.expr(value, scope)?);
                self.changed_list(list, &insert, &[at, value], body, loc)
            }
            (Change::ListRemove, [index]) => {
                let remove = self.remove(&list.ty)?;
                let at = self.index32(index, body, loc)?;
                self.changed_list(list, &remove, &[at], body, loc)
            }
            (Change::ListPop, _) => {
                if let Some(dest) = dest {
                    let element = self.element(&list.ty)?;
                    let (name, list) = (body.name(dest).to_owned(), self.load(list, scope)?);
                    body.live.insert(dest);
                    body.line_of(loc, &format!("let {name} = {element}({list}, u64:0);"));
                }
                let remove = self.remove(&list.ty)?;
                self.changed_list(list, &remove, &["u32:0".into()], body, loc)
            }
            (Change::ListClear, _) => {
                let (ty, text) = (self.ty(&list.ty), self.load(list, scope)?);
                let value = format!("{ty} {{ len: u32:0, ..{text} }}");
                Ok((list.root, self.stored(list, value, scope)?))
            }
            _ => unsupported("a sliding window", loc),
        }
    }

    /// Statements that give one variable another value.
    fn value(&mut self, stmt: &Stmt, body: &mut Body<'_>) -> Emitted<()> {
        let loc = stmt.loc;
        let scope = body.scope(loc);
        let (root, value) = match &stmt.kind {
            StmtKind::Let { local, init: Some(init) } => (*local, self.expr(init, scope)?),
            StmtKind::Let { local, init: None } => {
                let ty = body.function.locals[local.index()].ty.clone();
                (*local, self.initial(&ty)?)
            }
            StmtKind::Assign { place, value } => {
                let value = self.expr(value, scope)?;
                (place.root, self.stored(place, value, scope)?)
            }
            StmtKind::SetFlowId { event, id } => {
                let (name, id) = (body.name(*event), self.expr(id, scope)?);
                let ty = self.ty(&body.function.locals[event.index()].ty);
                (*event, format!("{ty} {{ flow_id: {id}, ..{name} }}"))
            }
            StmtKind::Change { what, dest, on, args } => self.changed((*what, *dest), on, args, body, loc)?,
            StmtKind::Random { dest } => {
                let name = body.name(*dest).to_owned();
                body.live.insert(*dest);
                body.line_of(loc, &format!("let {name} = env.random[io.drawn];"));
                body.line("let io = Issued { drawn: io.drawn + u8:1, ..io };");
                return Ok(());
            }
            _ => return self.of_blueprint(stmt, body),
        };
        let name = body.name(root).to_owned();
        body.live.insert(root);
        body.line_of(loc, &format!("let {name} = {value};"));
        Ok(())
    }

    /// An index of at most 2^32 - 1, which no list reaches.
    fn index32(&mut self, index: &Expr, body: &Body<'_>, loc: Loc) -> Emitted<String> {
        let value = self.expr(index, body.scope(loc))?;
        let wide = self.cast(&index.ty, &Ty::U64, value);
        Ok(format!("(if {wide} < u64:0xffffffff {{ ({wide} as u32) }} else {{ u32:0xffffffff }})"))
    }

    fn changed_list(
        &mut self,
        list: &Place,
        function: &str,
        args: &[String],
        body: &Body<'_>,
        loc: Loc,
    ) -> Emitted<(LocalId, String)> {
        let scope = body.scope(loc);
        let text = self.load(list, scope)?;
        let value = format!("{function}({text}, {})", args.join(", "));
        Ok((list.root, self.stored(list, value, scope)?))
    }

    /// Statements on blueprints.
    fn of_blueprint(&mut self, stmt: &Stmt, body: &mut Body<'_>) -> Emitted<()> {
        let (loc, scope) = (stmt.loc, body.scope(stmt.loc));
        let (bp, value) = match &stmt.kind {
            StmtKind::Extract { bp } => {
                let Ty::Blueprint(id) = body.function.locals[bp.index()].ty else {
                    return unsupported("a header of an unknown kind", loc);
                };
                self.ty(&Ty::Blueprint(id));
                self.inputs.insert(Input::Header(id));
                (*bp, format!("env.header_{}", self.program.blueprints[id.index()].name))
            }
            StmtKind::SetPayload { bp, offset, len, mss, .. } => {
                let (offset, len) = (self.expr(offset, scope)?, self.expr(len, scope)?);
                let mss = mss.as_ref().map(|mss| self.expr(mss, scope)).transpose()?;
                self.inputs.insert(Input::Handle);
                (*bp, self.payload(*bp, ["env.handle", &offset, &len], mss, "", body))
            }
            StmtKind::SetPayloadAt { bp, addr, len, mss } => {
                let (addr, len) = (self.expr(addr, scope)?, self.expr(len, scope)?);
                let mss = mss.as_ref().map(|mss| self.expr(mss, scope)).transpose()?;
                let addr = format!(", addr: {addr}");
                (*bp, self.payload(*bp, ["u64:0xffffffffffffffff", "u64:0", &len], mss, &addr, body))
            }
            StmtKind::OptAdd { bp, opt, args } => {
                let opt = &self.program.opts[opt.index()];
                let mut set = vec![format!("{}: u1:1", variable(&opt.name))];
                let mut args = args.iter();
                for field in &opt.fields {
                    let value = match (field.fixed, args.as_slice()) {
                        (Some(value), _) => self.literal(&field.ty, value),
                        (None, [arg, ..]) => {
                            args.next();
                            self.expr(arg, scope)?
                        }
                        (None, []) => return unsupported("an option with too few fields", loc),
                    };
                    set.push(format!("{}_{}: {value}", opt.name, field.name));
                }
                if let (Some(list), [arg]) = (&opt.list, args.as_slice()) {
                    let value = self.expr(arg, scope)?;
                    set[0] = format!("{}: ({value}).len >= u32:{}", variable(&opt.name), list.least);
                    set.push(format!("{}_{}: {value}", opt.name, list.name));
                }
                (*bp, format!("{} {{ {}, ..{} }}", self.of_local(*bp, body), set.join(", "), body.name(*bp)))
            }
            StmtKind::SetPayloadOf { .. } => return unsupported("the payload of another context", loc),
            StmtKind::FrameAdd { .. } => return unsupported("a packet made of frames", loc),
            _ => return unsupported("a sliding window", loc),
        };
        let name = body.name(bp).to_owned();
        body.line_of(loc, &format!("let {name} = {value};"));
        Ok(())
    }

    fn of_local(&mut self, local: LocalId, body: &Body<'_>) -> String {
        self.ty(&body.function.locals[local.index()].ty)
    }

    fn payload(
        &mut self,
        bp: LocalId,
        [unit, offset, len]: [&str; 3],
        mss: Option<String>,
        addr: &str,
        body: &Body<'_>,
    ) -> String {
        let (ty, name) = (self.of_local(bp, body), body.name(bp));
        let mss = mss.unwrap_or("u64:0xffffffffffffffff".into());
        format!(
            "{ty} {{ payload_: Payload {{ unit: {unit}, offset: {offset}, len: {len}, mss: {mss}{addr}, ..{name}.payload_ }}, ..{name} }}"
        )
    }

    fn branch(
        &mut self,
        guard: &str,
        cond: &Expr,
        blocks: [&Block; 2],
        needed: &Vars,
        loc: Loc,
        body: &mut Body<'_>,
    ) -> Emitted<()> {
        let cond = self.expr(cond, body.scope(loc))?;
        let mut vars = Vars::new();
        blocks.iter().for_each(|block| changed(&self.effects, self.program, block, &mut vars));
        vars.retain(|v| !FLAGS.contains(v) || needed.contains(v));
        if vars.is_empty() {
            return Ok(());
        }
        let issued = body.issued;
        let mut fork = body.fork(loc, &format!("{guard}{cond}"), body.names_of(&vars));
        self.arm(blocks[0], &vars, body)?;
        body.second_arm(&mut fork);
        let then = std::mem::replace(&mut body.issued, issued);
        self.arm(blocks[1], &vars, body)?;
        body.joined(&fork);
        // A block that ends the function does not go before what follows.
        body.issued |= then && !always_ends(blocks[0]);
        Ok(())
    }

    /// A loop of at most `max` iterations, each with another `item`, while `goes_on`.
    #[expect(clippy::too_many_arguments, reason = "what both kinds of loop differ by")]
    fn repeat(
        &mut self,
        max: u64,
        var: LocalId,
        item: &str,
        goes_on: &str,
        inner: &Block,
        needed: &Vars,
        loc: Loc,
        body: &mut Body<'_>,
    ) -> Emitted<()> {
        let name = body.name(var).to_owned();
        let mut vars = Vars::new();
        changed(&self.effects, self.program, inner, &mut vars);
        vars.retain(|v| ![Var::Brk, Var::Cont].contains(v) && (*v != Var::Left || needed.contains(v)));
        let ends = vars.contains(&Var::Left);
        let types: Vec<String> = vars.iter().map(|v| self.type_of(*v, body)).collect();
        let names: Vec<String> = vars.iter().map(|v| body.var(*v)).collect();
        let with = |brk: &str| [&[brk.to_owned()], names.as_slice()].concat().join(", ");
        let (outside, inside) = (with("_"), with("brk"));
        let types = [&["u1".to_owned()], types.as_slice()].concat().join(", ");
        // What an earlier iteration issues is before what this one reads.
        body.issued |= vars.contains(&Var::Io);
        body.open(
            loc,
            &format!(
                "let ({outside},) = for (step__, ({inside},)): (u32, ({types},)) in u32:0..u32:{max} {{"
            ),
        );
        body.line(&format!("let {name} = {item};"));
        body.live.insert(var);
        let left = if ends { " || left" } else { "" };
        let (before, begin) = (std::mem::take(&mut body.places), body.len());
        let results = [&["brk".to_owned()], names.as_slice()].concat();
        let mut fork = body.fork(Loc::default(), &format!("brk{left} || !{goes_on}"), results.clone());
        body.line(&tuple_of(&[&["u1:1".to_owned()], names.as_slice()].concat()));
        body.second_arm(&mut fork);
        let mut wanted = vars.clone();
        wanted.insert(Var::Brk);
        body.line("let cont = u1:0;");
        let (live, in_loop) = (body.live.clone(), std::mem::replace(&mut body.in_loop, true));
        self.statements(&inner.stmts, &wanted, body)?;
        (body.live, body.in_loop) = (live, in_loop);
        body.line(&tuple_of(&results));
        body.joined(&fork);
        let turn = body.places;
        if turn != Places::default() {
            // Each turn has places of its own.
            let at = format!(
                "behind({}, step__ * u32:{}, step__ * u32:{})",
                before.text(),
                turn.slots,
                turn.wides
            );
            body.line_at(begin, &format!("let at = {at};"));
        }
        body.places = before + turn * u32::try_from(max.max(1)).unwrap_or(u32::MAX);
        body.line(&format!("({inside},)"));
        let zero = with("u1:0");
        body.close(&format!("}}(({zero},));"));
        Ok(())
    }

    /// The type of a variable.
    pub fn type_of(&mut self, var: Var, body: &Body<'_>) -> String {
        match var {
            Var::Io => "Issued".into(),
            Var::Local(local) => self.of_local(local, body),
            Var::Ret => self.ty(&body.function.ret),
            Var::Left | Var::Brk | Var::Cont => "u1".into(),
        }
    }

    fn call(
        &mut self,
        dest: Option<LocalId>,
        func: FuncId,
        args: &[Arg],
        needed: &Vars,
        loc: Loc,
        body: &mut Body<'_>,
    ) -> Emitted<()> {
        let callee = &self.program.functions[func.index()];
        let effects = self.effects[func.index()].clone();
        if !does_something(&effects, callee) {
            return Ok(());
        }
        if body.issued && self.reads_space.contains(&func) {
            return unsupported("the space of a unit of data after an instruction of the same chain", loc);
        }
        let mut given = vec!["env".to_owned()];
        let mut gives = Vec::new();
        if effects.io {
            given.extend([body.places.text(), "io".into()]);
            gives.push("io".to_owned());
        }
        for (i, arg) in args.iter().enumerate() {
            given.push(match arg {
                Arg::Value(e) => self.expr(e, body.scope(loc))?,
                Arg::Ref(local) => {
                    if effects.params.contains(&LocalId(i as u32)) {
                        gives.push(body.name(*local).to_owned());
                    }
                    body.name(*local).to_owned()
                }
            });
        }
        if callee.ret != Ty::Void {
            gives.push(dest.map_or("_".to_owned(), |dest| body.name(dest).to_owned()));
        }
        body.places = body.places + self.places.get(&func).copied().unwrap_or_default();
        let name = variable(&callee.name);
        body.live.extend(dest);
        body.line_of(loc, &format!("let {} = {name}({});", tuple(&gives), given.join(", ")));
        body.issued |= self.issues.contains(&func);
        if callee.may_stop && needed.contains(&Var::Left) {
            body.line("let left = io.stop;");
        }
        Ok(())
    }
}

/// One of these flags is set.
fn disjunction(flags: &Vars, body: &Body<'_>) -> String {
    let names: Vec<String> = flags.iter().map(|flag| body.var(*flag)).collect();
    names.join(" || ")
}

/// Whether no path leads out of a block to what follows it.
fn always_ends(block: &Block) -> bool {
    block.stmts.last().is_some_and(|last| match &last.kind {
        StmtKind::Return(_) | StmtKind::Stop | StmtKind::Break | StmtKind::Continue => true,
        StmtKind::If { then, otherwise, .. } => always_ends(then) && always_ends(otherwise),
        StmtKind::Block(inner) => always_ends(inner),
        _ => false,
    })
}

/// A branch at the beginning of a row one of whose arms ends it, with what follows in the other arm.
fn alternative(stmts: &[Stmt]) -> Option<(&Expr, [Block; 2], Loc)> {
    let (first, rest) = stmts.split_first()?;
    let StmtKind::If { cond, then, otherwise } = &first.kind else { return None };
    let with_rest = |arm: &Block| Block { stmts: arm.stmts.iter().chain(rest).cloned().collect() };
    let arms = match (always_ends(then), always_ends(otherwise)) {
        _ if rest.is_empty() => return None,
        (true, _) => [then.clone(), with_rest(otherwise)],
        (false, true) => [with_rest(then), otherwise.clone()],
        (false, false) => return None,
    };
    Some((cond, arms, first.loc))
}

fn flag(var: Var, needed: &Vars, loc: Loc, body: &mut Body<'_>) {
    if needed.contains(&var) {
        let name = body.var(var);
        body.line_of(loc, &format!("let {name} = u1:1;"));
    }
}

/// Statements with those of plain blocks in their place.
fn flattened(stmts: &[Stmt]) -> Vec<Stmt> {
    let mut out = Vec::new();
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Block(inner) => out.extend(flattened(&inner.stmts)),
            _ => out.push(stmt.clone()),
        }
    }
    out
}
