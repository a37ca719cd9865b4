// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables with types: the lines of a table as columns of numbers and texts.

use crate::commands::sweep::outcome;

/// The cells of a column. A cell without a value is `None`.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    Integers(Vec<Option<i64>>),
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
}

/// A column with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub name: String,
    pub cells: Cells,
}

/// Columns of the same length.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    pub columns: Vec<Column>,
    pub rows: usize,
}

impl Table {
    /// Of a text whose first line names the columns (RFC 4180, without line breaks in cells); lines before it that begin with `#`
    /// are left out.
    pub fn read(csv: &str) -> Table {
        let mut lines = csv.lines().skip_while(|line| line.starts_with('#'));
        let names = lines.next().map(cells).unwrap_or_default();
        let rows: Vec<Vec<Option<String>>> = lines
            .map(|line| {
                cells(line).into_iter().map(|cell| Some(cell).filter(|cell| !cell.is_empty())).collect()
            })
            .collect();
        let of = |(place, name): (usize, String)| {
            let texts = rows.iter().map(|row| row.get(place).cloned().flatten()).collect();
            Column { cells: typed(&name, texts), name }
        };
        Table { columns: names.into_iter().enumerate().map(of).collect(), rows: rows.len() }
    }
}

/// The cells of a line.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let cell = cells.last_mut().expect("there is one");
        match c {
            '"' if quoted && chars.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => cell.push(c),
        }
    }
    cells
}

/// As its type in every table, or else the narrowest one that has all values.
fn typed(name: &str, texts: Vec<Option<String>>) -> Cells {
    let kind = outcome::kind(name);
    if kind == Some(outcome::Kind::Text) {
        return Cells::Texts(texts);
    }
    let integers = parsed(&texts).filter(|_| kind != Some(outcome::Kind::Number));
    if let Some(integers) = integers.filter(|all| kind.is_some() || all.iter().any(Option::is_some)) {
        return Cells::Integers(integers);
    }
    parsed(&texts).map_or(Cells::Texts(texts), Cells::Numbers)
}

fn parsed<T: std::str::FromStr>(texts: &[Option<String>]) -> Option<Vec<Option<T>>> {
    let one = |text: &Option<String>| match text {
        None => Some(None),
        Some(text) => text.parse().ok().map(Some),
    };
    texts.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_types() {
        let text = "# carrick\nkey,flows,slowdown_p50,delay_ns,with,failure\n\
                    0000000000000010,3,,5,a+b,\n0000000000000011,,1,7,default,\"a, \"\"b\"\"\"\n";
        let table = Table::read(text);
        let column = |name: &str| table.columns.iter().find(|it| it.name == name).map(|it| it.cells.clone());
        assert_eq!(table.rows, 2);
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            column("key"),
            Some(Cells::Texts(vec![text("0000000000000010"), text("0000000000000011")]))
        );
        assert_eq!(column("flows"), Some(Cells::Integers(vec![Some(3), None])));
        assert_eq!(column("slowdown_p50"), Some(Cells::Numbers(vec![None, Some(1.0)])));
        assert_eq!(column("delay_ns"), Some(Cells::Integers(vec![Some(5), Some(7)])));
        assert_eq!(column("with"), Some(Cells::Texts(vec![text("a+b"), text("default")])));
        assert_eq!(column("failure"), Some(Cells::Texts(vec![None, text("a, \"b\"")])));
    }

    #[test]
    fn a_table_without_rows_has_its_types() {
        let table = Table::read("flow,end_ns,slowdown,flow_status\n");
        let kinds =
            [Cells::Integers(vec![]), Cells::Integers(vec![]), Cells::Numbers(vec![]), Cells::Texts(vec![])];
        assert_eq!(table.columns.into_iter().map(|it| it.cells).collect::<Vec<_>>(), kinds);
    }
}
