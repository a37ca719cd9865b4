// SPDX-License-Identifier: MIT OR Apache-2.0
//! Offloads at nodes, as the command line and topologies describe them.

use carrick_driver::{Failure, quantity};
use carrick_sim::fabric::offload::{Cache, Misdeeds, Offload};
use carrick_sim::fabric::service::ServiceTime;
use carrick_sim::fabric::topology::Topology;

use super::file::{At, no_node};

/// Settings of an offload that is not described so.
const KEYS: u32 = 10_000;
const EXPONENT: f64 = 0.99;
const SETTINGS: &str =
    "service, workers, buffer, ratio, intercept, hits, keys, zipf, twice, never and beyond";

/// All of a run: those that a topology's file describes, and those of the command line, which go before.
///
/// # Errors
/// [`Failure::Usage`] if there is no such node, or a setting is none.
pub fn all(texts: &[String], in_file: &[At], topology: &Topology) -> Result<Vec<Offload>, Failure> {
    let mut all = Vec::new();
    for text in texts {
        let (node, settings) = text.split_once(':').ok_or_else(|| {
            Failure::Usage(format!(
                "--offload {text}: say a node and settings, such as s0:service=12us,workers=2"
            ))
        })?;
        all.push(offload(node, settings, topology)?);
    }
    let described = in_file.iter().filter_map(|at| Some((&at.at, at.offload.as_ref()?)));
    for (node, settings) in described {
        let offload = offload(node, settings, topology)?;
        if !texts.iter().any(|text| text.split(':').next() == Some(node)) {
            all.push(offload);
        }
    }
    Ok(all)
}

/// `service=bimodal:95%x6us,5%x120us,workers=2`
fn offload(node: &str, text: &str, topology: &Topology) -> Result<Offload, Failure> {
    let mut offload = Offload::at(topology.node(node).ok_or_else(|| no_node(node, topology))?);
    let mut settings: Vec<String> = Vec::new();
    for part in text.split(',') {
        match settings.last_mut() {
            // The parts of a mixture have commas between them.
            Some(last) if !part.contains('=') => last.extend([",", part]),
            _ => settings.push(part.to_owned()),
        }
    }
    for setting in &settings {
        let (name, value) = setting.split_once('=').ok_or_else(|| {
            Failure::Usage(format!("offload at {node}: {setting:?} is no setting: say name=value"))
        })?;
        let wrong = |why: &str| Failure::Usage(format!("offload at {node}: {setting}: {why}"));
        set(&mut offload, name, value, &wrong)?;
    }
    Ok(offload)
}

fn set(
    offload: &mut Offload,
    name: &str,
    value: &str,
    wrong: &dyn Fn(&str) -> Failure,
) -> Result<(), Failure> {
    let whole = || value.parse::<u32>().map_err(|_| wrong("say a whole number, such as 4"));
    let Offload { cache, misdeeds, .. } = offload;
    let Misdeeds { twice_ppm, never_ppm, beyond_ppm } = misdeeds;
    let cached = || Cache { hits_ppm: 0, keys: KEYS, exponent: EXPONENT };
    match name {
        "service" => {
            offload.time = service_time(value)
                .ok_or_else(|| wrong("say 12us, exponential:12us or bimodal:95%x6us,5%x120us"))?;
        }
        "workers" => offload.workers = whole()?,
        "buffer" => offload.buffer = quantity::bytes(value)?,
        "ratio" => {
            let (least, greatest) = value.split_once("..").unwrap_or((value, value));
            let sizes = [least, greatest].map(ratio);
            let [Some(least), Some(greatest)] = sizes else {
                return Err(wrong("say sizes behind the offload as multiples, such as 0.7..1.3"));
            };
            offload.ratio_ppm = [least, greatest];
        }
        "intercept" => offload.intercept_ppm = quantity::share(value)?,
        "hits" => cache.get_or_insert_with(cached).hits_ppm = quantity::share(value)?,
        "keys" => cache.get_or_insert_with(cached).keys = whole()?,
        "zipf" => {
            cache.get_or_insert_with(cached).exponent =
                value.parse().map_err(|_| wrong("say an exponent, such as 0.99"))?;
        }
        "twice" => *twice_ppm = quantity::share(value)?,
        "never" => *never_ppm = quantity::share(value)?,
        "beyond" => *beyond_ppm = quantity::share(value)?,
        _ => return Err(wrong(&format!("there is no such setting: there are {SETTINGS}"))),
    }
    Ok(())
}

/// `0.7`, in parts per million.
fn ratio(text: &str) -> Option<u32> {
    let ratio: f64 = text.parse().ok()?;
    (0.0..=4000.0).contains(&ratio).then(|| (ratio * 1e6).round() as u32)
}

/// `12us`, `exponential:12us` or `bimodal:95%x6us,5%x120us`.
pub fn service_time(text: &str) -> Option<ServiceTime> {
    let duration = |text: &str| quantity::duration(text).ok();
    match text.split_once(':') {
        None => duration(text).map(ServiceTime::Constant),
        Some(("exponential", mean)) => duration(mean).map(ServiceTime::Exponential),
        Some(("bimodal", parts)) => {
            let part = |text: &str| {
                let (share, time) = text.split_once('x')?;
                Some((quantity::share(share).ok()?, duration(time)?))
            };
            parts.split(',').map(part).collect::<Option<_>>().map(ServiceTime::Mixture)
        }
        Some(_) => None,
    }
}
