// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions and statements.

use carrick_ir::bounds::turns;
use carrick_ir::methods::On;
use carrick_ir::{self as ir, Arg, Block, Change, ExprKind, Function, Over, Place, Stmt, StmtKind, Ty};

use crate::Emitter;
use crate::emitter::Feature;
use crate::loops::{goes_on, within};
use crate::names::safe;
use crate::place::CPlace;
use crate::term::Binds;
use crate::text;

/// Where a function leaves a value that it returns by a reference.
const RETURNED: &str = "&f__->ret__";

impl<'p> Emitter<'p> {
    /// The functions of the program.
    pub fn functions(&mut self) {
        let p = self.p;
        for function in &p.functions {
            self.function = Some(function);
            self.dialect.function(self, function);
        }
        self.function = None;
    }

    pub(crate) fn one_function(&mut self, function: &'p Function) {
        if let Some(doc) = text::comment(&function.doc) {
            self.w.line(doc);
        }
        let params: Vec<String> = function.locals[..function.params as usize]
            .iter()
            .map(|l| {
                let star = if l.ty.is_by_ref() { "*" } else { "" };
                format!("CARRICK_UNUSED {} {star}{}", self.names.ctype(&l.ty), safe(&l.name))
            })
            .collect();
        let all = params.into_iter().map(|p| format!(", {p}")).collect::<String>();
        // What GCC leaves out of `rx` costs a packet its registers, and the event that it raises its way through memory.
        let is_parser = std::ptr::eq(function, &self.p.functions[self.p.parser.index()]);
        let kind =
            if is_parser && self.p.max_parsed <= 1 { "CARRICK_PART" } else { "CARRICK_UNUSED static inline" };
        self.w.open(format!(
            "{kind} {} fn_{}(CARRICK_UNUSED struct {} *core, CARRICK_UNUSED struct {} *chain{all}) {{",
            self.names.ctype(&function.ret),
            function.name,
            self.names.own("core"),
            self.names.own("chain"),
        ));
        self.stmts(&function.body);
        self.w.own();
        self.w.end();
    }

    /// The statements of a block.
    pub fn stmts(&mut self, block: &Block) {
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
    }

    /// A line that comes from a statement.
    pub fn line(&mut self, stmt: &Stmt, text: impl AsRef<str>) {
        self.w.at(stmt.loc, self.p.file_of(stmt.loc));
        self.w.line(text);
    }

    pub(crate) fn open_at(&mut self, stmt: &Stmt, text: impl AsRef<str>) {
        self.w.at(stmt.loc, self.p.file_of(stmt.loc));
        self.w.open(text);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Let { local, init } => self.let_stmt(stmt, *local, init.as_ref()),
            StmtKind::Assign { place, value } => self.assign(stmt, place, value),
            StmtKind::Call { dest, func, args } => self.call(stmt, *dest, *func, args),
            StmtKind::Random { dest } => {
                let text = format!("{} = CARRICK_RANDOM(core);", self.declared_local(*dest));
                self.line(stmt, text);
            }
            StmtKind::Change { what, dest, on, args } => self.change(stmt, (*what, *dest), on, args),
            StmtKind::If { cond, then, otherwise } => self.if_stmt(stmt, cond, then, otherwise),
            StmtKind::Block(body) => {
                self.open_at(stmt, "{");
                self.stmts(body);
                self.w.close("}");
            }
            StmtKind::For { var, over, body } => self.loop_stmt(stmt, *var, over, body),
            StmtKind::Break => self.line(stmt, "break;"),
            StmtKind::Continue => self.line(stmt, "continue;"),
            StmtKind::Return(Some(value)) if self.dialect.by_reference(&value.ty) => {
                let value = self.record_at(value);
                if value != RETURNED {
                    self.line(stmt, format!("CARRICK_COPY({RETURNED}, {value});"));
                }
                self.line(stmt, "return 0;");
            }
            StmtKind::Return(value) => {
                let nothing = self.return_nothing();
                let text = value.as_ref().map_or(nothing.into(), |v| format!("return {};", self.value(v)));
                self.line(stmt, text);
            }
            StmtKind::Stop => {
                self.line(stmt, "chain->stopped = true;");
                let text = self.leave();
                self.line(stmt, text);
            }
            StmtKind::Assert { claim, cond } => {
                let (cond, failed) = (self.condition(cond), self.names.own("claim_failed"));
                self.line(stmt, format!("CARRICK_CLAIM({cond}, {failed}(core, chain, {claim}));"));
            }
            StmtKind::SetFlowId { event, id } => {
                let flow = format!("{}.flow__", self.local(*event));
                if !self.id_in_place(stmt, &flow, id) {
                    let text = format!("{flow} = {};", self.value(id));
                    self.line(stmt, text);
                }
            }
            StmtKind::Extract { bp } => self.extract(stmt, *bp),
            StmtKind::SetPayload { bp, ctx, offset, len, mss } => {
                self.set_payload(stmt, *bp, *ctx, [Some(offset), Some(len), mss.as_ref()]);
            }
            StmtKind::SetPayloadOf { bp, ctx, id, offset, len, mss } => {
                self.set_payload_of(stmt, *bp, (*ctx, id), [Some(offset), Some(len), mss.as_ref()]);
            }
            StmtKind::SetPayloadAt { bp, addr, len, mss } => {
                self.set_payload_at(stmt, *bp, addr, len, mss.as_ref());
            }
            StmtKind::FrameAdd { bp, frame } => self.frame_add(stmt, *bp, *frame),
            StmtKind::OptAdd { bp, opt, args } => self.option_add(stmt, *bp, *opt, args),
            StmtKind::Instr(instr) => {
                self.w.at(stmt.loc, self.p.file_of(stmt.loc));
                self.instr(instr);
            }
        }
    }

    /// The end of a function that returns nothing.
    pub(crate) fn return_nothing(&self) -> &'static str {
        if self.dialect.has(Feature::VoidFunctions) { "return;" } else { "return 0;" }
    }

    /// What a processor's function passes to those that it calls, behind the core.
    pub(crate) fn chain_arg(&self) -> &'static str {
        if self.dialect.has(Feature::ChainArgument) { ", chain" } else { "" }
    }

    /// A `return` without a meaningful value.
    pub fn leave(&self) -> String {
        match self.function.map(|f| &f.ret) {
            None | Some(Ty::Void) => self.return_nothing().into(),
            Some(ty) if self.dialect.by_reference(ty) => format!("{{ CARRICK_ZERO({RETURNED}); return 0; }}"),
            Some(ty) if ty.is_scalar() => format!("return {};", self.literal(0, ty)),
            Some(ty) => format!("return ({}){{0}};", self.names.ctype(ty)),
        }
    }

    fn let_stmt(&mut self, stmt: &Stmt, local: ir::LocalId, init: Option<&ir::Expr>) {
        let ty = self.local_type(local).clone();
        let name = self.local(local);
        if self.in_frame(local) {
            return self.let_in_frame(stmt, local, init);
        }
        if let (Ty::Array(..), Some(value)) = (&ty, init) {
            let text = format!("{};", self.names.declaration(&ty, &name));
            self.line(stmt, text);
            let text = format!("CARRICK_COPY_ARRAY({name}, {});", self.expr(value));
            return self.line(stmt, text);
        }
        if let Some(value) = init {
            let text = format!("{} = {};", self.names.declaration(&ty, &name), self.value(value));
            self.line(stmt, text);
            return self.own_beside(stmt, local, true);
        }
        if ty.is_scalar() {
            let text = format!("{} = {};", self.names.declaration(&ty, &name), self.literal(0, &ty));
            return self.line(stmt, text);
        }
        let declared = self.names.declaration(&ty, &name);
        match self.initialiser(&ty) {
            Some(init) => self.line(stmt, format!("{declared};\n{init}(core, &{name});")),
            None => self.line(stmt, format!("{declared} = {{0}};")),
        }
        self.own_beside(stmt, local, false);
        self.parts_begin(&name, &ty);
    }

    /// A record of the function's own begins to live.
    fn let_in_frame(&mut self, stmt: &Stmt, local: ir::LocalId, init: Option<&ir::Expr>) {
        let (ty, name) = (self.local_type(local).clone(), self.local(local));
        match init {
            Some(value) if matches!(ty, Ty::Array(..)) => {
                let text = format!("CARRICK_COPY_ARRAY({name}, {});", self.expr(value));
                return self.line(stmt, text);
            }
            Some(value) if ty.is_scalar() => {
                let text = format!("{name} = {};", self.value(value));
                return self.line(stmt, text);
            }
            Some(value) if self.id_in_place(stmt, &name, value) => return,
            Some(value) if self.element_in_place(stmt, &name, value) => return,
            Some(value) => {
                let text = format!("CARRICK_COPY(&{name}, {});", self.record_at(value));
                return self.line(stmt, text);
            }
            None => {}
        }
        match self.initialiser(&ty) {
            Some(init) => self.line(stmt, format!("{init}(core, &{name});")),
            None => self.line(stmt, format!("CARRICK_ZERO(&{name});")),
        }
        self.parts_begin(&name, &ty);
    }

    /// What a local without a value of its own has in it that does not begin as zero.
    fn parts_begin(&mut self, name: &str, ty: &Ty) {
        match ty {
            Ty::Array(..) => self.initial_parts(name, ty),
            Ty::Event(event) => {
                self.initial_fields(&format!("{name}."), &self.p.events[event.index()].fields)
            }
            _ => {}
        }
    }

    /// The name of the function that makes the initial value of a declared type, if zero will not do.
    pub(crate) fn initialiser(&self, ty: &Ty) -> Option<String> {
        let name = match ty {
            Ty::Struct(id) => &self.p.structs[id.index()].name,
            Ty::Context(id) => &self.p.contexts[id.index()].name,
            Ty::Blueprint(id) => &self.p.blueprints[id.index()].name,
            _ => return None,
        };
        Some(format!("{}_initial", self.names.own(name)))
    }

    fn assign(&mut self, stmt: &Stmt, place: &Place, value: &ir::Expr) {
        let target = self.place(place);
        self.take_beside(stmt, place);
        let text = if matches!(place.ty, Ty::Array(..)) {
            format!("CARRICK_COPY_ARRAY({}, {});", target.text, self.expr(value))
        } else if self.dialect.by_reference(&place.ty) {
            format!("CARRICK_COPY(&{}, {});", target.text, self.record_at(value))
        } else {
            format!("{} = {};", target.text, self.value(value))
        };
        match target.guard {
            None => self.line(stmt, text),
            Some(guard) => {
                self.open_at(stmt, format!("if ({guard}) {{"));
                self.line(stmt, text);
                self.w.close("}");
            }
        }
    }

    fn call(&mut self, stmt: &Stmt, dest: Option<ir::LocalId>, func: ir::FuncId, args: &[Arg]) {
        let def = &self.p.functions[func.index()];
        let args: String = args
            .iter()
            .map(|a| match a {
                Arg::Value(e) if self.dialect.by_reference(&e.ty) => format!(", {}", self.record_at(e)),
                Arg::Value(e) => format!(", {}", self.value(e)),
                Arg::Ref(local) => format!(", {}", self.address(*local)),
            })
            .collect();
        let chain = self.chain_arg();
        let call = format!("fn_{}(core{chain}{args});", def.name);
        match dest {
            Some(dest) if self.dialect.returned(self, stmt, dest, func, &call) => {}
            Some(dest) => {
                let text = format!("{} = {call}", self.declared_local(dest));
                self.line(stmt, text);
            }
            None => self.line(stmt, call),
        }
        if def.may_stop {
            self.open_at(stmt, "if (chain->stopped) {");
            let text = self.leave();
            self.line(stmt, text);
            self.w.close("}");
        }
    }

    fn change(
        &mut self,
        stmt: &Stmt,
        (what, dest): (Change, Option<ir::LocalId>),
        on: &Place,
        args: &[ir::Expr],
    ) {
        match what.declaration().on {
            On::Window => self.window(stmt, (what, dest), on, args),
            _ => self.list(stmt, (what, dest), on, args),
        }
    }

    fn if_stmt(&mut self, stmt: &Stmt, cond: &ir::Expr, then: &Block, otherwise: &Block) {
        let cond = self.condition(cond);
        self.open_at(stmt, format!("if ({cond}) {{"));
        self.stmts(then);
        let mut otherwise = otherwise;
        // A chain of `else if` stays one.
        while let [Stmt { kind: StmtKind::If { cond, then, otherwise: next }, .. }] = &otherwise.stmts[..] {
            let cond = self.condition(cond);
            self.w.close(format!("}} else if ({cond}) {{"));
            self.w.open_again();
            self.stmts(then);
            otherwise = next;
        }
        if !otherwise.stmts.is_empty() {
            self.w.close("} else {");
            self.w.open_again();
            self.stmts(otherwise);
        }
        self.w.close("}");
    }

    fn loop_stmt(&mut self, stmt: &Stmt, var: ir::LocalId, over: &Over, body: &Block) {
        match over {
            Over::Range { from, to, max } => self.range_loop(stmt, var, (from, to), *max, body),
            Over::EachOf(list) => self.each_loop(stmt, var, list, body),
        }
    }

    fn each_loop(&mut self, stmt: &Stmt, var: ir::LocalId, list: &Place, body: &Block) {
        let (name, CPlace { text: place, guard, .. }) = (self.c_name(var), self.place(list));
        let len = match (&list.ty, guard) {
            (Ty::Array(_, n), None) => format!("{n}u"),
            (Ty::Array(_, n), Some(guard)) => format!("({guard} ? {n}u : 0u)"),
            _ => self.list_len(list).beside(Binds::Order, false),
        };
        let at = format!("{name}__at");
        let room = match &list.ty {
            Ty::List(_, n, _) => within(&at, *n),
            _ => String::new(),
        };
        let more = goes_on(turns(stmt).unwrap_or(1));
        self.open_at(stmt, format!("for (uint32_t {at} = 0; {room}{at} < {len}{more}; {at}++) {{"));
        self.dialect.turn_begins(self, stmt, body, &[("uint32_t", &at)]);
        self.each_element(stmt, var, &place, list);
        self.stmts(body);
        self.w.close("}");
    }

    /// In a loop over elements: that of this turn.
    fn each_element(&mut self, stmt: &Stmt, var: ir::LocalId, place: &str, list: &Place) {
        let at = format!("{}__at", self.c_name(var));
        let (items, n) = match &list.ty {
            Ty::List(_, n, _) => (".items", *n),
            Ty::Array(_, n) => ("", *n),
            _ => return,
        };
        let unused = if self.in_frame(var) { "" } else { "CARRICK_UNUSED " };
        let text = format!("{unused}{} = {place}{items}[{}];", self.declared_local(var), self.bounded(at, n));
        self.line(stmt, text);
    }

    /// The end is evaluated once, and turns are counted unless the bounds themselves are few enough.
    fn range_loop(
        &mut self,
        stmt: &Stmt,
        var: ir::LocalId,
        (from, to): (&ir::Expr, &ir::Expr),
        max: u64,
        body: &ir::Block,
    ) {
        let ty = self.local_type(var).clone();
        let (name, c) = (self.local(var), self.names.ctype(&ty));
        let known = match (&from.kind, &to.kind) {
            (ExprKind::Lit(a), ExprKind::Lit(b)) => Some(b.wrapping_sub(*a)),
            _ => None,
        };
        let limit = self.expr(to);
        let (from, to) = (self.value(from), self.value(to));
        let more = goes_on(turns(stmt).unwrap_or(1));
        if known.is_some_and(|turns| turns <= max) {
            self.open_at(stmt, format!("for ({c} {name} = {from}; {name} < {limit}{more}; {name}++) {{"));
            self.dialect.turn_begins(self, stmt, body, &[(&c, &name)]);
            self.stmts(body);
            return self.w.close("}");
        }
        self.open_at(stmt, "{");
        self.line(stmt, format!("const {c} {name}__end = {to};"));
        self.line(stmt, format!("uint32_t {name}__turn = 0;"));
        let condition = format!("{name} < {name}__end && {name}__turn != {max}u{more}");
        self.open_at(stmt, format!("for ({c} {name} = {from}; {condition}; {name}++, {name}__turn++) {{"));
        let turn = format!("{name}__turn");
        self.dialect.turn_begins(self, stmt, body, &[(&c, &name), ("uint32_t", &turn)]);
        self.stmts(body);
        self.w.close("}");
        self.w.close("}");
    }

    fn extract(&mut self, stmt: &Stmt, bp: ir::LocalId) {
        let Ty::Blueprint(kind) = self.local_type(bp) else { return };
        let in_parser = self.function.is_some_and(|f| f.locals[0].ty == Ty::Packet);
        if !in_parser {
            return self.extract_again(stmt, bp);
        }
        let name = self.names.own(&self.p.blueprints[kind.index()].name);
        let packet = self.packet();
        self.open_at(stmt, format!("if (!{name}_extract(core, {packet}, &{})) {{", self.local(bp)));
        self.line(stmt, "chain->dropped = true;");
        let leave = self.leave();
        self.line(stmt, leave);
        self.w.close("}");
    }

    fn set_payload(
        &mut self,
        stmt: &Stmt,
        bp: ir::LocalId,
        ctx: ir::LocalId,
        values: [Option<&ir::Expr>; 3],
    ) {
        let Ty::Context(kind) = *self.local_type(ctx) else { return };
        let payload = self.payload_of_unit(kind, &self.local(ctx), values);
        self.line(stmt, format!("{}.payload__ = {payload};", self.local(bp)));
    }

    /// The same of the instance that is found by an id. Where several processors work, none holds it for this: who names it
    /// shares with all who work on it a context that is held.
    fn set_payload_of(
        &mut self,
        stmt: &Stmt,
        bp: ir::LocalId,
        (ctx, id): (ir::CtxId, &ir::Expr),
        values: [Option<&ir::Expr>; 3],
    ) {
        let def = &self.p.contexts[ctx.index()];
        let find = format!("{}_find", self.names.own(&def.name));
        let (ty, id_ty) = (self.names.declared(&def.name), self.names.id(def.id));
        let (bp, id) = (self.local(bp), self.value(id));
        let payload = self.payload_of_unit(ctx, "of__", values);
        self.open_at(stmt, "{");
        self.line(stmt, format!("const struct {id_ty} id__ = {id};"));
        self.line(stmt, format!("const struct {ty} *of__ = {find}(core, &id__);"));
        self.line(stmt, format!("CARRICK_ZERO(&{bp}.payload__);"));
        self.line(stmt, "if (of__)");
        self.line(stmt, format!("    {bp}.payload__ = {payload};"));
        self.line(stmt, "else");
        self.line(stmt, "    core->counters[CARRICK_COUNT_NO_UNIT]++;");
        self.w.close("}");
    }

    /// C for bytes of the TX unit of the instance at `at`: offset, length, at most so many a packet.
    pub(crate) fn payload_of_unit(&self, ctx: ir::CtxId, at: &str, values: [Option<&ir::Expr>; 3]) -> String {
        let [offset, len, mss] = values.map(|v| v.map(|e| self.value(e)));
        let (offset, len) = (offset.unwrap_or_default(), len.unwrap_or_default());
        let mss = mss.unwrap_or_else(|| "UINT64_MAX".into());
        format!(
            "{}_payload({at}, {offset}, {len}, {mss})",
            self.names.own(&self.p.contexts[ctx.index()].name)
        )
    }

    fn option_add(&mut self, stmt: &Stmt, bp: ir::LocalId, opt: ir::OptId, args: &[ir::Expr]) {
        let def = &self.p.opts[opt.index()];
        let name = safe(&def.name);
        let bp = self.local(bp);
        self.line(stmt, format!("{bp}.opts__.has_{} = true;", def.name));
        let given = def.fields.iter().filter(|f| f.fixed.is_none());
        for (field, value) in given.zip(args) {
            let text = format!("{bp}.opts__.{name}.{} = {};", safe(&field.name), self.value(value));
            self.line(stmt, text);
        }
        let (Some(list), Some(value)) = (&def.list, args.last()) else { return };
        let place = format!("{bp}.opts__.{name}.{}", safe(&list.name));
        let text = match self.dialect.by_reference(&value.ty) {
            true => format!("CARRICK_COPY(&{place}, {});", self.record_at(value)),
            false => format!("{place} = {};", self.value(value)),
        };
        self.line(stmt, text);
        if list.least > 0 {
            self.line(stmt, format!("{bp}.opts__.has_{} = {place}.len >= {};", def.name, list.least));
        }
    }

    /// A copy of a record, in an argument or a statement: of a place that is there, else of a value that is put together.
    pub fn record_at(&self, value: &ir::Expr) -> String {
        if let ExprKind::Load(place) = &value.kind {
            let place = self.place(place);
            if place.guard.is_none() {
                return format!("&{}", place.text);
            }
        }
        if let ExprKind::MakeId(..) = value.kind {
            // Macros take it as one argument.
            return format!("(&{})", self.value(value));
        }
        format!("({}[1]){{{}}}", self.names.ctype(&value.ty), self.expr(value))
    }
}
