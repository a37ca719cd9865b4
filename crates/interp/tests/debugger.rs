// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stopping at statements: where, how deep, and that it changes nothing.

mod common;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use carrick_interp::debug::{Debugger, Site, Stop, sites};
use carrick_interp::{Core, Data, Record};
use carrick_ir::Program;
use common::*;

const PROGRAM: &str = include_str!("programs/machine.mtp");
const FIRST: u64 = 1 << 56 | 1 << 32;

/// Notes where it was: the line's text, and how many functions ran.
struct Notes {
    sites: Vec<Site>,
    seen: Vec<(String, usize)>,
    /// at this line: look around
    look_at: &'static str,
    looked: Option<Looked>,
}

#[derive(Debug, PartialEq, Eq)]
struct Looked {
    core: usize,
    names: Vec<String>,
    event: Option<(String, Vec<u64>, u64)>,
    contexts: Vec<(u64, Vec<u64>)>,
}

impl Debugger for Notes {
    fn reached(&mut self, stop: &mut Stop<'_>) {
        let site = &self.sites[stop.site()];
        let line = PROGRAM.lines().nth(site.loc.line as usize - 1).expect("a line").trim();
        self.seen.push((line.to_owned(), stop.depth()));
        if line == self.look_at {
            let program = compile(PROGRAM);
            let frame = stop.frames()[0];
            self.looked = Some(Looked {
                core: stop.core(),
                names: stop.names(&frame).into_iter().map(|(name, _)| name).collect(),
                event: stop.event().map(|(e, w, handle)| (program.events[e.index()].name.clone(), w, handle)),
                contexts: stop.contexts().into_iter().map(|c| (c.handle, c.id)).collect(),
            });
        }
    }
}

fn debugged(program: &Arc<Program>, look_at: &'static str) -> (Core, Rc<RefCell<Notes>>) {
    let notes = Notes { sites: sites(program), seen: Vec::new(), look_at, looked: None };
    let notes = Rc::new(RefCell::new(notes));
    (Core::debugged(program.clone(), &config(A), 7, notes.clone()).unwrap(), notes)
}

fn drive(core: &mut Core) -> Vec<Record> {
    ask(core, "make", &[70]);
    call(core, "raise_it", FIRST, 5, &[2], Data::None).unwrap();
    call(core, "start", FIRST, 6, &[0, 100, 0], Data::None).unwrap();
    core.advance(500).unwrap();
    drain(core, 600);
    core.take_trace()
}

#[test]
fn a_debugger_changes_nothing() {
    let program = compile(PROGRAM);
    let (mut watched, notes) = debugged(&program, "");
    let mut alone = core(&program, A);
    assert_eq!(drive(&mut watched), drive(&mut alone));
    assert!(notes.borrow().seen.len() > 10);
}

#[test]
fn statements_come_in_order() {
    let (mut core, notes) = debugged(&compile(PROGRAM), "raise s;");
    ask(&mut core, "make", &[70]);
    let notes = notes.borrow();
    let lines: Vec<&str> = notes.seen.iter().map(|(line, _)| line.as_str()).take(7).collect();
    let made = [
        "thing v;",
        "v.log = 1;",
        "new_ctx(v, key(e.k));",
        "said s;",
        "set_flow_id(s, key(e.k));",
        "raise s;",
        "notify(e.token, OK, v.value);",
    ];
    assert_eq!(lines, made);
    assert!(notes.seen.iter().take(7).all(|(_, depth)| *depth == 1));
    let looked = Looked {
        core: 7,
        names: vec!["e".into(), "v".into(), "s".into()],
        event: Some(("make_req".into(), vec![70], 0)),
        contexts: vec![(FIRST, vec![70])],
    };
    assert_eq!(notes.looked.as_ref(), Some(&looked));
}

#[test]
fn every_statement_of_the_text_has_one_head() {
    let program = compile(PROGRAM);
    let mut heads: Vec<_> = sites(&program).into_iter().filter(|s| s.head).map(|s| (s.func, s.loc)).collect();
    let all = heads.len();
    heads.sort_unstable();
    heads.dedup();
    assert_eq!(heads.len(), all);
    assert!(all > 30, "{all}");
}
