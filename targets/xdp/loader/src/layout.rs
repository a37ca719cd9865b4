// SPDX-License-Identifier: MIT OR Apache-2.0
//! What programs and those who use them from outside have in common: `targets/xdp/include/carrick/layout.h`.

use carrick_ir::{Interface, NetLayer, Program};

/// The program that packets come to.
pub(crate) const INGRESS: &str = "ingress";

/// Bytes of an Ethernet header.
pub const ETHERNET: usize = 14;

/// What stands in that header of a request, in place of what an Ethernet header says of a packet.
pub const REQUEST_TYPE: u16 = 0x88b5;

/// What a request in a frame is.
pub mod kind {
    /// a call of the interface
    pub const CALL: u16 = 0;
    /// a timer that is due
    pub const TIMER: u16 = 1;
    /// nothing: the oldest packet that waits has the frame
    pub const PACKET: u16 = 2;
}

/// Flag of a request: what it issues waits, and no packet leaves in its frame.
pub const HOLD: u16 = 1;

/// Where the head of what each processor has begins with what: `CARRICK_HEAD`.
pub mod head {
    #![allow(missing_docs)]
    pub const CLOCK: usize = 0;
    pub const KEY: usize = 8;
    pub const ADDRESS: usize = 24;
    pub const MTU: usize = 40;
    pub const DEVICE: usize = 44;
    pub const PACED: usize = 48;
    pub const TAKEN: usize = 56;
    pub const BUSY: usize = 64;
    pub const COUNTERS: usize = 72;
}

/// One word of bytes that are longer.
pub(crate) fn word(octets: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&octets[at..at + 8]);
    u64::from_ne_bytes(word)
}

/// What follows an Ethernet header in frames of a program's network layer (RFC 894, RFC 2464).
pub fn ethertype(layer: NetLayer) -> u16 {
    if layer == NetLayer::Ipv6 { 0x86dd } else { 0x0800 }
}

/// An address of that layer, as the head has it.
pub fn address(layer: NetLayer, address: u128) -> Vec<u8> {
    match layer {
        NetLayer::Ipv6 => [(address >> 64) as u64, address as u64].map(u64::to_ne_bytes).concat(),
        NetLayer::Ipv4 | NetLayer::Link => (address as u32).to_ne_bytes().to_vec(),
    }
}

/// Where `struct carrick_places` has what: bytes, and how many.
pub mod place {
    #![allow(missing_docs)]
    pub const CONTEXTS: usize = 24;
    pub const CONTEXT: usize = 664;
    pub const PART_COUNT: usize = 12;
    pub const PARTS: usize = 24;
    pub const PARTS_MAX: usize = 16;
    pub const PART: usize = 40;
    /// behind an instance's slot
    pub const LIVE: usize = 12;
}

/// Where `struct carrick_shared` has the oldest entry of the queue, and behind that how many there ever were.
pub const QUEUE_HEAD: usize = 64;

/// Where it says that reports are looked at anyway.
pub const AWAKE: usize = 80;

/// Where it says before when none of those that wait can leave.
pub const DUE: usize = 88;

/// Where it says how many packets that were stored or copied wait for a frame.
pub const LEAVING: usize = 120;

/// How many elements of `carrick_held` there are beyond the packets that a program may store.
pub const HELD_MORE: u64 = 64;

/// Bytes of `struct carrick_held`, with headers of 496 bytes: programs that have longer ones store few packets.
pub const HELD_OCTETS: u64 = 9728;

/// How many blueprints can wait.
pub const QUEUE: u64 = 1024;

/// Bytes of `struct carrick_timer`.
pub const TIMER_OCTETS: usize = 24;

/// Bytes of memory that a request brings at most, and those of the element that they are in: `struct carrick_staged`.
pub const STAGED: usize = 262_144;
/// The same of a stream.
pub const STAGED_STREAM: usize = 65_536;
/// The most bytes that are copied at once: what rings and staged requests have beyond their end.
pub const PIECE: usize = 16_384;

/// With what is never used.
pub const STAGED_OCTETS: usize = STAGED + PIECE;

/// What the map of a program has for each.
pub(crate) fn staged_octets(program: &Program) -> usize {
    let parts = program.interface.as_ref().is_some_and(Interface::takes_parts);
    PIECE + if parts { STAGED_STREAM } else { STAGED }
}

/// The most arguments of a call.
pub const ARGUMENTS: usize = 16;

/// A report that a request is complete; those below are trace records.
pub const COMPLETION: u32 = 16;

/// A request, as it stands in a frame behind the Ethernet header: `struct carrick_host_request`.
#[derive(Debug, Clone, Default)]
pub struct Asked<'a> {
    /// see [`kind`]
    pub kind: u16,
    /// such as [`HOLD`]
    pub flags: u16,
    /// which call, or which timer of which context
    pub number: u32,
    /// of an instance
    pub handle: u64,
    /// of the request
    pub token: u64,
    /// of its memory: 1 + where it is staged, and how many bytes
    pub staged: (u32, u64),
    /// the event's other fields
    pub args: &'a [u64],
}

impl Asked<'_> {
    /// Its bytes.
    pub fn octets(&self) -> Vec<u8> {
        let mut octets = Vec::with_capacity(40 + 8 * ARGUMENTS);
        octets.extend(self.kind.to_ne_bytes());
        octets.extend(self.flags.to_ne_bytes());
        octets.extend(self.number.to_ne_bytes());
        octets.extend([self.handle, self.token, self.staged.1].into_iter().flat_map(u64::to_ne_bytes));
        octets.extend(u64::from(self.staged.0).to_ne_bytes());
        let args = self.args.iter().copied().chain(std::iter::repeat(0)).take(ARGUMENTS);
        octets.extend(args.flat_map(u64::to_ne_bytes));
        octets
    }
}
