// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recorded runs: traces in both forms, as lines. The first bytes of a file say which form it has.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use carrick_driver::Failure;
use carrick_ir::Program;
use carrick_report::Header;
use carrick_sim::core::Record;
use carrick_sim::trace::{CoreOf, Describer, Layouts, Line, MAGIC, Reader, Recaller, What, is_binary};
use serde::Deserialize;
use serde_json::json;

use crate::args::Features;
use crate::command_line;
use crate::trace_file::line;

/// The first line of a table begins so.
const TABLE: &[u8] = b"# carrick ";

/// A trace that is read.
pub struct Recorded<R: BufRead = BufReader<File>> {
    /// what its first line says
    pub header: Header,
    /// the first line of a trace of lines
    first: String,
    records: Records<R>,
    /// the file, in messages
    pub shown: String,
    cut: Option<String>,
}

enum Records<R: BufRead> {
    Lines { from: R, number: u64 },
    Binary(Box<Reader<R>>, Describer),
}

/// Opens a file; `None`: it is a table of results.
///
/// # Errors
/// [`Failure::Usage`] if it cannot be read, or is no trace.
pub fn open(path: &Path) -> Result<Option<Recorded>, Failure> {
    let shown = path.display();
    let file = File::open(path).map_err(|e| {
        Failure::Usage(format!("cannot read {shown}: {e}; `carrick sim FILE.mtp --trace RUN` records a run"))
    })?;
    let mut file = BufReader::new(file);
    let begins = file.fill_buf().map_err(|e| Failure::Usage(format!("{shown}: {e}")))?;
    if begins.starts_with(TABLE) {
        return Ok(None);
    }
    Recorded::new(file, shown.to_string()).map(Some)
}

/// A whole trace as lines; `None` if it cannot be read.
pub fn as_lines(octets: &[u8]) -> Option<String> {
    let mut recorded = Recorded::new(octets, String::new()).ok()?;
    let mut text = recorded.first_line().to_owned();
    while let Some(line) = recorded.read().ok()? {
        text.push('\n');
        text.push_str(&line_text(&line));
    }
    Some(text)
}

/// A line as it is written.
pub fn line_text(line: &Line) -> String {
    json!({"t": line.t, "host": line.host, "what": line.what, "detail": line.detail}).to_string()
}

impl<R: BufRead> Recorded<R> {
    /// Reads the beginning of a trace, which messages call `shown`.
    ///
    /// # Errors
    /// [`Failure::Usage`] if it is none.
    pub fn new(mut from: R, shown: String) -> Result<Recorded<R>, Failure> {
        let wrong = |why: String| Failure::Usage(format!("{shown}: {why}"));
        let begins = from.fill_buf().map_err(|e| wrong(e.to_string()))?;
        let (first, records) = if begins.first() == Some(&MAGIC[0]) {
            if !is_binary(begins) {
                return Err(wrong(
                    "it begins like a binary trace, but is none: was it copied as text?".into(),
                ));
            }
            let reader = Reader::open(from).map_err(wrong)?;
            let describer = Describer::new(reader.hosts.clone());
            (reader.header.to_string(), Records::Binary(Box::new(reader), describer))
        } else {
            let first = line(&mut from, 1).map_err(wrong)?;
            (first.trim_end_matches('\n').to_owned(), Records::Lines { from, number: 1 })
        };
        let header = Header::read(&first).map_err(wrong)?;
        Ok(Recorded { header, first, records, shown, cut: None })
    }

    /// The header as a line.
    pub fn first_line(&self) -> &str {
        &self.first
    }

    /// The next record.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the file cannot be read or is damaged.
    pub fn read(&mut self) -> Result<Option<Line>, Failure> {
        let wrong = |why: String| Failure::Usage(format!("{}: {why}", self.shown));
        match &mut self.records {
            Records::Lines { from, number } => {
                *number += 1;
                let text = line(from, *number).map_err(wrong)?;
                if text.is_empty() {
                    return Ok(None);
                }
                match serde_json::from_str(&text) {
                    Ok(line) => Ok(Some(line)),
                    Err(_) if !text.ends_with('\n') => {
                        let cut = "the run was killed, or the file is not whole";
                        self.cut = Some(format!("it ends within line {number}: {cut}"));
                        Ok(None)
                    }
                    Err(e) => Err(wrong(format!("line {number}: not of a trace: {e}"))),
                }
            }
            Records::Binary(reader, describer) => loop {
                let Some(moment) = reader.read().map_err(wrong)? else {
                    self.cut = reader.cut();
                    return Ok(None);
                };
                if let Some((what, detail)) = describer.describe(&moment) {
                    let (t, host) = (moment.now, moment.host as u32);
                    return Ok(Some(Line { t, host, what: what.to_owned(), detail }));
                }
            },
        }
    }

    /// The cores of its hosts, or that of the program in the network.
    ///
    /// # Errors
    /// [`Failure::Usage`] if it does not say them.
    pub fn cores(&self) -> Result<Vec<CoreOf>, Failure> {
        #[derive(Deserialize)]
        struct First {
            #[serde(default)]
            cores: Vec<CoreOf>,
        }
        match serde_json::from_str(&self.first) {
            Ok(First { cores }) if !cores.is_empty() => Ok(cores),
            _ => Err(Failure::Usage(format!(
                "{}: it does not say how its hosts were configured: record it again with this version",
                self.shown
            ))),
        }
    }

    /// By host, whether it runs this program; `None` if the trace does not say which program hosts run.
    pub fn hosts_of(&self, program: &Program, hosts: usize) -> Option<Vec<bool>> {
        let Records::Binary(reader, _) = &self.records else { return None };
        let (known, of) = (Layouts::of(program), &reader.hosts);
        let same: Vec<bool> = of.programs.iter().map(|it| it.agrees(&known)).collect();
        Some((0..hosts).map(|host| same[of.of.get(host).copied().unwrap_or(0)]).collect())
    }

    /// Gives `tell` everything in its order: when, at which host, and the record if it is one of a core. Ends when that returns
    /// false. `of` says of each host whether it runs this program; records of others are not given.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the file cannot be read or is damaged.
    pub fn replay(
        &mut self,
        program: &Program,
        of: &[bool],
        tell: &mut dyn FnMut(u64, usize, Option<&Record>) -> bool,
    ) -> Result<(), Failure> {
        let layouts = Layouts::of(program);
        if let Records::Lines { .. } = self.records {
            return self.replay_lines(layouts, of, tell);
        }
        let shown = &self.shown;
        let wrong = |why: String| Failure::Usage(format!("{shown}: {why}"));
        let Records::Binary(reader, _) = &mut self.records else { return Ok(()) };
        loop {
            let number = reader.records + 1;
            let Some(moment) = reader.read().map_err(wrong)? else { break };
            let record = match moment.what {
                What::Record(record) => Some(record),
                _ => None,
            };
            let known = of.get(moment.host).copied();
            let known = known.filter(|own| !own || record.is_none_or(|record| layouts.fits(record)));
            let own = known.ok_or_else(|| wrong(format!("record {number} is none of this program")))?;
            if !tell(moment.now, moment.host, record.filter(|_| own)) {
                return Ok(());
            }
        }
        self.cut = reader.cut();
        Ok(())
    }

    /// The same of a trace of lines.
    fn replay_lines(
        &mut self,
        layouts: Layouts,
        of: &[bool],
        tell: &mut dyn FnMut(u64, usize, Option<&Record>) -> bool,
    ) -> Result<(), Failure> {
        let mut recaller = Recaller::new(layouts.clone());
        let (mut last, mut number) = ((0, 0), 1_u64);
        while let Some(line) = self.read()? {
            number += 1;
            let wrong = |why: String| Failure::Usage(format!("{}: line {number}: {why}", self.shown));
            let now = (line.t, line.host as usize);
            // Lines leave out the state of a context that its chain did not change.
            if (now != last || line.what == "event")
                && let Some((host, record)) = recaller.unchanged()
                && !tell(last.0, host, Some(&record))
            {
                return Ok(());
            }
            last = now;
            if !of.get(now.1).copied().unwrap_or(false) {
                return Err(wrong(format!("the trace has no host {}", now.1)));
            }
            let record = recaller.recall(&line).map_err(wrong)?;
            if record.as_ref().is_some_and(|record| !layouts.fits(record)) {
                return Err(wrong("it is none of this program".into()));
            }
            if !tell(now.0, now.1, record.as_ref()) {
                return Ok(());
            }
        }
        if let Some((host, record)) = recaller.unchanged() {
            tell(last.0, host, Some(&record));
        }
        Ok(())
    }

    /// The program of the run and what it is built with: that of the trace, where `program` and `features` do not say another one.
    pub fn made_with(&self, program: Option<&Path>, features: &Features) -> (PathBuf, Features) {
        let header = &self.header;
        let path = program.map_or_else(|| PathBuf::from(&header.program), Path::to_path_buf);
        // What is said here goes before what the run was made with, which is of the program of its command.
        let said = !features.with.is_empty() || !features.without.is_empty() || features.over.is_some();
        if said || program.is_some() && command_line::has_different_hosts(&header.run) {
            return (path, features.clone());
        }
        let features = command_line::features(&header.run).unwrap_or_else(|| features.clone());
        // Those of the command are of the program at the hosts; one in the network has the version of theirs.
        let in_network = Features { with: Vec::new(), without: Vec::new(), ..features.clone() };
        (path, if header.at.is_some() { in_network } else { features })
    }

    /// Why the program in a file is not that of the trace, if it is not.
    pub fn changed(&self, program: &Program, path: &Path) -> Option<Failure> {
        let header = &self.header;
        let same = format!("{:016x}", program.source_hash) == header.source_hash;
        (!same).then(|| {
            Failure::Usage(format!(
                "{} is not as it was in the run; record it again ({} --trace RUN), or name the old text with --program",
                path.display(),
                header.run
            ))
        })
    }

    /// A sentence about where the trace ends, if it is not whole; once [`Recorded::next`] has returned `None`.
    pub fn cut(&self) -> Option<String> {
        self.cut.as_ref().map(|cut| format!("{}: {cut}", self.shown))
    }
}
