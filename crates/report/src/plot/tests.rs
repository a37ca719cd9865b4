// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;

const FLOWS: &str = "# carrick 0.1.0
seed,flow,source,destination,bytes,start_ns,end_ns,ideal_ns,slowdown,background,status,window
1,0,0,1,1000,0,2000,1000,2.0000,0,OK,4
1,1,0,1,50000,0,30000,10000,3.0000,0,OK,4
1,2,0,1,50000,0,,10000,,0,OPEN,4
1,3,1,0,50000,0,90000,10000,9.0000,1,OK,4
2,0,0,1,1000,0,4000,1000,4.0000,0,OK,4
1,0,0,1,1000,0,1000,1000,1.0000,0,OK,8
";

const TIMELINE: &str =
    "seed,point,time_ns,goodput_bps,utilisation,from_host_longest_bytes,from_host_together_bytes,\
to_host_longest_bytes,to_host_together_bytes,between_longest_bytes,between_together_bytes
1,0,100,8000000000,0.4000,0,0,3000,3000,0,0
1,1,200,4000000000,0.2000,0,0,1500,1500,0,0
2,0,100,1,0.1,0,0,9,9,0,0
";

const RATES: &str = "seed,from_ns,to_ns,flow,bytes
1,0,1000,0,125
1,0,1000,3,250
1,1000,2000,0,250
1,4000,5000,0,125
2,0,1000,0,1
";

const SAMPLES: &str = "seed,sampled_ns,host,context,field,unit,value,features
1,1000,0,1,cwnd,bytes,1500,a
1,1000,1,1,cwnd,bytes,3000,b
1,2000,0,1,cwnd,bytes,4500,a
1,2000,1,2,cwnd,bytes,10,b
";

fn table(label: &str, text: &str) -> Table {
    Table::read(label, text).expect("a table")
}

#[test]
fn runs_with_the_same_parameters_are_drawn_together() {
    let flows = table("a", FLOWS);
    assert_eq!(
        flows.groups.iter().map(|g| (g.values.as_str(), g.seeds.len())).collect::<Vec<_>>(),
        [("window=4", 2), ("window=8", 1)]
    );
    let chart = Figure::Slowdown.chart(std::slice::from_ref(&flows));
    let labels: Vec<&str> = chart.curves.iter().map(|c| c.label.as_str()).collect();
    assert_eq!(labels, ["a, window=4, P99", "a, window=4, P50", "a, window=8, P99", "a, window=8, P50"]);
    assert_eq!(chart.curves[1].points, [(1000.0, 2.0), (50000.0, 3.0)]);
    let done = Figure::Completion.chart(&[flows]);
    let steps =
        [(2000.0, 0.0), (2000.0, 0.25), (4000.0, 0.25), (4000.0, 0.5), (30000.0, 0.5), (30000.0, 0.75)];
    assert_eq!(done.curves[0].points, steps, "it begins at 0");
}

#[test]
fn of_runs_over_time_the_first_is_drawn() {
    let timelines = [table("a", TIMELINE), table("b", TIMELINE), table("c", FLOWS)];
    let chart = Figure::Goodput.chart(&timelines);
    assert_eq!(chart.curves.len(), 2);
    assert_eq!(chart.curves[0].points, [(100.0, 8e9), (200.0, 4e9)]);
    assert_eq!(chart.curves[1].label, "b, seed 1");
    assert_eq!(Figure::Queues.chart(&timelines).curves.len(), 2, "nothing waits between switches");
}

#[test]
fn each_flow_has_its_rate_over_time() {
    let chart = Figure::Rates.chart(&[table("a", RATES)]);
    let labels: Vec<&str> = chart.curves.iter().map(|c| c.label.as_str()).collect();
    assert_eq!(labels, ["a, seed 1, flow 0", "a, seed 1, flow 3"]);
    let idle = [(2000.0, 0.0), (4000.0, 0.0)];
    let steps = [(0.0, 1e9), (1000.0, 1e9), (1000.0, 2e9), (2000.0, 2e9)];
    let again = [(4000.0, 1e9), (5000.0, 1e9)];
    assert_eq!(chart.curves[0].points, [&steps[..], &idle, &again].concat());
    assert_eq!(chart.curves[1].points, [(0.0, 2e9), (1000.0, 2e9)]);
}

/// Lines of two hosts with other features follow each other in one run.
#[test]
fn contexts_of_several_hosts_are_in_one_drawing() {
    let chart = Figure::Samples.chart(&[table("x", SAMPLES)]);
    let labels: Vec<&str> = chart.curves.iter().map(|c| c.label.as_str()).collect();
    let wanted = [
        "x, features=a, host 0, context 1",
        "x, features=b, host 1, context 1",
        "x, features=b, host 1, context 2",
    ];
    assert_eq!(labels, wanted);
    assert_eq!(chart.curves[0].points, [(1000.0, 1500.0), (2000.0, 1500.0), (2000.0, 4500.0)]);
    assert_eq!((chart.title.as_str(), chart.y.unit), ("cwnd of each context", Unit::Octets));
}

/// What a receiver's window does says little, and hides what a sender's does.
#[test]
fn contexts_of_hosts_that_send_nothing_are_shown_on_request() {
    const TABLE: &str = "seed,sampled_ns,host,context,field,unit,value,sends,features
1,1000,0,1,cwnd,B,1500,2,a
1,1000,1,1,cwnd,B,10,0,a
1,1000,2,1,cwnd,B,10,0,b
";
    let samples = [table("x", TABLE)];
    let chosen = |hosts: &[u32]| {
        let hosts = hosts.iter().map(|n| *n..=*n).collect();
        Figure::Samples.chosen(&samples, &Choice { hosts, ..Choice::default() })
    };
    let labels = |chart: &Chart| chart.curves.iter().map(|c| c.label.clone()).collect::<Vec<_>>();
    let usual = chosen(&[]);
    assert_eq!(labels(&usual), ["x, features=a, host 0, context 1"]);
    assert_eq!(usual.note.as_deref(), Some("Hosts that send no flow have 2 more: --host shows them."));
    let asked = chosen(&[1, 2]);
    assert_eq!(labels(&asked), ["x, features=a, host 1, context 1", "x, features=b, host 2, context 1"]);
    assert_eq!(asked.note, None);
}

#[test]
fn contexts_and_flows_are_chosen() {
    let samples = [table("x", SAMPLES)];
    let labels = |choice: &Choice| {
        Figure::Samples.check(&samples, choice).expect("they are there");
        let curves = Figure::Samples.chosen(&samples, choice).curves;
        curves.into_iter().map(|c| c.label).collect::<Vec<_>>()
    };
    let of = |hosts: &[u32], contexts: &[u32]| Choice {
        hosts: hosts.iter().map(|n| *n..=*n).collect(),
        contexts: contexts.iter().map(|n| *n..=*n).collect(),
        ..Choice::default()
    };
    assert_eq!(labels(&of(&[0], &[])), ["x, features=a, host 0, context 1"]);
    assert_eq!(labels(&of(&[0, 1], &[2])), ["x, features=b, host 1, context 2"]);
    let wrong =
        |figure: Figure, tables: &[Table], choice: &Choice| figure.check(tables, choice).expect_err("");
    let said = wrong(Figure::Samples, &samples, &of(&[7], &[]));
    assert_eq!(said, "there is no host 7 in the tables: they have 0 to 1");
    assert!(wrong(Figure::Samples, &samples, &of(&[0], &[2])).starts_with("no chosen host"));
    let flow = |n| Choice { flows: vec![n..=n + 1], ..Choice::default() };
    let rates = [table("a", RATES)];
    assert_eq!(Figure::Rates.chosen(&rates, &flow(3)).curves.len(), 1);
    assert_eq!(
        wrong(Figure::Rates, &rates, &flow(8)),
        "there is no flow 8..9 in the tables: they have 0 to 3"
    );
    let said = wrong(Figure::Rates, &rates, &of(&[0], &[]));
    assert_eq!(said, "--host does not choose curves of rates: use --flow");
    let said = wrong(Figure::Completion, &[table("a", FLOWS)], &of(&[0], &[]));
    assert_eq!(said, "--host does not choose curves of completion");
}

#[test]
fn limits_and_sizes_are_kept() {
    let mut chart = Figure::Goodput.chart(&[table("a", TIMELINE)]);
    chart.x.range = Some((50.0, 150.0));
    chart.size = Some((600, 400));
    assert_eq!(chart.check(), Ok(()));
    let svg = chart.svg("");
    for part in ["width=\"600\" height=\"400\"", "clip-path=", ">60<", ">140<"] {
        assert!(svg.contains(part), "{part} is missing: {svg}");
    }
    assert!(!svg.contains(">160<"), "{svg}");
    chart.size = Some((600, 200));
    let said = chart.check().expect_err("it is too small");
    assert!(said.starts_with("--size is too small: this drawing needs at least 316x"), "{said}");
    chart.size = None;
    chart.y.range = Some((9e9, 1e10));
    assert_eq!(chart.check(), Err("no curve is within --x and --y".to_owned()));
    let mut chart = Figure::Slowdown.chart(&[table("a", FLOWS)]);
    chart.x.range = Some((0.0, 1e4));
    assert!(chart.check().is_err_and(|e| e.contains("log scale")));
}

#[test]
fn long_names_are_whole() {
    let label = "a long name of a table ".repeat(6);
    let svg = Figure::Goodput.chart(&[table(label.trim(), TIMELINE)]).svg("");
    let words = svg.matches("a long name of a table").count();
    assert!(svg.contains("height=\"492\"") && words >= 4, "it has two lines: {svg}");
}

#[test]
fn of_many_lines_each_group_has_some() {
    let lines = (0..12).map(|n| format!("1,1000,0,{n},cwnd,bytes,9,a\n1,1000,1,{n},cwnd,bytes,9,b\n"));
    let text =
        lines.fold("seed,sampled_ns,host,context,field,unit,value,features\n".to_owned(), |t, l| t + &l);
    let chart = Figure::Samples.chart(&[table("x", &text)]);
    let of = |features: &str| chart.curves.iter().filter(|c| c.label.contains(features)).count();
    assert_eq!((of("features=a"), of("features=b")), (4, 4));
    assert_eq!(
        chart.note.as_deref(),
        Some("8 of 24 are shown. --host or --context of `carrick plot` shows others.")
    );
}

#[test]
fn the_bottleneck_is_named() {
    let named =
        TIMELINE.replace(",time_ns,", ",bottleneck,time_ns,").replace("1,0,100", "1,0,s0:s1 (9 % used),100");
    let named =
        named.replace("1,1,200", "1,1,s0:s1 (9 % used),200").replace("2,0,100", "2,0,s1:s0 (8 % used),100");
    let chart = Figure::Goodput.chart(&[table("a", &named)]);
    assert_eq!(chart.curves[0].label, "a, seed 1; bottleneck s0:s1 (9 % used)");
}

#[test]
fn curves_over_time_are_smooth_and_have_a_panel_each() {
    let head = TIMELINE.lines().next().expect("a head");
    let lines = (1..=1024).map(|n| format!("\n1,{n},{n},{},0.5,0,0,{},0,0,0", n % 2 * 2000, n % 4));
    let long = table("long", &lines.fold(head.to_owned(), |text, line| text + &line));
    let goodput = Figure::Goodput.chart(std::slice::from_ref(&long));
    assert!(goodput.curves[0].points.len() == 256 && goodput.curves[0].points.iter().all(|p| p.1 == 1000.0));
    let queues = Figure::Queues.chart(std::slice::from_ref(&long));
    assert!(queues.curves[0].points.iter().all(|p| p.1 == 3.0), "the longest of several moments");
    let panels = Figure::Goodput.charts(&[long, table("short", TIMELINE)]);
    assert_eq!(panels.iter().map(|panel| panel.curves.len()).collect::<Vec<_>>(), [1, 1]);
    assert!(panels.iter().all(|panel| panel.reach == Some((1024.0, 8e9))), "the same axes");
    assert_eq!(Figure::Slowdown.charts(&[table("x", FLOWS)]).len(), 1);
}

#[test]
fn drawings_say_what_is_drawn_in_which_units() {
    let svg = Figure::Slowdown.chart(&[table("x < y", FLOWS)]).svg("carrick 0\n<&>");
    for part in [
        "x &lt; y, window=4, P99",
        ">1 KB<",
        ">bytes of a flow (log scale)<",
        ">slowdown, times the ideal (log scale)<",
        "&lt;&amp;&gt;",
    ] {
        assert!(svg.contains(part), "{part} is missing: {svg}");
    }
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && !svg.contains("NaN"));
    let svg = Figure::Goodput.chart(&[table("a", TIMELINE)]).svg("");
    for part in [">goodput, Gbit/s<", ">8<", ">virtual time, ns<", ">200<"] {
        assert!(svg.contains(part), "{part} is missing: {svg}");
    }
    let svg = Figure::Samples.chart(&[table("a", SAMPLES)]).svg("");
    assert!(svg.contains(">cwnd, KB<") && svg.contains(">virtual time, µs<"), "{svg}");
    let small = SAMPLES.replace("1500", "15").replace("3000", "30").replace("4500", "45");
    assert!(Figure::Samples.chart(&[table("a", &small)]).svg("").contains(">cwnd, bytes<"));
}

#[test]
fn a_table_without_anything_to_draw_says_why() {
    for figure in Figure::ALL {
        let text = match figure.of() {
            Kind::Flows => FLOWS,
            Kind::Timeline => TIMELINE,
            Kind::Rates => RATES,
            Kind::Samples => SAMPLES,
        };
        let head = text.lines().find(|line| !line.starts_with('#')).expect("a head");
        assert!(figure.lack(&table("a", head)).is_some(), "{figure:?}");
        assert_eq!(figure.lack(&table("a", text)), None, "{figure:?}");
    }
    let open = FLOWS.lines().filter(|line| line.starts_with("seed") || line.ends_with(",OPEN,4"));
    let open = table("a", &open.collect::<Vec<_>>().join("\n"));
    assert_eq!(Figure::Completion.lack(&open), Some("no flow arrived as a whole"));
    assert!(!crate::tables_page(&[open], "").contains("<figure>"));
}

#[test]
fn what_is_no_table_is_refused() {
    assert!(Table::read("a", "").is_err());
    assert!(Table::read("a", "a,b\n1,2\n").is_err());
    assert!(Table::read("a", "seed,flow,bytes\n").is_err());
    let short = format!("{FLOWS}1,2\n");
    assert!(Table::read("a", &short).is_err_and(|e| e.contains("line 9 has 2 columns")));
    let wrong = FLOWS.replace(",2000,", ",x,");
    assert!(Table::read("a", &wrong).is_err_and(|e| e.contains("line 3: \"x\"")));
}
