// SPDX-License-Identifier: MIT OR Apache-2.0
//! The page: data, the program's text, and the scripts that draw.

use carrick_doc::{document, escape};

use crate::model::Run;
use crate::plot::{Figure, Table};
use crate::{source, summary};

const STYLE: &str = include_str!("page/style.css");
const FIGURES: &str =
    "figure { display: inline-block; margin: 0.5rem; }\nfigure svg { max-width: 100%; height: auto; }\n";

/// In the order in which they build on each other.
const SCRIPTS: [&str; 5] = [
    include_str!("page/scale.js"),
    include_str!("page/thin.js"),
    include_str!("page/panels.js"),
    include_str!("page/details.js"),
    include_str!("page/main.js"),
];

/// What stands before and behind the manifest in a page.
pub const MANIFEST: (&str, &str) = ("<pre id=\"manifest\">", "</pre>");

fn shown(manifest: &str) -> String {
    [MANIFEST.0, &escape(manifest), MANIFEST.1].concat()
}

/// The page of a run: one file of HTML that needs no other and no network. `manifest`, lines that say what makes it again,
/// stands in it.
pub fn page(run: &Run, manifest: &str) -> String {
    let data = serde_json::to_string(run).expect("plain data has a form in JSON");
    // In a script only `<` could end it.
    let data = data.replace('<', "\\u003c");
    let sources: String = (0..).zip(&run.sources).map(|(n, s)| source::lines(n, s)).collect();
    let (name, command, tables) = (escape(&run.program), escape(&run.command), summary::tables(run));
    let manifest = shown(manifest);
    let scripts = SCRIPTS.concat();
    let body = format!(
        r#"<header>
<h1>{name}</h1>
<p><code>{command}</code></p>
<details><summary>Numbers</summary>
{tables}{manifest}
</details>
</header>
<main>
<section id="charts" aria-label="charts">
<div id="tools">
<button id="in" title="zoom in (+)">+</button><button id="out" title="zoom out (−)">−</button><button id="left" title="earlier (Shift and arrow left)">‹</button><button id="right" title="later (Shift and arrow right)">›</button><button id="all" title="the whole run (0)">all</button>
<span id="window"></span><span id="hint">Drag to zoom, double-click for all, click for the line that reacted.</span>
</div>
<div id="chips"></div>
<div id="panels"></div>
</section>
<aside id="side">
<div id="details" aria-live="polite"><p class="soft">Nothing is selected: click an event, a packet or a curve.</p></div>
<div id="sources">
{sources}</div>
</aside>
</main>
<script type="application/json" id="run">{data}</script>
<script>
"use strict";
{scripts}</script>
"#
    );
    document(&format!("{name}: a run"), STYLE, &body)
}

/// The page of tables of results: all drawings that there are of them, and lines that say what makes them again.
pub fn tables_page(tables: &[Table], manifest: &str) -> String {
    let drawn = Figure::ALL.into_iter().filter(|figure| tables.iter().any(|table| table.kind == figure.of()));
    let figures: String = drawn.map(|figure| figures(figure, tables)).collect();
    let mut labels: Vec<&str> = tables.iter().map(|table| table.label.as_str()).collect();
    labels.dedup();
    let (name, manifest) = (escape(&labels.join(", ")), shown(manifest));
    let body = format!(
        r#"<header>
<h1>{name}</h1>
<details><summary>What makes it again</summary>
{manifest}
</details>
</header>
{figures}"#
    );
    document(&format!("{name}: results"), &[STYLE, FIGURES].concat(), &body)
}

/// The drawings of the tables, and sentences about tables of which nothing can be drawn.
fn figures(figure: Figure, tables: &[Table]) -> String {
    let mine = tables.iter().filter(|table| table.kind == figure.of());
    let (some, none): (Vec<_>, Vec<_>) = mine.cloned().partition(|table| figure.lack(table).is_none());
    let charts = if some.is_empty() { Vec::new() } else { figure.charts(&some) };
    let drawn = charts.iter().map(|chart| format!("<figure>{}</figure>\n", chart.svg("")));
    let about = none.iter().filter_map(|table| {
        let (name, label, why) = (figure.name(), escape(&table.label), figure.lack(table)?);
        Some(format!("<p>There is nothing to draw for {name} of {label}: {why}.</p>\n"))
    });
    drawn.chain(about).collect()
}
