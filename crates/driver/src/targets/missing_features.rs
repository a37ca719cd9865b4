// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a program needs and a target lacks.

use carrick_ir as ir;
use carrick_syntax::Sources;
use carrick_syntax::ast::File;
use carrick_syntax::diag::Diagnostic;

use super::file::{ANY, TargetFile};
use super::list::Against;
use super::measure::Measured;
use super::uses::{Use, Uses};
use super::{codes, limits};

/// Places that a diagnostic shows beside the first one.
const PLACES: usize = 3;

/// What a target file lists.
type Words = fn(&TargetFile) -> &[String];
/// What a program can do without this word.
type Instead = fn(&str) -> Option<&'static str>;

/// One kind of word that target files list.
struct Kind {
    code: u16,
    /// as in "has no ..."
    what: &'static str,
    /// as in "it has the ..."
    plural: &'static str,
    label: &'static str,
    of: Words,
    mend: Instead,
    /// what to do about a word that no target has
    unknown: &'static str,
}

const LEAVE_OUT: &str = "do without it";

const INSTRUCTION: Kind = Kind {
    code: codes::INSTRUCTION,
    what: "does not support",
    plural: "instructions",
    label: "issued here",
    of: |target| &target.instructions,
    mend: |name| ir::Opcode::named(name)?.declaration().instead,
    unknown: LEAVE_OUT,
};

const PACKET_BLOCK: Kind = Kind {
    code: codes::PACKET_BLOCK,
    what: "does not support the packet block",
    plural: "blocks for packets",
    label: "packets wait here",
    of: |target| &target.blocks,
    mend: |name| {
        Some(match name {
            "per_flow" => "give a number of queues in place of `PER_FLOW`, and say in `pkt_gen` which",
            "rate_limiter" => "pace by a timer: let its event issue the next `pkt_gen`",
            _ => return None,
        })
    },
    unknown: LEAVE_OUT,
};

const EVENT_BLOCK: Kind = Kind {
    code: codes::EVENT_BLOCK,
    what: "does not support the event block",
    plural: "blocks for events",
    label: "events wait here",
    of: |target| &target.event_blocks,
    mend: |_| Some("leave out `register_ev_sched`: each event is then handled when it arrives"),
    unknown: LEAVE_OUT,
};

const EVENT_KIND: Kind = Kind {
    code: codes::EVENT_KIND,
    what: "has no events of the kind",
    plural: "kinds",
    label: "of this kind",
    of: |target| &target.event_kinds,
    mend: |name| {
        Some(match name {
            "sent_event" => "do its work after the `pkt_gen`, or when a timer fires",
            "flow_event" => "put its processors into the chains that raise it",
            _ => return None,
        })
    },
    unknown: LEAVE_OUT,
};

const INTERFACE: Kind = Kind {
    code: codes::INTERFACE,
    what: "has no applications for the interface",
    plural: "interfaces",
    label: "no application calls it",
    of: |target| &target.interfaces,
    mend: |_| None,
    unknown: "name the interface after the API of its calls (the reference lists them)",
};

const NET_HEADER: Kind = Kind {
    code: codes::NET_HEADER,
    what: "has no network layer",
    plural: "network headers",
    label: "packets go over it",
    of: |target| &target.net_headers,
    mend: |name| {
        Some(match name {
            "link" => "let the packets go over `ipv4`, with its addresses in place of those of frames",
            "ipv6" => "let the program run over `inet`, and build it without `--over ipv6`",
            _ => return None,
        })
    },
    unknown: LEAVE_OUT,
};

const ROLE: Kind = Kind {
    code: codes::ROLE,
    what: "does not run programs in the role",
    plural: "roles",
    label: "the role",
    of: |target| &target.roles,
    mend: |name| {
        Some(match name {
            "in_network" => "leave out `register_role` if the program can be an endpoint",
            _ => {
                "add `register_role(in_network, packets);` if the program can run between the interfaces of a node"
            }
        })
    },
    unknown: LEAVE_OUT,
};

const REPORTS: Kind = Kind {
    code: codes::REPORTS,
    what: "does not deliver reports by",
    plural: "reports",
    label: "this parser would never run",
    of: |target| &target.reports,
    mend: |_| Some("leave the report parser out, for example as a feature that is not chosen"),
    unknown: LEAVE_OUT,
};

/// What a program needs and the target lacks, each thing once: at its first use in the tree, if there is one, with the next ones.
pub fn of(
    against: &Against,
    program: &ir::Program,
    file: Option<&File>,
    sources: &Sources,
) -> Vec<Diagnostic> {
    let target = &against.file;
    let uses = file.map_or_else(|| Uses::without_places(program), |file| Uses::of(program, file));
    let kinds = [
        (INSTRUCTION, &uses.instructions),
        (PACKET_BLOCK, &uses.blocks),
        (EVENT_BLOCK, &uses.event_blocks),
        (EVENT_KIND, &uses.event_kinds),
        (INTERFACE, &uses.interface),
        (NET_HEADER, &uses.net_header),
        (ROLE, &uses.role),
        (REPORTS, &uses.reports),
    ];
    let kinds = kinds.iter().filter(|(kind, _)| against.called || kind.code != INTERFACE.code);
    let mut found: Vec<Diagnostic> = kinds.flat_map(|(kind, used)| lacks(against, kind, used)).collect();
    if !target.limits.is_empty() {
        found.extend(limits::exceeded(target, &Measured::new(program, file, sources)));
    }
    found
}

fn lacks(against: &Against, kind: &Kind, used: &[Use]) -> Vec<Diagnostic> {
    let has = (kind.of)(&against.file);
    let mut found = Vec::new();
    for (at, first) in used.iter().enumerate() {
        // Who has none of a kind lacks them all: that is said once.
        if has.is_empty() && !found.is_empty() {
            break;
        }
        let known = has.iter().any(|word| *word == first.name || word == ANY)
            || used[..at].iter().any(|before| before.name == first.name);
        if !known {
            let rest: Vec<&Use> = used[at + 1..].iter().filter(|u| u.name == first.name).collect();
            found.push(lack(against, kind, first, &rest));
        }
    }
    found
}

fn lack(against: &Against, kind: &Kind, first: &Use, rest: &[&Use]) -> Diagnostic {
    let target = &against.file;
    let message = format!("target `{}` {} `{}`", target.name, kind.what, first.name);
    let mut diagnostic = Diagnostic::error(kind.code, message, first.span, kind.label);
    for more in rest.iter().take(PLACES) {
        diagnostic = diagnostic.cause(more.span, "and here");
    }
    let more = match rest.len().saturating_sub(PLACES) {
        0 => String::new(),
        1 => "; one more location needs it".to_owned(),
        n => format!("; {n} more locations need it"),
    };
    let has = match (kind.of)(target) {
        [] => format!("target `{}` has no {}", target.name, kind.plural),
        names => format!("target `{}` has the {} `{}`", target.name, kind.plural, names.join("`, `")),
    };
    diagnostic.note(has + &more).mend(mend(kind, &first.name, &against.all))
}

/// What can be done about it: in the program, or by another target.
fn mend(kind: &Kind, name: &str, all: &[TargetFile]) -> String {
    let others: Vec<&str> =
        all.iter().filter(|t| (kind.of)(t).iter().any(|n| n == name)).map(|t| t.name.as_str()).collect();
    let elsewhere = match others.as_slice() {
        [] => None,
        [one] => Some(format!("build for `{one}`, which has it")),
        [names @ .., last] => Some(format!("build for `{}` or `{last}`, which have it", names.join("`, `"))),
    };
    match ((kind.mend)(name), elsewhere) {
        (Some(mend), Some(elsewhere)) => format!("{mend}; or {elsewhere}"),
        (Some(mend), None) => mend.to_owned(),
        (None, Some(elsewhere)) => format!("{LEAVE_OUT}, or {elsewhere}"),
        (None, None) => kind.unknown.to_owned(),
    }
}
