// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs in the kernel of this machine: loading them, their maps, their pins, the rates of their
//! users, and a core of one, for comparisons.
//!
//! It takes objects as `clang -target bpf` makes them of what `carrick_xdp_emitter::emit` writes; names of maps and layouts are
//! those of `targets/xdp/include/carrick/xdp.h`.

pub mod advice;
mod attach_reason;
mod changes;
mod core;
mod device;
mod dispatch;
mod identities;
pub mod layout;
mod link;
mod load_error;
mod loaded;
pub mod machine;
mod map_sizing;
mod maps;
mod memory;
pub mod middlebox;
pub mod needs;
mod object;
mod one_processor;
pub mod pins;
pub mod rates;
mod recycled;
mod requests;
mod seed;
mod state;
mod timers;
mod traffic;

pub use changes::Changes;
pub use core::KernelCore;
pub use device::Device;
pub use dispatch::life;
pub use link::{Entry, Link, Whole, unpin};
pub use load_error::LoadError;
pub use loaded::Loaded;
pub use object::{Object, Reports};
pub use recycled::{Lent, Objects};
pub use seed::seed;
pub use state::Instances;
pub use traffic::Traffic;
