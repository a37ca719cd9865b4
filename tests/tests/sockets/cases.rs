// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the programs are asked to do, at whichever end the server is.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use carrick_tests::net::{End, Net};
use carrick_tests::running::{Running, serve, started};

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

    /// Lets everybody come to its folder, and to the stack's door.
    fn open_to_users(&self) {
        let door = self.stack.door();
        for folder in [self.path(), door.parent().expect("a folder")] {
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).expect("ours");
        }
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

/// The bytes of a file to fetch.
fn data(octets: usize) -> Vec<u8> {
    (0..octets).map(|n| (n * 31 % 251) as u8).collect()
}

/// nginx with two workers, which it forks, and this in its configuration of HTTP.
fn nginx_of(place: &Place, server: End, http: &str) -> Running {
    let dir = place.path().display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|name| format!("{name}_temp_path {dir}/{name}; "))
        .collect();
    let conf = format!(
        "daemon off; pid {dir}/pid; user root; error_log stderr notice; worker_processes 2;\n\
         events {{ worker_connections 256; }}\n\
         http {{ access_log off; {temporary} {http} }}\n"
    );
    std::fs::write(place.path().join("conf"), conf).expect("writable");
    let mut command = place.command(server, "nginx");
    serve(command.args(["-p", &dir.to_string(), "-c", &format!("{dir}/conf")]), "start worker process ")
}

/// nginx that serves `data`.
fn nginx(place: &Place, server: End, octets: usize) -> Running {
    std::fs::write(place.path().join("data"), data(octets)).expect("writable");
    let served =
        format!("sendfile on; tcp_nopush on; server {{ listen 80; root {}; }}", place.path().display());
    nginx_of(place, server, &served)
}

/// A server of `data` at the other end, which a proxy in front of it needs.
fn origin(place: &Place, server: End) -> Running {
    std::fs::create_dir_all(place.path().join("www")).expect("writable");
    std::fs::write(place.path().join("www/data"), data(300_000)).expect("writable");
    let mut command = place.command(other(server), "python3");
    command.args(["-u", "-m", "http.server", "8080", "--bind", address(other(server)), "--directory"]);
    serve(command.arg(place.path().join("www")), "Serving HTTP")
}

/// Through the proxy, several times at once and one after another.
fn fetches_through_the_proxy(place: &Place, server: End) {
    let url = format!("http://{}:8000/data", address(server));
    let mut curl = place.command(other(server), "curl");
    curl.args(["-sS", "--fail", "--max-time", "60", "--parallel"]);
    let got = output(curl.args([&url, &url, &url, &url]));
    assert_eq!(got.len(), 1_200_000);
    let got = output(place.command(other(server), "curl").args(["-sS", "--max-time", "60", &url]));
    assert!(got == std::fs::read(place.path().join("www/data")).expect("readable"), "{} octets", got.len());
}

/// nginx adds a socket to its epoll set, and connects it then.
pub fn nginx_is_a_reverse_proxy(place: &Place, server: End) {
    let _origin = origin(place, server);
    let proxy = format!(
        "upstream there {{ server {}:8080; keepalive 4; }}\n\
         server {{ listen 8000; location / {{ proxy_pass http://there; proxy_http_version 1.1;\n\
         proxy_set_header Connection \"\"; proxy_connect_timeout 20s; }} }}",
        address(other(server))
    );
    let _nginx = nginx_of(place, server, &proxy);
    fetches_through_the_proxy(place, server);
}

/// HAProxy as Debian configures it: it asks whether its sockets listen, changes its root and its user, and may not make
/// another process.
pub fn haproxy_proxies(place: &Place, server: End) {
    let _origin = origin(place, server);
    let root = place.path().join("empty");
    std::fs::create_dir_all(&root).expect("writable");
    let conf = format!(
        "global\n chroot {}\n uid 65534\n gid 65534\n maxconn 200\n\
         defaults\n mode http\n timeout connect 20s\n timeout client 20s\n timeout server 20s\n\
         frontend here\n bind {}:8000\n default_backend there\n\
         backend there\n server one {}:8080\n",
        root.display(),
        address(server),
        address(other(server))
    );
    std::fs::write(place.path().join("conf"), conf).expect("writable");
    place.open_to_users();
    let mut command = place.command(server, "haproxy");
    let (_haproxy, lines) = started(command.args(["-db", "-V", "-f"]).arg(place.path().join("conf")));
    std::thread::spawn(move || lines.for_each(drop));
    let mut wait = place.command(other(server), "curl");
    let url = format!("http://{}:8000/data", address(server));
    output(wait.args([
        "-sS",
        "--retry",
        "40",
        "--retry-delay",
        "1",
        "--retry-connrefused",
        "-o",
        "/dev/null",
        &url,
    ]));
    fetches_through_the_proxy(place, server);
}

/// PostgreSQL is not root, and keeps its data for all cases.
fn postgres(place: &Place, program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", program]);
    command.current_dir(place.path());
    command
}

/// A library of this server calls read() before main. Rows, and an answer to each of many small questions.
pub fn postgresql_answers_psql(place: &Place, server: End) {
    let data = place.path().join("pg");
    let programs = postgres_programs().expect("it is there");
    if !data.exists() {
        std::fs::create_dir(&data).expect("writable");
        std::os::unix::fs::chown(&data, Some(65534), Some(65534)).expect("we are root");
        let mut initdb = postgres(place, &programs.join("initdb").display().to_string());
        output(initdb.args(["-A", "trust", "-U", "postgres", "--no-sync", "-D"]).arg(&data));
        std::fs::write(data.join("pg_hba.conf"), "host all all all trust\n").expect("writable");
    }
    place.open_to_users();
    let mut command = place.command(server, "setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(programs.join("postgres"));
    command
        .args(["-h", address(server), "-c", "unix_socket_directories=", "-c", "fsync=off", "-D"])
        .arg(&data);
    let _server = serve(&mut command, "ready to accept connections");
    let psql = |question: &str| {
        let mut command = place.command(other(server), "psql");
        output(command.args(["-h", address(server), "-U", "postgres", "-Atc", question, "postgres"]))
    };
    assert_eq!(psql("select 6 * 7"), b"42\n");
    let rows = psql("select n, repeat('a', n % 50) from generate_series(1, 20000) n");
    assert_eq!(rows.iter().filter(|&&octet| octet == b'\n').count(), 20_000);
    let many: String = (0..200).map(|n| format!("select {n};")).collect();
    assert_eq!(psql(&many).iter().filter(|&&octet| octet == b'\n').count(), 200);
}

/// Where Debian has them.
pub fn postgres_programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    versions.flatten().map(|version| version.path().join("bin")).find(|bin| bin.join("postgres").exists())
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
