// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the programs are asked to do, at whichever end the server is.

use std::path::Path;
use std::process::Command;

use carrick_tests::net::{End, Net};
use carrick_tests::running::{Running, serve};

use super::programs::Place;

impl Place {
    fn command(&self, end: End, program: &str) -> Command {
        match end {
            End::Ours => self.stack.command(&self.net, program),
            End::Peer => self.net.command(End::Peer, program),
        }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

fn other(end: End) -> End {
    if end == End::Ours { End::Peer } else { End::Ours }
}

fn address(end: End) -> &'static str {
    if end == End::Ours { Net::OURS } else { Net::PEER }
}

/// What it printed; it must have succeeded.
fn output(command: &mut Command) -> Vec<u8> {
    let done = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {said}{}", String::from_utf8_lossy(&done.stdout));
    done.stdout
}

/// nginx with two workers, which it forks, serving `data`.
fn nginx(place: &Place, server: End, octets: usize) -> Running {
    let data: Vec<u8> = (0..octets).map(|n| (n * 31 % 251) as u8).collect();
    std::fs::write(place.path().join("data"), data).expect("writable");
    let dir = place.path().display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|name| format!("{name}_temp_path {dir}/{name}; "))
        .collect();
    let conf = format!(
        "daemon off; pid {dir}/pid; user root; error_log stderr notice; worker_processes 2;\n\
         events {{ worker_connections 256; }}\n\
         http {{ access_log off; sendfile on; tcp_nopush on; {temporary} server {{ listen 80; root {dir}; }} }}\n"
    );
    std::fs::write(place.path().join("conf"), conf).expect("writable");
    let mut command = place.command(server, "nginx");
    serve(command.args(["-p", &dir.to_string(), "-c", &format!("{dir}/conf")]), "start worker process ")
}

pub fn nginx_serves_and_curl_fetches(place: &Place, server: End) {
    let _nginx = nginx(place, server, 3_000_000);
    let url = format!("http://{}/data", address(server));
    // Twice: the second request takes the same connection.
    let got = output(place.command(other(server), "curl").args(["-sS", "--max-time", "60", &url, &url]));
    let data = std::fs::read(place.path().join("data")).expect("readable");
    assert!(got == [data.clone(), data].concat(), "{} octets", got.len());
}

pub fn wrk_loads_nginx(place: &Place, server: End) {
    let _nginx = nginx(place, server, 1000);
    let url = format!("http://{}/data", address(server));
    let said = output(place.command(other(server), "wrk").args(["-t2", "-c16", "-d1", &url]));
    let said = String::from_utf8_lossy(&said);
    assert!(!said.contains("Socket errors") && !said.contains("Non-2xx"), "{said}");
    let requests = said.lines().find_map(|line| line.trim().split_once(" requests in"));
    assert!(requests.is_some_and(|(n, _)| n.parse::<u64>().is_ok_and(|n| n > 16)), "{said}");
}

/// The benchmark's own values, and one that is put there and read again.
pub fn redis_answers_its_benchmark(place: &Place, server: End) {
    let mut redis = place.command(server, "redis-server");
    redis.args(["--save", "", "--appendonly", "no", "--bind", address(server), "--protected-mode", "no"]);
    let _redis = serve(redis.arg("--dir").arg(place.path()), "Ready to accept connections");
    let mut benchmark = place.command(other(server), "redis-benchmark");
    benchmark.args(["-h", address(server), "-e", "-n", "500", "-c", "10", "-t", "set,get", "-d", "2000"]);
    let said = output(benchmark.arg("--csv"));
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("\"SET\"") && said.contains("\"GET\"") && !said.contains("rror"), "{said}");
    let cli = |arguments: &[&str]| {
        let mut command = place.command(other(server), "redis-cli");
        command.args(["-h", address(server)]).args(arguments);
        command
    };
    assert_eq!(output(&mut cli(&["strlen", "key:__rand_int__"])), b"2000\n");
    let value: String = (0..300_000).map(|n| char::from(b'a' + (n * 7 % 26) as u8)).collect();
    std::fs::write(place.path().join("value"), &value).expect("writable");
    let value_there = std::fs::File::open(place.path().join("value")).expect("readable");
    assert_eq!(output(cli(&["-x", "set", "value"]).stdin(value_there)), b"OK\n");
    assert!(output(&mut cli(&["get", "value"])) == (value + "\n").into_bytes(), "another value comes back");
}

pub fn iperf3_measures(place: &Place, server: End) {
    for reverse in [false, true] {
        let mut command = place.command(server, "iperf3");
        let _server = serve(command.args(["-s", "-1", "--forceflush"]), "Server listening");
        let mut client = place.command(other(server), "iperf3");
        client.args(["-c", address(server), "-n", "4M", "-P", "2", "-J"]).args(reverse.then_some("-R"));
        let said: serde_json::Value = serde_json::from_slice(&output(&mut client)).expect("it is JSON");
        // The receiver stops when the sender says that all is sent: what is under way then is not counted.
        let octets = |side: &str| said["end"][side]["bytes"].as_u64();
        assert!(said["error"].is_null() && octets("sum_received").is_some_and(|n| n > 0), "{said}");
        assert!(octets("sum_sent").is_some_and(|n| n >= 4 << 20), "{said}");
    }
}
