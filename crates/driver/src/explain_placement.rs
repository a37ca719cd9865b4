// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the chains of a program run on a target, and why, as people and programs read it.

use std::fmt::Write;

use carrick_ir::uses::event_kind_name;
use carrick_ir::{self as ir, Loc};
use carrick_lower::placement::{Held, Made, Placed, Placement, Site, Why, place};
use serde_json::{Value, json};

use crate::targets::{TargetFile, sites};

/// A program, and where its chains run on a target.
pub struct Explained<'p> {
    program: &'p ir::Program,
    target: &'p TargetFile,
    sites: Vec<Site>,
    placement: Placement,
}

impl<'p> Explained<'p> {
    /// Decides it.
    pub fn new(program: &'p ir::Program, target: &'p TargetFile) -> Self {
        let sites = sites::of(target);
        let placement = place(program, &sites);
        Explained { program, target, sites, placement }
    }

    /// For people: each chain with its site and why, then who holds which state.
    pub fn pretty(&self) -> String {
        let mut out = format!("{} on {}\n", self.program.name, self.target.name);
        for site in self.sites.iter().filter(|_| self.sites.len() > 1) {
            let _ = writeln!(out, "  {:<8} {}", site.name, site.description);
        }
        for placed in &self.placement.chains {
            self.chain(&mut out, placed);
        }
        out.push_str("\nstate\n");
        for held in &self.placement.contexts {
            self.context(&mut out, held);
        }
        out
    }

    fn chain(&self, out: &mut String, placed: &Placed) {
        let site = &self.sites[placed.site].name;
        let _ = writeln!(out, "\n{:<32} {site}", self.title(placed));
        for why in self.whys(placed) {
            let _ = writeln!(out, "    {}{}", why.text, self.shown(why.loc));
        }
        for made in &placed.packets {
            let _ = writeln!(out, "    {}{}", self.packet(placed, made), self.shown(made.loc));
        }
    }

    fn title(&self, placed: &Placed) -> String {
        let event = &self.program.events[placed.event.index()];
        let case = if placed.absent { " absent" } else { "" };
        match event.kind {
            ir::EventKind::Flow => format!("{}{case} ({})", event.name, self.sites[placed.origin].name),
            _ => format!("{}{case}", event.name),
        }
    }

    /// Why a chain is where it is: what keeps it from where its event arises, or that nothing does.
    fn whys(&self, placed: &Placed) -> Vec<Why> {
        let event = &self.program.events[placed.event.index()];
        let origin = &self.sites[placed.origin].name;
        let loc = placed.processors.first().map(|f| self.program.functions[f.index()].loc);
        let arises = match event.kind {
            ir::EventKind::Flow => format!("it is raised at {origin}"),
            kind => format!("{}s arise at {origin}", event_kind_name(kind)),
        };
        if placed.obstacles.is_empty() {
            let text =
                if placed.site == placed.origin && self.sites.len() > 1 && placed.site + 1 < self.sites.len()
                {
                    format!("{arises}, which supports all that the chain does")
                } else {
                    arises
                };
            return vec![Why { text, loc: loc.unwrap_or_default() }];
        }
        let refused = placed.obstacles.iter();
        refused.map(|why| Why { text: format!("not {origin}: {}", why.text), loc: why.loc }).collect()
    }

    fn packet(&self, placed: &Placed, made: &Made) -> String {
        let blueprint = &self.program.blueprints[made.blueprint.index()].name;
        let function = &self.program.functions[made.function.index()].name;
        let site = &self.sites[made.site].name;
        match (made.payload, made.site == placed.site) {
            (false, _) => format!("`{function}` issues `{blueprint}`: header only, made here"),
            (true, true) => format!("`{function}` issues `{blueprint}` with payload: made here"),
            (true, false) => {
                format!(
                    "`{function}` issues `{blueprint}` with payload: made at {site}, where the payload is"
                )
            }
        }
    }

    fn context(&self, out: &mut String, held: &Held) {
        let def = &self.program.contexts[held.context.index()];
        let of = |(site, fields): (&usize, &Vec<u32>)| {
            format!("{} ({} of {} fields)", self.sites[*site].name, fields.len(), def.fields.len())
        };
        let users: Vec<String> = held.sites.iter().map(of).collect();
        let _ = writeln!(out, "  {:<30} {}: used at {}", def.name, self.keeper(held), users.join(", "));
    }

    /// Where an instance lies: with the control path if nobody else takes it.
    fn keeper(&self, held: &Held) -> &'static str {
        let last = self.sites.len() - 1;
        match held.sites.keys().any(|site| *site < last) {
            _ if self.sites.len() == 1 => "in the core",
            true => "in a map",
            false => "at the last site alone",
        }
    }

    /// `  file:line:column`, if it is a place of the program.
    fn shown(&self, loc: Loc) -> String {
        if loc.line == 0 {
            return String::new();
        }
        format!("  [{}:{}:{}]", self.program.file_of(loc).raw(), loc.line, loc.col)
    }

    /// The same for programs.
    pub fn json(&self) -> Value {
        let chains: Vec<Value> = self.placement.chains.iter().map(|placed| self.chain_json(placed)).collect();
        let contexts: Vec<Value> =
            self.placement.contexts.iter().map(|held| self.context_json(held)).collect();
        json!({
            "program": self.program.name,
            "target": self.target.name,
            "sites": self.sites.iter().map(|s| json!({"name": s.name, "description": s.description}))
                .collect::<Vec<_>>(),
            "chains": chains,
            "contexts": contexts,
        })
    }

    fn chain_json(&self, placed: &Placed) -> Value {
        let name = |f: &ir::FuncId| {
            let def = &self.program.functions[f.index()];
            json!({"name": def.name, "place": self.place(def.loc)})
        };
        let event = &self.program.events[placed.event.index()];
        json!({
            "event": event.name,
            "kind": event_kind_name(event.kind),
            "case": if placed.absent { "absent" } else { "present" },
            "origin": self.sites[placed.origin].name,
            "site": self.sites[placed.site].name,
            "processors": placed.processors.iter().map(name).collect::<Vec<_>>(),
            "why": self.whys(placed).iter()
                .map(|why| json!({"text": why.text, "place": self.place(why.loc)})).collect::<Vec<_>>(),
            "packets": placed.packets.iter().map(|made| json!({
                "blueprint": self.program.blueprints[made.blueprint.index()].name,
                "function": self.program.functions[made.function.index()].name,
                "payload": made.payload,
                "site": self.sites[made.site].name,
                "place": self.place(made.loc),
            })).collect::<Vec<_>>(),
        })
    }

    fn context_json(&self, held: &Held) -> Value {
        let def = &self.program.contexts[held.context.index()];
        let field = |f: &u32| def.fields[*f as usize].name.clone();
        json!({
            "context": def.name,
            "sites": held.sites.iter().map(|(site, fields)| json!({
                "site": self.sites[*site].name,
                "fields": fields.iter().map(field).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
        })
    }

    fn place(&self, loc: Loc) -> Value {
        if loc.line == 0 {
            return Value::Null;
        }
        json!({"file": self.program.file_of(loc).raw(), "line": loc.line, "column": loc.col})
    }
}
