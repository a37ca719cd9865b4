// SPDX-License-Identifier: MIT OR Apache-2.0
//! What every change must pass, and what is also run where there is time.

/// `usual` ones of a list, or all with `make test FULL=1`.
#[must_use]
pub fn of<T>(all: &[T], usual: usize) -> &[T] {
    let full = std::env::var_os("FULL").is_some_and(|value| !value.is_empty());
    if full { all } else { &all[..usual] }
}
