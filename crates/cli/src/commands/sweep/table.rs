// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of a sweep: written as its runs end, and read again when it goes on. On disk it always has whole rows.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use carrick_driver::written::{try_replace, unwritten};
use carrick_driver::{Failure, files};

use super::outcome::{ERROR, STATUSES};

/// Rows of runs, by their keys.
pub type Known = HashMap<u64, String>;

/// The rows of whole runs in a table that begins with this line; none if there is no such file. Runs that ended in an error are
/// left out: they are made again.
///
/// # Errors
/// [`Failure::Usage`] if it is another table, or cannot be read.
pub fn read(path: &Path, head: &str) -> Result<Known, Failure> {
    let shown = path.display();
    let text = match files::data(path) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Known::new()),
        Err(e) => return Err(Failure::Usage(format!("cannot read {shown}: {e}"))),
    };
    let Some(rows) = text.strip_prefix(head) else {
        // A file without a whole first line has no rows.
        return if head.starts_with(&text) { Ok(Known::new()) } else { Err(other(path)) };
    };
    let mut known: HashMap<u64, (String, u64, u64)> = HashMap::new();
    for line in rows.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        let mut cells = line.split(',');
        let mut cell = || cells.next().ok_or_else(|| other(path));
        let (key, status, flows) = (cell()?, cell()?, cell()?);
        let key = u64::from_str_radix(key, 16).map_err(|_| other(path))?;
        let flows: u64 = flows.parse().map_err(|_| other(path))?;
        if !STATUSES.contains(&status) {
            return Err(other(path));
        }
        if status != ERROR {
            let (rows, found, wanted) = known.entry(key).or_default();
            rows.push_str(line);
            *found += 1;
            *wanted = flows.max(1);
        }
    }
    let of_runs = !head.contains(",flow,");
    let whole = known
        .into_iter()
        .filter(|(_, (_, found, wanted))| if of_runs { *found == 1 } else { found == wanted });
    Ok(whole.map(|(key, (rows, _, _))| (key, rows)).collect())
}

/// A file with other columns than those of the sweep.
fn other(path: &Path) -> Failure {
    Failure::Usage(format!(
        "{} is not a table of this sweep: its columns differ, or it has other cells under key, status and flows; choose another file with -o, or remove it",
        path.display()
    ))
}

/// A table that is written.
pub struct Table {
    path: PathBuf,
    file: File,
    /// bytes of whole rows
    len: u64,
    /// the numbers of its runs, as they are in it
    order: Vec<u64>,
}

impl Table {
    /// Begins the file with its first line and the rows of these runs.
    ///
    /// # Errors
    /// [`Failure::Failed`] if it cannot be written; then the file is as it was.
    pub fn begin(path: &Path, head: &str, rows: Vec<(u64, String)>) -> Result<Table, Failure> {
        let texts = rows.iter().map(|(_, rows)| &**rows);
        let text: String = [head].into_iter().chain(texts).collect();
        let begun = try_replace(path, text.as_bytes()).and_then(|()| File::options().append(true).open(path));
        let file = begun.map_err(|e| cannot(path, &e))?;
        let order = rows.into_iter().map(|(number, _)| number).collect();
        Ok(Table { path: path.to_path_buf(), file, len: text.len() as u64, order })
    }

    /// Appends the rows of a run.
    ///
    /// # Errors
    /// [`Failure::Failed`] if they cannot be written; then none of them is in the file.
    pub fn append(&mut self, number: u64, rows: &str) -> Result<(), Failure> {
        if let Err(e) = self.file.write_all(rows.as_bytes()) {
            // What cannot be cut off is no whole line, or no whole run: it is left out when it is read.
            let _ = self.file.set_len(self.len);
            return Err(Failure::Failed(format!(
                "{}; the rows of {} runs are in it, and --resume makes the others",
                unwritten(&self.path, &e),
                self.order.len()
            )));
        }
        self.len += rows.len() as u64;
        self.order.push(number);
        Ok(())
    }

    /// Brings the runs into their order, however many made them at once.
    ///
    /// # Errors
    /// [`Failure::Failed`] if the file cannot be written; then it is as it was.
    pub fn finish(self, head: &str, number_of: &HashMap<u64, u64>) -> Result<(), Failure> {
        if self.order.is_sorted() {
            return Ok(());
        }
        let text = fs::read_to_string(&self.path).map_err(|e| cannot(&self.path, &e))?;
        let rows = text.strip_prefix(head).unwrap_or_default();
        let number = |row: &&str| {
            let key = row.split(',').next().and_then(|key| u64::from_str_radix(key, 16).ok());
            key.and_then(|key| number_of.get(&key)).copied()
        };
        let mut rows: Vec<&str> = rows.split_inclusive('\n').collect();
        rows.sort_by_key(number);
        let text: String = [head].into_iter().chain(rows).collect();
        try_replace(&self.path, text.as_bytes()).map_err(|e| cannot(&self.path, &e))
    }
}

fn cannot(path: &Path, error: &io::Error) -> Failure {
    Failure::Failed(unwritten(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "key,status,flows,seed,flow,end_ns\n";

    fn rows(key: u64, status: &str, count: u64) -> String {
        (0..count).map(|flow| format!("{key:016x},{status},{count},1,{flow},\n")).collect()
    }

    #[test]
    fn what_is_whole_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.csv");
        assert!(read(&path, HEAD).expect("there is none").is_empty());
        let part = &rows(3, "ok", 2)[..];
        for (text, keys) in [
            (HEAD[..5].to_owned(), &[][..]),
            ([HEAD, &rows(1, "ok", 2), &rows(2, "failed", 1)].concat(), &[1, 2]),
            ([HEAD, &rows(1, "error", 1), &rows(2, "ok", 1)].concat(), &[2]),
            ([HEAD, &rows(2, "ok", 1), &part[..part.len() - 1]].concat(), &[2]),
            ([HEAD, &rows(2, "ok", 1), &part[..part.len() / 2]].concat(), &[2]),
        ] {
            fs::write(&path, &text).expect("writable");
            let mut known: Vec<u64> = read(&path, HEAD).expect("it is a table").into_keys().collect();
            known.sort_unstable();
            assert_eq!(known, keys, "{text}");
        }
        let status = [HEAD, &rows(1, "done", 1)].concat();
        for wrong in ["key,status\n", "x\n", "key,status,flows,seed,flow,end_ns\nabc\n", &status] {
            fs::write(&path, wrong).expect("writable");
            let said = read(&path, HEAD).expect_err(wrong).to_string();
            assert!(said.contains("a.csv is not a table of this sweep"), "{said}");
        }
    }

    #[test]
    fn a_device_stays_one() {
        use std::os::unix::fs::FileTypeExt;
        let device = Path::new("/dev/null");
        let mut table = Table::begin(device, HEAD, Vec::new()).expect("begun");
        table.append(1, &rows(1, "ok", 1)).expect("written");
        assert!(device.symlink_metadata().expect("there").file_type().is_char_device());
    }

    #[test]
    fn runs_are_in_order_at_the_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.csv");
        let mut table = Table::begin(&path, HEAD, vec![(1, rows(11, "ok", 1))]).expect("begun");
        table.append(2, &rows(12, "ok", 2)).expect("written");
        table.append(0, &rows(10, "ok", 2)).expect("written");
        let before = fs::read_to_string(&path).expect("readable");
        assert_eq!(before, [HEAD, &rows(11, "ok", 1), &rows(12, "ok", 2), &rows(10, "ok", 2)].concat());
        let numbers = HashMap::from([(10, 0), (11, 1), (12, 2)]);
        table.finish(HEAD, &numbers).expect("finished");
        let after = fs::read_to_string(&path).expect("readable");
        assert_eq!(after, [HEAD, &rows(10, "ok", 2), &rows(11, "ok", 1), &rows(12, "ok", 2)].concat());
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 1, "nothing else is left");
    }
}
