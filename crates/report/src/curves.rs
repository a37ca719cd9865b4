// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fields of contexts over time: which there are, which are worth a curve.

use std::collections::BTreeMap;

use carrick_ir::{FieldDef, Program, Ty};
use carrick_sim::samples::number;
use serde_json::Value;

use crate::model::{Curve, Series, Unit};

/// So many curves are in a page that was not told which.
const CURVES_MAX: usize = 12;

/// Parts of names that promise a good curve, the best first: what is allowed, how fast, how long.
const TELLING: [&[&str]; 4] = [
    &["cwnd", "window", "wnd", "credit", "credits", "inflight", "flight", "outstanding"],
    &["rtt", "srtt", "rate", "pacing", "delay", "latency"],
    &["rto", "timeout", "thresh", "ssthresh", "grant", "granted", "backlog"],
    &["queue", "queued", "room", "pending", "waiting", "unacked"],
];

/// A field that could be drawn.
struct Candidate {
    context: usize,
    /// the names that lead to it
    path: Vec<String>,
    doc: String,
    unit: Unit,
    /// by flow, what changed
    series: BTreeMap<u32, Series>,
}

impl Candidate {
    fn field(&self) -> String {
        self.path.join(".")
    }

    fn is_named(&self, program: &Program, name: &str) -> bool {
        let field = self.field();
        name == field || name == format!("{}.{field}", program.contexts[self.context].name)
    }
}

/// Collects the fields of contexts as a trace goes by.
pub struct Curves {
    candidates: Vec<Candidate>,
    wanted: Vec<String>,
}

impl Curves {
    /// `wanted`: names of fields (`f`, or `context.f`); if there are none, those are taken that tell most.
    ///
    /// # Errors
    /// A sentence, if there is no such field.
    pub fn new(program: &Program, wanted: &[String]) -> Result<Curves, String> {
        let mut candidates = Vec::new();
        for (context, def) in program.contexts.iter().enumerate() {
            find(program, context, &[], &def.fields, &mut candidates);
        }
        for name in wanted {
            if !candidates.iter().any(|c| c.is_named(program, name)) {
                let names: Vec<String> = candidates.iter().map(Candidate::field).collect();
                return Err(format!(
                    "no context has a field `{name}` with a number; there are: {}",
                    names.join(", ")
                ));
            }
        }
        if !wanted.is_empty() {
            candidates.retain(|c| wanted.iter().any(|name| c.is_named(program, name)));
        }
        Ok(Curves { candidates, wanted: wanted.to_vec() })
    }

    /// The fields of an instance after the event `e`.
    pub fn context(&mut self, t: u64, context: usize, flow: u32, fields: &Value, e: i64) {
        for candidate in self.candidates.iter_mut().filter(|c| c.context == context) {
            let found = candidate.path.iter().try_fold(fields, |value, name| value.get(name));
            let Some(v) = found.and_then(number) else { continue };
            let series = candidate.series.entry(flow).or_insert_with(|| Series::of(flow));
            // Compared as bits: what is not drawn is no number, and equal to none.
            if series.v.last().map(|last| last.to_bits()) != Some(v.to_bits()) {
                series.step(t, v, e);
            }
        }
    }

    /// The curves, those that tell most first.
    pub fn finish(mut self, program: &Program) -> Vec<Curve> {
        if self.wanted.is_empty() {
            self.candidates.retain(worth_drawing);
            self.candidates.sort_by_key(|c| (rank(c), c.context, c.field()));
            self.candidates.truncate(CURVES_MAX);
        } else {
            let place = |c: &Candidate| self.wanted.iter().position(|name| c.is_named(program, name));
            self.candidates.sort_by_key(place);
        }
        let asked = !self.wanted.is_empty();
        let mut best = Vec::new();
        let curves = self.candidates.into_iter().map(|c| {
            // One of each sort tells more than several of the same.
            let (sort, _) = rank(&c);
            let first = best.is_empty() || (sort < TELLING.len() && !best.contains(&sort));
            best.push(sort);
            Curve {
                context: program.contexts[c.context].name.clone(),
                field: c.field(),
                shown: asked || first,
                doc: c.doc,
                unit: c.unit,
                series: c.series.into_values().collect(),
            }
        });
        curves.collect()
    }
}

/// The fields with a number, those in structs among them.
fn find(program: &Program, context: usize, path: &[String], fields: &[FieldDef], found: &mut Vec<Candidate>) {
    for field in fields {
        let path = [path, std::slice::from_ref(&field.name)].concat();
        let unit = match &field.ty {
            Ty::Struct(id) => {
                find(program, context, &path, &program.structs[id.index()].fields, found);
                continue;
            }
            Ty::Int { .. } | Ty::Fixed | Ty::List(..) => Unit::Number,
            Ty::Duration => Unit::Time,
            Ty::Bytes => Unit::Octets,
            Ty::Rate => Unit::Rate,
            _ => continue,
        };
        found.push(Candidate {
            context,
            path,
            doc: field.doc.raw().to_owned(),
            unit,
            series: BTreeMap::new(),
        });
    }
}

/// It changes, and does more than count.
fn worth_drawing(candidate: &Candidate) -> bool {
    let changes = candidate.series.values().any(|s| s.v.len() > 3);
    let falls = |s: &Series| s.v.windows(2).any(|w| w[1] < w[0]);
    changes && candidate.series.values().any(falls)
}

/// The lower, the more a field tells: its sort, and the number of words in its name.
fn rank(candidate: &Candidate) -> (usize, usize) {
    let name = candidate.path.last().map_or("", String::as_str).to_lowercase();
    let said = |words: &&[&str]| name.split('_').any(|part| words.contains(&part));
    let named = TELLING.iter().position(said);
    let sort = named.unwrap_or(TELLING.len() + usize::from(candidate.unit == Unit::Number));
    (sort, name.split('_').count())
}
