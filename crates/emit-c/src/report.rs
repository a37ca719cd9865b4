// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors that the network reports about packets of the core.

use crate::Emitter;

impl Emitter<'_> {
    /// The function that takes a report, if the program reads them.
    pub(crate) fn report_function(&mut self) {
        let Some(parser) = self.p.report_parser else { return };
        self.w.line("/* An error that the network reports, perhaps about a packet that this core sent. */");
        self.open_on_core("static int ", "rx_report", ", const uint8_t *octets, uint32_t len");
        let ip = self.ip();
        self.w.line(format!("{} ip;", ip.header));
        self.w.line(format!("{} quoted;", ip.quoted));
        self.w.line(format!(
            "int begin = {}(octets, len, core->address, {}, &ip, &quoted);",
            ip.report_parse, self.p.net_header.protocol
        ));
        self.w.open("if (begin < 0) {");
        self.w.line(format!("(void){}(core, (uint32_t)(-1 - begin));", self.names.own("refuse")));
        self.w.line("return CARRICK_DROPPED;");
        self.w.close("}");
        self.w.line("uint32_t header = quoted.header;");
        self.w.line("octets += begin;");
        self.hold_packet("header + quoted.len");
        self.parse_packet(parser, "octets + header", "quoted.len", ", quoted.kind, quoted.mtu, quoted.from");
    }

    /// In `rx`, once the network header is checked: what is no packet of the protocol may be a report.
    pub(crate) fn take_report(&mut self) {
        if self.p.report_parser.is_some() {
            self.w.line("if (header == -1 - CARRICK_COUNT_IP_PROTOCOL)");
            self.w.line(format!("    return {}(core, octets, len);", self.names.own("rx_report")));
        }
    }
}
