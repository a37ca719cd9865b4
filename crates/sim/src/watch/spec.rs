// SPDX-License-Identifier: MIT OR Apache-2.0
//! What there is to look at.

use std::collections::BTreeSet;

use carrick_ir::Function;

/// Something to ask of a context: a function whose first parameter is the context, and whose second, if there is one, is the
/// event that came.
#[derive(Debug, Clone)]
pub struct Ask {
    pub text: String,
    pub function: Function,
}

/// What to look at.
#[derive(Debug, Clone, Default)]
pub struct Spec {
    /// after each of these events
    pub on: Vec<usize>,
    /// the type of the contexts that are asked about; absent: of any type, and nothing is asked
    pub context: Option<usize>,
    /// the names of the hosts, by number
    pub hosts: Vec<String>,
    /// on these hosts only
    pub only: Option<BTreeSet<usize>>,
    /// with `on`, `every` or `at`: only where it holds; else whenever it comes true
    pub when: Option<Ask>,
    /// what is shown of a context; empty: everything
    pub show: Vec<Ask>,
    /// virtual nanoseconds between samples, not 0
    pub every: Option<u64>,
    /// list the contexts at each of these times, or at the end if there are none
    pub list: bool,
    /// virtual nanoseconds
    pub at: Vec<u64>,
    /// changes of the contexts that are looked at: of those that `on` or `when` finds, or of all at each time of `at`
    pub set: Vec<Ask>,
    /// so many lines at most
    pub most: Option<u64>,
}
