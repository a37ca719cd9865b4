// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets whose payload is frames: as many of them in a packet as fit.

use crate::code::FrameAdd;
use crate::counters::*;
use crate::header::write_options;
use crate::layout::{PAYLOAD_LEN, PAYLOAD_MSS};
use crate::linked::{Linked, PREV_PAYLOAD_LEN_CELL, WORK};
use crate::machine::Machine;
use crate::queue::Payload;
use crate::segment::Piece;
use crate::wire::Blueprint;

impl Machine {
    /// Puts a frame into a packet's list, unless that is full.
    pub(crate) fn frame_add(&mut self, add: &FrameAdd, fp: usize) {
        let list = fp + add.list as usize;
        let count = self.mem[list];
        if count < u64::from(add.most) {
            let at = list + 1 + count as usize * add.stride as usize;
            let frame = fp + add.frame as usize;
            self.mem[at] = add.bp as u64;
            self.mem.copy_within(frame..frame + add.size as usize, at + 1);
            self.mem[list] += 1;
        }
    }

    /// The payloads of the frames of the blueprint at `at`, each cut to what its unit holds.
    pub(crate) fn frame_payloads(&mut self, p: &Linked, code: &Blueprint, at: usize) -> Vec<Option<Payload>> {
        let Some((frames, cells)) = code.frames else { return Vec::new() };
        let count = self.mem[at + frames] as usize;
        let mut payloads = Vec::with_capacity(count);
        for i in 0..count {
            let frame = at + frames + 1 + i * cells;
            let payload = p.blueprints[self.mem[frame] as usize].payload as usize;
            payloads.push(self.payload(frame + 1 + payload));
        }
        payloads
    }

    /// Makes the next packet of the first entry: whether there is one, and whether it was the last.
    pub(crate) fn next_of_frames(&mut self, p: &Linked, out: &mut Vec<u8>) -> (bool, bool) {
        let Some(entry) = self.queue.first() else { return (false, false) };
        let (bp, rules, count) = (entry.bp, entry.rules, entry.frames.len());
        let code = &p.blueprints[bp];
        let around = self.queue.progress.net + self.queue.progress.header + code.trailer;
        let Some(mut room) = (p.mtu as usize).checked_sub(around) else {
            self.count(TX_TOO_LONG);
            return (false, true);
        };
        let mut body = Vec::new();
        let (mut any, mut goes_on) = (count == 0, true);
        while goes_on && self.queue.progress.frame < count {
            let Some(ended) = self.put_frame(p, &mut room, &mut body) else { break };
            (any, goes_on) = (true, ended);
        }
        if !any {
            self.count(TX_TOO_LONG);
            return (false, true);
        }
        let progress = &self.queue.progress;
        let (first, last) = (progress.at == 0, progress.frame == count);
        let piece = Piece { bp, rules, from: None, len: body.len() as u64, first, last };
        self.packet_again(p);
        let made = self.build(p, &piece, &body, out);
        let (prev, size) = (p.map.prev as usize, code.size as usize);
        let progress = &mut self.queue.progress;
        progress.at += 1;
        progress.packet_len = piece.len;
        progress.packet_prev.clear();
        progress.packet_prev.extend_from_slice(&self.mem[prev..prev + size]);
        (made, last)
    }

    /// The packet as given, and the one before, where expressions look for them.
    fn packet_again(&mut self, p: &Linked) {
        let Some(entry) = self.queue.first() else { return };
        let (given, prev) = (p.map.given as usize, p.map.prev as usize);
        let progress = &self.queue.progress;
        self.mem[given..given + entry.cells.len()].copy_from_slice(&entry.cells);
        self.mem[prev..prev + progress.packet_prev.len()].copy_from_slice(&progress.packet_prev);
        self.mem[PREV_PAYLOAD_LEN_CELL as usize] = progress.packet_len;
    }

    /// Puts the next frame, or what of it fits, behind the others: whether it is out with that; `None` if it does not
    /// fit at all.
    fn put_frame(&mut self, p: &Linked, room: &mut usize, body: &mut Vec<u8>) -> Option<bool> {
        let entry = self.queue.first()?;
        let rules = entry.rules;
        let progress = &self.queue.progress;
        let (frames, cells) = p.blueprints[entry.bp].frames?;
        let at = frames + 1 + progress.frame * cells;
        let bp = entry.cells[at] as usize;
        let code = &p.blueprints[bp];
        let (given, prev, size) = (p.map.given as usize, p.map.prev as usize, code.size as usize);
        let frame = &entry.cells[at + 1..at + 1 + size];
        self.mem[given..given + size].copy_from_slice(frame);
        let begun = progress.frame_at > 0;
        let before = if begun { &progress.frame_prev[..] } else { frame };
        self.mem[prev..prev + size].copy_from_slice(before);
        let len = (code.payload + PAYLOAD_LEN) as usize;
        self.mem[PREV_PAYLOAD_LEN_CELL as usize] = if begun { before[len] } else { 0 };
        let payload = entry.frames[progress.frame];
        let done = progress.frame_at;
        let mss = frame[(code.payload + PAYLOAD_MSS) as usize];
        let mut options = Vec::new();
        if let Some(list) = &code.options {
            write_options(list, frame, &mut options);
        }
        self.mem.copy_within(given..given + size, WORK as usize);
        let header = code.fixed_len + options.len() + self.parts_len(code, true);
        let all = payload.map_or(0, |payload| payload.len);
        if header + usize::from(all > 0) > *room {
            return None;
        }
        let most = (*room - header) as u64;
        let len = (all - done).min(most).min(if mss == 0 { most } else { mss });
        *room -= header + len as usize;
        let from = payload.map(|u| (u.of, u.offset + done));
        let piece = Piece { bp, rules, from, len, first: !begun, last: done + len >= all };
        self.fill(p, &piece, &options, body);
        self.append(&piece, body);
        self.piece_is_out(p, &piece);
        self.frame_is_out(p, &piece, size);
        Some(piece.last)
    }

    fn frame_is_out(&mut self, p: &Linked, piece: &Piece, size: usize) {
        let prev = p.map.prev as usize;
        let progress = &mut self.queue.progress;
        if piece.last {
            progress.frame += 1;
            progress.frame_at = 0;
        } else {
            progress.frame_at += piece.len;
            progress.frame_prev.clear();
            progress.frame_prev.extend_from_slice(&self.mem[prev..prev + size]);
        }
    }
}
