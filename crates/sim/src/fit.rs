// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which messages a program takes. Only the program knows: it is asked, in a trial with two hosts that nobody else is part of.

use std::sync::Arc;

use carrick_ir::Program;

use crate::app::Refusal;
use crate::interface::Shape;
use crate::link::LinkConfig;
use crate::observe::Nobody;
use crate::run::run_with_messages;
use crate::scenario::{Engine, SECOND, Scenario, Way};

/// Bytes of the shortest message: it carries two numbers.
const SHORTEST: u32 = 16;

/// What trials found.
struct Fit {
    /// bytes of the longest message that is taken, not above what was wanted
    longest: u32,
    /// why longer ones are not
    refusal: Refusal,
}

/// The message length for hosts with these programs: what the user says (`said`), or `usual` and less if a program takes no such messages.
///
/// # Errors
/// A sentence, if a program does not take what the user says, but shorter messages.
pub(crate) fn message<'a>(
    ways: impl IntoIterator<Item = &'a Way<'a>>,
    mtu: u32,
    said: Option<u32>,
    usual: u32,
) -> Result<u32, String> {
    let wanted = said.unwrap_or(usual);
    let fits = ways.into_iter().filter_map(|way| longest(way.program, &way.params, mtu, wanted));
    match fits.min_by_key(|fit| fit.longest) {
        Some(Fit { longest, refusal }) if said.is_some() => Err(format!(
            "{refusal}: this program takes messages of at most {longest} bytes here; say --message {longest}B"
        )),
        Some(fit) => Ok(fit.longest),
        None => Ok(wanted),
    }
}

/// `None`: the program takes what is wanted, or trials say nothing, since it takes no message at all by itself.
fn longest(program: &Arc<Program>, params: &[u64], mtu: u32, wanted: u32) -> Option<Fit> {
    if Shape::of(program) != Ok(Shape::Message) {
        return None;
    }
    let refused = |len| trial(program, params, mtu, len);
    let refusal = refused(wanted)?;
    if wanted <= SHORTEST || refused(SHORTEST).is_some() {
        return None;
    }
    let (mut taken, mut not) = (SHORTEST, wanted);
    while taken + 1 < not {
        let middle = taken.midpoint(not);
        match refused(middle) {
            None => taken = middle,
            Some(_) => not = middle,
        }
    }
    Some(Fit { longest: taken, refusal })
}

/// Why a message of this length is refused by a program that has nothing else to do, if it is.
fn trial(program: &Arc<Program>, params: &[u64], mtu: u32, len: u32) -> Option<Refusal> {
    let link = LinkConfig { rate_bps: 100_000_000_000, delay_ns: 1_000, ..LinkConfig::default() };
    let scenario = Scenario {
        mtu,
        message: Some(len),
        params: params.to_vec(),
        limit: SECOND,
        ..Scenario::bulk(1, link, len.into())
    };
    let engine = Engine::Interpreter;
    let report = run_with_messages(program, &engine, None, &scenario, len, &mut Nobody, false).ok()?;
    report.connections[0].first()?.refusal
}
