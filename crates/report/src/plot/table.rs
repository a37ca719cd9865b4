// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables of results, as `carrick sim` writes them.

use std::collections::BTreeSet;

/// What a table has lines of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// flows (`--csv`)
    Flows,
    /// points in time (`--timeline`)
    Timeline,
    /// what arrived of each flow in each interval (`--rates`)
    Rates,
    /// a field of each context over time (`--samples`)
    Samples,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 4] = [Kind::Flows, Kind::Timeline, Kind::Rates, Kind::Samples];

    /// The option of `carrick sim` that writes such tables, without its dashes.
    pub fn option(self) -> &'static str {
        match self {
            Kind::Flows => "csv",
            Kind::Timeline => "timeline",
            Kind::Rates => "rates",
            Kind::Samples => "samples",
        }
    }

    /// Its word in manifests.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Flows => "flows",
            Kind::Timeline => "timeline",
            Kind::Rates => "rates",
            Kind::Samples => "samples",
        }
    }

    /// What the line that names the columns begins with.
    fn head(self) -> &'static str {
        match self {
            Kind::Flows => "seed,flow,",
            Kind::Timeline => "seed,point,",
            Kind::Rates => "seed,from_ns,",
            Kind::Samples => "seed,sampled_ns,",
        }
    }

    /// The columns that are drawn, and the last before those of parameters that vary.
    fn columns(self) -> (&'static [&'static str], &'static str) {
        match self {
            Kind::Flows => (&["bytes", "start_ns", "end_ns", "slowdown"], "status"),
            Kind::Timeline => (
                &["time_ns", "goodput_bps", "utilisation", "to_host_longest_bytes", "between_longest_bytes"],
                "between_together_bytes",
            ),
            Kind::Rates => (&["from_ns", "to_ns", "flow", "bytes"], "bytes"),
            Kind::Samples => (&["sampled_ns", "host", "context", "value"], "value"),
        }
    }

    /// A column of newer tables behind the last one.
    fn behind(self) -> Option<&'static str> {
        (self == Kind::Samples).then_some("sends")
    }

    /// The columns of text that drawings name, where a table has them.
    fn texts(self) -> &'static [&'static str] {
        match self {
            Kind::Flows | Kind::Rates => &[],
            Kind::Timeline => &["bottleneck"],
            Kind::Samples => &["field", "unit"],
        }
    }

    /// Of the table with this text, if it is one.
    pub fn of(text: &str) -> Option<Kind> {
        let head = text.lines().find(|line| !line.starts_with('#'))?;
        Kind::ALL.into_iter().find(|kind| head.starts_with(kind.head()))
    }
}

/// Runs whose parameters have the same values.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// `window=64KiB, mss=1400`; empty where nothing varies
    pub values: String,
    /// of its runs, in their order
    pub seeds: Vec<String>,
    /// with the values of what is drawn, in the order of [`Kind`]'s columns; of all its runs (flows), or of the first (others)
    pub rows: Vec<Vec<Option<f64>>>,
    /// text that is the same in all lines of the first run: the bottleneck (timeline), or the field and its unit (samples)
    pub texts: Vec<String>,
    /// of samples: the hosts that send flows; `None`: no column says so
    pub senders: Option<BTreeSet<u32>>,
}

/// A table that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub kind: Kind,
    /// what its curves are called
    pub label: String,
    pub groups: Vec<Group>,
}

impl Table {
    /// Reads one.
    ///
    /// # Errors
    /// A sentence, if it is none, or a line is not as the first one says.
    pub fn read(label: &str, text: &str) -> Result<Table, String> {
        let none = "it is no table of `carrick sim --csv`, `--timeline`, `--rates` or `--samples`";
        let kind = Kind::of(text).ok_or(none)?;
        let mut lines = (1_usize..).zip(text.lines()).skip_while(|(_, line)| line.starts_with('#'));
        let head: Vec<&str> = lines.next().map(|(_, line)| line.split(',').collect()).unwrap_or_default();
        let (wanted, last) = kind.columns();
        let place = |name: &str| head.iter().position(|column| *column == name);
        let columns: Option<Vec<usize>> = wanted.iter().map(|name| place(name)).collect();
        let background = place("background");
        let behind = kind.behind().and_then(place);
        let (columns, varied) = columns.zip(behind.or(place(last)).map(|at| at + 1)).ok_or(none)?;
        let texts: Vec<usize> = kind.texts().iter().filter_map(|name| place(name)).collect();
        let mut table = Table { kind, label: label.to_owned(), groups: Vec::new() };
        for (number, line) in lines.filter(|(_, line)| !line.starts_with('#')) {
            let cells: Vec<&str> = line.split(',').collect();
            if cells.len() != head.len() {
                return Err(format!("line {number} has {} columns, not {}", cells.len(), head.len()));
            }
            // It is not measured, and not drawn.
            if background.is_some_and(|at| cells[at] == "1") {
                continue;
            }
            let value = |at: &usize| match cells[*at] {
                "" => Ok(None),
                text => text.parse().map(Some).map_err(|_| format!("line {number}: {text:?} is no number")),
            };
            let row = columns.iter().map(value).collect::<Result<Vec<Option<f64>>, String>>()?;
            let values = head.iter().zip(&cells).skip(varied).map(|(name, value)| format!("{name}={value}"));
            let values = values.collect::<Vec<_>>().join(", ");
            let texts = texts.iter().map(|at| cells[*at].to_owned()).collect();
            let sends = behind.map(|at| !matches!(cells[at], "" | "0"));
            table.add(values, cells[0], (row, sends), texts);
        }
        Ok(table)
    }

    fn add(&mut self, values: String, seed: &str, of: (Vec<Option<f64>>, Option<bool>), texts: Vec<String>) {
        let (row, sends) = of;
        let place = self.groups.iter().position(|group| group.values == values).unwrap_or_else(|| {
            let (seeds, rows, senders) = (Vec::new(), Vec::new(), sends.map(|_| BTreeSet::new()));
            self.groups.push(Group { values, seeds, rows, texts, senders });
            self.groups.len() - 1
        });
        let group = &mut self.groups[place];
        if group.seeds.iter().rev().all(|known| known != seed) {
            group.seeds.push(seed.to_owned());
        }
        if self.kind == Kind::Flows || group.seeds[0] == seed {
            if let (Some(host), Some(true), Some(senders)) = (row[1], sends, &mut group.senders) {
                senders.insert(host as u32);
            }
            group.rows.push(row);
        }
    }
}
