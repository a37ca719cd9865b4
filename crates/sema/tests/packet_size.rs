// SPDX-License-Identifier: MIT OR Apache-2.0
//! Headers that leave no space in a packet, and those that fill it.

use carrick_sema::{check, codes};
use carrick_syntax::diag::Severity;
use carrick_syntax::parse;

/// What is said of a program whose header has so many fields of eight bytes, behind one of four.
fn said(fields: u32, payload: &str) -> Vec<(u16, Severity, String)> {
    let text = include_str!("../../../tests/programs/least.mtp");
    let more: String = (0..fields).map(|n| format!("uint64 f{n}; ")).collect();
    let text =
        text.replace("hdr over ipv4 { uint32 n; }", &format!("hdr over ipv4 {{ uint32 n; {more}{payload}}}"));
    let (file, wrong) = parse(&text);
    assert_eq!(wrong, []);
    let (_, found) = check(&file, "least", "least.mtp", &text);
    let of_room = found.into_iter().filter(|d| d.code == codes::HEADER_TOO_LONG);
    of_room.map(|d| (d.code, d.severity, d.note.expect("the reason"))).collect()
}

#[test]
fn a_packet_fits_up_to_the_last_octet() {
    // 20 of IPv4, 4 of `n`, 552 of 69 fields: 576.
    assert_eq!(said(69, ""), []);
    let [(_, severity, note)] = &said(69, "data_t payload; ")[..] else { panic!("said once") };
    assert_eq!(*severity, Severity::Warning);
    let parts = "20 of the network header, 556 of the fixed fields, 1 of `payload`";
    assert_eq!(*note, format!("at most 577 bytes: {parts}"));
}

#[test]
fn a_header_longer_than_any_packet_is_an_error() {
    // 20 and 4 and 8188 times 8 are 65528 bytes.
    let severity = |fields| said(fields, "").first().map(|(_, severity, _)| *severity);
    assert_eq!(severity(8188), Some(Severity::Warning));
    assert_eq!(severity(8189), Some(Severity::Error));
}
