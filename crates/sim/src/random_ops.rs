// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random requests of a program, at the edges of what it counts.

use carrick_ir::{FieldDef, InterfaceCall, NetLayer, Program, Ty};

use crate::core::Data;
use crate::edges::Edges;
use crate::ip;
use crate::random_source::RandomSource;

/// One request in so many brings memory where the program takes none, or none where it takes some.
const ODD_MEMORY_ONE_IN: u64 = 24;

/// What a request of some call brings.
pub struct Drawn {
    /// for each field of the event but its `addr_t`; two for an IPv6 address
    pub args: Vec<u64>,
    octets: Option<Vec<u8>>,
    room: Option<u64>,
}

impl Drawn {
    /// What it sends, or the room for what it receives.
    pub fn data(&self) -> Data<'_> {
        match (&self.octets, self.room) {
            (Some(octets), _) => Data::Send(octets),
            (None, Some(room)) => Data::Recv(room),
            (None, None) => Data::None,
        }
    }
}

impl RandomSource {
    /// A number or an edge.
    fn number_or(&mut self, edges: &Edges) -> u64 {
        if self.one_in(3) { edges.number(self) } else { self.number() }
    }

    /// A length of at most `most`: none, one byte, an edge, all but one, all, or any.
    fn length(&mut self, most: u64, edges: &Edges) -> u64 {
        match self.roll(12) {
            0 | 1 => 0,
            2 => 1,
            3 | 4 => edges.size(self).min(most),
            5 => most - self.roll(2),
            _ => self.roll(most),
        }
    }

    /// For a field of a call at one of two ends: mostly what leads them to each other.
    fn argument(&mut self, end: usize, field: &FieldDef, edges: &Edges) -> u64 {
        let own = end as u64 + 1;
        match field.name.as_str() {
            name if name.ends_with("local_ip") => own,
            name if name.ends_with("remote_ip") => 3 - own,
            name if name.ends_with("port") => 7 + self.roll(2),
            name if name.ends_with("_qp") => 7 + self.roll(2),
            "key" | "send_psn" | "recv_psn" => self.roll(3),
            "addr" => self.roll(2000),
            "k" => self.roll(4),
            _ => self.number_or(edges),
        }
    }

    /// Memory that the call does not take, or none for one that does.
    fn odd_memory(&mut self, takes: bool, most: u64, edges: &Edges, drawn: &mut Drawn) {
        let sends = self.one_in(2);
        (drawn.octets, drawn.room) = match (takes, sends) {
            (true, _) => (None, None),
            (false, true) => (Some(vec![0; self.length(most, edges) as usize]), None),
            (false, false) => (None, Some(self.length(most, edges))),
        };
    }

    /// A call at one of two ends, that sends or wants at most so many bytes.
    pub fn request(
        &mut self,
        program: &Program,
        edges: &Edges,
        call: &InterfaceCall,
        end: usize,
        most: u64,
    ) -> Drawn {
        let mut drawn = Drawn { args: Vec::new(), octets: None, room: None };
        let takes_memory = program.events[call.event.index()].fields.iter().any(|field| field.ty == Ty::Addr);
        for field in &program.events[call.event.index()].fields {
            match (&field.ty, field.name.as_str()) {
                (Ty::Addr, "data") => {
                    drawn.octets = Some(vec![self.roll(256) as u8; self.length(most, edges) as usize]);
                }
                (Ty::Addr, _) => drawn.room = Some(self.length(most, edges)),
                (ty, _) if ty.is_scalar() => drawn.args.push(self.argument(end, field, edges)),
                (Ty::Id(_), _) => {
                    let address = ip::address(NetLayer::Ipv6, self.argument(end, field, edges) as u32);
                    drawn.args.extend([(address >> 64) as u64, address as u64]);
                }
                _ => {}
            }
        }
        if self.one_in(ODD_MEMORY_ONE_IN) {
            self.odd_memory(takes_memory, most, edges, &mut drawn);
        }
        drawn
    }
}
