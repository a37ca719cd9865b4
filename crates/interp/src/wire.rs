// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a blueprint lies in a packet, in executable form.

use std::ops::Range;

use carrick_ir::Ty;

use crate::code::Ex;
use crate::crc::CrcCode;

/// A blueprint's fixed fields, parts and options; cells are counted from the blueprint's beginning.
#[derive(Debug)]
pub(crate) struct Blueprint {
    pub fields: Vec<WireField>,
    /// of `fields`, those that are computed or checksums
    pub filled: Vec<usize>,
    /// it is extracted from what is left of a packet
    pub frame: bool,
    /// cells of the fields that a received packet may have in this range only
    pub when_read: Vec<(u32, u64, u64)>,
    /// the same of a packet that is made
    pub when_sent: Vec<(u32, u64, u64)>,
    /// when received: bytes of its payload
    pub payload_len: Option<Ex>,
    /// where the frames of a packet that has some lie, and how many cells each takes
    pub frames: Option<(usize, usize)>,
    /// what follows the fixed fields
    pub parts: Vec<PartCode>,
    pub crc: Option<CrcCode>,
    /// bytes of the fixed fields
    pub fixed_len: usize,
    /// bytes behind the payload
    pub trailer: usize,
    /// what the length of a sent payload, with zeros behind it, is a multiple of
    pub align: usize,
    /// the first field's cell
    pub first: u32,
    pub options: Option<OptionList>,
    pub size: u32,
    pub payload: u32,
    pub net: NetCells,
}

impl Blueprint {
    /// Zeros behind so many bytes of payload.
    pub(crate) fn padding(&self, payload: u64) -> usize {
        let over = (payload % self.align as u64) as usize;
        if over == 0 { 0 } else { self.align - over }
    }
}

/// The cells of the network header's fields that the program declares.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NetCells {
    pub src: Option<u32>,
    pub dst: Option<u32>,
    pub protocol: Option<u32>,
    pub ttl: Option<u32>,
    pub tos: Option<u32>,
    pub payload_len: Option<u32>,
    pub interface: Option<u32>,
    pub segments: Option<u32>,
    pub segment_count: Option<u32>,
    pub segments_left: Option<u32>,
    pub segment_flags: Option<u32>,
    pub segment_tag: Option<u32>,
}

#[derive(Debug)]
pub(crate) struct WireField {
    pub cell: u32,
    pub ty: Ty,
    pub bits: u32,
    pub bit_offset: u32,
    /// what is taken off it in the packet
    pub base: u64,
    /// the bits of a computed value that count: all of them if it may not fit, so that this is seen
    pub kept: u64,
    pub kind: FieldKind,
}

#[derive(Debug)]
pub(crate) enum FieldKind {
    Plain,
    Computed(Ex),
    /// `over`: the bytes of the header that it covers, if not those that the rest says
    Checksum {
        pseudo: bool,
        header: bool,
        payload: bool,
        over: Option<Range<usize>>,
    },
}

#[derive(Debug)]
pub(crate) struct OptionList {
    /// bytes in a received packet, over the fields in the work area
    pub len: Ex,
    pub align: usize,
    pub pad: u8,
    pub members: Vec<OptCode>,
}

#[derive(Debug)]
pub(crate) struct OptCode {
    pub kind: u8,
    pub len: u8,
    /// the kind of one whose head is variable-length integers
    pub wide: Option<u64>,
    /// whether it is there; its fields' cells follow
    pub cell: u32,
    /// type, bytes; of a variable-length integer 0
    pub fields: Vec<(Ty, usize)>,
    /// behind the fields, up to the end of the option
    pub list: Option<ElementsCode>,
}

/// The list of an option: its number of elements, then their integers, one a cell.
#[derive(Debug)]
pub(crate) struct ElementsCode {
    pub cell: u32,
    pub least: usize,
    pub most: usize,
    /// type and bytes of each integer of an element
    pub parts: Vec<(Ty, usize)>,
    /// bytes of an element
    pub octets: usize,
}

/// Fields that stand together.
#[derive(Debug)]
pub(crate) struct PartCode {
    pub when: Option<Ex>,
    pub fields: Vec<WireField>,
    /// bytes; of a variable-length integer the most
    pub len: usize,
    pub varint: bool,
    /// it may be another number in each packet of a blueprint: room is left for the longest
    pub changes: bool,
}
