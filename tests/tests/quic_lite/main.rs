// SPDX-License-Identifier: MIT OR Apache-2.0
//! QUIC-Lite's packets, read and written by a QUIC that nobody here wrote, and what it answers to those that it should not get.

mod captured;
mod forgotten;
mod marking;
mod misbehaving;
mod moving;
mod mtus;
mod native;
mod peer;
mod rebinding;
mod recovering;
mod retrying;
mod wire;
