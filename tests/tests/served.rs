// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cores that another process has: a host that asks for each call over a socket sees what the interpreter does.

use std::rc::Rc;
use std::sync::Arc;

use carrick_driver::compile_file;
use carrick_ir::Program;
use carrick_sim::Scenario;
use carrick_sim::compiled::CompiledProgram;
use carrick_sim::diff::{diff, diff_operations};
use carrick_targets::hw;
use carrick_tests::build::root;
use carrick_tests::net::lacks_circuits;

const OPERATIONS: u64 = 200;

/// Both sides are in this process, and the chains in a circuit: messages first, then a stream, whose requests take parts of
/// what has arrived.
#[test]
fn a_served_core_does_what_the_interpreter_does() {
    if lacks_circuits() {
        return;
    }
    for name in ["stop-and-wait", "small-tcp"] {
        let path = root().join(format!("protocols/{name}/{name}.mtp"));
        let program: Arc<Program> = compile_file(&path).expect("readable").program.expect("right");
        let service = hw::served(&program).expect("it fits");
        for (variable, value) in service.environment() {
            // SAFETY: this process has one test, and no other thread that reads the environment.
            unsafe { std::env::set_var(variable, value) };
        }
        let served: Rc<CompiledProgram> = CompiledProgram::load(service.library(), &program).expect("a core");
        let found = diff(&program, &served, &Scenario::random(4)).expect("it runs");
        assert_eq!((found.difference, found.failures), (None, vec![]), "{name}");
        assert!(found.compared > 1000, "{name}: {} records", found.compared);
        let found = diff_operations(&program, &served, 5, OPERATIONS).expect("it runs");
        assert_eq!(found.difference, None, "{name}");
        service.end();
    }
}
