// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrickd clean`

use std::fs;

use carrick_driver::Failure;
use carrick_xdp_loader::{machine, pins, unpin};

use crate::host;
use crate::place::Place;

/// Takes away what is pinned, and no daemon has.
pub fn run(name: Option<&str>, place: &Place) -> Result<(), Failure> {
    machine::suits().map_err(|refusal| refusal.failure(false))?;
    let held = place.hold()?;
    // A dead daemon's, as no living one is here.
    let _ = fs::remove_file(place.socket());
    let done = clean(name, place);
    held.leave();
    done
}

fn clean(name: Option<&str>, place: &Place) -> Result<(), Failure> {
    let there = pins::list(&place.pins).map_err(Failure::Failed)?;
    if let Some(name) = name.filter(|name| !there.iter().any(|t| t == name)) {
        let names = if there.is_empty() { "nothing".into() } else { there.join(", ") };
        return Err(Failure::Usage(format!("{name} is not pinned in {}; {names} is", place.pins.display())));
    }
    for name in there.iter().filter(|t| name.is_none_or(|name| *t == name)) {
        take_away(place, name)?;
        println!("{name} is taken away");
    }
    Ok(())
}

/// Takes away all that there is of a program: its process, its device, its pins, its files.
///
/// # Errors
/// What stays there, and why.
pub fn take_away(place: &Place, name: &str) -> Result<(), Failure> {
    // One that stays is no reason to leave the others.
    let ended = host::end(&place.built(name));
    let removed = unpin(&place.pins_of(name)).map_err(Failure::Failed);
    place.forget(name);
    ended.and(removed)
}
