// SPDX-License-Identifier: MIT OR Apache-2.0
//! The codes of what a target lacks: 600 to 699. A number is never used again for something else.

use carrick_syntax::diag::{Code, code_table};

code_table! {
    INSTRUCTION = 600, "an instruction that a target does not support", "0600";
    PACKET_BLOCK = 601, "a packet scheduling block that a target does not support", "0601";
    EVENT_BLOCK = 602, "an event scheduling block that a target does not support", "0602";
    EVENT_KIND = 603, "a kind of event that a target does not support", "0603";
    INTERFACE = 604, "an interface that no application of a target knows", "0604";
    NET_HEADER = 605, "a network layer that a target does not support", "0605";
    ROLE = 606, "a role that a target does not support", "0606";
    WORK = 607, "a chain that does more than a target allows", "0607";
    CONTEXTS = 608, "a chain over more contexts than a target allows", "0608";
    STATE = 609, "more state than a target holds", "0609";
    STACK = 610, "variables that need more stack than a target has", "0610";
    HEADER = 611, "a header that is too long for a target", "0611";
    QUEUES = 612, "more queues than a target has", "0612";
    UNBUILT = 613, "something that a target does not support yet", "0613";
    REPORTS = 614, "reports that a target does not deliver", "0614";
    LOOP = 615, "a loop that is too long for a target", "0615";
}
