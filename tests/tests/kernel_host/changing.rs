// SPDX-License-Identifier: MIT OR Apache-2.0
//! Looking into a program in the kernel while it runs, and changing it.

use std::io::Write;
use std::process::{Output, Stdio};

use carrick_tests::build::carrick;
use carrick_tests::net::{DEVICE, End, Net, skip};
use serde_json::Value;

use super::{MISSING, here, net};

/// What `carrick trace` says of a program that asks an address that nobody has.
fn traced(net: &Net, look: &[&str]) -> Output {
    let mut command = net.command(End::Ours, &carrick().to_string_lossy());
    command.arg("trace").arg(here("asking.mtp")).args(look).args(["--format", "json", "--target", "xdp"]);
    command.args(["--run", "--port", DEVICE, "--addr", &format!("{}/24", Net::OURS)]);
    command.args(["--set", "patience=200ms", "--app", "script:-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().expect("it starts");
    process.stdin.take().expect("piped").write_all(b"connect 10.77.0.9 7\n").expect("it reads");
    process.wait_with_output().expect("it ends")
}

#[test]
fn a_program_in_the_kernel_is_changed_between_its_events() {
    let Some(net) = net() else { return };
    let look = ["--when", "number == 2", "--set", "peer.number = 2 * tries", "--show", "number,tries"];
    let output = traced(&net, &look);
    if output.status.code() == Some(MISSING) {
        return skip(&String::from_utf8_lossy(&output.stderr));
    }
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.lines().any(|line| line == "timed_out"), "{output:?}");
    let lines: Vec<Value> = said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let [found, set] = &lines[..] else { panic!("asked twice, and changed once: {output:?}") };
    assert_eq!((&found["what"], &found["values"]["number"]), (&"condition".into(), &2.into()), "{found}");
    assert_eq!((&set["what"], &set["set"]), (&"set".into(), &look[3].into()), "{set}");
    assert_eq!((&set["was"]["number"], &set["values"]["number"]), (&2.into(), &8.into()), "{set}");
    assert!(set["by"].as_u64() > Some(1), "{set}");
}

#[test]
fn snapshots_of_a_program_in_the_kernel_come_with_its_events() {
    let Some(net) = net() else { return };
    let output = traced(&net, &["--on", "tired", "--show", "number,again.armed()"]);
    if output.status.code() == Some(MISSING) {
        return skip(&String::from_utf8_lossy(&output.stderr));
    }
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<Value> = said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let numbers: Vec<Option<u64>> = lines.iter().map(|line| line["values"]["number"].as_u64()).collect();
    assert_eq!(numbers, [2, 3, 4, 4].map(Some), "{output:?}");
    let gone: Vec<bool> = lines.iter().map(|line| line["context"]["gone"] == true).collect();
    assert_eq!(gone, [false, false, false, true], "{output:?}");
}
