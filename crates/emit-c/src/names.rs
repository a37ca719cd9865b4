// SPDX-License-Identifier: MIT OR Apache-2.0
//! C names for what a program declares.

use carrick_ir::{self as ir, Program, Ty};

/// Words that a field or a variable may not be called in C: of the language, of what generated code includes, and of itself.
const RESERVED: [&str; 49] = [
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return",
    "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void",
    "volatile", "while", "bool", "true", "false", "asm", "typeof", "core", "chain", "NULL", "assert",
    "linux", "unix", "memcpy", "memmove", "memset", "memcmp",
];

/// A name that C takes, and that no macro, type or function has. Two names never become one.
pub fn safe(name: &str) -> String {
    if is_taken(name) { format!("{name}_") } else { name.to_owned() }
}

/// Whether C has the name, or another one becomes it.
fn is_taken(name: &str) -> bool {
    let macro_like = !name.contains(|c: char| c.is_ascii_lowercase());
    let others = name.starts_with('_') || name.starts_with("carrick") || name.ends_with("_t");
    macro_like || others || RESERVED.contains(&name) || name.strip_suffix('_').is_some_and(is_taken)
}

/// The scalar parts of an id, in order: C for where each is within the id, and its type. An address in an id is two.
pub fn leaves<'p>(program: &'p Program, parts: &'p [ir::FieldDef]) -> Vec<(String, &'p Ty)> {
    let of = |part: &'p ir::FieldDef| match &part.ty {
        Ty::Id(inner) => leaves(program, &program.ids[inner.index()].parts)
            .into_iter()
            .map(|(path, ty)| (format!("{}.{path}", safe(&part.name)), ty))
            .collect(),
        ty => vec![(safe(&part.name), ty)],
    };
    parts.iter().flat_map(of).collect()
}

/// Names of one program.
#[derive(Debug, Clone, Copy)]
pub struct Names<'p> {
    p: &'p Program,
}

impl<'p> Names<'p> {
    /// The names of a program.
    pub fn new(p: &'p Program) -> Self {
        Names { p }
    }

    /// What the program declares.
    pub fn declared(&self, name: &str) -> String {
        format!("{}_{name}", self.p.name)
    }

    /// What only the generated code knows.
    pub fn own(&self, name: &str) -> String {
        format!("{}__{name}", self.p.name)
    }

    pub(crate) fn event(&self, id: ir::EventId) -> String {
        self.declared(&self.p.events[id.index()].name)
    }

    /// The struct of a context.
    pub fn context(&self, id: ir::CtxId) -> String {
        self.declared(&self.p.contexts[id.index()].name)
    }

    /// The struct of an id.
    pub fn id(&self, id: ir::IdId) -> String {
        match self.p.address_ty() == Ty::Id(id) {
            true => "carrick_ip6_address".into(),
            false => self.declared(&self.p.ids[id.index()].name),
        }
    }

    pub(crate) fn blueprint(&self, id: ir::BpId) -> String {
        self.declared(&self.p.blueprints[id.index()].name)
    }

    pub(crate) fn list(&self, element: &Ty, n: u32) -> String {
        self.own(&format!("list_{}_{n}", self.type_word(element)))
    }

    pub(crate) fn window(&self, size: u64, runs: Option<u32>) -> String {
        match runs {
            Some(runs) => self.own(&format!("wnd_{runs}")),
            None => self.own(&format!("bits_{}", window_words(size))),
        }
    }

    /// One word for a type, as part of a name.
    fn type_word(&self, ty: &Ty) -> String {
        match ty {
            Ty::Struct(id) => self.p.structs[id.index()].name.clone(),
            Ty::Id(id) => self.p.ids[id.index()].name.clone(),
            Ty::Addr => "addr".into(),
            Ty::Array(e, n) => format!("{}x{n}", self.type_word(e)),
            other => self.ctype(other).trim_end_matches("_t").to_owned(),
        }
    }

    /// The C type of a value (an array's element type for an array).
    pub fn ctype(&self, ty: &Ty) -> String {
        match ty {
            Ty::Void => "void".into(),
            Ty::Bool => "bool".into(),
            Ty::Int { bits, signed: true } => format!("int{bits}_t"),
            Ty::Int { bits, signed: false } => format!("uint{bits}_t"),
            Ty::Seq32 => "uint32_t".into(),
            Ty::Duration | Ty::Fixed => "int64_t".into(),
            Ty::Time | Ty::Rate | Ty::Bytes | Ty::Token | Ty::Handle => "uint64_t".into(),
            Ty::Status => "uint8_t".into(),
            Ty::Enum(id) => self.ctype(&self.p.enums[id.index()].repr),
            Ty::Addr => "struct carrick_addr".into(),
            Ty::Struct(id) => format!("struct {}", self.declared(&self.p.structs[id.index()].name)),
            Ty::Scratch(id) => format!("struct {}", self.declared(&self.p.scratchpads[id.index()].name)),
            Ty::Id(id) => format!("struct {}", self.id(*id)),
            Ty::Array(element, _) => self.ctype(element),
            Ty::List(element, n, _) => format!("struct {}", self.list(element, *n)),
            Ty::Wnd { size, runs } => format!("struct {}", self.window(*size, *runs)),
            Ty::Event(id) => format!("struct {}", self.event(*id)),
            Ty::Context(id) => format!("struct {}", self.context(*id)),
            Ty::Blueprint(id) => format!("struct {}", self.blueprint(*id)),
            Ty::Packet => format!("struct {}", self.own("packet")),
            Ty::NetHeader => crate::ip::ip(self.p).header.into(),
        }
    }

    /// A declaration of `name` with this type, without a semicolon.
    pub fn declaration(&self, ty: &Ty, name: &str) -> String {
        match ty {
            Ty::Array(element, n) => self.declaration(element, &format!("{name}[{n}]")),
            other => format!("{} {name}", self.ctype(other)),
        }
    }
}

/// How many 64-bit words hold a window of this size: a power of two.
pub fn window_words(size: u64) -> u64 {
    size.div_ceil(64).next_power_of_two()
}
