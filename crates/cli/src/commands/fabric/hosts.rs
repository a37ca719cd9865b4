// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs of hosts: one source, with features and parameters that can differ by host and by run.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use carrick_driver::built::Built;
use carrick_driver::cc::Tracing;
use carrick_driver::compiled;
use carrick_driver::{Choice, Failure, params};
use carrick_ir::Program;
use carrick_sim::Way;
use carrick_sim::fabric::HostPrograms;
use carrick_sim::fabric::topology::Topology;
use carrick_sim::scenario::Engine;

use super::args::FabricArgs;
use super::file::{no_node, nodes};
use super::runs::Asked;
use crate::commands::scenario::engine_of;
use crate::load::load_choice;

/// The program with some features. The library must stay as long as its compiled core is used.
struct Build {
    /// the features, as tables name them
    features: String,
    program: Arc<Program>,
    library: Option<Built>,
}

/// What hosts run that no option names.
pub struct Usual<'a> {
    pub file: &'a Path,
    pub choice: Choice,
    /// the features of `--with`
    pub with: &'a [String],
    pub program: &'a Arc<Program>,
}

/// Hosts that an option names, as it names them.
struct Named<T> {
    shown: String,
    hosts: RangeInclusive<u32>,
    what: T,
}

/// What all hosts run, in each run.
pub struct Hosts {
    /// those of --with, then one for each --or-with
    variants: Vec<Build>,
    others: Vec<Named<Build>>,
    settings: Vec<Named<String>>,
    count: u32,
}

/// Features as a cell of a table: it has no comma.
fn cell(with: &[String]) -> String {
    if with.is_empty() { "default".to_owned() } else { with.join("+") }
}

impl Hosts {
    /// Of the command line.
    ///
    /// # Errors
    /// [`Failure::Usage`] if there are no such hosts, [`Failure::Failed`] if a build has errors.
    pub fn of(
        usual: &Usual<'_>,
        fabric: &FabricArgs,
        topology: &Topology,
        compiled: Option<Tracing>,
    ) -> Result<Hosts, Failure> {
        let built = |program: Arc<Program>, with: &[String]| {
            let library = compiled.map(|tracing| compiled::shared_library(&program, tracing)).transpose()?;
            Ok::<_, Failure>(Build { features: cell(with), program, library })
        };
        let build = |features: &str| {
            let with: Vec<String> = features.split(',').map(str::to_owned).collect();
            let mut choice = Choice { with: Vec::new(), ..usual.choice.clone() };
            with.iter().for_each(|text| choice.add(text));
            built(load_choice(usual.file, &choice)?, &with)
        };
        let mut variants = vec![built(usual.program.clone(), usual.with)?];
        for features in &fabric.or_with {
            variants.push(build(features)?);
        }
        let mut others = Vec::new();
        for text in &fabric.host_with {
            let parts = text.split_once('=').filter(|(_, features)| !features.is_empty());
            let (shown, features) = parts.ok_or_else(|| {
                Failure::Usage(format!(
                    "--host-with {text}: expected HOSTS=FEATURES, such as h0..h1=reliable"
                ))
            })?;
            let hosts = hosts(shown, topology)?;
            others.push(Named { shown: shown.to_owned(), hosts, what: build(features)? });
        }
        let setting = |text: &String| {
            let parts = text.split_once('=').and_then(|(left, value)| Some((left.rsplit_once('.')?, value)));
            let ((shown, name), value) = parts.ok_or_else(|| {
                Failure::Usage(format!(
                    "--host-set {text}: expected HOSTS.name=value, such as h0..h1.window=64KiB"
                ))
            })?;
            let hosts = hosts(shown, topology)?;
            Ok(Named { shown: shown.to_owned(), hosts, what: format!("{name}={value}") })
        };
        let settings = fabric.host_set.iter().map(setting).collect::<Result<_, Failure>>()?;
        Ok(Hosts { variants, others, settings, count: topology.hosts })
    }

    /// The names of the variants, where there are several.
    pub fn variants(&self) -> Vec<&str> {
        self.variants.iter().map(|build| &*build.features).collect()
    }

    fn build(&self, host: u32, variant: usize) -> &Build {
        let other = self.others.iter().rev().find(|other| other.hosts.contains(&host));
        other.map_or(&self.variants[variant], |other| &other.what)
    }

    /// The program of a host.
    pub fn program(&self, host: u32, variant: usize) -> &Arc<Program> {
        &self.build(host, variant).program
    }

    /// By host, its program.
    pub fn programs(&self, variant: usize) -> Vec<Arc<Program>> {
        (0..self.count).map(|host| self.program(host, variant).clone()).collect()
    }

    /// By host, its features; empty if all hosts have the same.
    pub fn features(&self, variant: usize) -> Vec<String> {
        let all = (0..self.count).map(|host| self.build(host, variant).features.clone());
        if self.others.is_empty() { Vec::new() } else { all.collect() }
    }

    /// The hosts that an option names with their features, for people.
    pub fn named(&self) -> impl Iterator<Item = (&str, &RangeInclusive<u32>, &str)> {
        self.others.iter().map(|it| (&*it.shown, &it.hosts, &*it.what.features))
    }

    /// The values of the parameters of a host's program.
    fn params(&self, host: Option<u32>, asked: &Asked) -> Result<Vec<u64>, Failure> {
        let program =
            host.map_or(&self.variants[asked.variant].program, |host| self.program(host, asked.variant));
        let all = self.variants.iter().chain(self.others.iter().map(|other| &other.what));
        let has = |program: &Program, name: &str| program.params.iter().any(|param| param.name == name);
        // A parameter of a feature is set where the feature is. One that no build has is an error.
        let fits = |setting: &&String| {
            let name = setting.split('=').next().unwrap_or_default();
            has(program, name) || !all.clone().any(|build| has(&build.program, name))
        };
        let mut settings: Vec<String> = asked.settings.iter().filter(fits).cloned().collect();
        let own = self.settings.iter().filter(|it| host.is_some_and(|host| it.hosts.contains(&host)));
        settings.extend(own.map(|it| it.what.clone()));
        params::values(program, &settings)
    }

    /// The hosts that do not run what the others do.
    fn exceptions(&self) -> BTreeSet<u32> {
        let others = self.others.iter().map(|it| &it.hosts);
        others.chain(self.settings.iter().map(|it| &it.hosts)).flat_map(Clone::clone).collect()
    }

    /// Checks the parameters of a run.
    ///
    /// # Errors
    /// [`Failure::Usage`] if one is none of its program, or has a wrong value.
    pub fn check(&self, asked: &Asked) -> Result<(), Failure> {
        self.params(None, asked)?;
        self.exceptions().into_iter().try_for_each(|host| self.params(Some(host), asked).map(drop))
    }

    /// The interpreter or the compiled core of each build that a variant uses: that of --with, then those of hosts.
    ///
    /// # Errors
    /// [`Failure::Failed`] if a compiled core cannot be loaded.
    pub fn engines(&self, variant: usize) -> Result<Vec<Engine>, Failure> {
        let builds = [&self.variants[variant]].into_iter().chain(self.others.iter().map(|it| &it.what));
        builds.map(|build| engine_of(&build.program, build.library.as_ref())).collect()
    }

    /// What hosts run, with these engines.
    ///
    /// # Errors
    /// As [`Hosts::check`].
    pub fn at<'a>(&'a self, asked: &Asked, engines: &'a [Engine]) -> Result<HostPrograms<'a>, Failure> {
        let way = |host: Option<u32>| {
            let other = host.and_then(|host| self.others.iter().rposition(|it| it.hosts.contains(&host)));
            let program = match other {
                Some(place) => &self.others[place].what.program,
                None => &self.variants[asked.variant].program,
            };
            let engine = &engines[other.map_or(0, |place| place + 1)];
            Ok::<_, Failure>(Way { program, engine, params: self.params(host, asked)? })
        };
        let others = self.exceptions().into_iter().map(|host| Ok((host, way(Some(host))?)));
        Ok(HostPrograms { usual: way(None)?, others: others.collect::<Result<BTreeMap<_, _>, Failure>>()? })
    }
}

/// `h0`, or several: `h0..h3`.
fn hosts(text: &str, topology: &Topology) -> Result<RangeInclusive<u32>, Failure> {
    let known = nodes(text, topology).ok().filter(|hosts| *hosts.end() < topology.hosts && !hosts.is_empty());
    known.ok_or_else(|| no_node(text, topology))
}
