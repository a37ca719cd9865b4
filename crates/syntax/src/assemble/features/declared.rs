// SPDX-License-Identifier: MIT OR Apache-2.0
//! The features in a tree.

use crate::ast::{Feature, File, ItemKind};

/// The features that a program declares, in order.
pub fn features(tree: &File) -> impl Iterator<Item = &Feature> {
    blocks(tree).filter(|f| f.of_option.is_none())
}

/// As [`features`], with what belongs to an option alone.
pub(super) fn blocks(tree: &File) -> impl Iterator<Item = &Feature> {
    tree.items.iter().filter_map(|i| if let ItemKind::Feature(f) = &i.kind { Some(f) } else { None })
}
