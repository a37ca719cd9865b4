// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a blueprint says of the packets that it makes and reads.

use carrick_ir::{BlueprintDef, BpFieldKind};

/// In an extract function: how many bytes there are from `p` on.
pub fn packet_len(bp: &BlueprintDef) -> &'static str {
    if bp.frame || bp.payload_len.is_some() { "len" } else { "packet->len" }
}

/// Whether a checksum covers the payload.
pub fn sums_payload(bp: &BlueprintDef) -> bool {
    bp.fields.iter().any(|f| matches!(f.kind, BpFieldKind::Checksum { payload: true, .. }))
}

/// What is added to the length of a header for what follows the payload.
pub fn tail(bp: &BlueprintDef) -> String {
    if bp.trailer { format!(" + {}u", bp.trailer_len()) } else { String::new() }
}

/// What is taken from the length of a packet for that.
pub fn less_tail(bp: &BlueprintDef) -> String {
    if bp.trailer { format!(" - {}u", bp.trailer_len()) } else { String::new() }
}
