// SPDX-License-Identifier: MIT OR Apache-2.0
//! Users who take what they can have, and others who come after them.

use carrick_tests::net::Net;

use super::programs::{application, begun, saying, service};
use super::setting::{PLACES, Place};

#[test]
fn a_greedy_user_leaves_places_to_others_and_learns_nothing_of_them() {
    let Some(place) = Place::start_door("") else { return };
    let _service = service(&place.net);
    let modest = |uid: &str| {
        let mut command = application(&place, "modest_program.py");
        command.args([Net::OURS, Net::PEER, uid]);
        command
    };
    let (mut first, failed) = saying(modest("65532"));
    let mut greedy = application(&place, "greedy_program.py");
    greedy.args([Net::OURS, Net::PEER, &failed]);
    let (greedy, said) = begun(greedy, "holding");
    // Of the others' socket it cannot listen on the one, set nothing on the other, and not learn how the third ended. It has no
    // more connections and sockets than it leaves: of 255 and 63.
    let expected = [
        "listen EACCES",
        "set EACCES",
        "why ok",
        &format!("connections {} EMFILE", PLACES / 2),
        "near 0",
        "sockets 32 EMFILE",
        "listening EMFILE",
        "holding",
    ];
    assert_eq!(said, expected);
    // While it holds all that, and waits for bytes on each, others come and go on.
    let (mut second, _) = saying(modest("65533"));
    for modest in [&mut first, &mut second] {
        assert_eq!(modest.asked("\n"), "ECONNRESET", "who has the socket learns how it ended");
    }
    assert_eq!(second.end(), "same\n");
    greedy.end();
    assert_eq!(first.end(), "same\n");
    let counted = place.end();
    assert_eq!(counted.get("sockets_refused_share"), Some(&3), "{counted:?}");
    assert_eq!(counted.get("sockets_refused_owner"), Some(&3), "{counted:?}");
}
