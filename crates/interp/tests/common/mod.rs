// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the tests of the interpreter share.
#![allow(dead_code, reason = "each test uses what it needs")]

use std::sync::Arc;

use carrick_interp::{Completion, Config, Core, Data, Refused, Request};
use carrick_ir::Program;

pub const A: u32 = 0x0a00_0001;
pub const B: u32 = 0x0a00_0002;

/// Compiles a program's text.
pub fn compile(text: &str) -> Arc<Program> {
    let (file, diagnostics) = carrick_syntax::parse(text);
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    let (program, diagnostics) = carrick_sema::check(&file, "test", "test.mtp", text);
    let program = program.unwrap_or_else(|| panic!("{diagnostics:#?}\n{text}"));
    Arc::new(carrick_lower::lower(program))
}

pub fn config(address: u32) -> Config {
    Config { seed: 1, address: address.into(), trace: true, ..Config::default() }
}

pub fn core(program: &Arc<Program>, address: u32) -> Core {
    Core::new(program.clone(), &config(address)).unwrap()
}

/// The number of an interface call.
pub fn call_number(core: &Core, name: &str) -> usize {
    let interface = core.program().interface.as_ref().unwrap();
    interface.calls.iter().position(|c| c.name == name).unwrap()
}

pub fn call(
    core: &mut Core,
    name: &str,
    handle: u64,
    token: u64,
    args: &[u64],
    data: Data,
) -> Result<(), Refused> {
    let number = call_number(core, name);
    core.call(number, &Request { handle, token, args, data }, 0)
}

/// Makes a request that completes at once.
pub fn ask(core: &mut Core, name: &str, args: &[u64]) -> Completion {
    call(core, name, 0, 1, args, Data::None).unwrap();
    core.next_completion().expect("the request completes")
}

/// All packets that are there to send.
pub fn drain(core: &mut Core, now: u64) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    let mut packet = Vec::new();
    while core.tx(&mut packet, now) {
        packets.push(packet.clone());
    }
    packets
}

/// A core's counter by its name.
pub fn count(core: &Core, name: &str) -> u64 {
    core.counters()[carrick_ir::counter(name)]
}

/// The network header's checksum made right again: what is damaged is not found there.
pub fn mended(mut packet: Vec<u8>) -> Vec<u8> {
    packet[10..12].fill(0);
    let mut sum: u32 = packet[..20].chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    packet[10..12].copy_from_slice(&(!sum as u16).to_be_bytes());
    packet
}
