// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's UDP at the other end: `udp_echo PORT` says `ready`, and then sends back every datagram that it gets, until it
//! is killed.

use std::net::{Ipv4Addr, UdpSocket};

fn main() -> std::io::Result<()> {
    let port = std::env::args().nth(1).and_then(|port| port.parse().ok()).unwrap_or(0);
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port))?;
    println!("ready");
    let mut octets = [0; 65_536];
    loop {
        let (len, from) = socket.recv_from(&mut octets)?;
        socket.send_to(&octets[..len], from)?;
    }
}
