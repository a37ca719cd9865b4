// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parts of a header whose place or presence depends on the packet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::expr::Expr;

/// The most bytes of a variable-length integer (RFC 9000 §16), and the largest that there is.
pub const VARINT_OCTETS: u32 = 8;
pub const VARINT_MAX: u64 = (1 << 62) - 1;

/// Fields behind the fixed ones that stand together. Each part begins where the one before it ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct BpPart {
    /// which of the blueprint's fields; their `bit_offset` counts from the part's beginning
    pub first: u32,
    pub count: u32,
    /// over `BpField`s before the part that are neither computed nor checksums; absent: always there
    pub when: Option<Expr>,
    /// the one field is a variable-length integer
    pub varint: bool,
}
