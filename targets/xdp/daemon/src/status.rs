// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a daemon holds, as data and as text; `carrickd status`.

use std::collections::BTreeMap;
use std::fmt::Write;

use carrick_driver::Failure;
use carrick_xdp_loader::pins;
use carrick_xdp_loader::rates::OfRate;
use serde::{Deserialize, Serialize};

use crate::args::Format;
use crate::control::{self, Question};
use crate::place::Place;

/// A daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// its version
    pub version: String,
    /// its process
    pub process: u32,
    /// in the order of the configuration
    pub programs: Vec<OfProgram>,
}

/// A program of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfProgram {
    /// as it is pinned
    pub name: String,
    /// the program
    pub file: String,
    /// the hash of the generated source
    pub source: String,
    /// the device's name
    pub device: String,
    /// the transport's address
    pub address: String,
    /// it is attached to its device; if not, the device is gone, or its application is started again
    pub attached: bool,
    /// it was there before this daemon
    pub found: bool,
    /// where applications are
    pub applications: Vec<OfHost>,
    /// the instances of each context that is not global
    pub instances: Vec<Instances>,
    /// who is held to which rate, and how much was sent; nothing where nobody is
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<OfRate>,
    /// all counters, by name
    pub counters: BTreeMap<String, u64>,
    /// the ids of instances, 1000 of each context at most; none where nobody asked for them
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<Connection>,
}

/// A host process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfHost {
    /// as behind `--app`
    pub app: String,
    /// the process, unless it is dead and about to be started again
    pub process: Option<u32>,
    /// how often this daemon has started it; 0: the last one did
    pub starts: u64,
}

/// Instances of a context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instances {
    /// the context's name
    pub context: String,
    /// those that there are
    pub open: usize,
    /// those that there can be
    pub capacity: usize,
}

/// An instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connection {
    /// the context's name
    pub context: String,
    /// as people read it
    pub id: String,
}

/// What a daemon holds; counters that are 0 are left out.
pub fn pretty(status: &Status) -> String {
    let mut text = format!("carrickd {}, process {}\n", status.version, status.process);
    for program in &status.programs {
        let (name, device, address) = (&program.name, &program.device, &program.address);
        let how = match (program.attached, program.found) {
            (false, _) => ", detached",
            (true, true) => ", as the last daemon left it",
            (true, false) => "",
        };
        let _ = writeln!(text, "\n{name} ({}) on {device}{how}, {address}", program.file);
        for host in &program.applications {
            let process = host.process.map_or("none now".to_owned(), |pid| pid.to_string());
            let how = match host.starts {
                0 => ", as the last daemon left it".into(),
                1 => String::new(),
                starts => format!(", started {starts} times"),
            };
            let _ = writeln!(text, "  {}: process {process}{how}", host.app);
        }
        for of in &program.instances {
            let _ = writeln!(text, "  {:<20} {} of {}", of.context, of.open, of.capacity);
        }
        for connection in &program.connections {
            let _ = writeln!(text, "    {} {}", connection.context, connection.id);
        }
        for of in &program.rates {
            let _ = writeln!(text, "  {of}");
        }
        for (counter, count) in program.counters.iter().filter(|(_, count)| **count > 0) {
            let _ = writeln!(text, "  {counter:<20} {count}");
        }
    }
    text
}

/// Asks the daemon, and prints what it says.
pub fn run(connections: bool, format: Format, place: &Place) -> Result<(), Failure> {
    let Some(answer) =
        control::ask(&place.socket(), if connections { Question::Connections } else { Question::Status })?
    else {
        return Err(nobody(place));
    };
    let status: Status = serde_json::from_str(&answer).map_err(|_| {
        Failure::Failed(format!("carrickd is of another version, or in trouble: {}", answer.trim()))
    })?;
    match format {
        Format::Json => print!("{answer}"),
        Format::Pretty => print!("{}", pretty(&status)),
    }
    Ok(())
}

/// No daemon is there: but what one left may be.
fn nobody(place: &Place) -> Failure {
    let left = pins::list(&place.pins).unwrap_or_default();
    let what = if left.is_empty() {
        "and nothing is pinned; `systemctl start carrickd` starts it".to_owned()
    } else {
        format!(
            "but {} is pinned; a daemon that starts continues with it, `carrickd clean` removes it",
            left.join(", ")
        )
    };
    Failure::Missing(format!("no carrickd listens at {}, {what}", place.socket().display()))
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// One of everything.
    pub fn example() -> Status {
        Status {
            version: "0.1.0".into(),
            process: 7,
            programs: vec![OfProgram {
                name: "least".into(),
                file: "/etc/carrick/least.mtp".into(),
                source: "00ff".into(),
                device: "wire0".into(),
                address: "10.7.0.2".into(),
                attached: true,
                found: true,
                applications: vec![OfHost { app: "echo".into(), process: Some(9), starts: 2 }],
                instances: vec![Instances { context: "conn".into(), open: 1, capacity: 16 }],
                rates: vec![OfRate {
                    user: Some(33),
                    rate: Some(100_000_000),
                    flow_rate: Some(2_500_000),
                    packets: 7,
                    bytes: 280,
                    delayed: 3,
                    refused: 1,
                }],
                counters: BTreeMap::from([("rx_packets".into(), 4), ("short".into(), 0)]),
                connections: vec![Connection { context: "conn".into(), id: "(remote_ip=10.7.0.1)".into() }],
            }],
        }
    }

    #[test]
    fn people_see_what_there_is() {
        let expected = "carrickd 0.1.0, process 7

least (/etc/carrick/least.mtp) on wire0, as the last daemon left it, 10.7.0.2
  echo: process 9, started 2 times
  conn                 1 of 16
    conn (remote_ip=10.7.0.1)
  user 33              100Mbps, 2500Kbps each connection; 7 packets, 280 bytes, 3 delayed, 1 refused
  rx_packets           4
";
        assert_eq!(pretty(&example()), expected);
    }
}
