// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds the manifest in an artefact.

use carrick_driver::Failure;
use carrick_report::plot::{Kind, METADATA};
use carrick_report::{Header, Input};
use carrick_sim::trace;

use super::record::Manifest;

/// The keyword of the text in a PNG that is the manifest.
pub const PNG_KEYWORD: &str = "carrick";

/// What an artefact is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Table(Kind),
    /// what `--format json` prints
    Json,
    Trace,
    /// a trace of JSON lines
    TraceLines,
    Pcap,
    /// a page of `carrick report`
    Page,
    /// of `carrick plot` or `carrick sim --plot`
    Drawing,
    /// a drawing as PNG
    Picture,
}

impl Manifest {
    /// From lines as its `Display` writes them; `None` if one that every manifest has is missing.
    pub fn parse<'a>(lines: impl Iterator<Item = &'a str>) -> Option<Manifest> {
        let mut found: [Option<&str>; 7] = [None; 7];
        let mut inputs = Vec::new();
        for (name, value) in lines.map(|line| line.split_once(' ').unwrap_or((line, ""))) {
            if name == "input" {
                let (file, hash) = value.rsplit_once(' ')?;
                inputs.push(Input { file: file.to_owned(), hash: hash.to_owned() });
            }
            let names = ["carrick", "program", "seed", "arguments", "shard", "table", "drawn"];
            if let Some(place) = names.iter().position(|n| *n == name) {
                found[place] = Some(value);
            }
        }
        let [version, program, seed, arguments, shard, table, drawn] = found;
        let (program, source_hash) = program?.rsplit_once(' ')?;
        Some(Manifest {
            version: version?.to_owned(),
            program: program.to_owned(),
            source_hash: source_hash.to_owned(),
            inputs,
            seed: seed?.parse().ok()?,
            arguments: arguments?.to_owned(),
            shard: shard.map(str::to_owned),
            table: match table {
                Some(table) => Some(named(table)?),
                None => None,
            },
            drawn: drawn.map(str::to_owned),
        })
    }

    /// What an artefact is, and what makes it again: one, or one for each table that was drawn.
    ///
    /// # Errors
    /// [`Failure::Usage`], if it tells nothing of that.
    pub fn read(octets: &[u8], shown: &str) -> Result<(Form, Vec<Manifest>), Failure> {
        let found = match octets {
            [0x0a, 0x0d, 0x0d, 0x0a, rest @ ..] => of_capture(rest).map(|m| (Form::Pcap, vec![m])),
            [0x89, b'P', b'N', b'G', ..] => of_picture(octets).map(|all| (Form::Picture, all)),
            _ if trace::is_binary(octets) => {
                let header = trace::Reader::open(octets).ok().map(|reader| reader.header.to_string());
                let header = header.and_then(|header| Header::read(&header).ok());
                header.map(|header| (Form::Trace, vec![Manifest::of_trace(&header)]))
            }
            _ => std::str::from_utf8(octets).ok().and_then(of_text),
        };
        found.ok_or_else(|| {
            Failure::Usage(format!(
                "{shown} does not say which command made it: artefacts of `carrick sim`, `carrick report` and `carrick plot` do (a PDF does not: name its SVG)"
            ))
        })
    }
}

fn of_text(text: &str) -> Option<(Form, Vec<Manifest>)> {
    if text.starts_with("# carrick ") {
        let lines = text.lines().map_while(|line| line.strip_prefix("# "));
        let form = Form::Table(Kind::of(text).unwrap_or(Kind::Flows));
        return Manifest::parse(lines).map(|m| (form, vec![m]));
    }
    if text.starts_with("<!DOCTYPE html>") {
        return within(text, carrick_report::MANIFEST).map(|all| (Form::Page, all));
    }
    if text.starts_with("<svg ") {
        return within(text, METADATA).map(|all| (Form::Drawing, all));
    }
    if let Ok(header) = Header::read(text.lines().next()?) {
        return Some((Form::TraceLines, vec![Manifest::of_trace(&header)]));
    }
    serde_json::from_str(text).ok().map(|m| (Form::Json, vec![m]))
}

/// `flows LABEL`, `timeline LABEL` or `rates LABEL`.
fn named(table: &str) -> Option<(Kind, String)> {
    let (kind, label) = table.split_once(' ')?;
    let kind = Kind::ALL.into_iter().find(|k| k.name() == kind)?;
    Some((kind, label.to_owned()))
}

/// Those between two marks, with an empty line between them.
fn within(text: &str, (open, close): (&str, &str)) -> Option<Vec<Manifest>> {
    let (_, rest) = text.split_once(open)?;
    let (all, _) = rest.split_once(close)?;
    several(&carrick_doc::unescape(all))
}

/// Manifests with an empty line between them.
fn several(text: &str) -> Option<Vec<Manifest>> {
    text.split("\n\n").map(|lines| Manifest::parse(lines.lines())).collect()
}

/// Those in a text of a PNG that stands before its pixels, and is not compressed.
fn of_picture(octets: &[u8]) -> Option<Vec<Manifest>> {
    let reader = png::Decoder::new(octets).read_info().ok()?;
    let texts = &reader.info().utf8_text;
    let text = texts.iter().find(|text| text.keyword == PNG_KEYWORD && !text.compressed)?;
    several(&text.get_text().ok()?)
}

/// The comment of the section header (pcapng, section 4.1): its first option.
fn of_capture(rest: &[u8]) -> Option<Manifest> {
    // Behind the type: total length, byte-order magic, version, section length.
    let option = rest.get(4 + 4 + 4 + 8..)?;
    let (&[1, 0, low, high], text) = option.split_first_chunk::<4>()? else { return None };
    let text = text.get(..usize::from(u16::from_le_bytes([low, high])))?;
    Manifest::parse(std::str::from_utf8(text).ok()?.lines())
}
