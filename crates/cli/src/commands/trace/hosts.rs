// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hosts of a run, by name, and which of them are looked at.

use std::collections::BTreeSet;

use carrick_driver::Failure;
use carrick_sim::watch::line::HOSTS;

use crate::args::TraceArgs;

/// The hosts that there are.
#[derive(Debug, PartialEq, Eq)]
pub struct Hosts {
    /// by number
    pub names: Vec<String>,
    /// those that are looked at; absent: all
    pub only: Option<BTreeSet<usize>>,
}

/// What the program between client and server is called.
pub const VIA: &str = "via";
/// What the stacks of a process are called: there is a second one where memory joins them.
pub const STACKS: [&str; 2] = ["stack", "peer"];

impl Hosts {
    /// Of these names; only the one that `--host` names, if it does.
    ///
    /// # Errors
    /// [`Failure::Usage`] if there is no such host.
    pub fn new(names: Vec<String>, wanted: Option<&str>) -> Result<Hosts, Failure> {
        let only = match wanted {
            Some(wanted) => {
                let place = names.iter().position(|name| name == wanted);
                Some(BTreeSet::from([place.ok_or_else(|| no_host(wanted, &names))?]))
            }
            None => None,
        };
        Ok(Hosts { names, only })
    }

    /// Of a simulation of two hosts, or of a stack that runs.
    ///
    /// # Errors
    /// As [`Hosts::new`].
    pub fn of_run(args: &TraceArgs) -> Result<Hosts, Failure> {
        let owned = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        match args.host.as_deref() {
            Some(VIA) => Hosts::new(vec![VIA.to_owned()], None),
            host if args.run.is_empty() => Hosts::new(owned(HOSTS), host),
            _ => Hosts::new(owned(STACKS), None),
        }
    }
}

fn no_host(wanted: &str, names: &[String]) -> Failure {
    let all = match names {
        [first, .., last] if names.len() > 8 => format!("{first} to {last}"),
        names => names.join(", "),
    };
    Failure::Usage(format!("--host {wanted}: there is no such host; there are {all}"))
}
