// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program as a page: what its packets look like, what happens for each event, what it remembers.
//!
//! The page is one file of HTML that needs no other and no network. It says what the IR says; the same program always
//! gives the same page.

mod boxes;
mod chains;
mod declarations;
mod header;
mod html;
mod machines;
mod reach;
mod schedules;
mod wire;

use carrick_ir::{Program, Text, print};
use serde::Deserialize;

pub use boxes::layout;
use html::{code, escaped, inline, section, table};
pub use html::{document, escape, unescape};

/// Something that a standard asks of the protocol.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Requirement {
    /// as the standard numbers it
    pub id: String,
    /// of the standard
    pub section: String,
    /// what is asked
    pub text: String,
    /// `met`, `not yet`, `n/a`
    pub status: String,
    /// the declaration that meets it
    #[serde(rename = "where")]
    pub place: String,
    /// what shows it
    pub test: String,
    /// why not, or how
    pub note: String,
}

/// A feature that a build of the program may choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// as `--with` takes it
    pub name: String,
    /// the first is that of a build which names none
    pub options: Vec<String>,
    /// the builds that have it
    pub builds: &'static str,
    /// the option that this build has, or that it has the feature at all; empty if not
    pub chosen: String,
    /// what the program says of it
    pub doc: Text,
}

/// The page of a program; `features` and `requirements` may be empty.
pub fn page(program: &Program, features: &[Feature], requirements: &[Requirement]) -> String {
    let reach = reach::reach(program);
    let sections = [
        section("packets", "Packets", &wire::packets(program)),
        section("chains", "What happens", &chains::picture(program, &reach)),
        section("machines", "State machines", &machines::pictures(program)),
        section("instructions", "Instructions by event", &chains::instructions(program, &reach)),
        section("schedules", "What goes first", &schedules::pictures(program)),
        section("contexts", "What is remembered", &declarations::contexts(program)),
        section("events", "Events", &declarations::events(program, &reach)),
        section("calls", "What applications can ask", &declarations::calls(program)),
        section("functions", "Processors and functions", &declarations::functions(program, &reach)),
        section("features", "Features", &choices(features)),
        section("params", "Parameters", &declarations::params(program)),
        section("values", "Constants and types", &declarations::values(program)),
        section("claims", "Claims", &declarations::claims(program)),
        section("requirements", "Requirements", &asked(requirements)),
    ];
    let name = escape(&program.name);
    let role = match &program.in_network {
        Some(packets) => {
            let packets = escape(&print::expression(program, packets, &[]));
            format!(" in the network, between the interfaces of a node; it keeps at most {packets} packets")
        }
        None => String::new(),
    };
    let links = sections.iter().flatten().map(|s| format!("<a href=\"#{}\">{}</a>", s.anchor, s.title));
    let nav = links.collect::<Vec<_>>().join(" ");
    let body: String = sections.iter().flatten().map(|s| s.html.as_str()).collect();
    let body = format!(
        "<header><h1>{name}</h1><p>a transport program{role}, <code>{}</code></p><nav>{nav}</nav></header>\n<main>\n{body}</main>\n",
        escaped(&program.file),
    );
    document(&name, include_str!("style.css"), &body)
}

/// What a build may choose, and what this one has chosen.
fn choices(features: &[Feature]) -> String {
    let rows = features.iter().map(|feature| {
        vec![
            code(&feature.name),
            code(&feature.options.join(", ")),
            feature.builds.to_owned(),
            code(&feature.chosen),
            inline(&feature.doc),
        ]
    });
    table(&["feature", "options", "in builds", "in this one", ""], rows)
}

/// How much of what is asked is there, and each thing that is asked.
fn asked(requirements: &[Requirement]) -> String {
    if requirements.is_empty() {
        return String::new();
    }
    let count = |status: &str| requirements.iter().filter(|r| r.status == status).count();
    let statuses = ["met", "not yet", "n/a"];
    let counts: Vec<String> = statuses.iter().map(|s| format!("{} {s}", count(s))).collect();
    let rows = requirements.iter().map(|r| {
        vec![
            escape(&r.id),
            escape(&r.section),
            escape(&r.text),
            format!(
                "<span class=\"status {}\">{}</span>",
                r.status.replace([' ', '/'], "-"),
                escape(&r.status)
            ),
            code(&r.place),
            escape(if r.note.is_empty() { &r.test } else { &r.note }),
        ]
    });
    let head = ["", "section", "what is asked", "", "where", "shown by, or why"];
    format!("<p>{}.</p>\n{}", counts.join(", "), table(&head, rows))
}
