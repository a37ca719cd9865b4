// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers that a program must not exceed on a target: what each means, and what a program comes to.

use carrick_syntax::Span;
use carrick_syntax::diag::Diagnostic;

use super::codes;
use super::file::TargetFile;
use super::measure::{Amount, Measured};

/// How much of it a program has: each place that counts by itself.
type Measure = fn(&Measured<'_>) -> Vec<Amount>;

/// A limit that a target file can state.
pub struct Limit {
    /// as in `[limits]`
    pub name: &'static str,
    /// what is counted
    pub meaning: &'static str,
    code: u16,
    unit: &'static str,
    measure: Measure,
    mend: &'static str,
}

const LOOPS: &str = "lower the bounds of the loops, or go on in another event: `raise` one, or start a timer";
const SMALLER: &str = "use shorter lists, windows and arrays and narrower types, or put what is rarely needed into a context of its own";

/// All limits, in the order in which the book lists them.
pub const LIMITS: &[Limit] = &[
    Limit {
        name: "instructions_per_chain",
        meaning: "instructions that one run of a chain, or of the parser, issues; loops count with all their iterations, calls with all that they cause",
        code: codes::WORK,
        unit: "instructions",
        measure: |m| m.by_chain("issue", |cost| cost.instructions),
        mend: LOOPS,
    },
    Limit {
        name: "statements_per_chain",
        meaning: "statements that one run of a chain, or of the parser, executes; loops count with all their iterations, calls with all that they cause",
        code: codes::WORK,
        unit: "statements",
        measure: |m| m.by_chain("run", |cost| cost.statements),
        mend: LOOPS,
    },
    Limit {
        name: "events_per_chain",
        meaning: "events that one run of a chain, or of the parser, raises",
        code: codes::WORK,
        unit: "events",
        measure: |m| m.by_chain("raise", |cost| cost.raised),
        mend: LOOPS,
    },
    Limit {
        name: "blueprints_per_event",
        meaning: "blueprints that a packet, a call, a timer or a sent event issues, with those of all events that it raises",
        code: codes::WORK,
        unit: "blueprints",
        measure: |m| m.blueprints(),
        mend: LOOPS,
    },
    Limit {
        name: "iterations_per_loop",
        meaning: "iterations of a loop in a chain, also of one over an array or a list",
        code: codes::LOOP,
        unit: "iterations",
        measure: |m| m.iterations(),
        mend: "lower the bound of the loop, or go on in another event: `raise` one, or start a timer",
    },
    Limit {
        name: "contexts_per_chain",
        meaning: "contexts that a chain takes: its own, those that it shares, the global ones",
        code: codes::CONTEXTS,
        unit: "contexts",
        measure: |m| m.contexts(),
        mend: "let the processors that take another context react to an event of their own, which this chain raises",
    },
    Limit {
        name: "context_bytes",
        meaning: "bytes of an instance of a context: its fields, its id, its timers",
        code: codes::STATE,
        unit: "bytes",
        measure: |m| m.context_octets(),
        mend: SMALLER,
    },
    Limit {
        name: "state_bytes",
        meaning: "bytes of all instances of all contexts, with their units of data, where the parameters have their defaults",
        code: codes::STATE,
        unit: "bytes",
        measure: |m| m.state_octets(),
        mend: "lower the numbers in `register_ctx_spec` and `register_data_spec`, or the parameters behind them",
    },
    Limit {
        name: "stack_bytes",
        meaning: "bytes of the variables of a processor, or of the parser, and of the functions that it calls, on the deepest path; a reference has 8",
        code: codes::STACK,
        unit: "bytes",
        measure: |m| m.stack_octets(),
        mend: "keep lists, arrays and blueprints in fewer variables at a time, or in a scratchpad, and calls less deep",
    },
    Limit {
        name: "header_bytes",
        meaning: "bytes before the payload of a packet, the network header included, with all its optional parts",
        code: codes::HEADER,
        unit: "bytes",
        measure: |m| m.header_octets(),
        mend: "use fewer or shorter fields and options, or a `layout` that packs them",
    },
    Limit {
        name: "queues",
        meaning: "queues of packets; `PER_FLOW` is one for each instance of a context, and one more",
        code: codes::QUEUES,
        unit: "queues",
        measure: |m| m.queues(),
        mend: "let more packets wait in the same queue, or register fewer instances",
    },
];

/// A target file states a limit that there is not: the names of those that there are.
pub fn unknown(target: &TargetFile) -> Option<String> {
    let known = |name: &str| LIMITS.iter().any(|l| l.name == name);
    let name = target.limits.keys().find(|name| !known(name))?;
    let names: Vec<&str> = LIMITS.iter().map(|l| l.name).collect();
    Some(format!("there is no limit {name:?}; there are {}", names.join(", ")))
}

/// Where the program exceeds what the target states: of each limit the place that exceeds it most.
pub fn exceeded(target: &TargetFile, measured: &Measured<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for limit in LIMITS {
        let Some(most) = target.limits.get(limit.name).copied() else { continue };
        let amounts = (limit.measure)(measured);
        let over: Vec<&Amount> = amounts.iter().filter(|a| a.count > most).collect();
        // Of two the first.
        let Some(worst) = over.iter().rev().max_by_key(|a| a.count) else { continue };
        let rest: Vec<Span> = over.iter().map(|a| a.span).filter(|span| *span != worst.span).collect();
        found.push(diagnostic(target, limit, most, worst, &rest));
    }
    found
}

/// Places that a diagnostic shows beside the worst one.
const PLACES: usize = 3;

fn diagnostic(target: &TargetFile, limit: &Limit, most: u64, worst: &Amount, rest: &[Span]) -> Diagnostic {
    let message = format!(
        "{} {} {}, and target `{}` allows {most}",
        worst.subject, worst.count, limit.unit, target.name
    );
    let mut diagnostic = Diagnostic::error(limit.code, message, worst.span, worst.label.clone());
    for (span, text) in &worst.causes {
        diagnostic = diagnostic.cause(*span, text.clone());
    }
    for span in rest.iter().take(PLACES) {
        diagnostic = diagnostic.cause(*span, "too much too");
    }
    let why = if worst.why.is_empty() { limit.meaning } else { &worst.why };
    let note = format!("target `{}` sets `{} = {most}`: {why}", target.name, limit.name);
    diagnostic.note(note).mend(limit.mend)
}
