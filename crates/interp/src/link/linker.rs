// SPDX-License-Identifier: MIT OR Apache-2.0
//! What linking needs to know everywhere.

use std::iter::Enumerate;

use carrick_ir::Program;

use crate::debug::Site;
use crate::layout::Layout;
use crate::linked::Map;

pub(crate) struct Linker<'a> {
    pub program: &'a Program,
    pub layout: &'a Layout,
    pub params: &'a [u64],
    pub mtu: u32,
    pub address: u128,
    pub map: Map,
    pub rule_lists: Vec<Vec<usize>>,
    /// of a core that stops at statements: which come next
    pub sites: Option<Enumerate<std::vec::IntoIter<Site>>>,
}

/// What the names of an expression outside functions stand for.
#[derive(Clone, Copy)]
pub(crate) enum Outside {
    None,
    /// over the fields of the blueprint in [`WORK`](crate::linked::WORK)
    Header(usize),
    /// over those of the blueprint as given and of the packet before
    Rule(usize),
    /// over the fields of the event at the stack's beginning
    Call(usize),
}
