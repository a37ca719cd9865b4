// SPDX-License-Identifier: MIT OR Apache-2.0
//! A flow of a program that does not repair losses ends when nothing is on its way, and fails no run.

use carrick_tests::command::{done, run};

use crate::setting::{Cell, begun, json, table};

#[test]
fn lost_messages_are_counted() {
    let folder = begun();
    let dir = folder.path();
    for (loss, engine) in [("5%", "--fast"), ("5%", "--compiled"), ("100%", "--fast")] {
        let args = ["sim", "datagram.mtp", "--topology", "pair", "--workload", "incast:1", "--flows", "3"];
        let more = ["--bytes", "200KB", "--message", "1000B", "--loss", loss, engine, "--csv", "flows.csv"];
        let said = json(&done(dir, &[&args[..], &more, &["--format", "json"]].concat()));
        let ran = &said["runs"][0];
        let delivered = ran["messages"]["count"].as_u64().expect("a number");
        let lost = ran["messages"]["lost"].as_u64().expect("a number");
        assert_eq!((delivered + lost, ran["flows"].as_u64()), (600, Some(3)), "{ran}");
        assert!(if loss == "100%" { delivered == 0 } else { (540..600).contains(&delivered) }, "{ran}");
        let bps = ran["goodput_bps"].as_f64().expect("a number");
        let ended = ran["ended_at_ns"].as_u64().expect("a time");
        assert!((bps - delivered as f64 * 8e12 / ended as f64).abs() < 1.0 && bps < 1e8, "{ran}");
        let flows = table(dir, "flows.csv");
        assert!(flows.iter().all(|flow| flow["status"] == "LOST"), "{flows:?}");
        // Each begins a little after the one before it.
        let gap = flows[1].number("start_ns") - flows[0].number("end_ns");
        assert!(gap < 10_000_000, "{gap} ns");
    }
    // A program that repairs losses promises more: it fails where it does not.
    let args = ["sim", "protocols/stop-and-wait/stop-and-wait.mtp", "--topology", "pair", "--bytes", "10KB"];
    let failed = run(dir, &[&args[..], &["--workload", "incast:1", "--loss", "100%"]].concat());
    assert_eq!(failed.status.code(), Some(1));
}
