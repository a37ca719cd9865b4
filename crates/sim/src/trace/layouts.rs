// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the words of records are read: the names and types that a program gives them, as plain data. A trace carries them, so
//! that it can be read without its program.

use carrick_ir::{BlueprintDef, COUNTERS, FieldDef, Loc, Opcode, Program, STATUS_NAMES, Ty};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::core::Record;
use crate::ip;

/// Values of a record at most, as its shapes say: more are those of a broken file.
const MOST_VALUES: u64 = 1 << 20;
/// Ranges of a window that are read at most.
const MOST_RANGES: u64 = 65_536;

type Fields = Vec<(String, Shape)>;

/// How words become a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    Number,
    /// in two's complement
    Signed,
    Bool,
    /// signed, in units of 2^-32
    Fixed,
    /// of IPv6: the high and the low half
    Address,
    /// its head, how many ranges are set, the first and the last number of each
    Window,
    /// a name for each number
    Enum(Vec<(String, u64)>),
    Struct(Fields),
    Array(Box<Shape>, u32),
    /// as many elements as its first word says, and not more than this
    List(Box<Shape>, u32),
    /// of each, whether it is there, and its fields
    Options(Vec<(String, Fields)>),
}

impl Shape {
    /// That of a type.
    pub fn of(program: &Program, ty: &Ty) -> Shape {
        let fields = |defs: &[FieldDef]| Shape::Struct(fields_of(program, defs));
        match ty {
            Ty::Event(id) => fields(&program.events[id.index()].fields),
            Ty::NetHeader => {
                let all = program.net_header.fields.iter();
                Shape::Struct(all.map(|f| (f.name.clone(), Shape::of(program, &f.ty))).collect())
            }
            Ty::Scratch(id) => fields(&program.scratchpads[id.index()].fields),
            Ty::Struct(id) => fields(&program.structs[id.index()].fields),
            Ty::Blueprint(id) => blueprint(program, &program.blueprints[id.index()]),
            Ty::Context(id) => {
                let all = context_fields(program, id.index());
                Shape::Struct(vec![("context".into(), Shape::Number), ("fields".into(), Shape::Struct(all))])
            }
            ty @ Ty::Id(_) if *ty == program.address_ty() => Shape::Address,
            Ty::Id(id) => fields(&program.ids[id.index()].parts),
            Ty::Array(element, n) => Shape::Array(Box::new(Shape::of(program, element)), *n),
            Ty::List(element, n, _) => Shape::List(Box::new(Shape::of(program, element)), *n),
            Ty::Wnd { .. } => Shape::Window,
            Ty::Fixed => Shape::Fixed,
            Ty::Bool => Shape::Bool,
            Ty::Int { signed: true, .. } | Ty::Duration => Shape::Signed,
            Ty::Enum(id) => Shape::Enum(program.enums[id.index()].variants.clone()),
            Ty::Status => Shape::Enum(numbered(STATUS_NAMES.iter().copied()).collect()),
            _ => Shape::Number,
        }
    }

    /// A value that begins the words, as programs read it.
    pub fn value(&self, words: &mut dyn Iterator<Item = u64>) -> Value {
        match self {
            Shape::Number => json!(words.next().unwrap_or(0)),
            Shape::Signed => json!(words.next().unwrap_or(0) as i64),
            Shape::Bool => json!(words.next().unwrap_or(0) != 0),
            Shape::Fixed => json!(words.next().unwrap_or(0) as i64 as f64 / 4_294_967_296.0),
            Shape::Address => json!(ip::shown(words.next().unwrap_or(0), words.next().unwrap_or(0))),
            Shape::Window => {
                let head = words.next();
                let ranges = words.next().unwrap_or(0).min(MOST_RANGES);
                let ranges: Vec<Value> = (0..ranges).map(|_| json!([words.next(), words.next()])).collect();
                json!({"head": head, "set": ranges})
            }
            Shape::Enum(names) => {
                let value = words.next().unwrap_or(0);
                json!(names.iter().find(|(_, number)| *number == value).map_or("?", |(name, _)| name))
            }
            Shape::Struct(fields) => object(fields, words),
            Shape::Array(element, n) => (0..*n).map(|_| element.value(words)).collect(),
            Shape::List(element, n) => {
                let len = words.next().unwrap_or(0).min(u64::from(*n));
                (0..len).map(|_| element.value(words)).collect()
            }
            Shape::Options(all) => {
                let mut there = Map::new();
                for (name, fields) in all {
                    let is_there = words.next() == Some(1);
                    let value = object(fields, words);
                    if is_there {
                        there.insert(name.clone(), value);
                    }
                }
                Value::Object(there)
            }
        }
    }

    /// How many words each value of it has, if all have the same number.
    pub fn fixed_words(&self) -> Option<usize> {
        match self {
            Shape::Address => Some(2),
            Shape::Window | Shape::List(..) => None,
            Shape::Struct(fields) => fields_words(fields),
            Shape::Array(element, n) => Some(element.fixed_words()? * *n as usize),
            Shape::Options(all) => all.iter().map(|(_, fields)| Some(1 + fields_words(fields)?)).sum(),
            _ => Some(1),
        }
    }

    /// How many words the value has that begins these.
    pub fn words(&self, words: &[u64]) -> usize {
        if let Some(count) = self.fixed_words() {
            return count;
        }
        let first = |at: usize| words.get(at).copied().unwrap_or(0);
        match self {
            Shape::Window => 2 + 2 * first(1).min(MOST_RANGES) as usize,
            Shape::Struct(fields) => words_of(fields.iter().map(|(_, shape)| shape), words),
            Shape::Array(element, n) => words_of(std::iter::repeat_n(&**element, *n as usize), words),
            Shape::List(element, most) => {
                let elements = std::iter::repeat_n(&**element, first(0).min(u64::from(*most)) as usize);
                1 + words_of(elements, words.get(1..).unwrap_or_default())
            }
            Shape::Options(all) => {
                let there = &Shape::Bool;
                let shapes = all.iter().flat_map(|(_, fields)| {
                    std::iter::once(there).chain(fields.iter().map(|(_, shape)| shape))
                });
                words_of(shapes, words)
            }
            _ => 1,
        }
    }

    /// How many values it has at most.
    fn values(&self) -> u64 {
        let of = |fields: &Fields| {
            fields.iter().fold(1, |sum: u64, (_, shape)| sum.saturating_add(shape.values()))
        };
        match self {
            Shape::Struct(fields) => of(fields),
            Shape::Options(all) => all.iter().fold(1, |sum: u64, (_, fields)| sum.saturating_add(of(fields))),
            Shape::Array(element, n) | Shape::List(element, n) => {
                element.values().saturating_mul(u64::from(*n)).saturating_add(1)
            }
            _ => 1,
        }
    }
}

/// How many words values of these shapes have that follow each other.
fn words_of<'a>(shapes: impl Iterator<Item = &'a Shape>, words: &[u64]) -> usize {
    shapes.fold(0, |at, shape| at + shape.words(words.get(at..).unwrap_or_default()))
}

fn fields_words(fields: &Fields) -> Option<usize> {
    fields.iter().map(|(_, shape)| shape.fixed_words()).sum()
}

fn numbered<'a>(names: impl Iterator<Item = &'a str>) -> impl Iterator<Item = (String, u64)> {
    names.map(str::to_owned).zip(0..)
}

fn object(fields: &Fields, words: &mut dyn Iterator<Item = u64>) -> Value {
    fields.iter().map(|(name, shape)| (name.clone(), shape.value(words))).collect()
}

fn fields_of(program: &Program, defs: &[FieldDef]) -> Fields {
    defs.iter().map(|def| (def.name.clone(), Shape::of(program, &def.ty))).collect()
}

/// The fields of a context, and the deadlines of its timers.
fn context_fields(program: &Program, context: usize) -> Fields {
    let def = &program.contexts[context];
    let timers = def.timers.iter().map(|timer| (timer.name.clone(), Shape::Number));
    fields_of(program, &def.fields).into_iter().chain(timers).collect()
}

/// Its network header, its fields, the options that it has, and how much payload.
fn blueprint(program: &Program, def: &BlueprintDef) -> Shape {
    let options = def.options.iter().flat_map(|list| &program.opt_lists[list.index()].members);
    let options = options.map(|opt| {
        let opt = &program.opts[opt.index()];
        let fields = opt.all_fields().map(|(name, ty)| (name.to_owned(), Shape::of(program, &ty)));
        (opt.name.clone(), fields.collect())
    });
    let header = def.fields.iter().map(|f| (f.name.clone(), Shape::of(program, &f.ty))).collect();
    Shape::Struct(vec![
        ("net".into(), Shape::of(program, &Ty::NetHeader)),
        ("header".into(), Shape::Struct(header)),
        ("options".into(), Shape::Options(options.collect())),
        ("payload".into(), Shape::Number),
    ])
}

/// An event or a context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Named {
    pub name: String,
    pub fields: Fields,
}

/// What a program claims of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    pub text: String,
    pub file: String,
    pub line: u32,
}

/// The names that the numbers of records stand for, and how their words are read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Layouts {
    pub events: Vec<Named>,
    /// with the deadlines of timers behind the fields
    pub contexts: Vec<Named>,
    pub instructions: Vec<String>,
    pub counters: Vec<String>,
    pub claims: Vec<Claim>,
    /// that instructions stand in
    pub files: Vec<String>,
}

/// What the words of a segment are: the context of its unit, or 0 and the request whose memory it is of.
const SEGMENT: [&str; 4] = ["context", "offset", "bytes", "request"];

impl Layouts {
    /// Those of a program.
    pub fn of(program: &Program) -> Layouts {
        let event = |def: &carrick_ir::EventDef| Named {
            name: def.name.clone(),
            fields: fields_of(program, &def.fields),
        };
        let context = |(number, def): (usize, &carrick_ir::ContextDef)| Named {
            name: def.name.clone(),
            fields: context_fields(program, number),
        };
        let claim = |claim: &carrick_ir::Claim| Claim {
            text: claim.text.raw().to_owned(),
            file: program.file_of(claim.loc).raw().to_owned(),
            line: claim.loc.line,
        };
        let last = Opcode::ALL.iter().map(|op| op.number()).max().unwrap_or(0);
        let instruction = |number| Opcode::numbered(number).map_or("?", Opcode::name).to_owned();
        Layouts {
            events: program.events.iter().map(event).collect(),
            contexts: program.contexts.iter().enumerate().map(context).collect(),
            instructions: (0..=last).map(instruction).collect(),
            counters: COUNTERS.iter().map(|name| (*name).to_owned()).collect(),
            claims: program.claims.iter().map(claim).collect(),
            files: std::iter::once(&program.file)
                .chain(&program.imports)
                .map(|f| f.raw().to_owned())
                .collect(),
        }
    }

    /// Whether records of these shapes have a size that a program can have.
    pub fn are_bounded(&self) -> bool {
        let all = self.events.iter().chain(&self.contexts).flat_map(|named| &named.fields);
        all.fold(0, |sum: u64, (_, shape)| sum.saturating_add(shape.values())) <= MOST_VALUES
    }

    /// Whether records mean the same with these: the files of the program may have moved.
    pub fn agrees(&self, other: &Layouts) -> bool {
        let claims = |all: &[Claim]| all.iter().map(|claim| claim.text.clone()).collect::<Vec<_>>();
        self.events == other.events
            && self.contexts == other.contexts
            && claims(&self.claims) == claims(&other.claims)
    }

    /// Whether a record is one that the program can have made: its event or context is there, with all its fields.
    pub fn fits(&self, record: &Record) -> bool {
        let all_of = |named: &Named| {
            let words = record.words.get(1..)?;
            Some(words_of(named.fields.iter().map(|(_, shape)| shape), words) == words.len())
        };
        let number = record.number as usize;
        match record.kind {
            0 => self.events.get(number).and_then(all_of).unwrap_or(false),
            1 if record.number == Opcode::NewCtx.number() => {
                record.words.first().is_some_and(|ctx| *ctx < self.contexts.len() as u64)
            }
            2 => self.contexts.get(number).and_then(all_of).unwrap_or(false),
            _ => true,
        }
    }

    /// A record in words: what it is, and its parts by name.
    pub fn describe(&self, record: &Record) -> (&'static str, Value) {
        let number = record.number as usize;
        let mut words = record.words.iter().copied();
        match record.kind {
            0 => ("event", named(self.events.get(number), record)),
            1 => {
                let name = self.instructions.get(number).map_or("?", String::as_str);
                let mut detail = json!({"name": name, "words": record.words});
                if record.at != Loc::default() {
                    // A file that is not among the imports is that of the program.
                    let file = self.files.get(record.at.file as usize).or(self.files.first());
                    detail["file"] = json!(file);
                    detail["line"] = json!(record.at.line);
                }
                ("instruction", detail)
            }
            2 => ("context", named(self.contexts.get(number), record)),
            3 => {
                let detail = SEGMENT.iter().map(|key| ((*key).to_owned(), json!(words.next()))).collect();
                ("segment", Value::Object(detail))
            }
            5 => {
                let claim = self.claims.get(number);
                let detail = json!({
                    "failed": claim.map(|c| &c.text),
                    "file": claim.map(|c| &c.file),
                    "line": claim.map(|c| c.line),
                    "context": words.next(),
                });
                ("claim", detail)
            }
            _ => ("drop", json!({"reason": self.counters.get(number)})),
        }
    }
}

/// An event or a context: its name, its handle and its fields.
fn named(layout: Option<&Named>, record: &Record) -> Value {
    let Some(Named { name, fields }) = layout else { return json!(record.words) };
    let mut words = record.words.iter().copied();
    let handle = words.next().unwrap_or(0);
    json!({"name": name, "context": handle, "fields": object(fields, &mut words)})
}

/// The record that a line tells of, if it is one of an instruction or a segment: whatever reads records can so read a trace
/// that was written.
pub fn record_of(what: &str, detail: &Value) -> Option<Record> {
    let number = |value: &Value| value.as_u64();
    let (kind, number, words) = match what {
        "instruction" => {
            let op = Opcode::named(detail["name"].as_str()?)?;
            (1, op.number(), detail["words"].as_array()?.iter().map(number).collect::<Option<_>>()?)
        }
        "segment" => {
            let words = SEGMENT.iter().map(|key| number(&detail[*key]));
            (3, 0, words.collect::<Option<_>>()?)
        }
        _ => return None,
    };
    Some(Record { kind, number, words, at: Loc::default() })
}

/// A record in words, as a program reads it.
pub fn describe(program: &Program, record: &Record) -> (&'static str, Value) {
    Layouts::of(program).describe(record)
}

/// A value that begins the words, as programs read it.
pub fn value(program: &Program, ty: &Ty, words: &mut dyn Iterator<Item = u64>) -> Value {
    Shape::of(program, ty).value(words)
}

/// Fields that begin the words, by name.
pub fn fields(program: &Program, defs: &[FieldDef], words: &mut dyn Iterator<Item = u64>) -> Value {
    object(&fields_of(program, defs), words)
}
