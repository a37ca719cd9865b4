// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host, the relay of sockets and the preloaded library on a simulated operating system (`targets/native/tests/os`): random
//! applications from a seed, and a model of stream sockets as the oracle.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use carrick_tests::build::{host, root, target_dir};

/// Buffers and times that let a run see much within a few thousand packets.
const SETTINGS: [&str; 5] =
    ["max_conns=64", "snd_buf=8192", "rcv_buf=8192", "msl=500ms", "fin_wait_2_time=1s"];

fn driver() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let program = host("protocols/tcp/tcp.mtp");
        let out = target_dir().join("tests-os");
        let made = Command::new("make")
            .args(["-s", "-C", "targets/native/tests/os", "PROGRAM=tcp"])
            .arg(format!("PROGRAM_DIR={}", program.parent().expect("a folder").display()))
            .arg(format!("OUT={}", out.display()))
            .current_dir(root())
            .output()
            .expect("make runs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        out.join("os")
    })
}

fn run(seeds: &str) -> Output {
    let settings = SETTINGS.iter().flat_map(|setting| ["--set", setting]);
    Command::new(driver()).args(settings).args(["--seeds", seeds]).output().expect("it starts")
}

#[track_caller]
fn keeps_promises(seeds: &str) -> String {
    let run = run(seeds);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).expect("text")
}

#[test]
fn random_applications_find_sockets_as_posix_has_them() {
    println!("{}", keeps_promises("1-500"));
}

/// Each showed a fault once: bytes of a connection taken for the mark of its accept, an end without the error that it had, a
/// door that was crowded, data that came with a SYN cookie, options of a connection that is over.
#[test]
fn seeds_that_showed_faults_show_none() {
    for seed in [1019, 11495, 10599, 2269, 40417] {
        keeps_promises(&format!("{seed}-{seed}"));
    }
}

/// What a seed shows can be looked at again.
#[test]
fn a_seed_repeats_its_run() {
    let first = keeps_promises("1-20");
    assert!(first.contains("trace"), "{first}");
    assert_eq!(first, keeps_promises("1-20"));
    assert_ne!(first, keeps_promises("21-40"));
}
