// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recorded runs: traces in both forms, as lines. The first bytes of a file say which form it has.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use carrick_driver::Failure;
use carrick_report::Header;
use carrick_sim::trace::{Describer, Line, MAGIC, Reader, is_binary};
use serde_json::json;

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
            let mut first = String::new();
            from.read_line(&mut first).map_err(|e| wrong(e.to_string()))?;
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
                let mut text = String::new();
                from.read_line(&mut text).map_err(|e| wrong(e.to_string()))?;
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

    /// A sentence about where the trace ends, if it is not whole; once [`Recorded::next`] has returned `None`.
    pub fn cut(&self) -> Option<String> {
        self.cut.as_ref().map(|cut| format!("{}: {cut}", self.shown))
    }
}
