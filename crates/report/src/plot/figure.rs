// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which drawings there are of tables of results.

use super::chart::{Axis, Chart, Curve};
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

    /// The drawing of those of the tables that it is of.
    pub fn chart(self, tables: &[Table]) -> Chart {
        let mine = || tables.iter().filter(|table| table.kind == self.of());
        let groups = || mine().flat_map(|table| table.groups.iter().map(move |group| (table, group)));
        let several = groups().any(|(_, group)| group.seeds.len() > 1);
        let flows = |(table, group)| {
            let own = self.flows(group).into_iter().enumerate();
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
        let left = (count > GROUPS).then(|| format!("{GROUPS} of {count} are shown."));
        let (title, x, mut y) = self.axes();
        let mut title = title.to_owned();
        if let (Figure::Samples, Some([field, unit])) = (self, groups().next().map(|(_, g)| &*g.texts)) {
            title = format!("{field} of each context");
            y.unit = Unit::named(unit);
        }
        Chart { title, x, y, curves, note: left, reach: None }
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
        let time = Axis { title: "virtual time", unit: Unit::Time, log: false };
        match self {
            Figure::Slowdown => (
                "Slowdown by length of flows",
                Axis { title: "bytes of a flow", unit: Unit::Octets, log: true },
                Axis { title: "slowdown (times the ideal)", unit: Unit::Times, log: true },
            ),
            Figure::Completion => (
                "Completion times of flows",
                Axis { title: "completion time", unit: Unit::Time, log: true },
                Axis { title: "share of the flows", unit: Unit::Share, log: false },
            ),
            Figure::Queues => (
                "Longest queues",
                time,
                Axis { title: "bytes that wait at one port", unit: Unit::Octets, log: false },
            ),
            Figure::Goodput => {
                ("Goodput of all hosts", time, Axis { title: "goodput", unit: Unit::Rate, log: false })
            }
            Figure::Utilisation => (
                "Goodput as a share of the hosts' links",
                time,
                Axis { title: "utilisation", unit: Unit::Share, log: false },
            ),
            Figure::Rates => {
                ("Goodput of each flow", time, Axis { title: "goodput", unit: Unit::Rate, log: false })
            }
            Figure::Samples => ("", time, Axis { title: "value", unit: Unit::Times, log: false }),
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

/// Which share of all flows had ended; those that have not are among them.
fn completions(group: &Group) -> Points {
    // A flow without a slowdown did not arrive as a whole.
    let whole = group.rows.iter().filter(|row| row[3].is_some());
    let mut times: Vec<f64> = whole.filter_map(|row| Some(row[2]? - row[1]?)).collect();
    times.sort_by(f64::total_cmp);
    let each = times.len().div_ceil(SHARES).max(1);
    let share = |n: usize| n as f64 / group.rows.len() as f64;
    let places = (0..times.len()).filter(|n| n % each == 0 || n + 1 == times.len());
    places.map(|n| (times[n], share(n + 1))).collect()
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

/// The rate of a flow at the end of each interval, from the first to the last in which something of it arrived.
fn rate_of(group: &Group, flow: Option<Line>) -> Points {
    let mut points = Points::new();
    for row in group.rows.iter().filter(|row| row[2] == flow.map(|[_, flow]| flow)) {
        let [Some(from), Some(to), _, Some(octets)] = row[..] else { continue };
        // Nothing arrived between the last interval and this one.
        if let Some((last, _)) = points.last().copied().filter(|(last, _)| *last < from) {
            points.extend([(last + (to - from), 0.0), (from, 0.0)]);
        }
        points.push((to, octets * 8e9 / (to - from)));
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
