// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sites of a target: what its file says of them, as the placement of chains takes it.

use carrick_ir::EventKind;
use carrick_ir::uses::event_kind_name;
use carrick_lower::placement;

use super::file::{Site, TargetFile};

/// The limits that a site can have of its own.
const LIMITS: [&str; 2] = ["blueprints_per_event", "statements_per_chain"];

const KINDS: [EventKind; 4] = [EventKind::App, EventKind::Net, EventKind::Timer, EventKind::Sent];

/// What is wrong with the sites of a target file, if something is.
pub(super) fn wrong(target: &TargetFile) -> Option<String> {
    target.sites.iter().find_map(|site| {
        let name = &site.name;
        let known = |kind: &&String| KINDS.iter().any(|k| event_kind_name(*k) == kind.as_str());
        if let Some(kind) = site.event_kinds.iter().find(|kind| !known(kind)) {
            return Some(format!("at site {name:?} no event arises of the kind {kind:?}"));
        }
        let limit = site.limits.keys().find(|limit| !LIMITS.contains(&limit.as_str()))?;
        Some(format!("site {name:?} has a limit {limit:?}; there are {}", LIMITS.join(", ")))
    })
}

/// The sites of a target, in their order; one, where everything is, if its file names none.
pub fn of(target: &TargetFile) -> Vec<placement::Site> {
    if target.sites.is_empty() {
        return vec![placement::Site {
            name: target.name.clone(),
            description: target.description.clone(),
            begins: KINDS.to_vec(),
            instructions: None,
            memory: true,
            payload: true,
            waits: true,
            blueprints: None,
            statements: None,
        }];
    }
    target.sites.iter().map(one).collect()
}

fn one(site: &Site) -> placement::Site {
    let begins = KINDS.into_iter().filter(|k| site.event_kinds.iter().any(|n| n == event_kind_name(*k)));
    let limit = |name: &str| site.limits.get(name).map(|most| u32::try_from(*most).unwrap_or(u32::MAX));
    placement::Site {
        name: site.name.clone(),
        description: site.description.clone(),
        begins: begins.collect(),
        instructions: site.instructions.clone(),
        memory: site.memory,
        payload: site.payload,
        waits: site.waits,
        blueprints: limit(LIMITS[0]),
        statements: limit(LIMITS[1]),
    }
}
