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
    assert_eq!(done.curves[0].points, [(2000.0, 0.25), (4000.0, 0.5), (30000.0, 0.75)]);
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
    let [idle, again] = [(3000.0, 0.0), (4000.0, 0.0)];
    assert_eq!(chart.curves[0].points, [(1000.0, 1e9), (2000.0, 2e9), idle, again, (5000.0, 1e9)]);
    assert_eq!(chart.curves[1].points, [(1000.0, 2e9)]);
}

/// Lines of two hosts with other features follow each other in one run.
#[test]
fn contexts_of_several_hosts_are_in_one_drawing() {
    let samples = "seed,sampled_ns,host,context,field,unit,value,features
1,1000,0,1,cwnd,bytes,1500,a
1,1000,1,1,cwnd,bytes,3000,b
1,2000,0,1,cwnd,bytes,4500,a
1,2000,1,2,cwnd,bytes,10,b
";
    let chart = Figure::Samples.chart(&[table("x", samples)]);
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

#[test]
fn of_many_lines_each_group_has_some() {
    let lines = (0..12).map(|n| format!("1,1000,0,{n},cwnd,bytes,9,a\n1,1000,1,{n},cwnd,bytes,9,b\n"));
    let text =
        lines.fold("seed,sampled_ns,host,context,field,unit,value,features\n".to_owned(), |t, l| t + &l);
    let chart = Figure::Samples.chart(&[table("x", &text)]);
    let of = |features: &str| chart.curves.iter().filter(|c| c.label.contains(features)).count();
    assert_eq!((of("features=a"), of("features=b")), (4, 4));
    assert_eq!(chart.note.as_deref(), Some("8 of 24 are shown."));
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
        ">bytes of a flow<",
        "slowdown (times the ideal)",
        "&lt;&amp;&gt;",
    ] {
        assert!(svg.contains(part), "{part} is missing: {svg}");
    }
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && !svg.contains("NaN"));
    let svg = Figure::Goodput.chart(&[table("a", TIMELINE)]).svg("");
    assert!(svg.contains(">8 Gbit/s<") && svg.contains(">200 ns<"), "{svg}");
}

#[test]
fn nothing_at_all_is_drawn_as_that() {
    let empty = FLOWS.lines().take(2).collect::<Vec<_>>().join("\n");
    for figure in Figure::ALL {
        let svg = figure.chart(&[table("a", &empty)]).svg("");
        assert!(svg.contains("there is nothing to draw") && !svg.contains("NaN"), "{svg}");
    }
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
