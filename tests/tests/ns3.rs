// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs in ns-3: runs that are equal to the simulator's, the chapter of the book, and what is refused.

use std::path::Path;
use std::process::Command;

use carrick_tests::build::root;
use carrick_tests::command::done;
use carrick_tests::document::{blocks, replay_with, run};
use carrick_tests::net::{lacks, lacks_any};

/// Whether this machine lacks ns-3, or what builds against it; that is then said.
fn no_ns3() -> bool {
    let found = || Command::new("pkg-config").args(["--exists", "ns3-internet"]).status();
    let advice = "ns-3 is not installed (Debian: apt-get install libns3-dev)";
    lacks_any(&["cmake", "pkg-config", "c++"], || found().is_ok_and(|status| status.success()), advice)
}

/// Events, contexts, packets and completions are those of the simulator, to the nanosecond, with packets lost, duplicated
/// and out of order.
#[test]
fn runs_in_ns3_are_those_of_the_simulator() {
    if no_ns3() {
        return;
    }
    for name in ["tcp", "homa", "ndp", "quic-lite", "rocev2", "message-transport"] {
        let program = format!("protocols/{name}/{name}.mtp");
        done(&root(), &["diff", &program, "--target", "ns3", "--seeds", "3"]);
    }
}

/// The chapter's commands say what it shows; what it builds has no warning; then mistakes are made with what was built.
#[test]
fn the_chapter_goes_as_it_says() {
    if no_ns3() {
        return;
    }
    let text = std::fs::read_to_string(root().join("docs/ns3.md")).expect("readable");
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    std::os::unix::fs::symlink(root().join("protocols"), dir.join("protocols")).expect("writable");
    let console = blocks(&text).into_iter().filter(|(language, _)| *language == "console");
    // All of it without a warning.
    let commands: usize = console.map(|(_, block)| replay_with(dir, block, &[("CXXFLAGS", "-Werror")])).sum();
    assert!(commands > 6, "{commands} commands");
    mistakes_are_refused(dir);
    a_missing_module_is_named(dir);
    observers_of_a_field_see_the_same(dir);
    damaged_packets_are_dropped(dir);
    checksums_are_there_when_ns3_has_them(dir);
    requests_that_are_too_long_fail(dir);
    writes_fit_or_are_errors(dir);
    settings_of_queues_can_be_chosen(dir);
}

/// Messages of the template must fit into one packet: by default they do, and a write that fails ends the example.
fn writes_fit_or_are_errors(dir: &Path) {
    done(dir, &["new", "parcel", "--template", "message"]);
    done(dir, &["build", "parcel/parcel.mtp", "--target", "ns3", "-o", "parcels"]);
    let said = run(dir, "parcels/build/bulk --bytes=50000");
    assert!(said.starts_with("50000 of 50000 bytes at "), "{said}");
    let said = run(dir, "parcels/build/dumbbell --seconds=1");
    assert!(said.contains("flow 0, ours: ") && !said.contains("flow 0, ours: 0.000 Mbit/s"), "{said}");
    for (example, why) in [
        ("parcels/build/bulk --write=16384", "a write of 16384 bytes failed: invalid. --write=BYTES sets"),
        ("parcels/build/bulk --onoff=5Mbps --write=16384", "a write of 16384 bytes failed: invalid."),
        ("parcels/build/dumbbell --write=16384", "a write of 16384 bytes failed: invalid."),
        ("out/build/bulk --write=200000", "a write of 200000 bytes failed: longer than SndBufSize."),
    ] {
        let output = Command::new("sh").args(["-c", example]).current_dir(dir).output().expect("it starts");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && error.contains(why), "{example}: {error}");
    }
}

/// What the example sets for a queue discipline gives way to the command line, also where that has ns-3's default.
fn settings_of_queues_can_be_chosen(dir: &Path) {
    let said =
        |more: &str| run(dir, &format!("out/build/dumbbell --seconds=0.1 --queue=ns3::RedQueueDisc {more}"));
    let (set, chosen) = (said(""), said("--ns3::RedQueueDisc::MaxSize=25p --rate=10Mbps"));
    assert!(
        set.starts_with("bottleneck: ns3::RedQueueDisc, MaxSize=1000p, LinkBandwidth=20000000bps\n"),
        "{set}"
    );
    assert!(
        chosen.starts_with("bottleneck: ns3::RedQueueDisc, MaxSize=25p, LinkBandwidth=10000000bps\n"),
        "{chosen}"
    );
}

/// Observers with the signature of a `TracedValue` see what those see that get the context, in the field's type.
fn observers_of_a_field_see_the_same(dir: &Path) {
    for (field, signature) in [
        ("tcb.snd_una", "SequenceNumber32"),
        ("tcb.smss", "Uint32"),
        ("tcb.state", "Uint8"),
        ("tcb.ts_on", "Bool"),
        ("tcb.srtt", "Time"),
    ] {
        let said = run(dir, &format!("out/build/fields {field}"));
        assert!(said.starts_with(&format!("ns3::TracedValueCallback::{signature}\n")), "{said}");
        let of = |observer: &str| {
            let lines = said.lines().filter_map(|line| line.strip_prefix(observer));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let (values, paths, contexts) =
            (of("value "), of(&format!("/NodeList/0/$ns3::CarrickTcp/{field} ")), of("context "));
        assert!(!values.is_empty() && values == paths && values.len() == contexts.len(), "{field}: {said}");
        let chained = |all: &[String]| {
            let pairs: Vec<_> = all.iter().filter_map(|line| line.split_once(' ')).collect();
            pairs.len() == all.len() && pairs.windows(2).all(|two| two[0].1 == two[1].0)
        };
        assert!(chained(&values) && chained(&contexts), "{field}: {said}");
        assert!(signature == "Time" || values == contexts, "{field}: {said}");
    }
    let wrong = Command::new(dir.join("out/build/fields")).args(["tcb.smss", "wrong"]).output();
    let error = String::from_utf8_lossy(&wrong.expect("it starts").stderr).into_owned();
    assert!(
        error.contains("wrong arguments for the field smss: use ns3::TracedValueCallback::Uint32"),
        "{error}"
    );
}

/// A host takes what arrives beside a transfer for what it is: every packet that nobody sent is counted as dropped.
fn damaged_packets_are_dropped(dir: &Path) {
    let said = run(dir, "out/build/damaged");
    let numbers: Vec<u64> = said.split(' ').filter_map(|word| word.parse().ok()).collect();
    let [arrived, sent, damaged, dropped] = numbers[..] else { panic!("{said}") };
    assert!(arrived == sent && damaged > 500 && damaged == dropped, "{said}");
}

/// The same packets at the same times with and without checksums. Those that there are, are right, and the others are 0.
fn checksums_are_there_when_ns3_has_them(dir: &Path) {
    const RECORD: usize = 16;
    const IP: usize = RECORD + 2; // behind the header of PPP
    const SEGMENT: usize = IP + 20;
    let sum = |bytes: &[u8]| {
        let sum: u64 =
            bytes.chunks(2).map(|two| u64::from(two[0]) << 8 | two.get(1).map_or(0, |&b| b.into())).sum();
        sum % 0xffff
    };
    let packets = |enabled: u32| {
        let name = format!("checksums-{enabled}");
        run(
            dir,
            &format!("out/build/bulk --bytes=100000 --loss=0.01 --ChecksumEnabled={enabled} --pcap={name}"),
        );
        let capture = std::fs::read(dir.join(format!("{name}-0-1.pcap"))).expect("a capture of the client");
        let mut rest = &capture[24..];
        let mut packets = Vec::new();
        while let Some(len) = rest.get(8..12) {
            let end = RECORD + u32::from_ne_bytes(len.try_into().expect("four")) as usize;
            let mut packet = rest[..end].to_vec();
            rest = &rest[end..];
            let pseudo = sum(&packet[IP + 12..SEGMENT]) + 6 + (end - SEGMENT) as u64;
            match enabled {
                0 => {
                    assert_eq!([&packet[IP + 10..IP + 12], &packet[SEGMENT + 16..SEGMENT + 18]], [[0; 2]; 2])
                }
                _ => assert_eq!(
                    [sum(&packet[IP..SEGMENT]), (pseudo + sum(&packet[SEGMENT..])) % 0xffff],
                    [0; 2]
                ),
            }
            packet[IP + 10..IP + 12].fill(0);
            packet[SEGMENT + 16..SEGMENT + 18].fill(0);
            packets.push(packet);
        }
        packets
    };
    let with = packets(1);
    assert!(with.len() > 50 && with == packets(0), "{} packets", with.len());
}

fn requests_that_are_too_long_fail(dir: &Path) {
    for (of, said) in [
        ("rpcs", "the server: longer than MaxRequestSize"),
        ("streams", "the server: longer than MaxRequestSize"),
        ("pairs", "request 0: longer than the server's MaxRequestSize"),
    ] {
        let mut requests = Command::new(dir.join(of).join("build/requests"));
        let output = requests.args(["--size=65537", "--requests=1"]).output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success() && text.contains(said), "{of}: {text}");
        assert!(text.contains("\n0 of 1 requests"), "{of}: {text}");
    }
}

/// The check that both ends make of contents sees each wrong byte.
#[test]
fn wrong_bytes_of_requests_are_seen() {
    if lacks("c++") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let target = root().join("targets/ns3");
    let at = target.display();
    run(
        folder.path(),
        &format!("c++ -std=c++17 -I{at}/model {at}/test/payload.cc {at}/model/carrick-payload.cc -o payload"),
    );
    run(folder.path(), "./payload");
}

fn mistakes_are_refused(dir: &Path) {
    run(dir, "cmake -S out -B out/build -DCARRICK_TESTS=ON");
    run(dir, "cmake --build out/build --parallel 2 --target refuse fields damaged");
    for (mistake, said) in [
        ("no-program", "there is no program of the type ns3::CarrickNothing: link the library"),
        ("no-ipv4", "node 0 has no IPv4: call InternetStackHelper().Install(node) before CarrickHelper"),
        ("twice", "has the program tcp for the protocol number 6 already: install tcp on another node"),
        (
            "no-clients",
            "tcp has no clients and servers, as its interface is stream: use applications of ns-3",
        ),
        ("no-address", "tcp on node 0 has no address: assign one (Ipv4AddressHelper)"),
    ] {
        let refused = Command::new(dir.join("out/build/refuse")).arg(mistake).output().expect("it starts");
        let error = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && error.contains(said), "{mistake}: {error}");
    }
}

/// An ns-3 that has only its core.
fn a_missing_module_is_named(dir: &Path) {
    let library = dir.join("pkgconfig");
    std::fs::create_dir(&library).expect("writable");
    let variable = run(dir, "pkg-config --variable=pcfiledir ns3-core");
    std::fs::copy(Path::new(variable.trim()).join("ns3-core.pc"), library.join("ns3-core.pc"))
        .expect("it is there");
    let with = |folder: &Path, build: &str| {
        let mut cmake = Command::new("cmake");
        cmake.args(["-S", "out", "-B", build]).current_dir(dir);
        let output = cmake.env("PKG_CONFIG_LIBDIR", folder).env_remove("PKG_CONFIG_PATH").output();
        let output = output.expect("it starts");
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let said = with(&library, "core-only");
    assert!(said.contains("this ns-3 lacks the module network: build ns-3 with it"), "{said}");
    let said = with(dir, "none");
    assert!(said.contains("ns-3 was not found: install it (Debian: apt-get install libns3-dev)"), "{said}");
}
