// SPDX-License-Identifier: MIT OR Apache-2.0
//! Congestion control in the simulator: windows follow their formulas, marks are answered, and files can be exchanged.

use carrick_tests::build::root;
use carrick_tests::command::done;
use carrick_tests::document::blocks;
use carrick_tests::simulated::simulate;
use serde_json::Value;

const PROGRAM: &str = "protocols/tcp/tcp.mtp";
/// Buffers that no window in these tests reaches.
const WIDE: [&str; 4] = ["--set", "snd_buf=8388608", "--set", "rcv_buf=8388608"];
/// Nothing but the congestion control.
const PLAIN: [&str; 2] = ["--without", "sack,ecn"];
/// Losses found by RFC 6675, or by time.
const BY_COUNT: [&str; 4] = ["--with", "newreno", "--without", "rack,prr,ecn"];
const BY_TIME: [&str; 4] = ["--with", "newreno", "--without", "prr,ecn"];

/// A congestion control in a file of its own, which imports the program and adds an option to its feature.
const OUTSIDE: &str = "examples/htcp.mtp";

fn carrick_says(command: &str, args: &[&str]) -> String {
    says_of(command, PROGRAM, args)
}

fn says_of(command: &str, program: &str, args: &[&str]) -> String {
    done(&root(), &[&[command, program, "--format", "json", "--compiled"], args].concat())
}

/// What a run reports.
fn run(args: &[&str]) -> Value {
    serde_json::from_str(&carrick_says("sim", args)).expect("an object")
}

/// The sender's window as it was at one moment.
#[derive(Debug, Clone, Copy)]
struct Sample {
    seconds: f64,
    /// in segments
    cwnd: f64,
    in_recovery: bool,
    slow_start: bool,
}

/// A sample every 10 ms.
fn windows(args: &[&str]) -> Vec<Sample> {
    let fields = ["cwnd", "smss", "in_recovery", "cwnd < ssthresh"];
    let sampling = fields.join(",");
    let said = carrick_says(
        "trace",
        &[&["--sample", &sampling, "--every", "10ms", "--host", "client"], args].concat(),
    );
    let number = |value: &Value| value.as_f64().or(value.as_bool().map(f64::from)).expect("a number");
    said.lines()
        .map(|line| {
            let object: Value = serde_json::from_str(line).expect("an object a line");
            let [cwnd, smss, in_recovery, slow_start] = fields.map(|name| number(&object["values"][name]));
            Sample {
                seconds: object["at_ns"].as_f64().expect("a time") / 1e9,
                cwnd: cwnd / smss,
                in_recovery: in_recovery != 0.0,
                slow_start: slow_start != 0.0,
            }
        })
        .collect()
}

/// RFC 9438 §4.2: the window in segments at t seconds behind a loss at `w_max` after which it was `begin`.
fn w_cubic(w_max: f64, begin: f64, t: f64) -> f64 {
    const C: f64 = 0.4;
    let k = ((w_max - begin) / C).cbrt();
    C * (t - k).powi(3) + w_max
}

/// Each stretch of congestion avoidance, with the window before the loss that it follows.
fn epochs(samples: &[Sample]) -> Vec<(f64, &[Sample])> {
    let avoids = |s: &Sample| !s.in_recovery && !s.slow_start;
    let mut before = 0.0;
    let mut found = Vec::new();
    for stretch in samples.chunk_by(|a, b| avoids(a) == avoids(b)) {
        let last = stretch[stretch.len() - 1];
        if avoids(&stretch[0]) {
            found.push((before, stretch));
            before = last.cwnd;
        } else if before == 0.0 {
            before = stretch.iter().take_while(|s| !s.in_recovery).last().map_or(0.0, |s| s.cwnd);
        }
    }
    found
}

/// The integral of H-TCP's function: 1 + 10 t + (t / 2)^2, t seconds after the first second behind a loss; 1 before.
fn htcp_integral(behind: f64) -> f64 {
    let t = (behind - 1.0).max(0.0);
    behind.min(1.0) + t + 5.0 * t.powi(2) + t.powi(3) / 12.0
}

#[test]
fn a_congestion_control_from_outside_follows_its_function() {
    const TRIP: f64 = 0.1;
    let link = ["--rate", "200Mbps", "--delay", "50ms", "--loss", "0.01%", "--bytes", "60MB", "--seed", "3"];
    let fields = ["cwnd", "smss", "in_recovery || cwnd < ssthresh", "htcp_kept", "htcp_since"];
    let sampling = ["--sample", &fields.join(","), "--every", "50ms", "--host", "client", "--with", "htcp"];
    let said = says_of("trace", OUTSIDE, &[&sampling, &link[..], &WIDE].concat());
    let number = |value: &Value| value.as_f64().or(value.as_bool().map(f64::from));
    let mut begun: Option<(f64, f64, f64)> = None;
    let mut compared = 0;
    for line in said.lines() {
        let object: Value = serde_json::from_str(line).expect("an object a line");
        let [cwnd, smss, busy, kept, since] =
            fields.map(|name| number(&object["values"][name]).unwrap_or_else(|| panic!("{name}: {line}")));
        let (window, behind) = (cwnd / smss, (object["at_ns"].as_f64().expect("a time") - since) / 1e9);
        if busy != 0.0 {
            begun = None;
            continue;
        }
        let (first, from, kept) = *begun.get_or_insert((window, behind, kept));
        let wanted = first + 2.0 * (1.0 - kept) * (htcp_integral(behind) - htcp_integral(from)) / TRIP;
        assert!((window - wanted).abs() < 3.0 + (wanted - first) * 0.05, "{wanted} wanted: {line}");
        compared += 1;
    }
    assert!(compared > 80, "only {compared} samples were in congestion avoidance");
}

/// A file that adds an option changes nothing of a build without it.
#[test]
fn a_program_is_as_it_was_without_the_option_from_outside() {
    let ir = |program: &str| {
        let printed = done(&root(), &["check", program, "--ir"]);
        let (head, rest) = printed.split_once('\n').expect("a line with the name");
        assert!(head.contains("program"), "{head}");
        rest.to_owned()
    };
    assert_eq!(ir(OUTSIDE), ir(PROGRAM));
}

#[test]
fn the_page_of_a_program_lists_what_builds_may_choose() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.html").display().to_string();
    done(&root(), &["doc", OUTSIDE, "--with", "htcp", "-o", &page]);
    let page = std::fs::read_to_string(page).expect("it is written");
    let row = |name: &str| {
        let begin = format!("<tr><td><code>{name}</code></td>");
        page.split_once(&begin).map_or_else(|| panic!("no {name}"), |(_, rest)| rest).to_owned()
    };
    let congestion = row("congestion");
    assert!(congestion.starts_with("<td><code>cubic, newreno"), "{congestion}");
    assert!(
        congestion.contains(", htcp</code></td><td>always</td><td><code>htcp</code></td>"),
        "{congestion}"
    );
    assert!(row("rtt_samples").starts_with("<td></td><td>if chosen</td><td><code>yes</code></td>"));
    assert!(row("frto").starts_with("<td></td><td>if chosen</td><td></td>"));
}

#[test]
fn the_chapter_shows_the_file() {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).expect("readable");
    let (chapter, file) = (read("docs/congestion-control.md"), read(OUTSIDE));
    let shown: Vec<&str> =
        blocks(&chapter).into_iter().filter(|(kind, _)| *kind == "mtp,part").map(|(_, part)| part).collect();
    assert!(shown.len() >= 3 && shown.iter().all(|part| file.contains(part)), "{shown:?}");
}

/// RFC 9438 §4.2, §4.6, §4.7. The round trip is long, so that the cubic function and not Reno's is in force, and losses are rare.
#[test]
fn cubic_follows_its_function_after_a_loss() {
    let link = [
        "--rate", "200Mbps", "--delay", "50ms", "--queue", "5000", "--loss", "0.02%", "--seed", "3", "--mtu",
        "9000",
    ];
    let samples = windows(&[&["--with", "cubic", "--bytes", "300MB"][..], &PLAIN, &link[..], &WIDE].concat());
    let mut plateau = 0.0;
    let mut compared = 0;
    for (lost_at, stretch) in epochs(&samples) {
        // §4.7: who did not reach the last plateau aims lower.
        let first = plateau == 0.0;
        plateau = if lost_at < plateau { lost_at * 0.85 } else { lost_at };
        // Behind slow start what is under way when the recovery ends is less than the threshold (RFC 6582 §3.2 step 3).
        if first {
            continue;
        }
        let begin = stretch[0];
        assert!((begin.cwnd / lost_at / 0.7 - 1.0).abs() < 0.03, "{} behind {lost_at}", begin.cwnd);
        for s in stretch {
            let wanted = w_cubic(plateau, begin.cwnd, s.seconds - begin.seconds);
            assert!((s.cwnd / wanted - 1.0).abs() < 0.03, "{s:?} is far from {wanted}, behind {begin:?}");
            compared += 1;
        }
    }
    assert!(compared > 300, "only {compared} samples were in congestion avoidance");
}

/// §4.3: where round trips are short CUBIC is not behind Reno.
#[test]
fn cubic_is_no_slower_than_newreno_where_that_is_fast() {
    let link = ["--rate", "20Mbps", "--delay", "2ms", "--loss", "0.1%", "--bytes", "20MB", "--seed", "5"];
    let goodput =
        |with| run(&[&["--with", with], &PLAIN, &link[..]].concat())["goodput_bps"].as_f64().expect("a rate");
    let (cubic, newreno) = (goodput("cubic"), goodput("newreno"));
    assert!(cubic > newreno * 0.97, "{cubic} and {newreno}");
}

/// RFC 5681 §3.1: a segment for each round trip.
#[test]
fn newreno_grows_by_a_segment_in_a_round_trip() {
    // No window fills the link, so that a round trip takes as long as the way.
    let link = [
        "--rate", "2Gbps", "--delay", "50ms", "--queue", "5000", "--loss", "0.02%", "--seed", "3", "--mtu",
        "9000",
    ];
    let samples =
        windows(&[&["--with", "newreno", "--bytes", "200MB"][..], &PLAIN, &link[..], &WIDE].concat());
    let epochs = epochs(&samples);
    let (lost_at, stretch) = epochs.iter().max_by_key(|(_, stretch)| stretch.len()).expect("a loss");
    let (begin, end) = (stretch[0], stretch[stretch.len() - 1]);
    assert!(begin.cwnd < lost_at * 0.52, "{begin:?} behind {lost_at}");
    let (trips, grown) = ((end.seconds - begin.seconds) / 0.1, end.cwnd - begin.cwnd);
    assert!(trips > 10.0 && (grown - trips).abs() < 2.0, "{grown} segments in {trips} round trips");
}

/// With marks nothing has to be lost: RFC 3168 §1. DCTCP keeps the queue at the threshold and the link full (RFC 8257 §1).
#[test]
fn marks_take_the_place_of_losses() {
    // A segment of 1500 bytes takes 0.12 ms; a round trip without queue 2.1 ms.
    let link = [
        "--rate",
        "100Mbps",
        "--delay",
        "1ms",
        "--queue",
        "60",
        "--bytes",
        "30MB",
        "--set",
        "snd_buf=1048576",
        "--set",
        "rcv_buf=1048576",
    ];
    let marking = ["--ecn-threshold", "10"];
    let without = run(&[&["--with", "newreno"], &PLAIN, &link[..], &marking].concat());
    assert!(without["retransmitted_packets"].as_u64() > Some(10), "{without}");
    assert_eq!(without["links"][0]["marked"], 0, "who does not ask for marks gets none");
    for with in ["newreno", "cubic", "dctcp"] {
        let report = run(&[&["--with", with, "--without", "sack"], &link[..], &marking].concat());
        assert_eq!(report["retransmitted_packets"], 0, "{with}: {report}");
        assert_eq!(report["links"][0]["queue_full"], 0, "{with}");
        assert!(report["links"][0]["marked"].as_u64() > Some(50), "{with}");
    }
    let dctcp = run(&[&["--with", "dctcp", "--without", "sack"], &link[..], &marking].concat());
    assert!(dctcp["goodput_bps"].as_f64() > Some(92e6), "{dctcp}");
    let median = dctcp["rtt_p50_ns"].as_f64().expect("a time") / 1e6;
    assert!((2.1..2.1 + 0.12 * 20.0).contains(&median), "{median} ms: the queue is not at the threshold");
}

/// RFC 6675 §1: who knows all holes fills them all in a few round trips; NewReno needs one for each (RFC 6582 §1).
#[test]
fn holes_are_filled_in_few_round_trips() {
    let link = ["--rate", "50Mbps", "--delay", "10ms", "--queue", "60", "--bytes", "20MB"];
    let newreno = |less| run(&[&["--with", "newreno", "--without", less], &link[..], &WIDE].concat());
    let (without, sack) = (newreno("sack,ecn"), newreno("rack,prr,ecn"));
    assert!(
        without["links"][0]["queue_full"].as_u64() > Some(50),
        "slow start has overrun the queue: {without}"
    );
    let goodput = |report: &Value| report["goodput_bps"].as_f64().expect("a rate");
    assert!(goodput(&sack) > goodput(&without) * 1.25, "{sack} and {without}");
    // Nothing is sent again that was not lost, as long as the receiver can keep what comes behind the holes.
    let link = ["--rate", "50Mbps", "--delay", "10ms", "--loss", "1%", "--bytes", "20MB", "--seed", "8"];
    let sack = run(&[&["--with", "newreno", "--without", "rack,prr,ecn"], &link[..], &WIDE].concat());
    let (again, lost) = (&sack["retransmitted_packets"], &sack["links"][0]["lost"]);
    assert!(again.as_u64() <= lost.as_u64() && lost.as_u64() > Some(100), "{sack}");
}

/// NewReno fills any queue. LEDBAT keeps what waits below its 100 ms (RFC 6817 §2.4.2), TIMELY and Swift far below a millisecond,
/// and the link is full all the same.
#[test]
fn queues_are_as_long_as_delays_are_wanted() {
    let median = |report: &Value| report["rtt_p50_ns"].as_f64().expect("a time") / 1e6;
    let goodput = |report: &Value| report["goodput_bps"].as_f64().expect("a rate");
    let slow = ["--rate", "10Mbps", "--delay", "20ms", "--queue", "2000", "--bytes", "20MB"];
    let on_slow = |with| run(&[&["--with", with], &PLAIN, &slow[..], &WIDE].concat());
    let (newreno, ledbat) = (on_slow("newreno"), on_slow("ledbat"));
    assert!(median(&newreno) > 400.0, "{newreno}");
    let longest = ledbat["rtt_p99_ns"].as_f64().expect("a time") / 1e6;
    assert!(longest < 40.0 + 100.0 + 10.0, "{ledbat}");
    assert!(goodput(&ledbat) > 9.0e6, "{ledbat}");

    let near =
        ["--rate", "10Gbps", "--delay", "10us", "--queue", "2000", "--bytes", "100MB", "--mtu", "9000"];
    let at_once = ["--set", "delack_time=0ms"];
    let on_near = |with| run(&[&["--with", with], &PLAIN, &near[..], &WIDE, &at_once].concat());
    let newreno = on_near("newreno");
    assert!(median(&newreno) > 1.0, "{newreno}");
    for with in ["timely", "swift"] {
        let report = on_near(with);
        assert!(median(&report) < 0.2 && goodput(&report) > 9.0e9, "{with}: {report}");
    }
}

/// RFC 9937 §1: what is lost in one burst is repaired with the link in use.
#[test]
fn proportional_rate_reduction_is_no_slower() {
    let link = ["--rate", "50Mbps", "--delay", "10ms", "--queue", "60", "--bytes", "20MB"];
    let goodput = |without| {
        let report = run(&[&["--without", without], &link[..], &WIDE].concat());
        report["goodput_bps"].as_f64().expect("a rate")
    };
    let (with, without) = (goodput("rack,ecn"), goodput("rack,prr,ecn"));
    assert!(with > without, "{with} and {without}");
}

/// RFC 8985 §1, §4: who goes by time repairs lost tails before the timeout, and waits for what is overtaken.
#[test]
fn losses_found_by_time_are_losses_and_are_found_soon() {
    let short = ["--rate", "100Mbps", "--delay", "10ms", "--loss", "3%", "--bytes", "20KB"];
    let peer = ["--set", "max_ack_delay=40ms"];
    let late = |with: &[&str]| {
        let took = (1..=80).filter(|seed: &u32| {
            let report = simulate(PROGRAM, &[with, &["--seed", &seed.to_string()], &short].concat())
                .expect("the interpreter wants no C compiler");
            assert_eq!(report["server"][0]["received_bytes"], 20_000, "{report}");
            // From when both ends know of each other.
            let begin = report["server"][0]["started_ns"].as_f64().expect("a time");
            report["completion_ns"].as_f64().expect("a time") - begin >= 200e6
        });
        took.count()
    };
    let (without, with) = (late(&BY_COUNT), late(&[&BY_TIME, &peer[..]].concat()));
    assert!(without >= 8 && with <= 1, "{without} and {with} of 80 waited for a timeout");

    let overtaken =
        ["--rate", "100Mbps", "--delay", "10ms", "--reorder", "5%", "--bytes", "10MB", "--seed", "7"];
    let again =
        |with: [&'static str; 4]| run(&[&with, &overtaken[..]].concat())["retransmitted_packets"].clone();
    let (without, with) = (again(BY_COUNT), again(BY_TIME));
    assert!(without.as_u64() > Some(100) && with.as_u64() < Some(10), "{without} and {with}");
}

/// On a long path the buffer of the receiver is the limit, unless it grows: to what the pool has, and not beyond.
#[test]
fn a_receive_buffer_follows_its_path() {
    let long = ["--set", "snd_buf=33554432", "--set", "max_conns=4", "--bytes", "20MB"];
    let link = ["--rate", "1Gbps", "--delay", "50ms", "--queue", "20000"];
    let goodput = |args: &[&str]| {
        let report = run(&[&long[..], &link[..], args].concat());
        assert_eq!(report["server"][0]["received_bytes"], 20_000_000, "{report}");
        20e6 * 8e9 / report["completion_ns"].as_f64().expect("a time")
    };
    let fixed = goodput(&["--set", "rcv_max=131072"]);
    let (grown, empty) = (goodput(&[]), goodput(&["--set", "rcv_pool=0"]));
    // A window of 128 KiB in 100 ms.
    assert!((9.2e6..10.6e6).contains(&fixed), "{fixed} bit/s with a fixed buffer");
    assert!(
        (empty / fixed - 1.0).abs() < 0.05,
        "{empty} bit/s from an empty pool, {fixed} with a fixed buffer"
    );
    assert!(grown > 4.0 * fixed, "{grown} bit/s with a buffer that grows, {fixed} with a fixed one");
}

#[test]
fn the_readme_tells_how_long_the_files_are() {
    let folder = root().join("protocols/tcp");
    let readme = std::fs::read_to_string(folder.join("README.md")).expect("readable");
    let rows = readme.lines().filter_map(|line| {
        let mut cells = line.split('|').map(str::trim).skip(2);
        let file = cells.next()?.strip_prefix('`')?.strip_suffix('`')?.to_owned();
        let file = Some(file).filter(|file| file.ends_with(".mtp"))?;
        Some((file, cells.next()?.parse::<usize>().expect("a number of lines")))
    });
    let rows: Vec<(String, usize)> = rows.collect();
    assert!(rows.len() >= 4, "{rows:?}");
    for (file, lines) in rows {
        let text = std::fs::read_to_string(folder.join(&file)).expect("the file is there");
        assert_eq!(text.lines().count(), lines, "{file}");
    }
}

/// Slow start into a queue that is shorter than the path loses every other segment for a while: more than eighty gaps at once. What
/// arrived is not sent again, whatever finds the losses.
#[test]
fn what_arrived_is_not_sent_again_behind_an_overshoot() {
    let link = ["--rate", "50Mbps", "--delay", "30ms", "--queue", "100", "--bytes", "5MB"];
    let buffers = ["--set", "snd_buf=4194304", "--set", "rcv_buf=4194304"];
    for with in [
        &[][..],
        &["--without", "hystart"],
        &["--without", "rack"],
        &["--with", "newreno"],
        &["--set", "use_timestamps=false"],
    ] {
        let report = run(&[with, &link, &buffers].concat());
        let dropped = report["links"][0]["queue_full"].as_u64().expect("a number");
        let again = report["retransmitted_packets"].as_u64().expect("a number");
        assert!(
            (50..400).contains(&dropped) && again <= dropped * 11 / 10,
            "{with:?}: {again} for {dropped}"
        );
        assert!(report["goodput_bps"].as_f64().expect("a rate") > 34e6, "{with:?}: {report}");
    }
}

const TIMED: &str = "protocols/timed-messages/timed-messages.mtp";

/// XTRA §VI-A: no timer of two round trips fires too early, and nothing else is needed to find what is lost.
#[test]
fn messages_are_sent_again_if_they_are_lost_and_only_then() {
    for control in ["timer_based", "ledbat", "timely"] {
        let with = format!("control={control}");
        let link = ["--with", &with, "--bytes", "1MB", "--delay", "5ms", "--loss", "2%"];
        let report = simulate(TIMED, &link).expect("the interpreter wants no C compiler");
        assert_eq!(report["server"][0]["messages"]["received"], 1000, "{report}");
        let lost = |link: usize| report["links"][link]["lost"].as_u64().expect("a number");
        let again = report["retransmitted_packets"].as_u64().expect("a number");
        // Of a message whose acknowledgement is lost, and that of the next ones too, the timer fires.
        assert!(lost(0) > 0 && (lost(0)..lost(0) + lost(1)).contains(&again), "{report}");
    }
}

/// RFC 6817 §2.4.1: LEDBAT keeps a queue of its target, below what a window of NewReno fills; TIMELY keeps next to none.
#[test]
fn timed_messages_wait_as_long_as_their_control_allows() {
    let trip = |control: &str| {
        let with = format!("control={control}");
        let link = ["--with", &with, "--bytes", "300KB", "--rate", "500Kbps", "--delay", "1ms"];
        let report = simulate(TIMED, &link).expect("the interpreter wants no C compiler");
        assert!(report["goodput_bps"].as_f64().expect("a rate") > 450e3, "{report}");
        report["rtt_p50_ns"].as_f64().expect("a time") / 1e6
    };
    let (newreno, ledbat, timely) = (trip("timer_based"), trip("ledbat"), trip("timely"));
    // A message and its acknowledgement take 18 ms on this link.
    assert!((18.0 + 47.0..18.0 + 87.0).contains(&ledbat), "{ledbat} ms");
    assert!(timely < ledbat && ledbat < newreno, "{timely}, {ledbat}, {newreno} ms");
}
