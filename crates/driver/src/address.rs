// SPDX-License-Identifier: MIT OR Apache-2.0
//! The address of a stack, as people write it.

use std::net::Ipv4Addr;

/// The address of `ADDRESS` or `ADDRESS/LENGTH`, where the length is that of the network's prefix.
///
/// # Errors
/// A sentence: it is no IPv4 address, or one that no host can have.
pub fn of_host(text: &str) -> Result<Ipv4Addr, String> {
    let (address, len) = text.split_once('/').unwrap_or((text, "24"));
    let right = len.parse::<u8>().is_ok_and(|len| (1..=32).contains(&len));
    let address: Ipv4Addr = address
        .parse()
        .ok()
        .filter(|_| right)
        .ok_or_else(|| format!("{text:?} is no IPv4 address with a prefix; write it like 10.7.0.2/24"))?;
    // RFC 1122 3.2.1.3: these stand for no host of a network, and RFC 1112 for groups.
    let nobody = address.octets()[0] == 0 || address.octets()[0] >= 224 || address.is_loopback();
    if nobody {
        return Err(format!("no host on a network has the address {address}; write one like 10.7.0.2/24"));
    }
    Ok(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_an_address_that_others_can_send_to() {
        assert_eq!(of_host("10.7.0.2"), Ok(Ipv4Addr::new(10, 7, 0, 2)));
        assert_eq!(of_host("10.7.0.2/32"), Ok(Ipv4Addr::new(10, 7, 0, 2)));
        for text in ["", "10.7.0", "fe80::1", "10.7.0.2/", "10.7.0.2/33", "10.7.0.2/0"] {
            assert!(of_host(text).is_err_and(|why| why.contains("is no IPv4 address")), "{text}");
        }
        for text in ["0.0.0.0/0", "0.0.0.0", "0.1.2.3", "127.0.0.1/8", "224.0.0.1", "255.255.255.255"] {
            assert!(of_host(text).is_err(), "{text}");
        }
    }
}
