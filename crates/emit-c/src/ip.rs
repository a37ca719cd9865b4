// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the runtime calls the network layer of a program.

use carrick_ir::{NetLayer, Program};

/// The runtime's names for one version of the Internet Protocol.
pub struct Ip {
    /// the header that declares these names, and the one for reports
    pub include: &'static str,
    pub report_include: &'static str,
    pub header_len: &'static str,
    /// the struct of what is known of a packet's header
    pub header: &'static str,
    pub address: &'static str,
    pub parse: &'static str,
    pub destination: &'static str,
    pub total: &'static str,
    pub pseudo: &'static str,
    /// what is quoted in a report: the header that declares the struct, for the kernel, and the struct
    pub quoted_include: &'static str,
    pub quoted: &'static str,
    pub report_parse: &'static str,
    /// the member of a configuration that is the core's address
    pub configured: &'static str,
    /// the least MTU of a link
    pub least_mtu: &'static str,
    pub network: &'static str,
}

const IPV4: Ip = Ip {
    include: "ip",
    report_include: "report",
    header_len: "CARRICK_IP_HEADER",
    header: "struct carrick_ip",
    address: "uint32_t",
    parse: "carrick_ip_parse",
    destination: "carrick_ip_destination",
    total: "carrick_load16(octets + 2)",
    pseudo: "carrick_sum_pseudo",
    quoted_include: "quoted",
    quoted: "struct carrick_quoted",
    report_parse: "carrick_report_parse",
    configured: "address",
    least_mtu: "68",
    network: "CARRICK_NETWORK_IPV4",
};

const IPV6: Ip = Ip {
    include: "ip6",
    report_include: "report6",
    header_len: "CARRICK_IP6_HEADER",
    header: "struct carrick_ip6",
    address: "struct carrick_ip6_address",
    parse: "carrick_ip6_parse",
    destination: "carrick_ip6_destination",
    total: "carrick_ip6_total(octets)",
    pseudo: "carrick_sum_pseudo6",
    quoted_include: "quoted6",
    quoted: "struct carrick_quoted6",
    report_parse: "carrick_report6_parse",
    configured: "address6",
    least_mtu: "CARRICK_IP6_LEAST_MTU",
    network: "CARRICK_NETWORK_IPV6",
};

/// Without a network header no packet has one, but the parser's parameter is of a type.
const LINK: Ip = Ip { least_mtu: "16", network: "CARRICK_NETWORK_LINK", ..IPV4 };

/// The names of a program's network layer.
pub fn ip(program: &Program) -> &'static Ip {
    match program.net_header.layer {
        NetLayer::Ipv4 => &IPV4,
        NetLayer::Ipv6 => &IPV6,
        NetLayer::Link => &LINK,
    }
}
