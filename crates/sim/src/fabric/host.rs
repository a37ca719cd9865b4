// SPDX-License-Identifier: MIT OR Apache-2.0
//! A host: a core, what sends and takes flows, and the link to the network.

use super::host_apps::HostApp;
use super::service::Server;
use crate::app::Ask;
use crate::calls::Calls;
use crate::core::Core;

/// At the edge of the network.
pub struct Host {
    pub core: Box<dyn Core>,
    pub app: HostApp,
    /// makes its requests
    pub calls: Calls,
    /// takes packets before the core does, if that takes time
    pub server: Option<Server>,
    /// the earliest time for which a look at its timers is planned
    pub timer_at: u64,
    /// requests that are to be made, those first that the core refused for now
    pub asks: Vec<Ask>,
}

impl Host {
    /// One that has not started.
    pub fn new(core: Box<dyn Core>, app: HostApp, calls: Calls, server: Option<Server>) -> Host {
        Host { core, app, calls, server, timer_at: u64::MAX, asks: Vec::new() }
    }
}
