// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs of hosts: one source, with features and parameters that can differ by host and by run.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use carrick_driver::{Choice, Failure, params};
use carrick_ir::Program;
use carrick_sim::Way;
use carrick_sim::fabric::HostPrograms;
use carrick_sim::fabric::topology::Topology;
use carrick_sim::scenario::Engine;

use super::args::FabricArgs;
use super::file::{no_node, nodes};
use super::runs::Asked;
use crate::args::Source;
use crate::load::{Build, Builds};

/// The program with some features.
struct Variant {
    /// the features, as tables name them
    features: String,
    build: Build,
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
    variants: Vec<Variant>,
    others: Vec<Named<Variant>>,
    settings: Vec<Named<String>>,
    count: u32,
}

/// Features as a cell of a table: it has no comma.
pub fn cell(with: &[String]) -> String {
    if with.is_empty() { "default".to_owned() } else { with.join("+") }
}

impl Hosts {
    /// Of the command line.
    ///
    /// # Errors
    /// [`Failure::Usage`] if there are no such hosts, [`Failure::Failed`] if a build has errors.
    pub fn of(
        usual: &Source,
        fabric: &FabricArgs,
        topology: &Topology,
        builds: &Builds,
    ) -> Result<Hosts, Failure> {
        let variant = |with: &[String], choice: &Choice| {
            Ok::<_, Failure>(Variant { features: cell(with), build: builds.get(&usual.file, choice)? })
        };
        let choice = usual.features.choice();
        let with_others = |features: &str| {
            let with: Vec<String> = features.split(',').map(str::to_owned).collect();
            let mut choice = Choice { with: Vec::new(), ..choice.clone() };
            with.iter().for_each(|text| choice.add(text));
            variant(&with, &choice)
        };
        let mut variants = vec![variant(&usual.features.with, &choice)?];
        for features in &fabric.or_with {
            variants.push(with_others(features)?);
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
            others.push(Named { shown: shown.to_owned(), hosts, what: with_others(features)? });
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
        self.variants.iter().map(|variant| &*variant.features).collect()
    }

    fn variant(&self, host: u32, variant: usize) -> &Variant {
        let other = self.others.iter().rev().find(|other| other.hosts.contains(&host));
        other.map_or(&self.variants[variant], |other| &other.what)
    }

    /// The program of a host.
    pub fn program(&self, host: u32, variant: usize) -> &Arc<Program> {
        &self.variant(host, variant).build.program
    }

    /// By host, its program.
    pub fn programs(&self, variant: usize) -> Vec<Arc<Program>> {
        (0..self.count).map(|host| self.program(host, variant).clone()).collect()
    }

    /// By host, its features; empty if all hosts have the same.
    pub fn features(&self, variant: usize) -> Vec<String> {
        let all = (0..self.count).map(|host| self.variant(host, variant).features.clone());
        if self.others.is_empty() { Vec::new() } else { all.collect() }
    }

    /// The hosts that an option names with their features, for people.
    pub fn named(&self) -> impl Iterator<Item = (&str, &RangeInclusive<u32>, &str)> {
        self.others.iter().map(|it| (&*it.shown, &it.hosts, &*it.what.features))
    }

    /// The values of the parameters of a host's program.
    fn params(&self, host: Option<u32>, asked: &Asked) -> Result<Vec<u64>, Failure> {
        let program = host
            .map_or(&self.variants[asked.variant].build.program, |host| self.program(host, asked.variant));
        let all = self.variants.iter().chain(self.others.iter().map(|other| &other.what));
        let has = |program: &Program, name: &str| program.params.iter().any(|param| param.name == name);
        // A parameter of a feature is set where the feature is. One that no build has is an error.
        let fits = |setting: &&String| {
            let name = setting.split('=').next().unwrap_or_default();
            has(program, name) || !all.clone().any(|variant| has(&variant.build.program, name))
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
        builds.map(|variant| variant.build.engine()).collect()
    }

    /// What hosts run, with these engines.
    ///
    /// # Errors
    /// As [`Hosts::check`].
    pub fn at<'a>(&'a self, asked: &Asked, engines: &'a [Engine]) -> Result<HostPrograms<'a>, Failure> {
        let way = |host: Option<u32>| {
            let other = host.and_then(|host| self.others.iter().rposition(|it| it.hosts.contains(&host)));
            let program = match other {
                Some(place) => &self.others[place].what.build.program,
                None => &self.variants[asked.variant].build.program,
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
