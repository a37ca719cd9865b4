// SPDX-License-Identifier: MIT OR Apache-2.0
//! Databases and caches.

use std::path::PathBuf;
use std::process::Command;

use carrick_tests::net::End;

use super::{address, data, other, output, read, same};
use crate::programs::Place;

/// The benchmark's own values, and one that is written and read again.
pub fn redis_answers_its_benchmark(place: &Place, server: End) {
    let mut redis = place.command(server, "redis-server");
    redis.args(["--save", "", "--appendonly", "no", "--bind", address(server), "--protected-mode", "no"]);
    let _redis = place.serve(server, redis.arg("--dir").arg(place.path()), 6379);
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
    same(&output(&mut cli(&["get", "value"])), (value + "\n").as_bytes());
}

/// memcached accepts on one thread and serves on four. A file that is stored, and a load whose values are verified.
pub fn memcached_verifies_its_load(place: &Place, server: End) {
    let mut command = place.command(server, "memcached");
    command.args(["-u", "root", "-U", "0", "-t", "4", "-l", address(server), "-p", "11211"]);
    let _memcached = place.serve(server, &mut command, 11211);
    let there = format!("{}:11211", address(server));
    let client = |program: &str, arguments: &[&str]| {
        let mut command = place.command(other(server), program);
        String::from_utf8_lossy(&output(command.args(arguments))).into_owned()
    };
    let (servers, stored, got) = (format!("--servers={there}"), data(900_000), place.path().join("got"));
    std::fs::write(place.path().join("stored"), &stored).expect("writable");
    client("memccp", &[&servers, &place.path().join("stored").display().to_string()]);
    client("memccat", &[&servers, &format!("--file={}", got.display()), "stored"]);
    same(&read(&got), &stored);
    let load = ["-s", &there, "-T", "2", "-c", "16", "-x", "4000", "-X", "1000", "-v", "0.2"];
    let said = client("memcaslap", &load);
    assert!(said.contains("get_misses: 0") && said.contains("verify_failed: 0"), "{said}");
}

/// PostgreSQL is not root, and keeps its data for all cases.
fn postgres(place: &Place, program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", program]);
    command.current_dir(place.path());
    command
}

/// A library of this server calls read() before main. Rows, an answer to each of many small questions, and pgbench.
pub fn postgresql_answers_psql_and_pgbench(place: &Place, server: End) {
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
    let _server = carrick_tests::running::serve(&mut command, "ready to accept connections");
    assert!(place.connects(other(server), address(server), 5432), "PostgreSQL is not served");
    let psql = |question: &str| {
        let mut command = place.command(other(server), "psql");
        output(command.args(["-h", address(server), "-U", "postgres", "-Atc", question, "postgres"]))
    };
    assert_eq!(psql("select 6 * 7"), b"42\n");
    let rows = psql("select n, repeat('a', n % 50) from generate_series(1, 20000) n");
    assert_eq!(rows.iter().filter(|&&byte| byte == b'\n').count(), 20_000);
    let many: String = (0..200).map(|n| format!("select {n};")).collect();
    assert_eq!(psql(&many).iter().filter(|&&byte| byte == b'\n').count(), 200);
    let pgbench = |arguments: &[&str]| {
        let mut command = place.command(other(server), &programs.join("pgbench").display().to_string());
        command.args(["-h", address(server), "-U", "postgres"]).args(arguments).arg("postgres");
        String::from_utf8_lossy(&output(&mut command)).into_owned()
    };
    pgbench(&["-i", "-q", "-n"]);
    let said = pgbench(&["-n", "-c", "4", "-j", "2", "-t", "25"]);
    assert!(said.contains("actually processed: 100/100"), "{said}");
}

/// Where Debian has them.
pub fn postgres_programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    versions.flatten().map(|version| version.path().join("bin")).find(|bin| bin.join("postgres").exists())
}
