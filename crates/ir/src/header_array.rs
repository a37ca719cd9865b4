// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arrays in headers: each element, or each part of an element, is a field of its own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ty::StructId;

/// A field of an array: its element, or a part of its element. The fields of an array follow each other in the order of
/// the elements, and of the parts of each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldElement {
    /// the name as declared
    pub array: String,
    /// the index, below how many elements there are
    pub at: u32,
    pub of: u32,
    /// which field of the struct that the element is; `None`: the element is a scalar
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<ElementPart>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ElementPart {
    pub of: StructId,
    pub name: String,
}

/// How many fields an array of a header stands for at most.
pub const MOST_ELEMENTS: u32 = 256;

/// An array of a blueprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldArray {
    /// the number of its first field
    pub first: u32,
    pub of: u32,
    /// how many fields each element takes
    pub parts: u32,
    /// what the elements are, if not scalars
    pub record: Option<StructId>,
}
