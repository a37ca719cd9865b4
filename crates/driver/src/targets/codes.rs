//! The codes of what a target lacks: 600 to 699. A number is never used again for something else.

use carrick_syntax::diag::{Code, code_table};

code_table! {
    INSTRUCTION = 600, "an instruction that a target does not carry out", "0600";
    PACKET_BLOCK = 601, "a way to schedule packets that a target does not have", "0601";
    EVENT_BLOCK = 602, "a way to schedule events that a target does not have", "0602";
    EVENT_KIND = 603, "a kind of event that a target does not have", "0603";
    INTERFACE = 604, "an interface that no application of a target knows", "0604";
    NET_HEADER = 605, "a network layer that a target does not have", "0605";
    ROLE = 606, "a place in the network where a target is not", "0606";
}
