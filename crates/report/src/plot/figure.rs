// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which drawings there are of tables of results.

use std::ops::RangeInclusive;

use super::chart::{Axis, Chart, Curve};
use super::choice::{By, Choice, shown, within};
use super::scale::Unit;
use super::table::{Group, Kind, Table};

/// A drawing of one or several tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// how many times as long as in the empty network flows took, by their length
    Slowdown,
    /// which share of the flows had ended after which time
    Completion,
    /// bytes that waited, over time
    Queues,
    /// bytes of flows that arrived, over time
    Goodput,
    /// the same as a share of the hosts' links
    Utilisation,
    /// bytes of each flow that arrived, over time
    Rates,
    /// a field of each context, over time
    Samples,
}

/// Groups that can be told apart in one drawing.
const GROUPS: usize = 8;
/// Points of the curve of slowdowns, each of equally many flows, and of that of completion times.
const LENGTHS: usize = 20;
const SHARES: usize = 400;
/// Points of a curve over time.
const MOMENTS: usize = 256;

type Points = Vec<(f64, f64)>;
/// A flow (of host 0, whichever host sends it), or a host and one of its contexts.
type Line = [f64; 2];

impl Figure {
    /// All of them.
    pub const ALL: [Figure; 7] = [
        Figure::Slowdown,
        Figure::Completion,
        Figure::Queues,
        Figure::Goodput,
        Figure::Utilisation,
        Figure::Rates,
        Figure::Samples,
    ];

    /// Its word on the command line and in names of files.
    pub fn name(self) -> &'static str {
        match self {
            Figure::Slowdown => "slowdown",
            Figure::Completion => "completion",
            Figure::Queues => "queues",
            Figure::Goodput => "goodput",
            Figure::Utilisation => "utilisation",
            Figure::Rates => "rates",
            Figure::Samples => "samples",
        }
    }

    /// What it is drawn of.
    pub fn of(self) -> Kind {
        match self {
            Figure::Slowdown | Figure::Completion => Kind::Flows,
            Figure::Queues | Figure::Goodput | Figure::Utilisation => Kind::Timeline,
            Figure::Rates => Kind::Rates,
            Figure::Samples => Kind::Samples,
        }
    }

    /// The drawings of those of the tables that it is of, where there is room for several: curves over time that would cover
    /// each other have one each.
    pub fn charts(self, tables: &[Table]) -> Vec<Chart> {
        let chart = self.chart(tables);
        if self.of() == Kind::Timeline { chart.panels() } else { vec![chart] }
    }

    /// What its curves can be chosen by.
    pub fn by(self) -> &'static [By] {
        match self {
            Figure::Rates => &[By::Flow],
            Figure::Samples => &[By::Host, By::Context],
            _ => &[],
        }
    }

    /// The options that choose its curves, in words; `None` if there are none.
    fn options(self) -> Option<String> {
        let all: Vec<String> = self.by().iter().map(|by| format!("--{}", by.name())).collect();
        (!all.is_empty()).then(|| all.join(" or "))
    }

    /// Why there is nothing to draw of a table that it is of; `None` if there is something.
    pub fn lack(self, table: &Table) -> Option<&'static str> {
        let drawn = |group: &Group, flow: Option<Line>| {
            let mut curves = Vec::new();
            self.curves((group, flow), "", 0, &mut curves);
            curves.iter().any(|curve| !curve.points.is_empty())
        };
        let empty =
            !table.groups.iter().any(|group| self.flows(group).into_iter().any(|flow| drawn(group, flow)));
        empty.then_some(match self {
            Figure::Slowdown | Figure::Completion if table.groups.is_empty() => "it has no measured flow",
            Figure::Slowdown | Figure::Completion => "no flow arrived as a whole",
            Figure::Queues | Figure::Goodput | Figure::Utilisation => "it has no point in time",
            Figure::Rates => "no byte of a flow arrived",
            Figure::Samples => "no context has a value",
        })
    }

    /// Checks that a choice is of what the tables have.
    ///
    /// # Errors
    /// A sentence that names the option, its value, and what there is instead.
    pub fn check(self, tables: &[Table], choice: &Choice) -> Result<(), String> {
        let groups = || tables.iter().flat_map(|table| &table.groups);
        for by in By::ALL.into_iter().filter(|by| !choice.numbers(*by).is_empty()) {
            let Some(place) = self.by().iter().position(|known| *known == by) else {
                let instead = self.options().map_or_else(String::new, |can| format!(": use {can}"));
                return Err(format!("--{} does not choose curves of {}{instead}", by.name(), self.name()));
            };
            // Of `Line`: a flow is the second, like a context.
            let at = place + usize::from(self == Figure::Rates);
            let lines = groups().flat_map(|group| self.flows(group)).flatten();
            let mut known: Vec<f64> = lines.map(|line| line[at]).collect();
            known.sort_by(f64::total_cmp);
            known.dedup();
            let lacks = |some: &&RangeInclusive<u32>| !known.iter().any(|n| within(some, *n));
            if let Some(some) = choice.numbers(by).iter().find(lacks) {
                let (name, value) = (by.name(), shown(some));
                let (first, last) = (known.first().unwrap_or(&0.0), known.last().unwrap_or(&0.0));
                return Err(format!("there is no {name} {value} in the tables: they have {first} to {last}"));
            }
        }
        let chosen =
            groups().flat_map(|group| self.flows(group)).flatten().any(|line| self.wants(choice, line));
        if self.by().is_empty() || chosen {
            return Ok(());
        }
        Err("no chosen host has a context with a chosen number".to_owned())
    }

    fn wants(self, choice: &Choice, [host, number]: Line) -> bool {
        match self {
            Figure::Rates => choice.has(By::Flow, number),
            Figure::Samples => choice.has(By::Host, host) && choice.has(By::Context, number),
            _ => true,
        }
    }

    /// The drawing of those of the tables that it is of.
    pub fn chart(self, tables: &[Table]) -> Chart {
        self.chosen(tables, &Choice::default())
    }

    /// The drawing of the curves that are chosen.
    pub fn chosen(self, tables: &[Table], choice: &Choice) -> Chart {
        let mine = || tables.iter().filter(|table| table.kind == self.of());
        let groups = || mine().flat_map(|table| table.groups.iter().map(move |group| (table, group)));
        let several = groups().any(|(_, group)| group.seeds.len() > 1);
        let mut silent = 0;
        let flows = |(table, group)| {
            let mut own = self.flows(group);
            own.retain(|flow| flow.is_none_or(|line| self.wants(choice, line)));
            let found = own.len();
            own.retain(|flow| flow.is_none_or(|[host, _]| choice.shows(group.senders.as_ref(), host)));
            silent += found - own.len();
            let own = own.into_iter().enumerate();
            own.map(move |(rank, flow)| (rank, (table, group, flow)))
        };
        let (count, all) = some_of_each(groups().flat_map(flows).collect());
        let mut curves = Vec::new();
        for (colour, (table, group, flow)) in all.into_iter().enumerate() {
            let mut name = table.label.clone();
            if !group.values.is_empty() {
                name.extend([", ", &group.values]);
            }
            if several && self.of() != Kind::Flows {
                name.extend([", seed ", &group.seeds[0]]);
            }
            name.extend(flow.map(|flow| self.line_name(flow)));
            let first = curves.len();
            self.curves((group, flow), &name, colour, &mut curves);
            if let (Kind::Timeline, Some(bottleneck)) = (self.of(), group.texts.first()) {
                curves[first].label.extend(["; bottleneck ", bottleneck]);
            }
        }
        let mut left = (count > GROUPS).then(|| self.left(count));
        if silent > 0 {
            let what = format!("Hosts that send no flow have {silent} more: --host shows them.");
            left = Some(left.into_iter().chain([what]).collect::<Vec<_>>().join(" "));
        }
        let (title, x, mut y) = self.axes();
        let mut title = title.to_owned();
        if let (Figure::Samples, Some([field, unit])) = (self, groups().next().map(|(_, g)| &*g.texts)) {
            title = format!("{field} of each context");
            (y.title, y.unit) = (field.clone(), Unit::named(unit));
        }
        Chart { title, x, y, curves, note: left, reach: None, size: None }
    }

    /// What is not shown of so many groups, flows or contexts.
    fn left(self, count: usize) -> String {
        let can = self.options().map(|can| format!(" {can} of `carrick plot` shows others."));
        format!("{GROUPS} of {count} are shown.{}", can.unwrap_or_default())
    }

    /// What has a colour of its own: each flow or context of the group, or the group.
    fn flows(self, group: &Group) -> Vec<Option<Line>> {
        let line: fn(&Vec<Option<f64>>) -> Option<Line> = match self {
            Figure::Rates => |row| Some([0.0, row[2]?]),
            Figure::Samples => |row| Some([row[1]?, row[2]?]),
            _ => return vec![None],
        };
        let mut lines: Vec<Line> = group.rows.iter().filter_map(line).collect();
        lines.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        lines.dedup();
        lines.into_iter().map(Some).collect()
    }

    fn line_name(self, [host, number]: Line) -> String {
        if self == Figure::Samples {
            format!(", host {host}, context {number}")
        } else {
            format!(", flow {number}")
        }
    }

    fn axes(self) -> (&'static str, Axis, Axis) {
        let time = Axis::new("virtual time", Unit::Time, false);
        let goodput = Axis::new("goodput", Unit::Rate, false);
        match self {
            Figure::Slowdown => (
                "Slowdown by length of flows",
                Axis::new("bytes of a flow", Unit::Octets, true),
                Axis::new("slowdown, times the ideal", Unit::Times, true),
            ),
            Figure::Completion => (
                "Completion times of flows",
                Axis::new("completion time", Unit::Time, true),
                Axis::new("share of the flows", Unit::Share, false),
            ),
            Figure::Queues => {
                ("Longest queues", time, Axis::new("longest queue of a port", Unit::Octets, false))
            }
            Figure::Goodput => ("Goodput of all hosts", time, goodput),
            Figure::Utilisation => {
                ("Goodput as a share of the hosts' links", time, Axis::new("utilisation", Unit::Share, false))
            }
            Figure::Rates => ("Goodput of each flow", time, goodput),
            Figure::Samples => ("", time, Axis::new("value", Unit::Times, false)),
        }
    }

    /// Of a group, or of one of its flows.
    fn curves(self, (group, flow): (&Group, Option<Line>), name: &str, colour: usize, to: &mut Vec<Curve>) {
        let mut add = |label: String, points: Points, dashed, marked| {
            to.push(Curve { label, points, colour, dashed, marked });
        };
        match self {
            Figure::Slowdown => {
                let [p50, p99] = slowdowns(group);
                add(format!("{name}, P99"), p99, false, true);
                add(format!("{name}, P50"), p50, true, true);
            }
            Figure::Completion => add(name.to_owned(), completions(group), false, false),
            Figure::Queues => {
                let [to_host, between] = [3, 4].map(|column| over_time(group, column, most));
                add(format!("{name}, to a host"), to_host, false, false);
                if between.iter().any(|(_, octets)| *octets > 0.0) {
                    add(format!("{name}, between switches"), between, true, false);
                }
            }
            Figure::Goodput => add(name.to_owned(), over_time(group, 1, mean), false, false),
            Figure::Utilisation => add(name.to_owned(), over_time(group, 2, mean), false, false),
            Figure::Rates => add(name.to_owned(), rate_of(group, flow), false, false),
            Figure::Samples => add(name.to_owned(), samples_of(group, flow), false, false),
        }
    }
}

/// Returns how many lines there are, and those that are drawn: of each group the first ones, in their order.
fn some_of_each<T>(lines: Vec<(usize, T)>) -> (usize, Vec<T>) {
    let count = lines.len();
    let mut ranked: Vec<(usize, (usize, T))> = lines.into_iter().enumerate().collect();
    ranked.sort_by_key(|(_, (rank, _))| *rank);
    ranked.truncate(GROUPS);
    ranked.sort_by_key(|(place, _)| *place);
    (count, ranked.into_iter().map(|(_, (_, line))| line).collect())
}

/// The value that so many percent of sorted ones are not above.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    sorted[(sorted.len() - 1) * percent / 100]
}

/// P50 and P99 of flows of about one length, at the longest of them.
fn slowdowns(group: &Group) -> [Points; 2] {
    let mut flows: Vec<(f64, f64)> = group.rows.iter().filter_map(|row| row[0].zip(row[3])).collect();
    flows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let each = flows.len().div_ceil(LENGTHS).max(1);
    let mut points = [Vec::new(), Vec::new()];
    let mut from = 0;
    while from < flows.len() {
        // Flows of one length stay together.
        let last = flows[(from + each).min(flows.len()) - 1].0;
        let to = from + flows[from..].partition_point(|flow| flow.0 <= last);
        let mut some: Vec<f64> = flows[from..to].iter().map(|flow| flow.1).collect();
        some.sort_by(f64::total_cmp);
        points[0].push((last, percentile(&some, 50)));
        points[1].push((last, percentile(&some, 99)));
        from = to;
    }
    points
}

/// Which share of all flows had ended, as steps from 0; those that have not ended are among them.
fn completions(group: &Group) -> Points {
    // A flow without a slowdown did not arrive as a whole.
    let whole = group.rows.iter().filter(|row| row[3].is_some());
    let mut times: Vec<f64> = whole.filter_map(|row| Some(row[2]? - row[1]?)).collect();
    times.sort_by(f64::total_cmp);
    let each = times.len().div_ceil(SHARES).max(1);
    let share = |n: usize| n as f64 / group.rows.len() as f64;
    let places = (0..times.len()).filter(|n| n % each == 0 || n + 1 == times.len());
    let mut points = Points::new();
    for n in places {
        points.push((times[n], points.last().map_or(0.0, |(_, share)| *share)));
        points.push((times[n], share(n + 1)));
    }
    points
}

/// A value over time: of several moments that fall together in a drawing, what `of` makes of them.
fn over_time(group: &Group, column: usize, of: fn(&[(f64, f64)]) -> f64) -> Points {
    let all: Points = group.rows.iter().filter_map(|row| row[0].zip(row[column])).collect();
    let each = all.len().div_ceil(MOMENTS).max(1);
    all.chunks(each).filter_map(|some| Some((some.last()?.0, of(some)))).collect()
}

fn mean(some: &[(f64, f64)]) -> f64 {
    some.iter().map(|(_, value)| value).sum::<f64>() / some.len() as f64
}

fn most(some: &[(f64, f64)]) -> f64 {
    some.iter().map(|(_, value)| *value).fold(0.0, f64::max)
}

/// The rate of a flow in each interval, as steps, from the first to the last in which something of it arrived.
fn rate_of(group: &Group, flow: Option<Line>) -> Points {
    let mut points = Points::new();
    for row in group.rows.iter().filter(|row| row[2] == flow.map(|[_, flow]| flow)) {
        let [Some(from), Some(to), _, Some(octets)] = row[..] else { continue };
        // Nothing arrived between the last interval and this one.
        if let Some((last, _)) = points.last().copied().filter(|(last, _)| *last < from) {
            points.extend([(last, 0.0), (from, 0.0)]);
        }
        let rate = octets * 8e9 / (to - from);
        points.extend([(from, rate), (to, rate)]);
    }
    points
}

/// The values of a context's field, each until the next one.
fn samples_of(group: &Group, of: Option<Line>) -> Points {
    let mut points = Points::new();
    for row in group.rows.iter().filter(|row| row[1].zip(row[2]).map(|(host, number)| [host, number]) == of) {
        let [Some(at), _, _, Some(value)] = row[..] else { continue };
        if let Some((_, last)) = points.last().copied() {
            points.push((at, last));
        }
        points.push((at, value));
    }
    points
}
