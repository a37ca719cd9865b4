// SPDX-License-Identifier: MIT OR Apache-2.0
//! A peer that sends what nobody honest would: it is counted, and the connection beside it carries its bytes.

use std::collections::BTreeMap;

use carrick_tests::net::{DEVICE, End, Net};

use super::setting::{Place, here, printed};

#[test]
fn a_hostile_peer_is_counted_and_harms_no_connection() {
    let Some(place) = Place::start() else { return };
    let mut peer = place.net.command(End::Peer, "python3");
    let said = printed(peer.arg(here("hostile_peer.py")).args([Net::PEER, Net::OURS, DEVICE]));
    let told: BTreeMap<&str, u64> = said
        .lines()
        .filter_map(|line| line.split_once(' ').and_then(|(n, c)| Some((n, c.parse().ok()?))))
        .collect();
    assert!(said.ends_with("same\n"), "{said}");
    assert_eq!((told["answered"], told["forged"], told["begun"]), (40, 45, 200), "{said}");
    let counted = place.end();
    let kinds = [
        "ip_short",
        "ip_version",
        "ip_length",
        "ip_checksum",
        "ip_fragment",
        "short",
        "bad_checksum",
        "bad_options",
        "ip_address",
    ];
    for kind in kinds {
        assert!(told[kind] > 50, "{kind}: {said}");
        assert_eq!(counted.get(kind), Some(&told[kind]), "{kind}: {counted:?}");
    }
    // Connections that were begun take no place from others.
    assert_eq!(counted.get("ctx_refused"), None, "{counted:?}");
}
