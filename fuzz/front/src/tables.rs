// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables of programs that somebody else wrote.

use std::sync::Arc;

use carrick_driver::table;
use carrick_ir::Program;
use carrick_sim::Scenario;
use carrick_sim::link::LinkConfig;
use carrick_sim::observe::Nobody;
use carrick_sim::scenario::Engine;
use serde_json::{Value, json};

use crate::json::mutate;
use crate::random::Random;

/// Makes one wrong table after another.
pub struct Tables {
    right: Vec<Value>,
    random: Random,
}

impl Tables {
    /// Of these programs, without their text: a table that is changed has another.
    pub fn new(programs: &[Arc<Program>], random: Random) -> Tables {
        let table = |program: &Arc<Program>| -> Option<Value> {
            let mut table: Value = serde_json::from_str(&table::write(program)).ok()?;
            table.as_object_mut()?.remove("hash");
            table["program"]["texts"] = json!([]);
            Some(table)
        };
        Tables { right: programs.iter().filter_map(table).collect(), random }
    }

    pub fn next(&mut self) -> String {
        let Some(mut table) = self.random.pick(&self.right).cloned() else { return String::new() };
        for _ in 0..=self.random.below(3) {
            mutate(&mut table["program"], &mut self.random);
        }
        table.to_string()
    }
}

/// A table is refused, or its program can be printed, generated, drawn and run for a moment.
pub fn judge(text: &str) {
    let Ok(program) = table::read("fuzz.json", text) else { return };
    let program = Arc::new(program);
    carrick_ir::print::print(&program);
    carrick_emit_c::emit(&program);
    carrick_doc::page(&program, &[], &[]);
    let defaults: Vec<u64> = program.params.iter().map(|param| param.default).collect();
    // What a dissector cannot be made of, or a simulation refuses, is an error as of any other program.
    let _ = carrick_dissect::dissector(&program, &defaults);
    if is_small(&program) {
        let scenario = Scenario { limit: 1_000_000, ..Scenario::bulk(1, LinkConfig::default(), 100) };
        let _ = carrick_sim::run(&program, &Engine::Interpreter, &scenario, &mut Nobody, false);
    }
}

/// Whether it can run here: what a parameter asks for is allocated, and a loop runs as often as it says.
fn is_small(program: &Program) -> bool {
    const MOST: u64 = 1 << 20;
    let loops = |function: &carrick_ir::Function| {
        let mut most = 1_u64;
        carrick_ir::walk::statements(&function.body, &mut |stmt| {
            most = most.saturating_mul(carrick_ir::bounds::turns(stmt).unwrap_or(1).into());
        });
        most
    };
    program.params.iter().all(|param| param.default <= MOST)
        && program.functions.iter().all(|f| loops(f) <= MOST)
}
