// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's own stack on the device of a program.

use carrick_tests::net::{DEVICE, End, Net};
use carrick_tests::running::serve;

use super::setting::{Place, here, printed};

/// Another address of our device, which is the kernel's own stack's.
const OTHER: &str = "10.77.0.4";

#[test]
fn the_kernels_own_stack_goes_on_beside_a_program() {
    let Some(place) = Place::start() else { return };
    let net = &place.net;
    net.ip(End::Ours, &format!("addr add {OTHER}/24 dev {DEVICE}")).expect("it is taken");
    let _others = serve(net.command(End::Ours, "python3").arg(here("others.py")).arg(OTHER), "ready");
    let mut beside = net.command(End::Peer, "python3");
    let said = printed(beside.arg(here("beside.py")).args([Net::OURS, OTHER, DEVICE, Net::PEER]));
    assert_eq!(said, "tcp 10\nudp 10\nping 10\nping ours 10\narp 10\nsame\n");
    let counted = place.end();
    // What it passed on: segments to the other address. Packets of other protocols do not come to it.
    assert!(counted["ip_address"] >= 10, "{counted:?}");
    assert_eq!(counted.get("ip_protocol"), None, "{counted:?}");
    assert!(counted["rx_packets"] >= 50, "{counted:?}");
}
