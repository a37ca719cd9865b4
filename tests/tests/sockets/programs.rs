//! The programs that everybody has, as Debian packs them, each at either end; at the other end it runs on the kernel's stack.

use std::path::Path;
use std::process::Command;

use carrick_tests::in_kernel::let_frames_back_but;
use carrick_tests::net::{End, Net, lacks};
use carrick_tests::running::{Running, serve};
use tempfile::TempDir;

use super::setting::Stack;

/// A wire, and a stack at our end of it.
struct Place {
    stack: Stack,
    dir: TempDir,
    net: Net,
}

/// The wire as it is, and as it should not be.
const WIRES: [&[&str]; 2] = [&[], &["--fault", "loss=1%,reorder=1%,seed=3"]];

/// Runs a test on each wire, with ours as the server and as the client.
fn everywhere(programs: &[&str], test: impl Fn(&Place, End)) {
    if programs.iter().any(|program| lacks(program)) {
        return;
    }
    for wire in WIRES {
        for server in [End::Ours, End::Peer] {
            let Some(net) = Net::new() else { return };
            let place =
                Place { stack: Stack::start(&net, wire), dir: tempfile::tempdir().expect("a folder"), net };
            test(&place, server);
        }
    }
}

impl Place {
    fn command(&self, end: End, program: &str) -> Command {
        match end {
            End::Ours => self.stack.command(&self.net, program),
            End::Peer => self.net.command(End::Peer, program),
        }
    }

    fn path(&self) -> &Path {
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
         http {{ access_log off; sendfile on; {temporary} server {{ listen 80; root {dir}; }} }}\n"
    );
    std::fs::write(place.path().join("conf"), conf).expect("writable");
    let mut command = place.command(server, "nginx");
    serve(command.args(["-p", &dir.to_string(), "-c", &format!("{dir}/conf")]), "start worker process ")
}

fn curl_fetches(place: &Place, server: End) {
    let url = format!("http://{}/data", address(server));
    // Twice: the second request takes the same connection.
    let got = output(place.command(other(server), "curl").args(["-sS", "--max-time", "60", &url, &url]));
    let data = std::fs::read(place.path().join("data")).expect("readable");
    assert!(got == [data.clone(), data].concat(), "{} octets", got.len());
}

#[test]
fn nginx_serves_and_curl_fetches() {
    everywhere(&["nginx", "curl"], |place, server| {
        let _nginx = nginx(place, server, 3_000_000);
        curl_fetches(place, server);
    });
}

/// The stack's core is in the kernel: on a wire as it is, and on one that loses a frame in a hundred.
#[test]
fn nginx_serves_and_curl_fetches_by_the_kernel() {
    if ["clang", "nginx", "curl"].iter().any(|program| lacks(program)) {
        return;
    }
    let Some(net) = Net::kernel_on_both() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let_frames_back_but(&net, dir.path(), 0);
    let Some(stack) = Stack::start_in_kernel(&net) else { return };
    let place = Place { stack, dir, net };
    for server in [End::Ours, End::Peer] {
        let _nginx = nginx(&place, server, 3_000_000);
        for lost in [0, 100] {
            let_frames_back_but(&place.net, place.path(), lost);
            curl_fetches(&place, server);
        }
    }
    place.stack.end();
}

#[test]
fn wrk_loads_nginx() {
    everywhere(&["nginx", "wrk"], |place, server| {
        let _nginx = nginx(place, server, 1000);
        let url = format!("http://{}/data", address(server));
        let said = output(place.command(other(server), "wrk").args(["-t2", "-c16", "-d1", &url]));
        let said = String::from_utf8_lossy(&said);
        assert!(!said.contains("Socket errors") && !said.contains("Non-2xx"), "{said}");
        let requests = said.lines().find_map(|line| line.trim().split_once(" requests in"));
        assert!(requests.is_some_and(|(n, _)| n.parse::<u64>().is_ok_and(|n| n > 16)), "{said}");
    });
}

#[test]
fn redis_answers_its_benchmark() {
    everywhere(&["redis-server", "redis-benchmark"], |place, server| {
        let mut redis = place.command(server, "redis-server");
        redis.args(["--save", "", "--appendonly", "no", "--bind", address(server), "--protected-mode", "no"]);
        let _redis = serve(redis.arg("--dir").arg(place.path()), "Ready to accept connections");
        let said = output(place.command(other(server), "redis-benchmark").args([
            "-h",
            address(server),
            "-n",
            "500",
            "-c",
            "10",
            "-t",
            "set,get",
            "-d",
            "2000",
            "--csv",
        ]));
        let said = String::from_utf8_lossy(&said);
        assert!(said.contains("\"SET\"") && said.contains("\"GET\""), "{said}");
    });
}

#[test]
fn iperf3_measures() {
    everywhere(&["iperf3"], |place, server| {
        for reverse in [false, true] {
            let mut command = place.command(server, "iperf3");
            let _server = serve(command.args(["-s", "-1", "--forceflush"]), "Server listening");
            let mut client = place.command(other(server), "iperf3");
            client.args(["-c", address(server), "-n", "4M", "-P", "2", "-J"]).args(reverse.then_some("-R"));
            let said: serde_json::Value = serde_json::from_slice(&output(&mut client)).expect("it is JSON");
            // The receiver stops when the sender says that all is sent: what is under way then is not counted.
            let received = said["end"]["sum_received"]["bytes"].as_u64();
            assert!(received.is_some_and(|n| n > 0), "{said}");
        }
    });
}
