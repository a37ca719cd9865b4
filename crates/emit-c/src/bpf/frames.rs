// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions, and where their own records lie.

use carrick_ir::{self as ir, ExprKind, Function, LocalId, Stmt, StmtKind, Ty, walk};

use super::{depth, loops};
use crate::Emitter;
use crate::names::{doc_comment, safe};

/// Whether a value is handed over by a reference, of which the function makes its own.
pub(super) fn is_record(ty: &Ty) -> bool {
    !ty.is_scalar() && !ty.is_by_ref() && *ty != Ty::Void
}

/// Whether a local lies in the function's frame: records of its own do, and numbers that long loops change.
pub(super) fn is_own_record(function: &Function, id: LocalId) -> bool {
    let ty = &function.locals[id.index()].ty;
    let record = (id.0 >= function.params || !ty.is_by_ref()) && !ty.is_scalar() && *ty != Ty::Void;
    record || loops::in_frame(function, id)
}

/// The record of its own that a function returns wherever it returns: it lies where its caller takes it from.
fn returned(function: &Function) -> Option<LocalId> {
    if !is_record(&function.ret) {
        return None;
    }
    let mut all = Vec::new();
    walk::statements(&function.body, &mut |stmt| {
        if let StmtKind::Return(value) = &stmt.kind {
            all.push(value.as_ref().and_then(of_local));
        }
    });
    let id = all.first().copied().flatten()?;
    (id.0 >= function.params && all.iter().all(|other| *other == Some(id))).then_some(id)
}

/// Whether it is this one. Of most locals their type says that they are not.
fn is_returned(function: &Function, id: LocalId) -> bool {
    function.locals[id.index()].ty == function.ret && returned(function) == Some(id)
}

/// The local that a value is.
fn of_local(value: &ir::Expr) -> Option<LocalId> {
    match &value.kind {
        ExprKind::Load(place) if place.path.is_empty() => Some(place.root),
        _ => None,
    }
}

impl<'p> Emitter<'p> {
    /// Whether the local lies in the function's frame.
    pub(crate) fn in_frame(&self, id: LocalId) -> bool {
        self.function.is_some_and(|f| self.dialect.in_frame(f, id))
    }

    /// Two locals of one name have different members.
    pub(crate) fn frame_member(&self, id: LocalId) -> String {
        match self.function.is_some_and(|function| is_returned(function, id)) {
            true => "f__->ret__".into(),
            false => format!("f__->{}_{}", self.c_name(id), id.0),
        }
    }

    fn frame_name(&self, function: &Function) -> String {
        self.names.own(&format!("frame_{}", function.name))
    }

    pub(super) fn has_frame(function: &Function) -> bool {
        is_record(&function.ret)
            || (0..function.locals.len()).any(|id| is_own_record(function, LocalId(id as u32)))
    }

    /// The structs of all frames.
    pub(super) fn frame_structs(&mut self) {
        for function in self.p.functions.iter().filter(|f| Self::has_frame(f)) {
            self.w.open(format!("struct {} {{", self.frame_name(function)));
            for (number, local) in function.locals.iter().enumerate() {
                let id = LocalId(number as u32);
                if is_own_record(function, id) && !is_returned(function, id) {
                    let name = format!("{}_{number}", safe(&local.name));
                    self.w.line(format!("{};", self.names.declaration(&local.ty, &name)));
                }
            }
            if is_record(&function.ret) {
                self.w.line(format!("{};", self.names.declaration(&function.ret, "ret__")));
            }
            self.w.end_type();
        }
        self.function_frames();
    }

    /// The map of all frames, an element for each processor: there may be more of them than its own memory has room for in one piece.
    pub(super) fn frames_map(&mut self) {
        let all = format!("struct {}", self.names.own("frames"));
        self.map("carrick_frames", "ARRAY", 1, Some(("uint32_t", &all)));
        self.open_own(&format!("CARRICK_INLINE {all} *"), "frames", "void");
        self.w.line("uint32_t processor = bpf_get_smp_processor_id();");
        self.w.end_with("return bpf_map_lookup_elem(&carrick_frames, &processor);");
    }

    /// The frames. Of those at one level of calls one is in use at a time, since functions never
    /// call one at their own level: they share a place. The first level comes last: event processors make whole instances
    /// there, and an instruction's offset, 32 KiB at most, reaches all that is before them.
    fn function_frames(&mut self) {
        let levels = depth::levels(self.p);
        self.w.open(format!("struct {} {{", self.names.own("frames")));
        for level in (0..=levels.iter().copied().max().unwrap_or(0)).rev() {
            self.w.open("union {");
            self.w.line("uint8_t nothing;");
            let here =
                self.p.functions.iter().zip(&levels).filter(|(f, at)| **at == level && Self::has_frame(f));
            for (function, _) in here {
                let name = self.frame_name(function);
                self.w.line(format!("struct {name} frame_{};", function.name));
            }
            self.w.close(format!("}} level_{level};"));
        }
        self.w.end_type();
    }

    /// What only claims need is there only where they are checked.
    pub(crate) fn function_in_kernel(&mut self, function: &'p Function) {
        let claims = self.p.invariants.iter().any(|f| self.p.functions[f.index()].name == function.name);
        if claims {
            self.w.line("#ifdef CARRICK_CLAIMS");
        }
        self.function_apart(function);
        if claims {
            self.w.line("#endif");
        }
    }

    fn function_apart(&mut self, function: &'p Function) {
        let params = &function.locals[..function.params as usize];
        let shown: String = params
            .iter()
            .map(|l| {
                let (c, name) = (self.names.ctype(&l.ty), safe(&l.name));
                match (l.ty.is_by_ref(), is_record(&l.ty)) {
                    (true, _) => format!(", CARRICK_UNUSED {c} *{name}"),
                    (_, true) => format!(", const {c} *{name}__of"),
                    _ => format!(", CARRICK_UNUSED {c} {name}"),
                }
            })
            .collect();
        if let Some(doc) = doc_comment(&function.doc) {
            self.w.line(doc);
        }
        let apart = !self.inlined.contains(&function.name);
        let kind = if apart { "CARRICK_GLOBAL_FN" } else { "CARRICK_INLINE" };
        let ret = if function.ret.is_scalar() { self.names.ctype(&function.ret) } else { "int".into() };
        let core = self.names.own("core");
        // The verifier names for every line the file in which its function begins.
        self.w.at(function.loc, self.p.file_of(function.loc));
        self.w.open(format!("{kind} {ret} fn_{}(struct {core} *core{shown}) {{", function.name));
        self.function_begins(function, apart);
        self.stmts(&function.body);
        if !function.ret.is_scalar() {
            self.w.line("return 0;");
        }
        self.w.close("}");
        self.w.own();
        self.w.blank();
    }

    /// What stands before a function's statements: pointers are there if it is verified apart, and where its records lie.
    pub(super) fn function_begins(&mut self, function: &Function, apart: bool) {
        let params = &function.locals[..function.params as usize];
        if apart {
            let refs = params.iter().filter(|l| !l.ty.is_scalar()).map(|l| match l.ty.is_by_ref() {
                true => safe(&l.name),
                false => format!("{}__of", safe(&l.name)),
            });
            let missing: Vec<String> =
                std::iter::once("core".to_owned()).chain(refs).map(|name| format!("!{name}")).collect();
            self.w.line(format!("if ({})", missing.join(" || ")));
            let leave = self.nothing_yet(function);
            self.w.line(format!("    {leave}"));
        }
        self.w.line(format!("CARRICK_UNUSED struct {} *chain = &core->chain;", self.names.own("chain")));
        if Self::has_frame(function) {
            let (frame, frames) = (self.frame_name(function), self.names.own("frames"));
            self.w.line(format!("struct {frames} *frames__ = {frames}();"));
            self.w.line("if (!frames__)");
            let leave = self.nothing_yet(function);
            self.w.line(format!("    {leave}"));
            let place = self.frame_place(function);
            self.w.line(format!("CARRICK_UNUSED struct {frame} *f__ = &{place};"));
        }
        for (id, param) in params.iter().enumerate().filter(|(_, l)| is_record(&l.ty)) {
            let (own, name) = (self.frame_member(LocalId(id as u32)), safe(&param.name));
            self.w.line(format!("CARRICK_COPY(&{own}, {name}__of);"));
        }
        self.shared_if_used(function);
    }

    /// Where a function's records lie.
    fn frame_place(&self, function: &Function) -> String {
        let level = self.p.functions.iter().position(|f| f.name == function.name);
        let level = level.map_or(0, |at| depth::levels(self.p)[at]);
        format!("frames__->level_{level}.frame_{}", function.name)
    }

    /// Leaves a function that has no frame yet.
    fn nothing_yet(&self, function: &Function) -> String {
        if function.ret.is_scalar() { self.leave() } else { "return 0;".into() }
    }

    /// A copy of a record, in an argument or a statement: of a place that is there, else of a value that is put together.
    pub(crate) fn record_at(&self, value: &ir::Expr) -> String {
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

    /// Takes what a function returned that is a record. False: it returned none.
    pub(crate) fn returned_at(&mut self, stmt: &Stmt, dest: LocalId, func: ir::FuncId, call: &str) -> bool {
        let function = &self.p.functions[func.index()];
        if !self.dialect.by_reference(&function.ret) {
            return false;
        }
        let (dest, place) = (self.local(dest), self.frame_place(function));
        self.line(stmt, format!("(void){call}"));
        self.line(stmt, format!("CARRICK_COPY(&{dest}, &{place}.ret__);"));
        true
    }

    /// Leaves a function with a record. False: its result is none.
    pub(crate) fn return_at(&mut self, stmt: &Stmt, value: &ir::Expr) -> bool {
        if !self.dialect.by_reference(&value.ty) {
            return false;
        }
        if self.function.and_then(returned).is_none() {
            let value = self.record_at(value);
            self.line(stmt, format!("CARRICK_COPY(&f__->ret__, {value});"));
        }
        self.line(stmt, "return 0;");
        true
    }

    /// What all processors share, where a function needs it.
    fn shared_if_used(&mut self, function: &Function) {
        let mut random = false;
        walk::statements(&function.body, &mut |stmt| random |= matches!(stmt.kind, StmtKind::Random { .. }));
        if random {
            self.w.line(format!("struct carrick_shared *shared = {}();", self.names.own("shared")));
            self.w.line("if (!shared)");
            let leave = self.leave();
            self.w.line(format!("    {leave}"));
        }
    }

    /// A record of the function's own begins to live.
    pub(crate) fn let_in_frame(&mut self, stmt: &Stmt, local: LocalId, init: Option<&ir::Expr>) {
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
        match &ty {
            Ty::Array(..) => self.initial_parts(&name, &ty),
            Ty::Event(event) => {
                self.initial_fields(&format!("{name}."), &self.p.events[event.index()].fields)
            }
            _ => {}
        }
    }
}
