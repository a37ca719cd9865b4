// SPDX-License-Identifier: MIT OR Apache-2.0
//! Traces: what hosts did in a run, one record after another, written and read.

mod binary;
mod cores;
mod layouts;
mod moment;
mod reader;
mod recall;
mod series;
mod writer;

pub use binary::{MAGIC, VERSION};
pub use cores::CoreOf;
pub use layouts::{Layouts, Shape, describe, fields, record_of, value};
pub use moment::{Describer, Hosts, Line, Moment, What};
pub use reader::{Reader, is_binary};
pub use recall::Recaller;
pub use writer::{Form, Head, Lines, Writer};
