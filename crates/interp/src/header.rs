// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blueprints to and from bytes: bit fields, options, checksums.

use carrick_ir::arith;

use crate::bits::{get_bits, put_bits};
use crate::counters::*;
use crate::instr::packet_addr;
use crate::ipv4;
use crate::layout::{PAYLOAD_ADDR, PAYLOAD_LEN};
use crate::linked::{HEADER_LEN_CELL, Linked, PAYLOAD_LEN_CELL, WORK};
use crate::machine::Machine;
use crate::tlv::{read_wide, write_wide};
use crate::wire::{Blueprint, FieldKind, OptCode, OptionList};

/// Bytes that options can take at most.
const MAX_OPTIONS: usize = 1 << 16;

impl Machine {
    /// Reads the received packet, or a frame from what is left of it, into the blueprint at `at`, or says which counter
    /// tells why not.
    pub(crate) fn extract(&mut self, p: &Linked, bp: usize, at: usize) -> Result<(), usize> {
        let code = &p.blueprints[bp];
        let (begin, mut end) = match code.frame {
            true => (self.packet_rest.start, self.packet_rest.end),
            false => (0, self.packet.len()),
        };
        if end - begin < code.fixed_len + code.trailer {
            return Err(SHORT);
        }
        let work = WORK as usize;
        let first = code.first as usize;
        self.mem[work + first..work + code.size as usize].fill(0);
        for field in &code.fields {
            let raw = get_bits(&self.packet[begin..], field.bit_offset, field.bits);
            let value = raw.wrapping_add(field.base);
            self.mem[work + field.cell as usize] = arith::canonical(&field.ty, value);
        }
        if !code.frame && code.payload_len.is_some() {
            end = self.end_of_packet(code, end)?;
        }
        if let Some(crc) = &code.crc {
            self.mem[work + crc.cell as usize] = crc.read(&self.packet).into();
        }
        // What covers the whole packet is verified before its fields are believed.
        self.checksums_hold(p, code, true, 0)?;
        let limit = end - code.trailer;
        let options = self.read_parts(code, begin + code.fixed_len, limit).ok_or(SHORT)?;
        self.mem[HEADER_LEN_CELL as usize] = (options - begin) as u64;
        let list = code.options.as_ref().map_or(0, |list| self.eval(&list.len, 0));
        if list > (limit - options) as u64 {
            return Err(BAD_OPTIONS);
        }
        let header = options + list as usize;
        self.checksums_hold(p, code, false, header)?;
        if let Some(crc) = &code.crc
            && crc.compute(&self.packet_net, &self.packet, header) != crc.read(&self.packet)
        {
            return Err(BAD_CHECKSUM);
        }
        if let Some(list) = &code.options {
            let octets = &self.packet[options..header];
            read_options(list, octets, &mut self.mem[work..]).ok_or(BAD_OPTIONS)?;
        }
        if !self.fields_in_range(&code.when_read) {
            return Err(BAD_FIELD);
        }
        self.read_payload(code, header - begin, header..limit)?;
        self.mem.copy_within(work + first..work + code.size as usize, at + first);
        Ok(())
    }

    /// Cuts the packet to what its fields say is its payload; where it ends then. A link may pad what is short.
    fn end_of_packet(&mut self, code: &Blueprint, end: usize) -> Result<usize, usize> {
        let around = code.fixed_len + code.trailer;
        let left = (end - around) as u64;
        self.mem[HEADER_LEN_CELL as usize] = code.fixed_len as u64;
        self.mem[PAYLOAD_LEN_CELL as usize] = left;
        let len = code.payload_len.as_ref().map_or(left, |len| self.eval(len, 0));
        if len > left {
            return Err(SHORT);
        }
        self.packet.truncate(around + len as usize);
        Ok(self.packet.len())
    }

    /// Whether the fields in the work area are in these ranges.
    pub(crate) fn fields_in_range(&self, ranges: &[(u32, u64, u64)]) -> bool {
        let value = |cell: u32| self.mem[(WORK + cell) as usize];
        ranges.iter().all(|(cell, lo, hi)| (*lo..=*hi).contains(&value(*cell)))
    }

    /// The payload begins where `rest` does; what of that it leaves can be extracted next.
    fn read_payload(
        &mut self,
        code: &Blueprint,
        header_len: usize,
        rest: std::ops::Range<usize>,
    ) -> Result<(), usize> {
        self.mem[HEADER_LEN_CELL as usize] = header_len as u64;
        self.mem[PAYLOAD_LEN_CELL as usize] = rest.len() as u64;
        // A packet has been cut already.
        let own = code.payload_len.as_ref().filter(|_| code.frame);
        let len = own.map_or(rest.len() as u64, |len| self.eval(len, 0));
        if len > rest.len() as u64 {
            return Err(SHORT);
        }
        let payload = (WORK + code.payload) as usize;
        self.mem[payload + PAYLOAD_LEN as usize] = len;
        let addr = payload + PAYLOAD_ADDR as usize;
        let cells = packet_addr(self.packet_number, rest.start, len as usize);
        self.mem[addr..addr + cells.len()].copy_from_slice(&cells);
        // A packet's payload is there to be taken apart into frames.
        let taken = if code.frame { len as usize } else { 0 };
        self.packet_rest = rest.start + taken..rest.end;
        Ok(())
    }

    /// Verifies the checksums of the received packet that cover all of it, or the others; `header`: where its header
    /// ends.
    fn checksums_hold(&self, p: &Linked, code: &Blueprint, whole: bool, header: usize) -> Result<(), usize> {
        let all = self.packet.len();
        for field in code.filled.iter().map(|i| &code.fields[*i]) {
            let FieldKind::Checksum { pseudo, header: over_header, payload, over } = &field.kind else {
                continue;
            };
            let (pseudo, over_header, payload) = (*pseudo, *over_header, *payload);
            if whole != (over_header && payload) {
                continue;
            }
            let range = over.clone().unwrap_or(match (over_header, payload) {
                (true, true) => 0..all,
                (true, false) => 0..header,
                (false, true) => header..all,
                (false, false) => 0..0,
            });
            let mut sum = ipv4::sum(&self.packet[range]);
            if pseudo {
                let (src, dst) = self.packet_ips;
                sum += ipv4::pseudo_sum(src, dst, p.program.net_header.protocol, all);
            }
            if !over_header && over.is_none() {
                sum += self.mem[(WORK + field.cell) as usize];
            }
            if ipv4::fold(sum) != 0xffff {
                return Err(BAD_CHECKSUM);
            }
        }
        Ok(())
    }

    /// Writes the fixed fields of the blueprint in the work area to `out`, whose header begins at `start`.
    pub(crate) fn write_fields(&mut self, code: &Blueprint, out: &mut [u8]) {
        for &i in &code.filled {
            let field = &code.fields[i];
            if let FieldKind::Computed(ex) = &field.kind {
                let value = self.eval(ex, 0);
                self.mem[(WORK + field.cell) as usize] = value & field.kept;
            }
        }
        for field in &code.fields {
            let value = match field.kind {
                FieldKind::Checksum { .. } => 0,
                _ => self.mem[(WORK + field.cell) as usize].wrapping_sub(field.base),
            };
            put_bits(out, field.bit_offset, field.bits, value);
        }
    }

    /// Fills in the checksums of a packet that is complete but for them; `out` begins with its network header, whose
    /// own checksum is there.
    pub(crate) fn write_checksums(
        &mut self,
        net_len: usize,
        code: &Blueprint,
        net: &ipv4::Header,
        out: &mut [u8],
        header: usize,
    ) {
        if let Some(crc) = &code.crc {
            let (net, packet) = out.split_at_mut(net_len);
            let value = crc.compute(net, packet, header);
            self.mem[(WORK + crc.cell) as usize] = value.into();
            crc.write(packet, value);
        }
        let out = &mut out[net_len..];
        for &i in &code.filled {
            let field = &code.fields[i];
            let FieldKind::Checksum { pseudo, header: over_header, payload, over } = &field.kind else {
                continue;
            };
            let range = over.clone().unwrap_or(match (*over_header, *payload) {
                (true, true) => 0..out.len(),
                (true, false) => 0..header,
                (false, true) => header..out.len(),
                (false, false) => 0..0,
            });
            let mut sum = ipv4::sum(&out[range]);
            if *pseudo {
                sum += ipv4::pseudo_sum(net.src, net.last(), net.protocol, out.len());
            }
            let checksum = !ipv4::fold(sum);
            self.mem[(WORK + field.cell) as usize] = u64::from(checksum);
            put_bits(out, field.bit_offset, field.bits, u64::from(checksum));
        }
    }
}

/// Reads a list of options into the blueprint's cells; `None` if it is malformed.
fn read_options(list: &OptionList, octets: &[u8], cells: &mut [u64]) -> Option<()> {
    if list.members.iter().any(|o| o.wide.is_some()) {
        return read_wide(list, octets, cells);
    }
    let mut at = 0;
    while at < octets.len() && octets[at] != 0 {
        let mut of_kind = list.members.iter().filter(|o| o.kind == octets[at]).peekable();
        if let Some(OptCode { len: 1, cell, list: None, .. }) = of_kind.peek() {
            cells[*cell as usize] = 1;
            at += 1;
            continue;
        }
        let len = usize::from(*octets.get(at + 1)?);
        if len < 2 || at + len > octets.len() {
            return None;
        }
        if of_kind.peek().is_some() {
            let option = of_kind.find(|option| option.fits(len))?;
            read_option(option, &octets[at + 2..at + len], cells)?;
        }
        at += len;
    }
    Some(())
}

fn read_option(option: &OptCode, mut octets: &[u8], cells: &mut [u64]) -> Option<()> {
    let first = option.cell as usize;
    cells[first] = 1;
    for (i, (ty, len)) in option.fields.iter().enumerate() {
        let raw = get_bits(octets, 0, *len as u32 * 8);
        cells[first + 1 + i] = arith::canonical(ty, raw);
        octets = &octets[*len..];
    }
    option.list.as_ref().map_or(Some(()), |list| list.read(octets, cells))
}

/// Writes the options that the blueprint's cells hold.
pub(crate) fn write_options(list: &OptionList, cells: &[u64], out: &mut Vec<u8>) {
    for option in &list.members {
        let first = option.cell as usize;
        if cells[first] == 0 || out.len() > MAX_OPTIONS {
            continue;
        }
        if let Some(kind) = option.wide {
            write_wide(option, kind, cells, out);
            continue;
        }
        let octets = option.octets(cells);
        while !(out.len() + octets).is_multiple_of(list.align) {
            out.push(list.pad);
        }
        out.push(option.kind);
        if octets > 1 {
            out.push(octets as u8);
        }
        for (i, (_, len)) in option.fields.iter().enumerate() {
            out.extend_from_slice(&cells[first + 1 + i].to_be_bytes()[8 - len..]);
        }
        if let Some(list) = &option.list {
            list.write(cells, out);
        }
    }
    while !out.len().is_multiple_of(list.align) {
        out.push(0);
    }
}
