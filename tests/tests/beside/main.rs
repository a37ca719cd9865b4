// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs that promise less than others.

mod losses;
mod setting;
