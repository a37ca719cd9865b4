// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a connection is for.

use serde::{Deserialize, Serialize};

/// What one end of a connection does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Side {
    /// bytes to send, the number among them; 0 for the answering side means none
    pub to_send: u64,
    /// bytes in one send, and in one recv
    pub send_chunk: u32,
    pub recv_chunk: u32,
    /// before the first recv, and between two, in nanoseconds
    pub pause_first: u64,
    pub pause: u64,
    /// reset the connection when so many bytes were sent and received
    pub abort_at: Option<u64>,
}

/// What a connection is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub number: u64,
    /// where connections have several streams, those with the same one share a connection, if the port is the same too
    pub connection: u64,
    /// when the client opens it
    pub start: u64,
    pub port: u16,
    pub client: Side,
    pub server: Side,
    /// bytes of a request and of its answer: each side waits for the other
    pub turn: Option<(u64, u64)>,
    /// open it and leave it open
    pub hold: bool,
    /// RPCs that are begun before the first of them is answered, at most; 0 counts as 1
    pub outstanding: u32,
}
