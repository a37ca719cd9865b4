// SPDX-License-Identifier: MIT OR Apache-2.0
//! A pcapng file of what the hosts sent and received: nanoseconds, raw IP or frames, tool and seed in the section header.

use std::io::{self, Write};

use carrick_ir::{NetLayer, Program};

use crate::core::RecordSet;
use crate::observe::Observer;

const LINKTYPE_ETHERNET: u16 = 1;
const LINKTYPE_RAW: u16 = 101;
/// What is nobody else's: the packets begin with the program's own header.
const LINKTYPE_USER0: u16 = 147;

fn link_type(program: &Program) -> u16 {
    match program.net_header.layer {
        NetLayer::Ipv4 | NetLayer::Ipv6 => LINKTYPE_RAW,
        NetLayer::Link if program.makes_ethernet_frames() => LINKTYPE_ETHERNET,
        NetLayer::Link => LINKTYPE_USER0,
    }
}

/// Writes blocks; the first error is kept and ends the writing.
pub struct Pcapng<W: Write> {
    out: W,
    /// the host at which the capture is made
    host: usize,
    error: Option<io::Error>,
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend_from_slice(&code.to_le_bytes());
    body.extend_from_slice(&(value.len() as u16).to_le_bytes());
    body.extend_from_slice(value);
    pad(body);
}

fn pad(body: &mut Vec<u8>) {
    body.resize(body.len().next_multiple_of(4), 0);
}

fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let total = (body.len() + 12) as u32;
    let mut out = Vec::with_capacity(total as usize);
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(&total.to_le_bytes());
    out.extend_from_slice(body);
    out.extend_from_slice(&total.to_le_bytes());
    out
}

impl<W: Write> Pcapng<W> {
    /// Begins a capture at one host; `manifest` says what makes it again.
    pub fn new(out: W, program: &Program, host: usize, manifest: &str) -> Pcapng<W> {
        let mut pcapng = Pcapng { out, host, error: None };
        let mut body = Vec::new();
        body.extend_from_slice(&0x1a2b_3c4d_u32.to_le_bytes());
        body.extend_from_slice(&1_u16.to_le_bytes());
        body.extend_from_slice(&0_u16.to_le_bytes());
        body.extend_from_slice(&u64::MAX.to_le_bytes());
        option(&mut body, 1, manifest.as_bytes());
        option(&mut body, 4, format!("carrick {}", env!("CARGO_PKG_VERSION")).as_bytes());
        option(&mut body, 0, &[]);
        pcapng.write(&block(0x0a0d_0d0a, &body));
        let mut body = Vec::new();
        body.extend_from_slice(&link_type(program).to_le_bytes());
        body.extend_from_slice(&0_u16.to_le_bytes());
        body.extend_from_slice(&0_u32.to_le_bytes());
        option(&mut body, 2, format!("host{host}").as_bytes());
        option(&mut body, 9, &[9]);
        option(&mut body, 0, &[]);
        pcapng.write(&block(1, &body));
        pcapng
    }

    fn write(&mut self, octets: &[u8]) {
        if self.error.is_none() {
            self.error = self.out.write_all(octets).err();
        }
    }

    fn packet(&mut self, now: u64, host: usize, packet: &[u8], outbound: bool) {
        if host != self.host {
            return;
        }
        let mut body = Vec::with_capacity(packet.len() + 48);
        body.extend_from_slice(&0_u32.to_le_bytes());
        body.extend_from_slice(&((now >> 32) as u32).to_le_bytes());
        body.extend_from_slice(&(now as u32).to_le_bytes());
        body.extend_from_slice(&(packet.len() as u32).to_le_bytes());
        body.extend_from_slice(&(packet.len() as u32).to_le_bytes());
        body.extend_from_slice(packet);
        pad(&mut body);
        option(&mut body, 2, &(if outbound { 2_u32 } else { 1 }).to_le_bytes());
        option(&mut body, 0, &[]);
        let bytes = block(6, &body);
        self.write(&bytes);
    }

    /// Ends the capture.
    ///
    /// # Errors
    /// The first error of writing.
    pub fn finish(mut self) -> io::Result<()> {
        match self.error.take() {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }
}

impl<W: Write> Observer for Pcapng<W> {
    fn reads(&self) -> RecordSet {
        RecordSet::NONE
    }

    fn reads_at(&self) -> RecordSet {
        RecordSet::NONE
    }

    fn sent(&mut self, now: u64, host: usize, _number: u64, packet: &[u8]) {
        self.packet(now, host, packet, true);
    }

    fn arrived(&mut self, now: u64, host: usize, _number: u64, packet: &[u8]) {
        self.packet(now, host, packet, false);
    }
}
