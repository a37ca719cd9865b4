// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long the packets of a blueprint can be, and whether there is a link that carries them.

use carrick_ir::{BlueprintDef, Program};
use carrick_syntax::diag::Diagnostic;

use crate::{Checker, codes};

/// A packet's length is a number of 16 bits (RFC 791 §3.1), and no MTU is greater.
const PACKET_MAX: u32 = 65_535;
/// Parts of a header that are told one by one.
const TOLD: usize = 6;

/// What takes room in a packet, and how many bytes at most.
struct Share {
    what: String,
    octets: u32,
}

impl Checker<'_> {
    /// Headers that no packet can have, and those that may leave no room in the packets that every link carries.
    pub(crate) fn check_room(&mut self) {
        if self.has_errors() {
            return;
        }
        for bp in self.program.blueprints.clone().iter().filter(|bp| !bp.frame) {
            let at = self.env.span(&bp.name).unwrap_or_default();
            let least = least(&self.program, bp);
            let shares = shares(&self.program, bp);
            let most: u32 = shares.iter().map(|s| s.octets).sum();
            let layer = self.program.net_header.layer;
            let (sure, who) = layer.sure_mtu();
            let found = if least > PACKET_MAX {
                Diagnostic::error(
                    codes::HEADER_TOO_LONG,
                    format!("no packet holds the header of `{}`", bp.name),
                    at,
                    format!("at least {least} bytes, and a packet has {PACKET_MAX} at most"),
                )
            } else if most > sure {
                Diagnostic::warning(
                    codes::HEADER_TOO_LONG,
                    format!("a packet of `{}` can need {most} bytes", bp.name),
                    at,
                    format!("longer than {sure}, {who}"),
                )
            } else {
                continue;
            };
            self.report(found.note(told(shares, most)).mend("use fewer or shorter fields and options"));
        }
    }
}

/// Bytes that every packet of the blueprint has.
fn least(program: &Program, bp: &BlueprintDef) -> u32 {
    let always = bp.parts.iter().filter(|part| part.when.is_none());
    let parts: u32 = always.map(|part| if part.varint { 1 } else { bp.part_len(part) }).sum();
    program.net_header.layer.header_len() + bp.fixed_len + parts + bp.trailer_len()
}

/// What a packet of the blueprint needs room for: everything that may stand in front of its payload, and what cannot be
/// cut further, a byte of the payload or a frame with one.
fn shares(program: &Program, bp: &BlueprintDef) -> Vec<Share> {
    let mut shares = vec![
        Share { what: "the network header".into(), octets: program.net_header.longest() },
        Share { what: "the fixed fields".into(), octets: bp.fixed_len },
    ];
    for part in &bp.parts {
        let names: Vec<&str> = bp.part_fields(part).iter().map(|f| f.name.as_str()).collect();
        let what = match names.as_slice() {
            [] => continue,
            [one] => format!("`{one}`"),
            [first, .., last] => format!("`{first}` to `{last}`"),
        };
        shares.push(Share { what, octets: bp.part_len(part) });
    }
    let before: u32 = bp.fixed_len + bp.parts.iter().map(|part| bp.part_len(part)).sum::<u32>();
    if let Some(name) = &bp.options_name {
        shares.push(Share { what: format!("`{name}`"), octets: bp.max_header_len.saturating_sub(before) });
    }
    let payload = |of: &BlueprintDef| u32::from(of.payload_name.is_some());
    let frames = bp.frames.iter().flat_map(|f| &f.members).map(|f| &program.blueprints[f.index()]);
    match frames.max_by_key(|f| f.max_header_len + payload(f)) {
        Some(frame) => {
            let what = format!("a frame `{}`", frame.name);
            shares.push(Share { what, octets: frame.max_header_len + payload(frame) });
        }
        None => {
            let what = format!("`{}`", bp.payload_name.as_deref().unwrap_or_default());
            shares.push(Share { what, octets: payload(bp) });
        }
    }
    shares.push(Share { what: "the CRC-32 behind the payload".into(), octets: bp.trailer_len() });
    shares.retain(|s| s.octets > 0);
    shares
}

/// Which parts sum to what: the longest ones, in the packet's order, and the others together.
fn told(shares: Vec<Share>, most: u32) -> String {
    let mut lengths: Vec<u32> = shares.iter().map(|s| s.octets).collect();
    lengths.sort_unstable_by(|a, b| b.cmp(a));
    let least = lengths.get(TOLD - 1).copied().unwrap_or_default();
    let mut told: Vec<&Share> = shares.iter().filter(|s| s.octets >= least).collect();
    told.truncate(TOLD);
    let rest = most - told.iter().map(|s| s.octets).sum::<u32>();
    let mut parts: Vec<String> = told.iter().map(|s| format!("{} of {}", s.octets, s.what)).collect();
    if rest > 0 {
        parts.push(format!("{rest} of what is shorter"));
    }
    format!("at most {most} bytes: {}", parts.join(", "))
}
