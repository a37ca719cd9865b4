//! Functions, and where their own records lie.

use carrick_ir::{self as ir, Function, LocalId, Stmt, StmtKind, Ty, walk};

use super::depth;
use crate::Emitter;
use crate::names::{doc_comment, safe};

/// Whether a local lies in the function's frame: records of its own do.
fn is_own_record(function: &Function, id: LocalId) -> bool {
    let ty = &function.locals[id.index()].ty;
    id.0 >= function.params && !ty.is_scalar() && *ty != Ty::Void
}

impl<'p> Emitter<'p> {
    /// Whether the local lies in the function's frame.
    pub(crate) fn in_frame(&self, id: LocalId) -> bool {
        self.function.is_some_and(|f| is_own_record(f, id))
    }

    /// Two locals of one name have different members.
    pub(crate) fn frame_member(&self, id: LocalId) -> String {
        format!("f__->{}_{}", self.c_name(id), id.0)
    }

    fn frame_name(&self, function: &Function) -> String {
        self.names.own(&format!("frame_{}", function.name))
    }

    fn has_frame(function: &Function) -> bool {
        (0..function.locals.len()).any(|id| is_own_record(function, LocalId(id as u32)))
    }

    /// The structs of all frames.
    pub(super) fn frame_structs(&mut self) {
        for function in self.p.functions.iter().filter(|f| Self::has_frame(f)) {
            self.w.open(format!("struct {} {{", self.frame_name(function)));
            for (number, local) in function.locals.iter().enumerate() {
                if is_own_record(function, LocalId(number as u32)) {
                    let name = format!("{}_{number}", safe(&local.name));
                    self.w.line(format!("{};", self.names.declaration(&local.ty, &name)));
                }
            }
            self.w.close("};");
            self.w.blank();
        }
    }

    /// The members of the core that are frames. Of those at one level of calls one is in use at a time, since functions never
    /// call one at their own level: they share a place.
    pub(super) fn function_frames(&mut self) {
        let levels = depth::levels(self.p);
        for level in 0..=levels.iter().copied().max().unwrap_or(0) {
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
                let star = if l.ty.is_by_ref() { "*" } else { "" };
                format!(", CARRICK_UNUSED {} {star}{}", self.names.ctype(&l.ty), safe(&l.name))
            })
            .collect();
        if let Some(doc) = doc_comment(&function.doc) {
            self.w.line(doc);
        }
        let apart = !self.inlined.contains(&function.name);
        let kind = if apart { "CARRICK_APART" } else { "CARRICK_INLINE" };
        let ret = if function.ret == Ty::Void { "int".into() } else { self.names.ctype(&function.ret) };
        let core = self.names.own("core");
        // The verifier names for every line the file in which its function begins.
        self.w.at(function.loc, self.p.file_of(function.loc));
        self.w.open(format!("{kind} {ret} fn_{}(struct {core} *core{shown}) {{", function.name));
        self.function_begins(function, apart);
        self.stmts(&function.body);
        if function.ret == Ty::Void {
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
            let refs = params.iter().filter(|l| l.ty.is_by_ref()).map(|l| safe(&l.name));
            let missing: Vec<String> =
                std::iter::once("core".to_owned()).chain(refs).map(|name| format!("!{name}")).collect();
            self.w.line(format!("if ({})", missing.join(" || ")));
            let leave = self.leave();
            self.w.line(format!("    {leave}"));
        }
        self.w.line(format!("CARRICK_UNUSED struct {} *chain = &core->chain;", self.names.own("chain")));
        if Self::has_frame(function) {
            let frame = self.frame_name(function);
            let level = self.p.functions.iter().position(|f| f.name == function.name);
            let level = level.map_or(0, |at| depth::levels(self.p)[at]);
            self.w.line(format!(
                "CARRICK_UNUSED struct {frame} *f__ = &core->level_{level}.frame_{};",
                function.name
            ));
        }
        self.shared_if_used(function);
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
                let text = format!("memcpy({name}, {}, sizeof {name});", self.expr(value));
                return self.line(stmt, text);
            }
            Some(value) => {
                let text = format!("{name} = {};", self.expr(value));
                return self.line(stmt, text);
            }
            None => {}
        }
        match self.initialiser(&ty) {
            Some(text) => self.line(stmt, text.replace("(core)", &format!("(core, &{name})")) + ";"),
            None => self.line(stmt, format!("CARRICK_ZERO(&{name});")),
        }
        match &ty {
            Ty::Array(..) => self.initial_parts(&name, &ty),
            Ty::Event(event) => self.initial_fields(&name, &self.p.events[event.index()].fields),
            _ => {}
        }
    }
}
