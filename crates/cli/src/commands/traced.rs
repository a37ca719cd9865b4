// SPDX-License-Identifier: MIT OR Apache-2.0
//! The trace file of a simulated run: of the hosts, or of one program in the network.

use std::fs::File;
use std::io::{self, BufWriter};

use carrick_driver::Failure;
use carrick_sim::observe::{Inside, Observer};
use carrick_sim::trace::Writer;

type Lines = Writer<BufWriter<File>>;

/// A trace that is written.
pub enum Traced {
    Hosts(Lines),
    Inside(Inside<Lines>),
}

impl Traced {
    /// A file of the hosts, or of the program in the network with this number.
    pub fn new(observer: Lines, station: Option<usize>) -> Traced {
        match station {
            None => Traced::Hosts(observer),
            Some(station) => Traced::Inside(Inside { station, observer }),
        }
    }

    pub fn observer(&mut self) -> &mut dyn Observer {
        match self {
            Traced::Hosts(lines) => lines,
            Traced::Inside(inside) => inside,
        }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The first error of writing.
    pub fn finish(self) -> io::Result<()> {
        let (Traced::Hosts(lines) | Traced::Inside(Inside { observer: lines, .. })) = self;
        lines.finish()
    }
}

/// No program is at this location.
pub fn nothing(at: &str, hint: &str) -> Failure {
    Failure::Usage(format!("--trace-at {at}: no program is there; {hint}"))
}
