// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blueprints to packets.

use carrick_ir::arith;

use crate::api::TraceKind;
use crate::counters::*;
use crate::header::write_options;
use crate::ip;
use crate::ipv4::{self, DEFAULT_TTL};
use crate::layout::{PAYLOAD_LEN, address_in};
use crate::linked::{HEADER_LEN_CELL, Linked, PAYLOAD_LEN_CELL, PREV_PAYLOAD_LEN_CELL, WORK};
use crate::machine::Machine;
use crate::queue::Source;
use crate::routing::Route;
use crate::wire::Blueprint;

/// Cells of an IPv6 address.
const ADDRESS_CELLS: usize = 2;
/// A packet that is being made: part of the first entry of the queue.
pub(crate) struct Piece {
    pub bp: usize,
    pub rules: usize,
    /// where its payload comes from, from which offset on
    pub from: Option<(Source, u64)>,
    pub len: u64,
    pub first: bool,
    pub last: bool,
}

impl Machine {
    /// Makes the next packet; false if there is none.
    pub(crate) fn make_packet(&mut self, p: &Linked, out: &mut Vec<u8>) -> bool {
        while let Some((queue, entry)) = self.queue.sched.choose(self.now) {
            self.select_entry(p, entry);
            let (made, last) = self.next_piece(p, out);
            if last {
                self.queue.pop();
            }
            self.queue.sched.sent(queue, if made { out.len() as u64 } else { 0 }, self.now);
            if last {
                self.entry_is_out(p, entry);
            }
            if made {
                return true;
            }
        }
        false
    }

    /// Goes on with another entry.
    fn select_entry(&mut self, p: &Linked, entry: usize) {
        if entry == self.queue.selected {
            return;
        }
        self.park_entry(p);
        self.queue.select(entry);
        self.resume_entry(p);
    }

    /// Notes how far the selected entry has been made into packets.
    pub(crate) fn park_entry(&mut self, p: &Linked) {
        let progress = &mut self.queue.progress;
        progress.parked_prev.clear();
        progress.parked_prev.extend_from_slice(&self.mem[p.map.prev as usize..p.map.given as usize]);
        progress.parked_len = self.mem[PREV_PAYLOAD_LEN_CELL as usize];
    }

    /// Goes on with the selected entry where that was noted.
    pub(crate) fn resume_entry(&mut self, p: &Linked) {
        let (given, prev) = (p.map.given as usize, p.map.prev as usize);
        let progress = &self.queue.progress;
        if let Some(entry) = self.queue.first().filter(|_| progress.begun) {
            self.mem[given..given + entry.cells.len()].copy_from_slice(&entry.cells);
            self.mem[prev..given].copy_from_slice(&progress.parked_prev);
            self.mem[PREV_PAYLOAD_LEN_CELL as usize] = progress.parked_len;
        }
    }

    /// Makes the next packet of the first entry: whether there is one, and whether it was the last.
    fn next_piece(&mut self, p: &Linked, out: &mut Vec<u8>) -> (bool, bool) {
        if !self.queue.progress.begun {
            self.begin_entry(p);
        }
        if !self.memory_is_there() {
            self.count(PAYLOAD_CUT);
            return (false, true);
        }
        let Some(entry) = self.queue.first() else { return (false, false) };
        let code = &p.blueprints[entry.bp];
        if code.frames.is_some() {
            return self.next_of_frames(p, out);
        }
        let header = self.queue.progress.header;
        let around = self.queue.progress.net + header + code.trailer;
        let room = (p.mtu as usize).saturating_sub(around) as u64;
        let room = room - room % code.align as u64;
        let all = entry.payload.map_or(0, |payload| payload.len);
        let mss = if entry.mss == 0 { room } else { room.min(entry.mss) };
        let at = self.queue.progress.at;
        let len = mss.min(all - at);
        if around > p.mtu as usize || (all > 0 && mss == 0) {
            self.count(TX_TOO_LONG);
            return (false, true);
        }
        let from = entry.payload.map(|u| (u.of, u.offset + at));
        let (bp, rules) = (entry.bp, entry.rules);
        let piece = Piece { bp, rules, from, len, first: at == 0, last: at + len >= all };
        let made = self.build(p, &piece, &[], out);
        self.queue.progress.at += len;
        (made, piece.last)
    }

    fn begin_entry(&mut self, p: &Linked) {
        let Some(entry) = self.queue.first() else { return };
        let (given, prev) = (p.map.given as usize, p.map.prev as usize);
        let size = entry.cells.len();
        self.mem[given..given + size].copy_from_slice(&entry.cells);
        self.mem[prev..prev + size].copy_from_slice(&entry.cells);
        self.mem[PREV_PAYLOAD_LEN_CELL as usize] = 0;
        let code = &p.blueprints[entry.bp];
        let progress = &mut self.queue.progress;
        (progress.begun, progress.at) = (true, 0);
        (progress.frame, progress.frame_at, progress.packet_len) = (0, 0, 0);
        if code.frames.is_some() {
            progress.packet_prev.clear();
            progress.packet_prev.extend_from_slice(&self.mem[given..given + size]);
        }
        progress.options.clear();
        if let Some(list) = &code.options {
            write_options(list, &self.mem[given..given + size], &mut progress.options);
        }
        let mut header = code.fixed_len + progress.options.len();
        if !code.parts.is_empty() {
            self.mem.copy_within(given..given + size, WORK as usize);
            header += self.parts_len(code, true);
        }
        self.queue.progress.header = header;
        self.queue.progress.net = self.net_len(p, code, given);
    }

    /// The packet of a piece; `frames`: its payload if that does not come from a unit. False if a field would be outside
    /// of its range.
    pub(crate) fn build(&mut self, p: &Linked, piece: &Piece, frames: &[u8], out: &mut Vec<u8>) -> bool {
        let code = &p.blueprints[piece.bp];
        out.clear();
        let net_len = self.queue.progress.net;
        out.resize(net_len, 0);
        let options = std::mem::take(&mut self.queue.progress.options);
        let header = self.fill(p, piece, &options, out);
        self.queue.progress.options = options;
        if !self.fields_in_range(&code.when_sent) {
            self.count(TX_BAD_FIELD);
            self.keep_as_prev(p, piece);
            return false;
        }
        out.extend_from_slice(frames);
        self.append(piece, out);
        out.resize(out.len() + code.padding(piece.len) + code.trailer, 0);
        let net = self.net_header(p, code);
        self.passing.left_by = code.net.interface.map_or(0, |c| self.mem[(WORK + c) as usize]);
        if p.net_len > 0 {
            ip::build(p.program.net_header.layer, out, &net, self.identification);
            self.identification = self.identification.wrapping_add(1);
        }
        self.write_checksums(net_len, code, &net, out, header);
        self.count(TX_PACKETS);
        self.piece_is_out(p, piece);
        true
    }

    /// Makes the piece's header in the work area and writes it behind what `out` holds; how long it is.
    pub(crate) fn fill(&mut self, p: &Linked, piece: &Piece, options: &[u8], out: &mut Vec<u8>) -> usize {
        let code = &p.blueprints[piece.bp];
        let (size, work) = (code.size as usize, WORK as usize);
        let given = p.map.given as usize;
        self.mem.copy_within(given..given + size, work);
        self.mem[PAYLOAD_LEN_CELL as usize] = piece.len;
        self.mem[work + (code.payload + PAYLOAD_LEN) as usize] = piece.len;
        if !(piece.first && piece.last) {
            self.apply_rules(p, piece);
        }
        self.write_header(code, options, out)
    }

    /// Writes the header in the work area behind what `out` holds; how long it is.
    pub(crate) fn write_header(&mut self, code: &Blueprint, options: &[u8], out: &mut Vec<u8>) -> usize {
        self.compute_varints(code);
        let header = code.fixed_len + self.parts_len(code, false) + options.len();
        self.mem[HEADER_LEN_CELL as usize] = header as u64;
        let begin = out.len();
        out.resize(begin + code.fixed_len, 0);
        self.write_fields(code, &mut out[begin..]);
        self.write_parts(code, out);
        out.extend_from_slice(options);
        header
    }

    /// The bytes of the piece's unit, or of the request's memory.
    pub(crate) fn append(&mut self, piece: &Piece, out: &mut Vec<u8>) {
        match piece.from {
            Some((Source::Unit { ctx, slot, .. }, offset)) => {
                self.instances[ctx].slot(slot).tx.get(offset, piece.len as usize, out);
            }
            Some((Source::Memory { slot, token, at }, offset)) => {
                let end = out.len() + piece.len as usize;
                out.extend_from_slice(self.requests.sent(slot, token, at + offset, piece.len));
                out.resize(end, 0);
            }
            None => {}
        }
    }

    /// Whether all memory of requests is there that the first entry's payloads are of.
    fn memory_is_there(&self) -> bool {
        let Some(entry) = self.queue.first() else { return true };
        entry.payload.iter().chain(entry.frames.iter().flatten()).all(|payload| match payload.of {
            Source::Memory { slot, token, .. } => self.requests.holds(slot, token),
            Source::Unit { .. } => true,
        })
    }

    /// What is in the work area is what the next piece finds in `prev`.
    pub(crate) fn piece_is_out(&mut self, p: &Linked, piece: &Piece) {
        if let Some((of, offset)) = piece.from {
            let (handle, token, offset) = match of {
                Source::Unit { handle, .. } => (handle, 0, offset),
                // What the program may write to may be sent as often as it likes.
                Source::Memory { slot, token, at } => {
                    (0, if self.requests.receives(slot, token) { 0 } else { token }, at + offset)
                }
            };
            self.record(TraceKind::Segment, piece.bp, |_, words| {
                words.extend([handle, offset, piece.len, token]);
            });
        }
        self.keep_as_prev(p, piece);
    }

    fn keep_as_prev(&mut self, p: &Linked, piece: &Piece) {
        let (work, size) = (WORK as usize, p.blueprints[piece.bp].size as usize);
        self.mem.copy_within(work..work + size, p.map.prev as usize);
        self.mem[PREV_PAYLOAD_LEN_CELL as usize] = piece.len;
    }

    fn apply_rules(&mut self, p: &Linked, piece: &Piece) {
        let rules = p.rule_lists[piece.rules].iter().map(|rule| &p.rules[*rule]);
        for rule in rules.filter(|rule| rule.bp == piece.bp) {
            let ex = match (piece.first, piece.last) {
                (true, _) => &rule.first,
                (_, true) => &rule.last,
                _ => &rule.mid,
            };
            self.mem[(WORK + rule.cell) as usize] = arith::canonical(&rule.ty, self.eval(ex, 0));
        }
    }

    /// The network header of the packet in the work area.
    pub(crate) fn net_header(&self, p: &Linked, code: &Blueprint) -> ipv4::Header {
        let cell = |cell: Option<u32>| cell.map(|c| self.mem[(WORK + c) as usize]);
        let ty = p.program.address_ty();
        let address = |cell: u32| address_in(&ty, &self.mem[(WORK + cell) as usize..]);
        ipv4::Header {
            tos: cell(code.net.tos).unwrap_or(0) as u8,
            ttl: cell(code.net.ttl).map_or(DEFAULT_TTL, |ttl| ttl as u8),
            protocol: cell(code.net.protocol).map_or(p.program.net_header.protocol, |n| n as u8),
            src: code.net.src.map_or(self.address, address),
            dst: code.net.dst.map_or(0, address),
            route: self.route(p, code, WORK as usize),
        }
    }

    /// Bytes of the network header of a packet whose blueprint is at `at`.
    pub(crate) fn net_len(&self, p: &Linked, code: &Blueprint, at: usize) -> usize {
        p.net_len + self.route(p, code, at).len()
    }

    /// The route of a packet whose blueprint is at `at`: no number in it is above what the list allows.
    fn route(&self, p: &Linked, code: &Blueprint, at: usize) -> Route {
        let net = &code.net;
        let cell = |cell: Option<u32>| cell.map_or(0, |cell| self.mem[at + cell as usize]);
        let Some(first) = net.segments else { return Route::default() };
        let most = p.program.net_header.segments().unwrap_or(0);
        let count = cell(net.segment_count).min(most.into());
        let entries = self.mem[at + first as usize..].chunks_exact(ADDRESS_CELLS).take(count as usize);
        Route {
            left: cell(net.segments_left).min(count) as u8,
            flags: cell(net.segment_flags) as u8,
            tag: cell(net.segment_tag) as u16,
            list: entries.map(|words| address_in(&p.program.address_ty(), words)).collect(),
        }
    }

    /// An entry has left its queue; its sent event runs.
    fn entry_is_out(&mut self, p: &Linked, number: usize) {
        let entry = self.queue.entry(number);
        let (handle, sent) = (entry.handle, entry.sent);
        if sent.is_some() {
            let stack = p.map.stack as usize;
            self.mem[stack..stack + entry.sent_cells.len()].copy_from_slice(&entry.sent_cells);
        }
        for payload in entry.payload.iter().chain(entry.frames.iter().flatten()) {
            if let Source::Unit { ctx, slot, .. } = payload.of {
                self.instances[ctx].dequeued(slot, payload.round);
            }
        }
        if let Some(event) = sent {
            self.event_on(p, event, handle);
        }
    }
}
