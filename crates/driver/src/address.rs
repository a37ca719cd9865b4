// SPDX-License-Identifier: MIT OR Apache-2.0
//! The address of a stack, as people write it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use carrick_ir::NetLayer;

/// How an address of a layer is written: the name of its version, an example, the length of the prefix that is meant without one,
/// and the longest.
fn written(layer: NetLayer) -> (&'static str, &'static str, &'static str, u8) {
    match layer {
        NetLayer::Ipv6 => ("IPv6", "fd00:7::2/64", "64", 128),
        NetLayer::Ipv4 | NetLayer::Link => ("IPv4", "10.7.0.2/24", "24", 32),
    }
}

/// The address of `ADDRESS` or `ADDRESS/LENGTH`, where the length is that of the network's prefix.
///
/// # Errors
/// A sentence: it is no address of this layer, or one that no host can have.
pub fn of_host(text: &str, layer: NetLayer) -> Result<IpAddr, String> {
    let (version, example, usual, longest) = written(layer);
    let (address, len) = text.split_once('/').unwrap_or((text, usual));
    let right = len.parse::<u8>().is_ok_and(|len| (1..=longest).contains(&len));
    let address: IpAddr = address
        .parse()
        .ok()
        .filter(|address: &IpAddr| right && address.is_ipv6() == (layer == NetLayer::Ipv6))
        .ok_or_else(|| format!("{text:?} is no {version} address with a prefix; write it like {example}"))?;
    let nobody = match address {
        IpAddr::V4(address) => is_nobodys(address),
        IpAddr::V6(address) => is_nobodys6(address),
    };
    if nobody {
        return Err(format!("no host on a network has the address {address}; write one like {example}"));
    }
    Ok(address)
}

/// The broadcast address of the network of such an address; 0 if it has none, as those of IPv6.
pub fn broadcast(text: &str, layer: NetLayer) -> u32 {
    let (_, _, usual, longest) = written(layer);
    let (address, len) = text.split_once('/').unwrap_or((text, usual));
    // RFC 3021: one or two addresses are all hosts'.
    match (address.parse::<Ipv4Addr>(), len.parse::<u8>()) {
        (Ok(address), Ok(len)) if len + 1 < longest => u32::from(address) | u32::MAX >> len,
        _ => 0,
    }
}

/// RFC 1122 3.2.1.3: these represent no host of a network, and RFC 1112 groups.
fn is_nobodys(address: Ipv4Addr) -> bool {
    address.octets()[0] == 0 || address.octets()[0] >= 224 || address.is_loopback()
}

/// RFC 4291 §2.5 and §2.7. An IPv4 address in an IPv6 one belongs to no interface.
fn is_nobodys6(address: Ipv6Addr) -> bool {
    address.is_unspecified()
        || address.is_loopback()
        || address.is_multicast()
        || address.to_ipv4_mapped().is_some()
}

/// An address as a number, as a core is given it.
pub fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u32::from(address).into(),
        IpAddr::V6(address) => address.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_an_address_that_others_can_send_to() {
        let of = |text| of_host(text, NetLayer::Ipv4);
        assert_eq!(of("10.7.0.2").map(number), Ok(0x0a07_0002));
        assert_eq!(of("10.7.0.2/32").map(number), Ok(0x0a07_0002));
        for text in ["", "10.7.0", "fe80::1", "10.7.0.2/", "10.7.0.2/33", "10.7.0.2/0"] {
            assert!(of(text).is_err_and(|why| why.contains("is no IPv4 address")), "{text}");
        }
        for text in ["0.0.0.0/0", "0.0.0.0", "0.1.2.3", "127.0.0.1/8", "224.0.0.1", "255.255.255.255"] {
            assert!(of(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_network_of_ipv4_has_a_broadcast_address() {
        let of = |text| broadcast(text, NetLayer::Ipv4);
        assert_eq!(
            (of("10.7.0.2/24"), of("10.7.0.2"), of("10.7.0.2/30")),
            (0x0a07_00ff, 0x0a07_00ff, 0x0a07_0003)
        );
        assert_eq!(
            (of("10.7.0.2/31"), of("10.7.0.2/32"), broadcast("fd00::2/64", NetLayer::Ipv6)),
            (0, 0, 0)
        );
    }

    #[test]
    fn so_it_is_over_ipv6() {
        let of = |text| of_host(text, NetLayer::Ipv6);
        assert_eq!(of("fd00::2").map(number), Ok(0xfd00 << 112 | 2));
        assert_eq!(of("fe80::1/128").map(number), Ok(0xfe80 << 112 | 1));
        for text in ["", "10.7.0.2", "fd00::2/", "fd00::2/129", "fd00::2/0", "fd00:::2", "fd00::2%1"] {
            assert!(of(text).is_err_and(|why| why.contains("is no IPv6 address")), "{text}");
        }
        for text in ["::", "::1", "ff02::1", "::ffff:10.0.0.1"] {
            assert!(of(text).is_err_and(|why| why.contains("no host on a network")), "{text}");
        }
    }
}
