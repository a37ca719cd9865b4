// SPDX-License-Identifier: MIT OR Apache-2.0
//! The targets: a folder each, with its target file and its implementation of the contract.
//!
//! *Architecture invariant:* this list is the only place that names them all. What is under `crates/` knows the contract
//! ([`carrick_driver::targets::Target`]) and no target.

use carrick_driver::targets::Targets;

/// Declares the module of each target, and lists what each calls `TARGET`.
macro_rules! targets {
    ($($name:ident,)*) => {
        $(pub mod $name;)*

        /// All targets.
        pub static ALL: Targets = Targets::new(&[$(&$name::TARGET),*]);
    };
}

targets! {
    sim,
    native,
    ns3,
    hw,
    xdp,
    json,
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_target_file_is_well_formed() {
        let files = super::ALL.files();
        assert!(files.iter().any(|t| t.name == "sim"));
        assert!(files.iter().all(|t| !t.instructions.is_empty()));
    }
}
