// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a program declares, in tables.

use carrick_ir::uses::event_kind_name;
use carrick_ir::{CallTarget, EventDef, FieldDef, Program, print};

use crate::html::{code, escape, inline, link, place, prose, table, written};
use crate::reach::Reach;

const FIELDS: [&str; 4] = ["field", "type", "at first", ""];

fn row(program: &Program, word: &str, field: &FieldDef) -> Vec<String> {
    let init = field.init.as_ref().map(|e| print::expression(program, e, &[])).unwrap_or_default();
    let ty = format!("{word}{}", print::type_name(program, &field.ty));
    vec![code(&field.name), code(&ty), code(&init), inline(&field.doc)]
}

fn fields<'a>(program: &Program, fields: impl IntoIterator<Item = &'a FieldDef>) -> String {
    table(&FIELDS, fields.into_iter().map(|field| row(program, "", field)))
}

/// The fields of an event: of an optional one, that which says whether it is there has no row.
fn event_fields(program: &Program, event: &EventDef) -> String {
    let fields = (0_u32..).zip(&event.fields).filter(|(at, _)| !event.optional.contains(&(at + 1)));
    let word = |at: u32| if event.optional.contains(&at) { "optional " } else { "" };
    table(&FIELDS, fields.map(|(at, field)| row(program, word(at), field)))
}

fn heading(kind: &str, name: &str, more: &str) -> String {
    format!("<h3 id=\"{kind}-{0}\"><code>{0}</code> <small>{more}</small></h3>\n", escape(name))
}

pub fn contexts(program: &Program) -> String {
    let context = |c: &carrick_ir::ContextDef| {
        let show = |e: &carrick_ir::Expr| code(&print::expression(program, e, &[]));
        let found = if c.global {
            "one, shared by all flows".to_owned()
        } else {
            let id = &program.ids[c.id.index()];
            let parts: Vec<&str> = id.parts.iter().map(|p| p.name.as_str()).collect();
            format!(
                "found by <code>{}({})</code>, at most {}",
                escape(&id.name),
                escape(&parts.join(", ")),
                show(&c.capacity)
            )
        };
        let units = [("to send", &c.tx_capacity), ("received", &c.rx_capacity)];
        let units: Vec<String> = units
            .iter()
            .filter_map(|(what, octets)| octets.as_ref().map(|o| format!("{} bytes {what}", show(o))))
            .collect();
        let units =
            if units.is_empty() { String::new() } else { format!("<p>Data: {}.</p>\n", units.join(", ")) };
        let timers = c.timer_rows().map(|(_, t)| {
            let several = if t.count() > 1 { format!("{}[{}]", t.base(), t.count()) } else { t.name.clone() };
            vec![code(&several), link("event", &program.events[t.event.index()].name), inline(&t.doc)]
        });
        heading("context", &c.name, &found)
            + &prose(&c.doc)
            + &units
            + &fields(program, c.declared_fields())
            + &table(&["timer", "fires", ""], timers)
    };
    let pads = program.scratchpads.iter().map(|s| {
        heading("scratchpad", &s.name, "for the processors of one chain")
            + &prose(&s.doc)
            + &fields(program, &s.fields)
    });
    program.contexts.iter().map(context).chain(pads).collect()
}

pub fn events(program: &Program, reach: &[Reach]) -> String {
    let event = |(number, e): (usize, &EventDef)| {
        let raisers = program.functions.iter().zip(reach);
        let by: Vec<String> = raisers
            .filter(|(_, can)| can.raises.contains(&(number as u32)))
            .map(|(f, _)| link("function", &f.name))
            .collect();
        let by = if by.is_empty() { String::new() } else { format!("<p>Raised by {}.</p>\n", by.join(", ")) };
        heading("event", &e.name, event_kind_name(e.kind)) + &prose(&e.doc) + &by + &event_fields(program, e)
    };
    program.events.iter().enumerate().map(event).collect()
}

pub fn calls(program: &Program) -> String {
    let Some(interface) = &program.interface else { return String::new() };
    let rows = interface.calls.iter().map(|call| {
        let event = &program.events[call.event.index()];
        let takes: Vec<&str> = event.fields.iter().map(|f| f.name.as_str()).collect();
        let of = match &call.target {
            CallTarget::At { id, .. } => code(&program.ids[id.index()].name),
            CallTarget::On(context) => link("context", &program.contexts[context.index()].name),
            CallTarget::Nowhere => String::new(),
        };
        vec![
            code(&format!("{}({})", call.name, takes.join(", "))),
            of,
            link("event", &event.name),
            inline(&call.doc),
        ]
    });
    let shape = format!("<p>An interface of the shape <code>{}</code>.</p>\n", escape(&interface.name));
    shape + &table(&["call", "of", "event", ""], rows)
}

pub fn functions(program: &Program, reach: &[Reach]) -> String {
    let rows = program.functions.iter().zip(reach).map(|(f, can)| {
        let params: Vec<String> = f.locals[..f.params as usize]
            .iter()
            .map(|p| format!("{} {}", print::type_name(program, &p.ty), p.name))
            .collect();
        let sign = format!("{} {}({})", print::type_name(program, &f.ret), f.name, params.join(", "));
        let issued: Vec<&str> = can.instructions.iter().copied().collect();
        let packets: Vec<String> =
            can.packets.iter().map(|bp| link("packet", &program.blueprints[*bp as usize].name)).collect();
        vec![
            format!("<span id=\"function-{}\">{}</span>", escape(&f.name), code(&sign)),
            code(&issued.join(" ")),
            packets.join(" "),
            place(program, f.loc),
            inline(&f.doc),
        ]
    });
    table(&["", "may issue", "packets", "at", ""], rows)
}

pub fn params(program: &Program) -> String {
    let rows = program.params.iter().map(|p| {
        let show = |value| print::literal(program, &p.ty, value);
        let range = format!("{}..{}", show(p.lo), show(p.hi));
        vec![
            code(&p.name),
            code(&print::type_name(program, &p.ty)),
            code(&show(p.default)),
            code(&range),
            inline(&p.doc),
        ]
    });
    let required = program.requirements.iter().map(|r| vec![written(&r.text)]);
    table(&["parameter", "type", "default", "range", ""], rows) + &table(&["required of them"], required)
}

pub fn values(program: &Program) -> String {
    let consts = program.consts.iter().map(|c| {
        let ty = print::type_name(program, &c.ty);
        vec![code(&c.name), code(&ty), code(&print::literal(program, &c.ty, c.value)), inline(&c.doc)]
    });
    let enums = program.enums.iter().map(|e| {
        let variants: Vec<String> =
            e.variants.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        vec![
            code(&e.name),
            code(&print::type_name(program, &e.repr)),
            code(&variants.join(", ")),
            inline(&e.doc),
        ]
    });
    let structs = program
        .structs
        .iter()
        .map(|s| heading("struct", &s.name, "struct") + &prose(&s.doc) + &fields(program, &s.fields));
    table(&["", "type", "value", ""], consts.chain(enums)) + &structs.collect::<String>()
}

pub fn claims(program: &Program) -> String {
    let rows = program.claims.iter().map(|c| vec![written(&c.text), place(program, c.loc)]);
    table(&["what holds", "at"], rows)
}
