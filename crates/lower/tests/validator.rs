// SPDX-License-Identifier: MIT OR Apache-2.0
//! The validator finds each kind of mistake that a pass could make: a right program, damaged in one place.

mod common;

use carrick_ir::validate::validate;
use carrick_ir::*;
use common::{lowered, program};

const BODY: &str = "uint32 x = m.n + bump(c); c.table[x] = x; c.numbers.add(x); if (c.on) { c.count = x; stop; }
    packet bp; bp.seq = m.seq; bp.payload = data(c.id, c.long, 5); pkt_gen(bp, by_seq); timer_start(c.timer, 5ms);
    for (uint32 i in 0..4) { c.count += i; } notify(c.token, OK); c.seq = c.seq + x;
    next n; set_flow_id(n, c.id); raise n; c.window.set(c.seq, c.seq);";
const MORE: &str = "void ask(request r, conn c) { notify(r.token, OK); }
void after(next n, conn c) { c.count = n.n; }
interface stream { send -> request on conn; put -> request at flow(len, 4); }";

fn damaged(damage: impl FnOnce(&mut Program)) -> Vec<String> {
    let text = program(MORE, BODY, "request -> { ask }; next -> { after };")
        .replace("register_ev_parser(parse);", "register_ev_parser(parse); register_interface(stream);");
    let mut program = lowered(&text);
    damage(&mut program);
    // It can be looked at, too.
    assert!(carrick_ir::print::print(&program).starts_with("program t"));
    validate(&program).expect_err("the damage is found")
}

/// The function with this name.
fn named<'p>(program: &'p mut Program, name: &str) -> &'p mut Function {
    program.functions.iter_mut().find(|f| f.name == name).expect("the function")
}

/// The first statement of `receive` that `pick` takes.
fn edit<T>(program: &mut Program, pick: impl Fn(&mut StmtKind) -> Option<T>) -> T {
    let stmts = &mut named(program, "receive").body.stmts;
    stmts.iter_mut().find_map(|s| pick(&mut s.kind)).expect("such a statement")
}

fn found(violations: &[String], wanted: &str) {
    assert!(violations.iter().any(|v| v.contains(wanted)), "{wanted}: {violations:#?}");
}

macro_rules! finds {
    ($($name:ident: $wanted:literal, $damage:expr;)*) => {$(
        #[test]
        fn $name() {
            found(&damaged($damage), $wanted);
        }
    )*};
}

finds! {
    an_initial_value_of_another_type: "an initial value is a uint32, not a bool", |p| {
        let init = Expr { kind: ExprKind::Lit(7), ty: Ty::U32, loc: Loc::default() };
        p.scratchpads[0].fields[1].init = Some(init);
    };
    a_literal_that_does_not_fit: "does not fit its type", |p| edit(p, |s| match s {
        StmtKind::Instr(Instr::TimerStart { after, .. }) => {
            *after = Expr { kind: ExprKind::Lit(256), ty: Ty::U8, loc: after.loc };
            Some(())
        }
        _ => None,
    });
    a_callee_behind_its_caller: "does not come before its caller", |p| p.functions.reverse();
    a_local_out_of_range: "there is no local 99", |p| edit(p, |s| match s {
        StmtKind::Instr(Instr::PktGen { bp, .. }) => { *bp = LocalId(99); Some(()) }
        _ => None,
    });
    a_local_that_does_not_live_yet: "used where it does not live", |p| {
        let stmts = &mut named(p, "receive").body.stmts;
        stmts.reverse();
    };
    a_value_of_another_type: "what is assigned is a bool, not a uint32", |p| edit(p, |s| match s {
        StmtKind::Assign { value, .. } => { value.ty = Ty::Bool; Some(()) }
        _ => None,
    });
    a_place_that_is_read_only: "what can only be read is written", |p| edit(p, |s| match s {
        StmtKind::Assign { place, .. } if place.ty == Ty::Seq32 => { place.path = vec![Proj::CtxId]; Some(()) }
        _ => None,
    });
    a_field_out_of_range: "a place has no such part", |p| edit(p, |s| match s {
        StmtKind::Assign { place, .. } => { place.path = vec![Proj::Field(99)]; Some(()) }
        _ => None,
    });
    operands_that_differ: "Add of", |p| edit(p, |s| match s {
        StmtKind::Let { init: Some(Expr { kind: ExprKind::Binary(_, a, _), .. }), .. } => {
            **a = Expr { kind: ExprKind::Lit(0), ty: Ty::U64, loc: a.loc };
            Some(())
        }
        _ => None,
    });
    a_break_outside_a_loop: "no loop to leave", |p| {
        let stmt = Stmt { kind: StmtKind::Break, loc: Loc::default() };
        named(p, "receive").body.stmts.push(stmt);
    };
    a_value_returned_from_nothing: "what is returned", |p| {
        let value = Expr { kind: ExprKind::Lit(1), ty: Ty::Bool, loc: Loc::default() };
        named(p, "twice").body.stmts[0].kind = StmtKind::Return(Some(value));
    };
    an_instruction_in_a_parser: "an instruction in a parser", |p| {
        let call = edit(p, |s| matches!(s, StmtKind::Instr(Instr::Notify { .. })).then(|| s.clone()));
        named(p, "parse").body.stmts.push(Stmt { kind: call, loc: Loc::default() });
    };
    an_event_of_another_kind: "an event of another kind", |p| {
        let next = p.events.iter().position(|e| e.name == "next").expect("the event");
        p.events[next].kind = EventKind::Sent;
    };
    a_chain_without_its_context: "takes a `c` that is not there", |p| {
        p.chains[0].as_mut().expect("a chain").context = None;
    };
    a_chain_with_a_context_that_is_not_there: "global, or not there", |p| {
        p.chains[0].as_mut().expect("a chain").context = Some(CtxId(99));
    };
    a_chain_with_a_scratchpad_that_is_not_there: "a scratchpad that is not there", |p| {
        p.chains[0].as_mut().expect("a chain").scratchpads.push(ScratchId(99));
    };
    a_chain_too_few: "not one chain for each event", |p| drop(p.chains.pop());
    a_timer_of_another_event: "a timer of no timer event", |p| p.contexts[0].timers[0].event = EventId(0);
    a_gap_between_fields: "a gap between the fields", |p| p.blueprints[0].fields[1].bit_offset += 8;
    an_array_without_all_its_elements: "an array whose elements do not follow each other", |p| {
        let element = carrick_ir::FieldElement { array: "x".into(), at: 0, of: 2, part: None };
        p.blueprints[0].fields[0].element = Some(element);
    };
    an_option_of_another_length: "its fields do not take its length", |p| p.opts[1].len = 5;
    an_id_of_another_kind: "not one value for each part of the id", |p| drop(p.ids[0].parts.pop());
    a_call_on_another_context: "the chain has a context", |p| {
        p.interface.as_mut().expect("an interface").calls[0].target = CallTarget::Nowhere;
    };
    a_default_out_of_range: "the default is out of range", |p| p.params.push(ParamDef {
        name: "x".into(), doc: "".into(), ty: Ty::Duration, default: 0, lo: 1, hi: 2,
    });
    a_requirement_that_defaults_do_not_meet: "the defaults do not meet it", |p| {
        let cond = Expr { kind: ExprKind::Lit(0), ty: Ty::Bool, loc: Loc::default() };
        p.requirements.push(Requirement { cond, text: "false".into(), loc: Loc::default() });
    };
    a_type_out_of_range: "there is no type Struct(StructId(9))", |p| {
        p.scratchpads[0].fields[0].ty = Ty::Struct(StructId(9));
    };
    a_header_field_in_a_function: "this is not known here", |p| edit(p, |s| match s {
        StmtKind::Let { init: Some(init), .. } => { init.kind = ExprKind::HeaderLen; Some(()) }
        _ => None,
    });
}
