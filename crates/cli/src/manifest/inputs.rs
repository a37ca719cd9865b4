// SPDX-License-Identifier: MIT OR Apache-2.0
//! The files beside the program that runs are made of: a topology, traces of flows, calls, rates of links, cross traffic, programs in the
//! network.

use std::path::PathBuf;

use carrick_driver::hash::Hash;
use carrick_driver::{Failure, files};
use carrick_ir::Program;
use carrick_report::Input;

use crate::args::SimArgs;

/// All that there are, in this order.
///
/// # Errors
/// [`Failure::Usage`] if one cannot be read.
pub fn of<'p>(
    args: &SimArgs,
    programs: impl IntoIterator<Item = &'p Program>,
) -> Result<Vec<Input>, Failure> {
    let fabric = &args.fabric;
    let mut inputs = Vec::new();
    let mut files: Vec<PathBuf> = Vec::new();
    if let Some(name) = &fabric.topology {
        let topology = Some(name.as_str()).filter(|name| name.ends_with(".toml"));
        let flows = [Some(&fabric.workload), fabric.background.as_ref()];
        let traces = flows.into_iter().flatten().filter_map(|workload| workload.strip_prefix("trace:"));
        files.extend(topology.into_iter().chain(traces).map(PathBuf::from).chain(fabric.calls.clone()));
    }
    let rates = args.link_faults.rate_trace.iter().cloned().chain(fabric.recordings()?);
    for file in rates {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    for file in files {
        let name = file.display().to_string();
        let octets = files::octets(&file, files::DATA_MAX)
            .map_err(|e| Failure::Usage(format!("cannot read {name}: {e}")))?;
        let mut hash = Hash::new();
        hash.add(&octets);
        inputs.push(Input { file: name, hash: digits(hash.value()) });
    }
    inputs.extend(
        programs.into_iter().map(|p| Input { file: p.file.raw().to_owned(), hash: digits(p.source_hash) }),
    );
    Ok(inputs)
}

/// A hash as artefacts tell it.
pub fn digits(hash: u64) -> String {
    format!("{hash:016x}")
}
