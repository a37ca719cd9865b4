// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of a program's interface, as the command line and files say them: `h0: add_pathlet(0, 10.0.0.5) @ 1ms`.

use std::net::Ipv6Addr;
use std::path::Path;

use carrick_driver::{Failure, quantity};
use carrick_ir::print::type_name;
use carrick_ir::{CallTarget, EventDef, FieldDef, InterfaceCall, Program, Ty};
use carrick_sim::fabric::timed::TimedCall;
use carrick_sim::fabric::topology::Topology;
use carrick_syntax::suggest::nearest;

use super::file::{no_node, nodes, read};

/// The program of a host.
pub type ProgramOf<'a> = dyn Fn(u32) -> &'a Program + 'a;

/// Those of the command line, and behind them those of a file, a line each.
///
/// # Errors
/// [`Failure::Usage`] if one is none of this program or topology.
pub fn all(
    texts: &[String],
    file: Option<&Path>,
    program: &ProgramOf<'_>,
    topology: &Topology,
) -> Result<Vec<TimedCall>, Failure> {
    let mut all = Vec::new();
    for text in texts {
        all.extend(call(text, program, topology).map_err(|e| Failure::Usage(format!("--call: {e}")))?);
    }
    let Some(path) = file else { return Ok(all) };
    for (number, line) in (1..).zip(read(path)?.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if !line.is_empty() {
            let wrong = |e| Failure::Usage(format!("{}:{number}: {e}", path.display()));
            all.extend(call(line, program, topology).map_err(wrong)?);
        }
    }
    Ok(all)
}

/// One call, at one host or several.
fn call(text: &str, program: &ProgramOf<'_>, topology: &Topology) -> Result<Vec<TimedCall>, String> {
    let shape = || {
        format!(
            "{text:?} is no call: say a host, a call with its arguments, and a time, such as h0: add(0, 10.0.0.5) @ 1ms"
        )
    };
    let (hosts, rest) = text.split_once(':').ok_or_else(shape)?;
    let (what, at) = rest.rsplit_once('@').unwrap_or((rest, "0s"));
    let inner = what.trim().strip_suffix(')').ok_or_else(shape)?;
    let (name, args) = inner.split_once('(').ok_or_else(shape)?;
    let name = name.trim();
    let at = quantity::duration(at.trim()).map_err(|e| e.to_string())?;
    let hosts = nodes(hosts.trim(), topology).map_err(|_| no_node(hosts.trim(), topology).to_string())?;
    if *hosts.end() >= topology.hosts {
        return Err(format!("{text:?}: calls are made at hosts, h0 to h{}", topology.hosts - 1));
    }
    let of = |host| {
        let (call, known) = find(name, program(host))?;
        let args = values(args, known, program(host))?;
        Ok(TimedCall { at, host, call, args, text: format!("{}: {}", topology.name(host), rest.trim()) })
    };
    hosts.map(of).collect()
}

/// The call of this name, if it can be made so.
fn find<'p>(name: &str, program: &'p Program) -> Result<(usize, &'p InterfaceCall), String> {
    let interface = program.interface.as_ref().ok_or("the program has no interface")?;
    let found = interface.calls.iter().enumerate().find(|(_, call)| call.name == name);
    let found = found.ok_or_else(|| {
        let near = nearest(name, interface.calls.iter().map(|call| call.name.as_str()));
        let hint = near.map_or(".".to_owned(), |near| format!("; did you mean {near}?"));
        let all: Vec<_> = interface.calls.iter().map(|call| signature(call, program)).collect();
        format!("the interface `{}` has no call `{name}`{hint} It has {}", interface.name, all.join(", "))
    })?;
    let (_, call) = found;
    let refused = |why| Err(format!("`{name}` cannot be made from the command line: it {why}"));
    if let CallTarget::On(ctx) = call.target {
        let ctx = &program.contexts[ctx.index()].name;
        return refused(format!("works on the handle of a `{ctx}`, which only its application has"));
    }
    if event(call, program).fields.iter().any(|field| field.ty == Ty::Addr) {
        return refused("takes memory of an application".to_owned());
    }
    Ok(found)
}

fn event<'p>(call: &InterfaceCall, program: &'p Program) -> &'p EventDef {
    &program.events[call.event.index()]
}

/// `add_pathlet(uint32 kind, uint32 address)`
fn signature(call: &InterfaceCall, program: &Program) -> String {
    let field = |field: &FieldDef| format!("{} {}", type_name(program, &field.ty), field.name);
    let fields: Vec<_> = event(call, program).fields.iter().map(field).collect();
    format!("{}({})", call.name, fields.join(", "))
}

/// A value for each field of the call's event.
fn values(text: &str, call: &InterfaceCall, program: &Program) -> Result<Vec<u64>, String> {
    let given: Vec<&str> = text.split(',').map(str::trim).filter(|arg| !arg.is_empty()).collect();
    let fields = &event(call, program).fields;
    if given.len() != fields.len() {
        return Err(format!("{} arguments: expected {}", given.len(), signature(call, program)));
    }
    let of = |(arg, field): (&&str, &FieldDef)| {
        value(arg, &field.ty).ok_or_else(|| {
            let ty = type_name(program, &field.ty);
            format!("{arg:?} is no `{ty}` for `{}` of {}", field.name, signature(call, program))
        })
    };
    let values: Vec<Vec<u64>> = given.iter().zip(fields).map(of).collect::<Result<_, _>>()?;
    Ok(values.concat())
}

/// The words of a value: of a number, an address, or a quantity, as the type wants it.
pub fn value(text: &str, ty: &Ty) -> Option<Vec<u64>> {
    if let Ty::Id(_) = ty {
        let address = u128::from(text.parse::<Ipv6Addr>().ok()?);
        return Some(vec![(address >> 64) as u64, address as u64]);
    }
    word(text, ty).map(|word| vec![word])
}

fn word(text: &str, ty: &Ty) -> Option<u64> {
    let number = || quantity::number(text).ok();
    match ty {
        Ty::Bool => text.parse::<bool>().ok().map(u64::from),
        Ty::Int { bits, signed: false } => number().filter(|value| *bits == 64 || value >> bits == 0),
        Ty::Int { bits, signed: true } => {
            let least = -(1_i128 << (bits - 1));
            let value = text.parse::<i64>().ok()?;
            (least..-least).contains(&value.into()).then_some(value as u64 & u64::MAX >> (64 - bits))
        }
        Ty::Seq32 => number().filter(|value| value >> 32 == 0),
        Ty::Duration | Ty::Time => quantity::duration(text).ok(),
        Ty::Rate => quantity::rate(text).ok(),
        Ty::Bytes => quantity::bytes(text).ok(),
        _ => None,
    }
}
