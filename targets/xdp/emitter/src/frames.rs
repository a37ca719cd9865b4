// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions, and where their own records lie.

use carrick_emit_c::Emitter;
use carrick_emit_c::names::safe;
use carrick_emit_c::text;
use carrick_ir::{self as ir, ExprKind, Function, LocalId, Stmt, StmtKind, Ty, walk};

use crate::{crossing, depth, writing};

/// Whether a value is handed over by a reference, of which the function makes its own.
pub(crate) fn is_record(ty: &Ty) -> bool {
    !ty.is_scalar() && !ty.is_by_ref() && *ty != Ty::Void
}

/// Whether a local lies in the function's frame: records of its own do, and numbers that long loops change.
pub(crate) fn is_own_record(function: &Function, id: LocalId) -> bool {
    let ty = &function.locals[id.index()].ty;
    let record = (id.0 >= function.params || !ty.is_by_ref()) && !ty.is_scalar() && *ty != Ty::Void;
    record || crossing::in_frame(function, id)
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

/// Two locals of one name have different members.
pub(crate) fn frame_member(e: &Emitter<'_>, id: LocalId) -> String {
    match e.function.is_some_and(|function| is_returned(function, id)) {
        true => "f__->ret__".into(),
        false => format!("f__->{}_{}", e.c_name(id), id.0),
    }
}

fn frame_name(e: &Emitter<'_>, function: &Function) -> String {
    e.names.own(&format!("frame_{}", function.name))
}

pub(crate) fn has_frame(function: &Function) -> bool {
    is_record(&function.ret)
        || (0..function.locals.len()).any(|id| is_own_record(function, LocalId(id as u32)))
}

/// The structs of all frames.
pub(crate) fn frame_structs(e: &mut Emitter<'_>) {
    for function in e.p.functions.iter().filter(|f| has_frame(f)) {
        e.w.open(format!("struct {} {{", frame_name(e, function)));
        for (number, local) in function.locals.iter().enumerate() {
            let id = LocalId(number as u32);
            if is_own_record(function, id) && !is_returned(function, id) {
                let name = format!("{}_{number}", safe(&local.name));
                e.w.line(format!("{};", e.names.declaration(&local.ty, &name)));
            }
        }
        if is_record(&function.ret) {
            e.w.line(format!("{};", e.names.declaration(&function.ret, "ret__")));
        }
        e.w.end_type();
    }
    function_frames(e);
}

/// The map of all frames, an element for each processor: there may be more of them than its own memory has room for in one piece.
pub(crate) fn frames_map(e: &mut Emitter<'_>) {
    let all = format!("struct {}", e.names.own("frames"));
    writing::map(e, "carrick_frames", "ARRAY", 1, Some(("uint32_t", &all)));
    e.open_own(&format!("CARRICK_INLINE {all} *"), "frames", "void");
    e.w.line("uint32_t processor = bpf_get_smp_processor_id();");
    e.w.line(format!("{all} *frames = bpf_map_lookup_elem(&carrick_frames, &processor);"));
    e.w.line("CARRICK_ALIGNED(frames);");
    e.w.end_with("return frames;");
}

/// The frames. Of those at one level of calls one is in use at a time, since functions never
/// call one at their own level: they share a place. The first level comes last: event processors make whole instances
/// there, and an instruction's offset, 32 KiB at most, reaches all that is before them.
fn function_frames(e: &mut Emitter<'_>) {
    let levels = depth::levels(e.p);
    e.w.open(format!("struct {} {{", e.names.own("frames")));
    for level in (0..=levels.iter().copied().max().unwrap_or(0)).rev() {
        e.w.open("union {");
        e.w.line("uint8_t nothing;");
        let here = e.p.functions.iter().zip(&levels).filter(|(f, at)| **at == level && has_frame(f));
        for (function, _) in here {
            let name = frame_name(e, function);
            e.w.line(format!("struct {name} frame_{};", function.name));
        }
        e.w.close(format!("}} level_{level};"));
    }
    e.w.end_type();
}

/// A function, `apart` if it is verified by itself. What only claims need is there only where they are checked.
pub(crate) fn function(e: &mut Emitter<'_>, function: &Function, apart: bool) {
    let claims = e.p.invariants.iter().any(|f| e.p.functions[f.index()].name == function.name);
    if claims {
        e.w.line("#ifdef CARRICK_CLAIMS");
    }
    function_apart(e, function, apart);
    if claims {
        e.w.line("#endif");
    }
}

fn function_apart(e: &mut Emitter<'_>, function: &Function, apart: bool) {
    let params = &function.locals[..function.params as usize];
    let shown: String = params
        .iter()
        .map(|l| {
            let (c, name) = (e.names.ctype(&l.ty), safe(&l.name));
            match (l.ty.is_by_ref(), is_record(&l.ty)) {
                (true, _) => format!(", CARRICK_UNUSED {c} *{name}"),
                (_, true) => format!(", const {c} *{name}__of"),
                _ => format!(", CARRICK_UNUSED {c} {name}"),
            }
        })
        .collect();
    if let Some(doc) = text::comment(&function.doc) {
        e.w.line(doc);
    }
    let kind = if apart { "CARRICK_GLOBAL_FN" } else { "CARRICK_INLINE" };
    let ret = if function.ret.is_scalar() { e.names.ctype(&function.ret) } else { "int".into() };
    let core = e.names.own("core");
    // The verifier names for every line the file in which its function begins.
    e.w.at(function.loc, e.p.file_of(function.loc));
    e.w.open(format!("{kind} {ret} fn_{}(struct {core} *core{shown}) {{", function.name));
    function_begins(e, function, apart);
    e.stmts(&function.body);
    if !function.ret.is_scalar() {
        e.w.line("return 0;");
    }
    e.w.close("}");
    e.w.own();
    e.w.blank();
}

/// What stands before a function's statements: pointers are there if it is verified apart, and where its records lie.
pub(crate) fn function_begins(e: &mut Emitter<'_>, function: &Function, apart: bool) {
    let params = &function.locals[..function.params as usize];
    if apart {
        let refs = params.iter().filter(|l| !l.ty.is_scalar()).map(|l| match l.ty.is_by_ref() {
            true => safe(&l.name),
            false => format!("{}__of", safe(&l.name)),
        });
        let pointers: Vec<String> = std::iter::once("core".to_owned()).chain(refs).collect();
        let missing: Vec<String> = pointers.iter().map(|name| format!("!{name}")).collect();
        e.w.line(format!("if ({})", missing.join(" || ")));
        let leave = nothing_yet(e, function);
        e.w.line(format!("    {leave}"));
        for pointer in pointers {
            e.w.line(format!("CARRICK_ALIGNED({pointer});"));
        }
    }
    e.w.line(format!("CARRICK_UNUSED struct {} *chain = &core->chain;", e.names.own("chain")));
    if has_frame(function) {
        let (frame, frames) = (frame_name(e, function), e.names.own("frames"));
        e.w.line(format!("struct {frames} *frames__ = {frames}();"));
        e.w.line("if (!frames__)");
        let leave = nothing_yet(e, function);
        e.w.line(format!("    {leave}"));
        let place = frame_place(e, function);
        e.w.line(format!("CARRICK_UNUSED struct {frame} *f__ = &{place};"));
    }
    for (id, param) in params.iter().enumerate().filter(|(_, l)| is_record(&l.ty)) {
        let (own, name) = (frame_member(e, LocalId(id as u32)), safe(&param.name));
        e.w.line(format!("CARRICK_COPY(&{own}, {name}__of);"));
    }
    shared_if_used(e, function);
}

/// Where a function's records lie.
fn frame_place(e: &Emitter<'_>, function: &Function) -> String {
    let level = e.p.functions.iter().position(|f| f.name == function.name);
    let level = level.map_or(0, |at| depth::levels(e.p)[at]);
    format!("frames__->level_{level}.frame_{}", function.name)
}

/// Leaves a function that has no frame yet.
fn nothing_yet(e: &Emitter<'_>, function: &Function) -> String {
    if function.ret.is_scalar() { e.leave() } else { "return 0;".into() }
}

/// Takes what a function returned that is a record. False: it returned none.
pub(crate) fn returned_at(
    e: &mut Emitter<'_>,
    stmt: &Stmt,
    dest: LocalId,
    func: ir::FuncId,
    call: &str,
) -> bool {
    let function = &e.p.functions[func.index()];
    if !is_record(&function.ret) {
        return false;
    }
    let (dest, place) = (e.local(dest), frame_place(e, function));
    e.line(stmt, format!("(void){call}"));
    e.line(stmt, format!("CARRICK_COPY(&{dest}, &{place}.ret__);"));
    true
}

/// What all processors share, where a function needs it.
fn shared_if_used(e: &mut Emitter<'_>, function: &Function) {
    let mut random = false;
    walk::statements(&function.body, &mut |stmt| random |= matches!(stmt.kind, StmtKind::Random { .. }));
    if random {
        e.w.line(format!("struct carrick_shared *shared = {}();", e.names.own("shared")));
        e.w.line("if (!shared)");
        let leave = e.leave();
        e.w.line(format!("    {leave}"));
    }
}
