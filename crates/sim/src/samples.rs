// SPDX-License-Identifier: MIT OR Apache-2.0
//! A field of contexts over time: its value at the end of each interval in which it changed.

use std::fmt::Write as _;
use std::rc::Rc;
use std::sync::Arc;

use carrick_ir::samples::{SampledField, sampled_fields, unit};
use carrick_ir::{ContextDef, Program, Ty};
use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::core::{Record, RecordSet, TraceKind};
use crate::observe::Observer;
use crate::trace::Shape;

const CONTEXT: u32 = TraceKind::Context as u32;
const SAMPLE: u32 = TraceKind::Sample as u32;

/// A context of which a value is known.
#[derive(Debug)]
struct Sampled {
    /// counts the contexts of a host from 1
    number: u32,
    /// the interval of the last value
    interval: u64,
    value: f64,
}

/// A line of the table.
#[derive(Debug, Clone, Copy)]
struct Row {
    until: u64,
    host: usize,
    number: u32,
    value: f64,
}

/// Where the field is, in each context of a program.
type Places = Rc<[Option<Place>]>;

/// Where the field is among the words of a context's record.
#[derive(Debug)]
struct Place {
    /// the number of the field among those that can be sampled
    number: u32,
    /// what is before it, behind the handle
    before: Vec<Before>,
    shape: Shape,
    unit: &'static str,
}

#[derive(Debug)]
enum Before {
    /// so many words
    Words(usize),
    /// a value whose length depends on what it is
    Value(Shape),
}

impl Place {
    /// The value of the field in these words; `None` if it is no number.
    fn value(&self, words: &[u64]) -> Option<f64> {
        let mut at = 1;
        for before in &self.before {
            at += match before {
                Before::Words(count) => *count,
                Before::Value(shape) => shape.words(words.get(at..)?),
            };
        }
        self.number_in(words.get(at..)?)
    }

    /// The value of the field, which begins these words.
    fn number_in(&self, words: &[u64]) -> Option<f64> {
        let value = match &self.shape {
            // Its elements are not looked at.
            Shape::List(_, most) => Some((*words.first()?).min(u64::from(*most)) as f64),
            shape => number(&shape.value(&mut words.iter().copied())),
        };
        value.filter(|value| !value.is_nan())
    }
}

/// Samples one field of the contexts of hosts.
pub struct Samples {
    /// by host, of each context of its program
    places: Vec<Places>,
    field: Vec<String>,
    every: u64,
    now: FxHashMap<(usize, u64), Sampled>,
    counts: FxHashMap<usize, u32>,
    rows: Vec<Row>,
}

impl Samples {
    /// Of hosts that run these programs; the field is `field`, or `context.field`, also of structs in a context. Intervals
    /// have so many nanoseconds.
    ///
    /// # Errors
    /// A sentence, if no program has such a field with a number.
    pub fn new(programs: &[Arc<Program>], field: &str, every: u64) -> Result<Samples, String> {
        let field: Vec<String> = field.split('.').map(str::to_owned).collect();
        let mut known: Vec<(&Arc<Program>, Places)> = Vec::new();
        let of = |program| {
            if let Some((_, places)) = known.iter().find(|(it, _)| Arc::ptr_eq(it, program)) {
                return places.clone();
            }
            let places: Rc<[_]> = program.contexts.iter().map(|def| place_in(program, def, &field)).collect();
            known.push((program, places.clone()));
            places
        };
        let places: Vec<_> = programs.iter().map(of).collect();
        if places.iter().all(|all| all.iter().all(Option::is_none)) {
            return Err(unknown(programs, &field));
        }
        let (now, counts, rows) = (FxHashMap::default(), FxHashMap::default(), Vec::new());
        Ok(Samples { places, field, every: every.max(1), now, counts, rows })
    }

    fn value(&self, host: usize, record: &Record) -> Option<f64> {
        let place = self.places.get(host)?.get(record.number as usize)?.as_ref()?;
        match record.kind {
            SAMPLE => place.number_in(record.words.get(1..)?),
            CONTEXT => place.value(&record.words),
            _ => None,
        }
    }

    /// The unit of the field at a host; none where its program has no such field.
    fn unit(&self, host: usize) -> Option<&'static str> {
        self.places.get(host)?.iter().flatten().map(|place| place.unit).next()
    }

    /// The table; `columns` are more ones about a host, which `about` appends, with the end of the line.
    pub fn csv(self, columns: &str, about: impl Fn(u32, &mut String)) -> String {
        let mut text = format!("sampled_ns,host,context,field,unit,value{columns}\n");
        let last = self.now.iter().map(|((host, _), it)| row(*host, it, self.every));
        let mut rows: Vec<Row> = self.rows.iter().copied().chain(last).collect();
        rows.sort_by_key(|row| (row.until, row.host, row.number));
        let field = self.field.join(".");
        for Row { until, host, number, value } in rows {
            let unit = self.unit(host).unwrap_or_default();
            let _ = write!(text, "{until},{host},{number},{field},{unit},{value}");
            about(host as u32, &mut text);
        }
        text
    }
}

fn row(host: usize, it: &Sampled, every: u64) -> Row {
    Row { until: (it.interval + 1).saturating_mul(every), host, number: it.number, value: it.value }
}

impl Observer for Samples {
    /// Only the field, if all hosts have it at one place.
    fn reads(&self) -> RecordSet {
        let whole = RecordSet::of(TraceKind::Context);
        let Some((first, rest)) = self.places.split_first() else { return whole };
        let mut with = (0..).zip(first.iter()).filter_map(|(ctx, place)| Some((ctx, place.as_ref()?)));
        match (with.next(), with.next()) {
            (Some((ctx, place)), None) if rest.iter().all(|it| Rc::ptr_eq(it, first)) => {
                RecordSet::sample(ctx, place.number)
            }
            _ => whole,
        }
    }

    fn reads_at(&self) -> RecordSet {
        RecordSet::NONE
    }

    fn record(&mut self, now: u64, host: usize, record: &Record) {
        let Some((value, handle)) = self.value(host, record).zip(record.words.first()) else { return };
        let interval = now / self.every;
        let counts = &mut self.counts;
        let it = self.now.entry((host, *handle)).or_insert_with(|| {
            let number = counts.entry(host).or_default();
            *number += 1;
            Sampled { number: *number, interval, value }
        });
        if it.interval != interval {
            self.rows.push(row(host, it, self.every));
            it.interval = interval;
        }
        it.value = value;
    }
}

/// Says which fields there are instead.
fn unknown(programs: &[Arc<Program>], field: &[String]) -> String {
    let mut files: Vec<(&str, String)> = Vec::new();
    for program in programs {
        let contexts = program.contexts.iter().flat_map(|def| &def.fields);
        let names: Vec<&str> = contexts.filter(|f| unit(&f.ty).is_some()).map(|f| &*f.name).collect();
        if files.iter().all(|(file, _)| *file != program.file.raw()) {
            files.push((program.file.raw(), names.join(", ")));
        }
    }
    let each = files.iter().map(|(file, names)| {
        format!("no context of {file} has a field `{}` with a number; there are {names}", field.join("."))
    });
    each.collect::<Vec<_>>().join("; ")
}

/// The field's path without the name of its context.
fn path_in<'f>(def: &ContextDef, field: &'f [String]) -> &'f [String] {
    match field {
        [first, rest @ ..] if !rest.is_empty() && *first == def.name => rest,
        all => all,
    }
}

/// Where a field of a context is, if the context has it.
fn place_in(program: &Program, def: &ContextDef, field: &[String]) -> Option<Place> {
    let names = path_in(def, field);
    let all = sampled_fields(program, def);
    let is_it = |it: &SampledField<'_>| it.path.iter().map(|part| &part.name).eq(names);
    let number = all.iter().position(is_it)?;
    let mut fields = &def.fields;
    let mut before = Vec::new();
    for (part, place) in all[number].path.iter().zip(&all[number].places) {
        for passed in &fields[..*place] {
            let shape = Shape::of(program, &passed.ty);
            match (shape.fixed_words(), before.last_mut()) {
                (Some(count), Some(Before::Words(so_far))) => *so_far += count,
                (Some(count), _) => before.push(Before::Words(count)),
                (None, _) => before.push(Before::Value(shape)),
            }
        }
        if let Ty::Struct(id) = part.ty {
            fields = &program.structs[id.index()].fields;
        }
    }
    let ty = &all[number].path.last()?.ty;
    Some(Place { number: number as u32, before, shape: Shape::of(program, ty), unit: unit(ty)? })
}

/// A number that can be drawn: lists have their length, and what is as large as its type allows represents "no limit" and is no
/// number (NaN).
pub fn number(value: &Value) -> Option<f64> {
    const ENDLESS: [u64; 4] = [i32::MAX as u64, u32::MAX as u64, i64::MAX as u64, u64::MAX];
    if let Some(list) = value.as_array() {
        return Some(list.len() as f64);
    }
    match value.as_u64() {
        Some(v) if ENDLESS.contains(&v) => Some(f64::NAN),
        _ => value.as_f64(),
    }
}
