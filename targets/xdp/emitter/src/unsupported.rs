// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the programs for the kernel cannot do yet, beyond what a target file says.

use carrick_driver::targets::Unsupported;
use carrick_ir::{BpFieldKind, Loc, NetLayer, Program, uses, walk};

use crate::raised::following;
use crate::reading::HEADER_MAX;

/// What it is, in something that the program declares.
fn of(what: &str, declared: &str) -> Unsupported {
    let what = format!("{what}, in `{declared}`");
    Unsupported { what, declared: Some(declared.to_owned()), loc: Loc::default() }
}

/// The most events that follow one.
const WAITING_MAX: u32 = 1024;
/// Bytes of the longest run of fields that are there together, or not, or move with what is before them.
const PART_MAX: u32 = 64;
/// Bytes of the longest option.
const OPTION_MAX: u32 = 64;

/// The first thing of a program that no program in the kernel can be made of.
pub fn unsupported(program: &Program) -> Option<Unsupported> {
    let whole = |what: String| Some(Unsupported { what, declared: None, loc: Loc::default() });
    if program.net_header.layer == NetLayer::Link {
        return whole("frames without a network header".into());
    }
    if program.report_parser.is_some() && !sums_all(program) {
        return whole("reports for packets without a checksum over header and payload".into());
    }
    if program.event_schedule.is_some() {
        return whole("scheduling of events (`register_ev_sched`)".into());
    }
    if following(program).waiting > WAITING_MAX {
        return whole("more than 1024 raised events in the queue at once".into());
    }
    if retires_shared(program) {
        return whole("`retire_ctx` of a context that chains share".into());
    }
    blueprint(program).or_else(|| types(program)).or_else(|| statement(program))
}

/// Whether instances are retired that chains of other flows hold as well.
fn retires_shared(program: &Program) -> bool {
    let retired = uses::retired(program);
    program.chains.iter().flatten().flat_map(|chain| &chain.shared).any(|s| retired.contains(&s.context))
}

/// Whether a checksum is over header and payload.
pub(crate) fn sums_all(program: &Program) -> bool {
    let all = |kind: &BpFieldKind| {
        matches!(kind, BpFieldKind::Checksum { header: true, payload: true, fields: None, .. })
    };
    program.blueprints.iter().flat_map(|bp| &bp.fields).any(|f| all(&f.kind))
}

fn blueprint(program: &Program) -> Option<Unsupported> {
    program.blueprints.iter().find_map(|bp| {
        let sums = |wanted: fn(bool, bool) -> bool| {
            bp.fields.iter().any(|f| {
                matches!(f.kind, BpFieldKind::Checksum { header, payload, fields, .. }
                    if wanted(header, payload) || fields.is_some())
            })
        };
        let what = if bp.parts.iter().any(|part| !part.varint && bp.part_len(part) > PART_MAX) {
            "more than 64 bytes of fields whose position in the packet varies"
        } else if bp.trailer || bp.fields.iter().any(|f| matches!(f.kind, BpFieldKind::Crc(_))) {
            "a CRC"
        } else if (bp.payload_len.is_some() && !bp.frame) || bp.payload_align > 1 {
            "a payload with a length of its own"
        } else if sums(|header, _| !header) {
            "a checksum that does not begin with the header"
        } else if bp.max_header_len > HEADER_MAX {
            let what = format!("a header of {} bytes (at most {HEADER_MAX})", bp.max_header_len);
            return Some(of(&what, &bp.name));
        } else {
            return None;
        };
        Some(of(what, &bp.name))
    })
}

fn types(program: &Program) -> Option<Unsupported> {
    if let Some(opt) =
        program.opts.iter().find(|opt| u32::from(opt.len) + opt.most_listed(program) > OPTION_MAX)
    {
        return Some(of("an option of more than 64 bytes", &opt.name));
    }
    None
}

fn statement(program: &Program) -> Option<Unsupported> {
    let mut found = None;
    for function in &program.functions {
        walk::statements(&function.body, &mut |stmt| {
            if uses::is_on_memory(stmt) {
                found.get_or_insert(("access to the memory of requests by address", stmt.loc));
            }
        });
    }
    found.map(|(what, loc)| Unsupported { what: what.to_owned(), declared: None, loc })
}
