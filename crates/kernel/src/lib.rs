//! Programs in the kernel of this machine: loading them, their maps, and a core of one, for comparisons.
//!
//! It takes objects as `clang -target bpf` makes them of what `carrick_emit_c::emit_bpf` writes; names of maps and layouts are
//! those of `targets/xdp/include/carrick/xdp.h`.

mod core;
mod maps;
mod object;

pub use core::KernelCore;
pub use object::{Attached, Object, Refusal};
