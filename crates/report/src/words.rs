// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions in words.

use carrick_ir::{Program, STATUS_NAMES};

/// The context type of a handle.
pub fn context_of(handle: u64) -> Option<usize> {
    (handle >> 56).checked_sub(1).map(|n| n as usize)
}

/// An instruction with what it was given, as in `pkt_gen data_bp, 1448 octets at 2896`.
pub fn instruction(program: &Program, name: &str, words: &[u64]) -> String {
    let word = |n: usize| words.get(n).copied().unwrap_or(0);
    let said = match name {
        "new_ctx" => context(program, word(0) as usize),
        "pkt_gen" => packet(program, words),
        "timer_start" | "timer_restart" => format!("{}, {}", timer(program, words), span(word(2))),
        "timer_stop" => timer(program, words),
        "add_tx_data" | "tx_flush_and_notify" | "rx_flush_and_notify" => format!("{} bytes", word(1)),
        "add_rx_data_seg" => format!("{} bytes at {}", word(1), word(2)),
        "notify" => notify(word(1), word(2)),
        "raise" => program.events.get(word(0) as usize).map_or("?".into(), |e| e.name.clone()),
        _ => context_of(word(0)).map_or(String::new(), |ctx| context(program, ctx)),
    };
    format!("{name} {said}").trim_end().to_owned()
}

fn context(program: &Program, ctx: usize) -> String {
    program.contexts.get(ctx).map_or("?".into(), |c| c.name.clone())
}

fn packet(program: &Program, words: &[u64]) -> String {
    let word = |n: usize| words.get(n).copied().unwrap_or(0);
    let blueprint = program.blueprints.get(word(0) as usize).map_or("?", |b| b.name.as_str());
    match word(2) {
        0 => blueprint.to_owned(),
        len => format!("{blueprint}, {len} bytes at {}", word(1)),
    }
}

fn timer(program: &Program, words: &[u64]) -> String {
    let context = words.first().and_then(|h| program.contexts.get(context_of(*h)?));
    let timer = words.get(1).and_then(|n| context?.timers.get(*n as usize));
    timer.map_or("?".into(), |t| t.name.clone())
}

/// Of a request: how it ended.
fn notify(status: u64, value: u64) -> String {
    let status = STATUS_NAMES.get(status as usize).copied().unwrap_or("?");
    match value {
        0 => status.to_owned(),
        value if context_of(value).is_some() => format!("{status}, a handle"),
        value => format!("{status}, {value}"),
    }
}

/// Nanoseconds with the unit that suits them; durations are signed.
pub fn span(ns: u64) -> String {
    let ns = ns as i64;
    let size = ns.unsigned_abs();
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")];
    match units.iter().find(|(one, _)| size >= *one) {
        Some((one, name)) => {
            let text = format!("{:.3}", ns as f64 / *one as f64);
            format!("{} {name}", text.trim_end_matches('0').trim_end_matches('.'))
        }
        None => format!("{ns} ns"),
    }
}

#[cfg(test)]
mod tests {
    use super::span;

    #[test]
    fn spans_have_the_unit_that_suits_them() {
        let shown = [0, 999, 1_500, 20_000_000, 1_000_000_000, -2_500_000_i64 as u64].map(span);
        assert_eq!(shown, ["0 ns", "999 ns", "1.5 µs", "20 ms", "1 s", "-2.5 ms"]);
    }
}
