// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the cores of a run were made, as its trace carries it: expressions over the trace can depend on it.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use carrick_interp::Config;
use carrick_ir::Program;
use serde::{Deserialize, Serialize};

/// The core of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreOf {
    pub address: IpAddr,
    pub mtu: u32,
    pub seed: u64,
    /// the parameters that do not have their defaults, each as a word
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, u64>,
}

impl CoreOf {
    /// That of this configuration, which runs this program.
    pub fn new(program: &Program, config: &Config) -> CoreOf {
        let set = program.params.iter().zip(&config.params).filter(|(param, value)| param.default != **value);
        CoreOf {
            address: match u32::try_from(config.address) {
                Ok(address) => Ipv4Addr::from(address).into(),
                Err(_) => Ipv6Addr::from(config.address).into(),
            },
            mtu: config.mtu,
            seed: config.seed,
            params: set.map(|(param, value)| (param.name.clone(), *value)).collect(),
        }
    }

    /// The configuration again; `None` if the program has no such parameter.
    pub fn config(&self, program: &Program) -> Option<Config> {
        let mut params: Vec<u64> = program.params.iter().map(|param| param.default).collect();
        for (name, value) in &self.params {
            params[program.params.iter().position(|param| param.name == *name)?] = *value;
        }
        let address = match self.address {
            IpAddr::V4(address) => u32::from(address).into(),
            IpAddr::V6(address) => address.into(),
        };
        Some(Config { address, mtu: self.mtu, seed: self.seed, params, ..Config::default() })
    }
}
