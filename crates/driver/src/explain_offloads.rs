// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which packets of a program leave by an engine of segmentation, and what prevents it, as people and programs read it.

use std::fmt::Write;

use carrick_ir::{BlueprintDef, Joined, Program};
use serde_json::{Value, json};

use crate::Failure;
use crate::targets::TargetFile;

/// The word for it in target files.
const SEGMENTATION: &str = "segmentation";

/// A program, and a target whose ports have such an engine.
pub struct Offloads<'p> {
    program: &'p Program,
    target: &'p TargetFile,
}

/// A blueprint of packets, and how an engine makes several of one, or why none does.
type Outcome<'p> = (&'p BlueprintDef, Result<Joined<'p>, String>);

impl<'p> Offloads<'p> {
    /// Decides nothing yet.
    ///
    /// # Errors
    /// [`Failure::Usage`] if no port of the target has an engine.
    pub fn new(program: &'p Program, target: &'p TargetFile) -> Result<Self, Failure> {
        if target.engines.iter().any(|engine| engine == SEGMENTATION) {
            return Ok(Offloads { program, target });
        }
        let name = &target.name;
        Err(Failure::Usage(format!(
            "no port of the target {name} has an engine of segmentation: `carrick targets` lists those that have"
        )))
    }

    fn outcomes(&self) -> impl Iterator<Item = Outcome<'p>> {
        let program = self.program;
        program.blueprints.iter().filter(|bp| !bp.frame).map(|bp| (bp, program.joined(bp)))
    }

    /// For people: each packet, and the conditions or what prevents it.
    pub fn pretty(&self) -> String {
        let mut out = format!("{} on {}\n", self.program.name, self.target.name);
        for (bp, joined) in self.outcomes() {
            match joined {
                Ok(joined) => {
                    let _ = writeln!(
                        out,
                        "\n{:<24} several leave in one frame, which the port's engine cuts, if",
                        bp.name
                    );
                    self.conditions(bp, &joined).iter().for_each(|what| {
                        let _ = writeln!(out, "    {what}");
                    });
                }
                Err(why) => {
                    let _ = writeln!(out, "\n{:<24} each leaves by itself: {why}", bp.name);
                }
            }
        }
        out
    }

    /// What a blueprint must say when it is issued.
    fn conditions(&self, bp: &BlueprintDef, joined: &Joined<'_>) -> Vec<String> {
        let rule = |number: usize| &self.program.seg_rules[number].name;
        let field = |number: u32| bp.fields[number as usize].written();
        let protocol = joined.engine.protocol;
        let counts = format!("it has IP protocol {protocol} and is issued with `{}`", rule(joined.counts));
        let flags = joined.flags.iter().map(|(flag, by)| match by {
            Some(by) => format!("`{}` is false, or it is issued with `{}`", field(*flag), rule(*by)),
            None => format!("`{}` is false", field(*flag)),
        });
        let others = joined.others.iter().map(|(_, other)| {
            format!(
                "`{}` leaves `{}` as it is in the second packet, where it is given",
                other.name,
                field(other.field)
            )
        });
        std::iter::once(counts).chain(flags).chain(others).collect()
    }

    /// The same for programs.
    pub fn json(&self) -> Value {
        let packet = |(bp, joined): Outcome<'_>| match joined {
            Ok(joined) => json!({"blueprint": bp.name, "joined": true, "if": self.conditions(bp, &joined)}),
            Err(why) => json!({"blueprint": bp.name, "joined": false, "why": why}),
        };
        let packets: Vec<Value> = self.outcomes().map(packet).collect();
        json!({"program": self.program.name, "target": self.target.name, "packets": packets})
    }
}
