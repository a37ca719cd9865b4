// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was found, for people and for programs.

use std::fmt::Write;

use carrick_ir::Program;
use carrick_verify::{Bounds, CheckReport, Counterexample, Kind, Report, Site, Status, UnitReport};
use serde_json::{Value, json};

/// The first words of a check, by what is known.
fn word(status: &Status) -> &'static str {
    match status {
        Status::Proved => "proved",
        Status::NotInductive(_) => "not inductive",
        Status::Undecided(_) => "undecided",
    }
}

fn place(program: &Program, site: Site) -> String {
    format!("{}:{}:{}", program.file_of(site.loc).raw(), site.loc.line, site.loc.col)
}

pub fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // A string takes all that is written.
    let _ = writeln!(out, "{text}");
}

/// Checks that are not proved, with their reasons; claims that are; and how many there are of each kind.
pub fn pretty(program: &Program, bounds: &Bounds, report: &Report) -> String {
    let mut out = String::new();
    let mut checks: Vec<&CheckReport> = report.checks.iter().collect();
    checks.sort_by_key(|check| (rank(&check.status), check.site));
    for check in checks {
        if check.status == Status::Proved && !matches!(check.site.kind, Kind::Claim(_)) {
            continue;
        }
        let (word, place) = (word(&check.status), place(program, check.site));
        line(&mut out, format_args!("{word}: {place}: {}", check.text));
        match &check.status {
            Status::NotInductive(example) => broken(&mut out, check, example),
            Status::Undecided(why) => line(&mut out, format_args!("  {why}")),
            Status::Proved => {}
        }
    }
    for unit in &report.units {
        not_explored(&mut out, unit);
    }
    table(&mut out, report);
    let paths: u64 = report.units.iter().map(|unit| unit.paths).sum();
    line(&mut out, format_args!("\n{} units, {paths} paths; {}", report.units.len(), said(bounds)));
    out
}

fn rank(status: &Status) -> usize {
    match status {
        Status::Proved => 0,
        Status::Undecided(_) => 1,
        Status::NotInductive(_) => 2,
    }
}

fn broken(out: &mut String, check: &CheckReport, example: &Counterexample) {
    let what = if example.new { " of an instance that it creates" } else { "" };
    let rule = check.site.kind.rule();
    line(out, format_args!("  it does not follow in `{}` that {rule}{what}. Values before:", example.unit));
    for (name, value) in &example.before {
        line(out, format_args!("    {name} = {value}"));
    }
    line(out, format_args!("  They satisfy all claims. It may be that no run of the program has them."));
}

fn not_explored(out: &mut String, unit: &UnitReport) {
    if let Some(what) = &unit.unsupported {
        line(out, format_args!("not explored: `{}` uses {what}", unit.name));
    }
    if let Some(why) = &unit.incomplete {
        line(out, format_args!("not explored to its end: `{}`: {why}", unit.name));
    }
}

/// How many checks of each kind there are.
fn table(out: &mut String, report: &Report) {
    line(out, format_args!("\n{:10} {:>7} {:>14} {:>10}", "check", "proved", "not inductive", "undecided"));
    for word in Kind::WORDS {
        let mut counts = [0; 3];
        for check in report.checks.iter().filter(|check| check.site.kind.word() == word) {
            counts[rank(&check.status)] += 1;
        }
        if counts != [0; 3] {
            let [proved, undecided, not_inductive] = counts;
            line(out, format_args!("{word:10} {proved:>7} {not_inductive:>14} {undecided:>10}"));
        }
    }
}

/// The bounds of a proof.
pub fn said(bounds: &Bounds) -> String {
    let plural = if bounds.k == 1 { "" } else { "s" };
    format!(
        "lists and windows begin with at most {} element{plural}, \
         at most {} paths and {} s for each unit",
        bounds.k,
        bounds.paths,
        bounds.time.as_secs()
    )
}

/// How many paths each unit has.
pub fn paths(report: &Report) -> String {
    let mut out = String::new();
    line(&mut out, format_args!("{:>9}  {:28} {}", "paths", "unit", "events"));
    let mut units: Vec<&UnitReport> = report.units.iter().collect();
    units.sort_by_key(|unit| (std::cmp::Reverse(unit.paths), &unit.name));
    for unit in &units {
        let more = if unit.incomplete.is_some() || unit.unsupported.is_some() { "+" } else { "" };
        let text = format!("{:>8}{more:1}  {:28} {}", unit.paths, unit.name, unit.events.join(", "));
        line(&mut out, format_args!("{}", text.trim_end()));
    }
    for unit in &units {
        not_explored(&mut out, unit);
    }
    let sum: u64 = units.iter().map(|unit| unit.paths).sum();
    let whole = units.iter().filter(|unit| unit.incomplete.is_none() && unit.unsupported.is_none()).count();
    line(&mut out, format_args!("\n{sum} paths; {whole} of {} units explored to their end", units.len()));
    out
}

pub fn json(program: &Program, bounds: &Bounds, report: &Report) -> Value {
    json!({
        "program": program.name,
        "with": program.features,
        "bounds": { "k": bounds.k, "paths": bounds.paths, "seconds": bounds.time.as_secs() },
        "checks": report.checks.iter().map(|check| check_json(program, check)).collect::<Vec<_>>(),
        "units": report.units.iter().map(unit_json).collect::<Vec<_>>(),
    })
}

fn check_json(program: &Program, check: &CheckReport) -> Value {
    let (example, why) = match &check.status {
        Status::NotInductive(example) => (Some(example), None),
        Status::Undecided(why) => (None, Some(why)),
        Status::Proved => (None, None),
    };
    json!({
        "status": word(&check.status),
        "kind": check.site.kind.word(),
        "file": program.file_of(check.site.loc).raw(),
        "line": check.site.loc.line,
        "column": check.site.loc.col,
        "text": check.text,
        "units": check.units,
        "why": why,
        "example": example.map(|example| json!({
            "unit": example.unit,
            "new": example.new,
            "before": example.before.iter().map(|(n, v)| json!({ "name": n, "value": v })).collect::<Vec<_>>(),
        })),
    })
}

fn unit_json(unit: &UnitReport) -> Value {
    json!({
        "name": unit.name,
        "events": unit.events,
        "paths": unit.paths,
        "incomplete": unit.incomplete,
        "unsupported": unit.unsupported,
        "seconds": unit.time.as_secs_f64(),
        "queries": unit.queries,
        "searches": unit.searches,
        "solver_seconds": unit.solver.as_secs_f64(),
    })
}
