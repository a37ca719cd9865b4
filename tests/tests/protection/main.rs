//! What programs in the kernel leave alone, and what must leave them alone: the kernel's own stack beside them on the device, and
//! packets that nobody honest sends.
//!
//! Each test that cannot run here says so.

mod coexistence;
mod packets;
mod setting;
