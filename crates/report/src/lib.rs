// SPDX-License-Identifier: MIT OR Apache-2.0
//! A recorded run as a page: who did what when, how the numbers moved, and which line of the program reacted.
//!
//! A [`Reader`] takes the records of a trace and gives a [`Run`], which is plain data; [`page`] makes one file of HTML of it
//! that needs no other and no network. What the curves are called comes from the program.
//!
//! [`plot`] draws tables of results.
//!
//! *Architecture invariant:* no I/O. The page draws no more than its pixels can show, however long the run.
#![allow(missing_docs, reason = "fields and variants are named for what they hold")]

mod curves;
mod flows;
mod model;
mod packets;
mod page;
pub mod plot;
mod read;
mod received;
mod source;
mod summary;
mod words;

pub use model::{
    Curve, Events, Flow, Function, Kind, Packets, Reaction, Run, Segments, Series, Source, Transfer, Unit,
};
pub use page::{MANIFEST, page, tables_page};
pub use read::{Header, Input, Reader};
