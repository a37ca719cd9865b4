// SPDX-License-Identifier: MIT OR Apache-2.0
//! In the kernel a packet leaves in the frame that caused it, unless it may take up a payload of any length before it leaves.

#[path = "../../../../crates/lower/tests/common/mod.rs"]
mod common;

/// Whether packets go through the queue of all processors, with a rule that lets a newer packet replace one that waits.
fn always_wait(when: &str) -> bool {
    let rule = format!("coalescing_rule newest [packet, {when}];");
    let text = common::program(&rule, "c.count += 1;", "")
        .replace("deploy {", "deploy { register_coalescing_rule(newest); ");
    let (_, kernel) = carrick_xdp_emitter::emit(&common::lowered(&text));
    assert!(kernel.contains("bool alone = "), "{kernel}");
    kernel.contains("bool alone = false && ")
}

#[test]
fn only_rules_that_take_a_payload_make_packets_wait() {
    assert!(always_wait("bp.seq > prev.seq"));
    assert!(always_wait("bp.seq > prev.seq || bp.payload.len == 0"));
    assert!(always_wait("prev.payload.len == 0"));
    assert!(!always_wait("bp.payload.len == 0 && bp.seq > prev.seq"));
    assert!(!always_wait("bp.seq > prev.seq && bp.last == prev.last && bp.payload.len == 0"));
}
