// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the programs for the kernel cannot do yet, beyond what a target file says.

use carrick_ir::{BpFieldKind, Loc, NetLayer, Program, uses, walk};

use super::raised::following;

/// Something of a program for which there is no BPF C.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// what it is, as the beginning of a sentence
    pub what: String,
    /// the blueprint or option that it is about
    pub declared: Option<String>,
    /// the statement; line 0 if it is none
    pub loc: Loc,
}

impl Unsupported {
    fn of(what: &str, declared: &str) -> Unsupported {
        let what = format!("{what}, in `{declared}`");
        Unsupported { what, declared: Some(declared.to_owned()), loc: Loc::default() }
    }
}

/// The most events that follow one.
const WAITING_MAX: u32 = 1024;
/// Bytes of the longest header.
pub(super) const HEADER_MAX: u32 = 256;
/// Bytes of the longest run of fields that are there together, or not, or move with what is before them.
const PART_MAX: u32 = 64;
/// Bytes of the longest option.
const OPTION_MAX: u32 = 64;

/// The first thing of a program that no program in the kernel can be made of.
pub fn unsupported(program: &Program) -> Option<Unsupported> {
    let of = |what: String| Some(Unsupported { what, declared: None, loc: Loc::default() });
    if program.net_header.layer == NetLayer::Link {
        return of("frames without a network header".into());
    }
    if program.report_parser.is_some() && !sums_all(program) {
        return of("reports for packets without a checksum over header and payload".into());
    }
    if program.event_schedule.is_some() {
        return of("scheduling of events (`register_ev_sched`)".into());
    }
    if following(program).waiting > WAITING_MAX {
        return of("more than 1024 raised events in the queue at once".into());
    }
    blueprint(program).or_else(|| types(program)).or_else(|| statement(program))
}

/// Whether some packet has a checksum over all of it, so that what came is summed.
/// Whether a checksum is over header and payload.
pub(super) fn sums_all(program: &Program) -> bool {
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
            return Some(Unsupported::of(&what, &bp.name));
        } else {
            return None;
        };
        Some(Unsupported::of(what, &bp.name))
    })
}

fn types(program: &Program) -> Option<Unsupported> {
    if let Some(opt) =
        program.opts.iter().find(|opt| u32::from(opt.len) + opt.most_listed(program) > OPTION_MAX)
    {
        return Some(Unsupported::of("an option of more than 64 bytes", &opt.name));
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
