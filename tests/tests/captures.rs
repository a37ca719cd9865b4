// SPDX-License-Identifier: MIT OR Apache-2.0
//! Captures of the simulator, read by a program that nobody here wrote.

use carrick_tests::build::root;
use carrick_tests::capture::tshark;
use carrick_tests::command::done;
use carrick_tests::net::lacks;

#[test]
fn tshark_reads_captures_without_a_complaint() {
    if lacks("tshark") {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("capture.pcapng");
    let file = file.to_str().expect("UTF-8");
    for more in [&[][..], &["--loss", "2%", "--duplicate", "1%", "--reorder", "2%"][..]] {
        let sim = ["sim", "protocols/tcp/tcp.mtp", "--bytes", "300KB", "--seed", "7", "--pcap", file];
        done(&root(), &[&sim[..], more].concat());
        let wrong = "_ws.malformed || tcp.checksum.status == 0 || ip.checksum.status == 0 || !tcp";
        assert_eq!(tshark(file, &["-Y", wrong]), Vec::<String>::new(), "with {more:?}");
        let sent_anew =
            tshark(file, &["-Y", "tcp.analysis.retransmission || tcp.analysis.fast_retransmission"]).len();
        assert_eq!(sent_anew > 0, !more.is_empty(), "{sent_anew} segments sent anew with {more:?}");
        assert!(tshark(file, &["-Y", "tcp.checksum.status == 1 && tcp.len > 0"]).len() > 200);
        assert!(!tshark(file, &["-Y", "tcp.flags.fin == 1 && tcp.flags.reset == 0"]).is_empty());
    }
}
