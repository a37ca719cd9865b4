//! Captures of the simulator, read by a program that nobody here wrote.

use std::process::Command;

use carrick_tests::build::{carrick, root};
use carrick_tests::net::lacks;

/// What tshark says of a capture, a line for each packet that the filter takes.
fn tshark(file: &str, filter: &str) -> Vec<String> {
    let output = Command::new("tshark")
        .args([
            "-r",
            file,
            "-n",
            "-o",
            "tcp.check_checksum:TRUE",
            "-o",
            "ip.check_checksum:TRUE",
            "-Y",
            filter,
        ])
        .output()
        .expect("tshark runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

fn simulate(file: &str, more: &[&str]) {
    let done = Command::new(carrick())
        .args(["sim", "protocols/tcp/tcp.mtp", "--bytes", "300KB", "--seed", "7", "--pcap", file])
        .args(more)
        .current_dir(root())
        .output()
        .expect("carrick runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn tshark_reads_captures_without_a_complaint() {
    if lacks("tshark") {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("capture.pcapng");
    let file = file.to_str().expect("UTF-8");
    for more in [&[][..], &["--loss", "2%", "--duplicate", "1%", "--reorder", "2%"][..]] {
        simulate(file, more);
        let wrong = "_ws.malformed || tcp.checksum.status == 0 || ip.checksum.status == 0 || !tcp";
        assert_eq!(tshark(file, wrong), Vec::<String>::new(), "with {more:?}");
        let sent_anew = tshark(file, "tcp.analysis.retransmission || tcp.analysis.fast_retransmission").len();
        assert_eq!(sent_anew > 0, !more.is_empty(), "{sent_anew} segments sent anew with {more:?}");
        assert!(tshark(file, "tcp.checksum.status == 1 && tcp.len > 0").len() > 200);
        assert!(!tshark(file, "tcp.flags.fin == 1 && tcp.flags.reset == 0").is_empty());
    }
}
