// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counters for Prometheus, on the loopback device alone: the text format, version 0.0.4.

use std::fmt::Write as _;
use std::io;
use std::net::{Ipv4Addr, TcpListener};

use carrick_driver::Failure;

use crate::server::{self, Protocol};
use crate::status::{OfProgram, Status};

/// Bytes of the longest request that is read.
const LONGEST: usize = 8192;

/// What is told, or why nothing can be.
pub type Source = Box<dyn Fn() -> Result<Status, String> + Send>;

/// Answers at a port of the loopback device, until this process ends; the port, which 0 leaves to the system.
///
/// # Errors
/// Somebody else has the port.
pub fn listen(port: u16, source: Source) -> Result<u16, Failure> {
    let cannot = |e: io::Error| {
        Failure::Missing(format!(
            "cannot serve metrics at 127.0.0.1:{port}: {e}; choose another port for `metrics`"
        ))
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(cannot)?;
    let port = listener.local_addr().map_err(cannot)?.port();
    let answer = Box::new(move |request: &[u8]| answer(request, &source).into_bytes());
    let is_whole = |request: &[u8]| request.windows(4).any(|w| w == b"\r\n\r\n");
    server::listen(listener, Protocol { is_whole, longest: LONGEST, answer }).map_err(cannot)?;
    Ok(port)
}

fn answer(request: &[u8], source: &Source) -> String {
    let request = String::from_utf8_lossy(request);
    let (code, body) = match request.split(' ').take(2).collect::<Vec<_>>()[..] {
        ["GET", "/metrics"] => {
            source().map_or_else(|e| ("500 Internal Server Error", e), |s| ("200 OK", text(&s)))
        }
        _ => ("404 Not Found", "metrics are at /metrics\n".to_owned()),
    };
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    let len = body.len();
    format!(
        "HTTP/1.1 {code}\r\nContent-Type: {kind}\r\nContent-Length: {len}\r\nConnection: close\r\n\r\n{body}"
    )
}

/// A metric: its name, its type, what it tells, and its samples of a program: other labels, and the value.
type Metric = (&'static str, &'static str, &'static str, fn(&OfProgram) -> Vec<(String, u64)>);

const METRICS: [Metric; 8] = [
    ("carrick_attached", "gauge", "1 if the program is at its device", |program| {
        vec![(String::new(), u64::from(program.attached))]
    }),
    ("carrick_instances", "gauge", "instances of a context", |program| {
        program.instances.iter().map(|of| (label("context", &of.context), of.open as u64)).collect()
    }),
    ("carrick_instances_max", "gauge", "instances that a context can have", |program| {
        program.instances.iter().map(|of| (label("context", &of.context), of.capacity as u64)).collect()
    }),
    ("carrick_host_starts_total", "counter", "how often the host process was started", |program| {
        program.applications.iter().map(|host| (String::new(), host.starts)).collect()
    }),
    ("carrick_events_total", "counter", "what the program counts, by its counters' names", |program| {
        program.counters.iter().map(|(name, count)| (label("counter", name), *count)).collect()
    }),
    (
        "carrick_user_bytes_total",
        "counter",
        "bytes of packets that were sent, of users with a rate",
        |program| program.rates.iter().map(|of| (label("user", &of.who()), of.bytes)).collect(),
    ),
    ("carrick_user_delayed_total", "counter", "what of users a rate held back", |program| {
        program.rates.iter().map(|of| (label("user", &of.who()), of.delayed)).collect()
    }),
    ("carrick_user_refused_total", "counter", "what of users found no place behind a rate", |program| {
        program.rates.iter().map(|of| (label("user", &of.who()), of.refused)).collect()
    }),
];

fn label(name: &str, value: &str) -> String {
    format!(",{name}=\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// All metrics.
fn text(status: &Status) -> String {
    let mut text = String::new();
    for (name, kind, help, samples) in METRICS {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for program in &status.programs {
            let of = label("program", &program.name);
            for (labels, value) in samples(program) {
                let _ = writeln!(text, "{name}{{{}{labels}}} {value}", &of[1..]);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::{CLIENTS, PATIENCE};
    use crate::status::tests::example;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::time::Instant;

    fn get(port: u16, path: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("it listens");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("UTF-8");
        answer
    }

    #[test]
    fn prometheus_can_read_it() {
        let port = listen(0, Box::new(|| Ok(example()))).expect("there is a port");
        let answer = get(port, "/metrics");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"), "{answer}");
        let body = answer.split_once("\r\n\r\n").expect("a body").1;
        for line in [
            "# TYPE carrick_instances gauge",
            "carrick_instances{program=\"least\",context=\"conn\"} 1",
            "carrick_attached{program=\"least\"} 1",
            "carrick_events_total{program=\"least\",counter=\"rx_packets\"} 4",
            "carrick_host_starts_total{program=\"least\"} 2",
        ] {
            assert!(body.lines().any(|l| l == line), "{line} in:\n{body}");
        }
        assert!(get(port, "/").starts_with("HTTP/1.1 404 "));
        assert_eq!(label("a", "x\"\\\n"), ",a=\"x\\\"\\\\\\n\"");
    }

    #[test]
    fn nobody_waits_for_silent_readers_however_many() {
        let port = listen(0, Box::new(|| Ok(example()))).expect("there is a port");
        let silent: Vec<_> = (0..10 * CLIENTS)
            .map(|_| TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("it listens"))
            .collect();
        let begun = Instant::now();
        assert!(get(port, "/metrics").starts_with("HTTP/1.1 200 OK"));
        assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
        drop(silent);
    }

    #[test]
    fn trouble_is_told_and_a_port_in_use_too() {
        let port = listen(0, Box::new(|| Err("it is gone".into()))).expect("there is a port");
        assert!(get(port, "/metrics").ends_with("\r\n\r\nit is gone"));
        let said = listen(port, Box::new(|| Ok(example()))).expect_err("it is taken").to_string();
        assert!(said.contains("choose another port"), "{said}");
    }
}
