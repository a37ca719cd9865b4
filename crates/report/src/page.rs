//! The page: data, the program's text, and the scripts that draw.

use carrick_doc::escape;

use crate::model::Run;
use crate::{source, summary};

const STYLE: &str = include_str!("page/style.css");

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

/// The page of a run: one file of HTML that needs no other and no network. `manifest`, lines that say what makes it again,
/// stands in it.
pub fn page(run: &Run, manifest: &str) -> String {
    let manifest = [MANIFEST.0, &escape(manifest), MANIFEST.1].concat();
    let data = serde_json::to_string(run).expect("plain data has a form in JSON");
    // In a script only `<` could end it.
    let data = data.replace('<', "\\u003c");
    let sources: String = (0..).zip(&run.sources).map(|(n, s)| source::lines(n, s)).collect();
    let (name, command, tables) = (escape(&run.program), escape(&run.command), summary::tables(run));
    let scripts = SCRIPTS.concat();
    format!(
        r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{name}: a run</title>
<style>
{STYLE}</style>
</head>
<body>
<header>
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
</body>
</html>
"#
    )
}
