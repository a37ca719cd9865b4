// SPDX-License-Identifier: MIT OR Apache-2.0
//! A field of contexts over time: its value at the end of each interval in which it changed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use carrick_ir::{FieldDef, Program, Ty};
use serde_json::Value;

use crate::core::Record;
use crate::observe::Observer;
use crate::trace;

const TRACE_CONTEXT: u32 = 2;

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

/// Samples one field of the contexts of hosts.
pub struct Samples {
    /// by host
    programs: Vec<Arc<Program>>,
    field: Vec<String>,
    every: u64,
    /// by host; none where its program has no such field
    units: Vec<Option<&'static str>>,
    now: BTreeMap<(usize, u64), Sampled>,
    counts: BTreeMap<usize, u32>,
    rows: Vec<Row>,
}

impl Samples {
    /// Of hosts that run these programs; the field is `field`, or `context.field`, also of structs in a context. Intervals
    /// have so many nanoseconds.
    ///
    /// # Errors
    /// A sentence, if no program has such a field with a number.
    pub fn new(programs: Vec<Arc<Program>>, field: &str, every: u64) -> Result<Samples, String> {
        let field: Vec<String> = field.split('.').map(str::to_owned).collect();
        let unit =
            |program: &Arc<Program>| program.contexts.iter().find_map(|def| unit_in(program, def, &field));
        let units: Vec<_> = programs.iter().map(unit).collect();
        if units.iter().all(Option::is_none) {
            return Err(unknown(&programs, &field));
        }
        let (now, counts, rows) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        Ok(Samples { programs, field, every: every.max(1), units, now, counts, rows })
    }

    fn value(&self, host: usize, record: &Record) -> Option<f64> {
        let program = self.programs.get(host)?;
        let def = program.contexts.get(record.number as usize)?;
        unit_in(program, def, &self.field)?;
        let mut words = record.words.iter().copied().skip(1);
        let fields = trace::fields(program, &def.fields, &mut words);
        let path = path_in(def, &self.field);
        number(path.iter().try_fold(&fields, |value, name| value.get(name))?).filter(|value| !value.is_nan())
    }

    /// The table; `columns` are more ones about a host, which `about` appends, with the end of the line.
    pub fn csv(self, columns: &str, about: impl Fn(u32, &mut String)) -> String {
        let mut text = format!("sampled_ns,host,context,field,unit,value{columns}\n");
        let last = self.now.iter().map(|((host, _), it)| row(*host, it, self.every));
        let mut rows: Vec<Row> = self.rows.iter().copied().chain(last).collect();
        rows.sort_by_key(|row| (row.until, row.host, row.number));
        let field = self.field.join(".");
        for Row { until, host, number, value } in rows {
            let unit = self.units.get(host).copied().flatten().unwrap_or_default();
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
    fn record(&mut self, now: u64, host: usize, record: &Record) {
        if record.kind != TRACE_CONTEXT {
            return;
        }
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
        let names: Vec<&str> = contexts.filter(|f| unit_of(&f.ty).is_some()).map(|f| &*f.name).collect();
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
fn path_in<'f>(def: &carrick_ir::ContextDef, field: &'f [String]) -> &'f [String] {
    match field {
        [first, rest @ ..] if !rest.is_empty() && *first == def.name => rest,
        all => all,
    }
}

/// The unit of a field of a context, if the context has it.
fn unit_in(program: &Program, def: &carrick_ir::ContextDef, field: &[String]) -> Option<&'static str> {
    let (last, structs) = path_in(def, field).split_last()?;
    let named =
        |fields: &[FieldDef], name: &String| fields.iter().find(|f| f.name == *name).map(|f| f.ty.clone());
    let mut fields = &def.fields;
    for name in structs {
        let Ty::Struct(id) = named(fields, name)? else { return None };
        fields = &program.structs[id.index()].fields;
    }
    unit_of(&named(fields, last)?)
}

/// What a number of this type counts; nothing if it is none.
fn unit_of(ty: &Ty) -> Option<&'static str> {
    match ty {
        Ty::Int { .. } | Ty::Fixed | Ty::List(..) => Some("number"),
        Ty::Duration => Some("ns"),
        Ty::Bytes => Some("bytes"),
        Ty::Rate => Some("bps"),
        _ => None,
    }
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
