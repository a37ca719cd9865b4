// SPDX-License-Identifier: MIT OR Apache-2.0
//! Targets: the contract that each implements, what their files say, and what a program needs of one.

pub mod codes;
mod contract;
mod file;
mod groups;
pub mod limits;
mod list;
pub mod measure;
pub mod missing_features;
pub mod sites;
pub mod unbuilt;
pub mod uses;

pub use contract::{Cores, Host, Run, Target, Unsupported};
pub use file::{ANY, Feature, Overflow, PipelineSpec, Site, TargetFile};
pub use list::{Against, Targets};
