// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs in the network, at the nodes of a topology.

use std::path::PathBuf;
use std::sync::Arc;

use carrick_driver::{Failure, params};
use carrick_ir::Program;
use carrick_sim::Way;
use carrick_sim::fabric::Placed;
use carrick_sim::fabric::topology::{Node, Topology};
use carrick_sim::scenario::Engine;

use super::args::FabricArgs;
use super::file::{At, no_node};
use crate::commands::traced::nothing;
use crate::load::{Build, Builds, choice_between};

/// A program at a node.
struct Stationed {
    node: Node,
    build: Build,
    /// a value for each parameter
    params: Vec<u64>,
}

/// All programs in the network; those of one node in the order of their chain.
pub struct Programs(Vec<Stationed>);

impl Programs {
    /// Those that a topology's file names, and behind them those of the command line.
    ///
    /// # Errors
    /// [`Failure::Usage`] if there is no such node, program or parameter.
    pub fn of(
        ends: &Program,
        args: &FabricArgs,
        topology: &Topology,
        in_file: Vec<At>,
        builds: &Builds,
    ) -> Result<Programs, Failure> {
        let named = args.at.iter().map(|text| at(text)).collect::<Result<Vec<At>, Failure>>()?;
        let mut all = Vec::new();
        for At { at, file, set, .. } in in_file.into_iter().chain(named) {
            let node = topology.node(&at).ok_or_else(|| no_node(&at, topology))?;
            params::said_once(&set)?;
            let build = builds.get(&file, &choice_between(ends))?;
            all.push((Stationed { node, build, params: Vec::new() }, set));
        }
        params::said_once(&args.at_set)?;
        for setting in &args.at_set {
            set(setting, topology, &mut all)?;
        }
        let known = |(mut it, settings): (Stationed, Vec<String>)| {
            it.params = params::layered(&it.build.program, &settings)?;
            Ok(it)
        };
        Ok(Programs(all.into_iter().map(known).collect::<Result<_, Failure>>()?))
    }

    /// The programs themselves.
    pub fn iter(&self) -> impl Iterator<Item = &Program> {
        self.0.iter().map(|it| &*it.build.program)
    }

    /// The program at a node, `s0`, or one of several, `s0.1`; with its number among all.
    ///
    /// # Errors
    /// [`Failure::Usage`] if none or several are there.
    pub fn find(&self, at: &str, topology: &Topology) -> Result<(usize, &Arc<Program>), Failure> {
        let (name, place) = at.split_once('.').map_or((at, None), |(name, place)| (name, Some(place)));
        let node = topology.node(name).ok_or_else(|| no_node(name, topology))?;
        let here: Vec<_> = self.0.iter().enumerate().filter(|(_, it)| it.node == node).collect();
        let place = match (place, here.len()) {
            (_, 0) => return Err(nothing(at, &format!("place one with --at {name}=PROGRAM"))),
            (None, 1) => Some(0),
            (None, _) => None,
            (Some(place), _) => place.parse::<usize>().ok(),
        };
        let found = place.and_then(|place| here.get(place)).map(|(number, it)| (*number, &it.build.program));
        found.ok_or_else(|| {
            let last = here.len() - 1;
            Failure::Usage(format!(
                "--trace-at {at}: say which program of the node, {name}.0 to {name}.{last}"
            ))
        })
    }

    /// Who runs each of them.
    ///
    /// # Errors
    /// [`Failure::Failed`] if a compiled core cannot be loaded.
    pub fn engines(&self) -> Result<Vec<Engine>, Failure> {
        self.0.iter().map(|it| it.build.engine()).collect()
    }

    /// Where they stand, run by these.
    pub fn placed<'a>(&'a self, engines: &'a [Engine]) -> Vec<Placed<'a>> {
        let placed = |(it, engine): (&'a Stationed, &'a Engine)| Placed {
            node: it.node,
            way: Way { program: &it.build.program, engine, params: it.params.clone() },
        };
        self.0.iter().zip(engines).map(placed).collect()
    }
}

/// The files that the command line names.
pub fn files(args: &FabricArgs) -> impl Iterator<Item = PathBuf> {
    args.at.iter().filter_map(|text| Some(text.split_once('=')?.1.into()))
}

/// `s0=cache.mtp`
fn at(text: &str) -> Result<At, Failure> {
    let parts = text.split_once('=').filter(|(node, file)| !node.is_empty() && !file.is_empty());
    let (node, file) = parts.ok_or_else(|| {
        Failure::Usage(format!("--at {text}: say a node and a program, such as s0=cache.mtp"))
    })?;
    Ok(At { at: node.into(), file: file.into(), set: Vec::new(), offload: None })
}

/// `s0.keys=64`: for the programs at this node that have the parameter.
fn set(text: &str, topology: &Topology, all: &mut [(Stationed, Vec<String>)]) -> Result<(), Failure> {
    let parts =
        text.split_once('.').and_then(|(node, setting)| Some((node, setting, setting.split_once('=')?.0)));
    let (node, setting, name) = parts.ok_or_else(|| {
        Failure::Usage(format!("--at-set {text}: say a node, a parameter and its value, such as s0.keys=64"))
    })?;
    let number = topology.node(node).ok_or_else(|| no_node(node, topology))?;
    let mut here: Vec<_> = all.iter_mut().filter(|(it, _)| it.node == number).collect();
    if here.is_empty() {
        return Err(Failure::Usage(format!(
            "--at-set {text}: no program stands at {node}; place one with --at {node}=FILE"
        )));
    }
    let has = |it: &Stationed| it.build.program.params.iter().any(|param| param.name == name);
    let any = here.iter().any(|(it, _)| has(it));
    // Where none has it, the first one says what it has.
    let of = here.iter_mut().filter(|(it, _)| !any || has(it));
    of.for_each(|(_, settings)| settings.push(setting.to_owned()));
    Ok(())
}
