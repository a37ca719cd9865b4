// SPDX-License-Identifier: MIT OR Apache-2.0
//! The example applications, each with a program that everybody has at the other end.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use carrick_tests::build::{carrick, host, root};
use carrick_tests::net::{End, Net, lacks, skip};
use carrick_tests::pattern;
use carrick_tests::running::{saying, serve};
use tempfile::TempDir;

const PROGRAM: &str = "protocols/tcp/tcp.mtp";
const OCTETS: usize = 300_000;

/// A folder with one file `data` of [`OCTETS`].
fn folder() -> (TempDir, Vec<u8>) {
    let dir = tempfile::tempdir().expect("a folder");
    let mut data = vec![0; OCTETS];
    pattern::fill(5, 0, &mut data);
    std::fs::write(dir.path().join("data"), &data).expect("writable");
    (dir, data)
}

fn ours(net: &Net, app: &str) -> Command {
    let mut command = net.command(End::Ours, &host(PROGRAM).to_string_lossy());
    command.args(["--port", &net.port(), "--addr", &format!("{}/24", Net::OURS), "--app", app]);
    command
}

/// curl's answer to a request: the status, and the body.
fn curl(net: &Net, more: &[&str]) -> (String, Vec<u8>) {
    let url = format!("http://{}/data", Net::OURS);
    let arguments = ["-sS", "--max-time", "20", "-w", "%{stderr}%{http_code} %header{content-range}"];
    let got = net.command(End::Peer, "curl").args(arguments).args(more).arg(url).output().expect("curl runs");
    (String::from_utf8_lossy(&got.stderr).into_owned(), got.stdout)
}

/// Its socket is in a folder of that user's, which root takes for it.
#[test]
fn a_host_of_another_user_ends_with_who_started_it() {
    const USER: u32 = 65534;
    let dir = tempfile::tempdir().expect("a folder");
    if std::os::unix::fs::chown(dir.path(), Some(USER), Some(USER)).is_err() {
        return skip("only root starts a host of another user");
    }
    let (at, door) = (dir.path().display(), dir.path().join("door"));
    let mut command = Command::new(carrick());
    command.args(["run", PROGRAM, "--port", &format!("unix:{at}/a:{at}/b"), "--addr", "10.0.0.1/24"]);
    command.args(["--user", &USER.to_string(), "--app", &format!("sockets:{}", door.display())]);
    let (running, lines) = saying(command.current_dir(root()), "serving sockets at");
    let owner = std::fs::metadata(&door).expect("it serves").uid();
    assert_eq!(owner, USER);
    let (tell, ended) = std::sync::mpsc::channel();
    // It has the pipe until its end.
    std::thread::spawn(move || tell.send(lines.count()));
    let killed = Command::new("kill").args(["-KILL", &running.id().to_string()]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    ended.recv_timeout(Duration::from_secs(30)).expect("the host ends too");
    assert!(!door.exists(), "in order");
}

#[test]
fn curl_gets_the_ranges_that_it_asks_for() {
    if lacks("curl") {
        return;
    }
    let Some(net) = Net::new() else { return };
    let (dir, data) = folder();
    let _server = serve(&mut ours(&net, &format!("http:{}", dir.path().display())), "listening");
    let cases = [
        ("100-199", "206 bytes 100-199/300000", &data[100..200]),
        ("299000-", "206 bytes 299000-299999/300000", &data[299_000..]),
        ("-7", "206 bytes 299993-299999/300000", &data[299_993..]),
        ("300000-", "416 bytes */300000", &[]),
        ("1-2,5-6", "200 ", &data[..]),
    ];
    for (range, answer, body) in cases {
        let (said, got) = curl(&net, &["-r", range]);
        assert_eq!(said, answer, "of {range}");
        assert!(got == body, "{range}: {} octets of {}", got.len(), body.len());
    }
    // A download that broke off goes on where it ended.
    let part = dir.path().join("part");
    std::fs::write(&part, &data[..123_456]).expect("writable");
    let (said, _) = curl(&net, &["-C", "-", "-o", &part.to_string_lossy()]);
    assert_eq!(said, "206 bytes 123456-299999/300000");
    assert!(std::fs::read(&part).expect("readable") == data);
}

/// Nothing of ours is on the wire for 150 ms after it was sent: who stopped with its work would take the end of the
/// connection with it, and the peer would wait for it.
#[test]
fn the_downloader_stays_until_its_peer_knows_of_the_end() {
    if lacks("python3") {
        return;
    }
    let Some(net) = Net::new() else { return };
    let (dir, data) = folder();
    let mut server = net.command(End::Peer, "python3");
    server.args(["-u", "-m", "http.server", "80", "--bind", Net::PEER, "--directory"]).arg(dir.path());
    let _server = serve(&mut server, "Serving HTTP");
    let file = dir.path().join("got");
    let done = ours(&net, &format!("get:http://{}/data:{}", Net::PEER, file.display()))
        .args(["--fault", "delay=150ms,seed=1"])
        .output()
        .expect("it starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(std::fs::read(&file).expect("readable") == data);
    let sockets = net.command(End::Peer, "ss").args(["-Htan", "dst", Net::OURS]).output().expect("ss runs");
    let sockets = String::from_utf8_lossy(&sockets.stdout).into_owned();
    let states: Vec<&str> = sockets.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(states, ["TIME-WAIT"], "{sockets}");
}

#[test]
fn a_download_without_an_answer_says_so_and_fails_when_it_is_stopped() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = dir.path().display();
    let mut get = Command::new(host(PROGRAM))
        .args(["--port", &format!("unix:{at}/a:{at}/b"), "--addr", "10.0.0.1/24"])
        .args(["--app", &format!("get:http://10.0.0.2/data:{at}/data")])
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut said = BufReader::new(get.stderr.take().expect("it is a pipe"));
    let mut line = String::new();
    said.read_line(&mut line).expect("UTF-8");
    assert!(line.starts_with("no answer from 10.0.0.2"), "{line}");
    assert!(Command::new("kill").args(["-INT", &get.id().to_string()]).status().is_ok_and(|s| s.success()));
    let mut rest = String::new();
    said.read_to_string(&mut rest).expect("UTF-8");
    assert!(rest.contains("the download of /data was stopped after 0 bytes"), "{rest}");
    assert_eq!(get.wait().expect("it ends").code(), Some(1));
}

const MESSAGES: &str = "protocols/stop-and-wait/stop-and-wait.mtp";

/// Two stacks of one process by stop-and-wait, of which the second sends this measurement to the first.
fn measured(measurement: &str) -> std::process::Output {
    measured_with(MESSAGES, measurement)
}

/// Stop-and-wait that has space for a message only when it is asked for the third time.
fn busy_at_first() -> String {
    let text = std::fs::read_to_string(root().join(MESSAGES)).expect("UTF-8");
    let tries = text.replacen("    uint32 resends;", "    uint32 tries;\n    uint32 resends;", 1);
    let busy = "    c.tries += 1;\n    if (c.tries % 3 != 0) { notify(e.token, BUSY); return; }\n    if (e.len == 0 ||";
    let text = tries.replacen("    if (e.len == 0 ||", busy, 1);
    let file = carrick_tests::build::target_dir().join("tests-busy-at-first.mtp");
    std::fs::write(&file, text).expect("writable");
    file.display().to_string()
}

fn measured_with(program: &str, measurement: &str) -> std::process::Output {
    let mut command = Command::new(carrick());
    command.args(["run", program, "--port", "loop", "--addr", "10.0.0.1/24"]);
    command.args(["--app", "messages:10.0.0.2:8:64:0", "--app", measurement]).current_dir(root());
    command.output().expect("carrick runs")
}

#[test]
fn messages_are_measured_until_they_are_acknowledged() {
    let output = measured("messages:10.0.0.1:8:64:1000");
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = said.lines().find(|line| line.starts_with("messages: 1000 of 64 bytes in ")).expect("a line");
    let times: Vec<f64> = line
        .split(',')
        .skip(1)
        .filter_map(|part| part.split_whitespace().rev().nth(1)?.parse().ok())
        .collect();
    assert!(times.len() == 3 && times[0] > 0.0 && times.is_sorted(), "{line}");
    assert!(measured_with(&busy_at_first(), "messages:10.0.0.1:8:64:200").status.success(), "it tries again");
    let refused = measured("messages:10.0.0.1:0:64:1000");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("write messages:IP:CONVERSATIONS:BYTES:COUNT"));
}
