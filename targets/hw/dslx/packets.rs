// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets that go in and out of a circuit: which programs have them, how long they are.

use carrick_ir::{BlueprintDef, BpFieldKind, Loc, NetLayer, Program, StmtKind, walk};

use super::emitter::{Emitted, unsupported};
use super::shape::sends_payload;

/// Bytes of options that are read at most.
pub const OPTIONS: u32 = 40;
/// Bytes of the longest header of IPv4.
const IPV4: u32 = 60;
const PACKETS: &str = include_str!("packets.x");

/// How long packets are that the circuit reads and makes.
#[derive(Debug, Clone, Copy)]
pub struct Packets {
    /// bytes of a packet that are read
    pub window: u32,
    /// bytes of the longest header that is made
    pub longest: u32,
}

impl Packets {
    /// How long the packets of a program are, if its packets go in and out of a circuit.
    ///
    /// # Errors
    /// What of the program is not made a circuit of.
    pub fn of(program: &Program) -> Emitted<Packets> {
        suits(program)?;
        let longest = |of: &dyn Fn(&BlueprintDef) -> u32| {
            program.blueprints.iter().map(of).max().unwrap_or(0).next_multiple_of(8)
        };
        for bp in &program.blueprints {
            plain(program, bp)?;
        }
        let read = |bp: &BlueprintDef| IPV4 + bp.fixed_len + if bp.options.is_some() { OPTIONS } else { 0 };
        let made = |bp: &BlueprintDef| 20 + bp.fixed_len + most_options(program, bp);
        Ok(Packets { window: longest(&read), longest: longest(&made) })
    }

    /// The declarations for this program.
    pub fn declarations(self, program: &Program) -> String {
        let Packets { window, longest } = self;
        let protocol = program.net_header.protocol;
        format!(
            "const WINDOW = u32:{window};\nconst LONGEST = u32:{longest};\nconst PROTOCOL = u8:{protocol};\n\n{PACKETS}"
        )
    }
}

/// The most bytes that options of a packet take.
pub fn most_options(program: &Program, bp: &BlueprintDef) -> u32 {
    let Some(list) = bp.options.map(|list| &program.opt_lists[list.index()]) else { return 0 };
    let members = list.members.iter().map(|opt| &program.opts[opt.index()]);
    let each = members.map(|opt| u32::from(opt.len) + opt.most_listed(program) + list.align - 1);
    each.sum::<u32>().next_multiple_of(list.align)
}

/// Refuses a program whose packets need a host.
fn suits(program: &Program) -> Emitted<()> {
    let parser = &program.functions[program.parser.index()];
    if program.in_network.is_none() || program.net_header.layer != NetLayer::Ipv4 {
        return unsupported("packets of a program that is not in the network", parser.loc);
    }
    let mut reads = 0;
    walk::statements(&parser.body, &mut |stmt| {
        reads += u32::from(matches!(stmt.kind, StmtKind::Extract { .. }))
    });
    let first = parser.body.stmts.iter().any(|stmt| matches!(stmt.kind, StmtKind::Extract { .. }));
    if reads != 1 || !first || program.max_parsed > 1 {
        return unsupported("a parser that does not read one header and raise one event", parser.loc);
    }
    if sends_payload(program) || program.event_schedule.is_some() || !program.coalescing.is_empty() {
        return unsupported("packets of data or joined packets, or events that wait", parser.loc);
    }
    let timers = program.contexts.iter().flat_map(|context| &context.timers);
    if timers.into_iter().any(|timer| !timer.says.is_empty() || timer.element.is_some()) {
        return unsupported("a timer whose event has fields, or one of several", parser.loc);
    }
    Ok(())
}

/// Refuses a blueprint that has more than fields, options and a payload.
fn plain(program: &Program, bp: &BlueprintDef) -> Emitted<()> {
    let more =
        bp.frame || bp.frames.is_some() || bp.payload_len.is_some() || bp.trailer || bp.payload_align > 1;
    let list = bp.options.map(|list| &program.opt_lists[list.index()]);
    let wide =
        list.is_some_and(|list| list.members.iter().any(|opt| program.opts[opt.index()].wide.is_some()));
    let odd = !bp.fixed_len.is_multiple_of(2) || list.is_some_and(|list| !list.align.is_multiple_of(2));
    let sums = bp.fields.iter().all(|field| match &field.kind {
        BpFieldKind::Checksum { header, payload, fields, .. } => *header && *payload && fields.is_none(),
        BpFieldKind::Crc(_) => false,
        _ => true,
    });
    if more || wide || odd || !sums || !bp.parts.is_empty() {
        return unsupported(format!("packets of `{}`", bp.name), Loc::default());
    }
    Ok(())
}
