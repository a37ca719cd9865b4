// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a program runs: at an end, which is said by nothing, or in the network.

use carrick_ir::{self as ir, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{Expr, ExprKind, ItemKind};
use carrick_syntax::diag::Diagnostic;

use crate::{Checker, codes};

/// How many packets a program may keep.
const PACKETS_MAX: u64 = 65_536;

fn names(e: &Expr, name: &str) -> bool {
    matches!(&e.kind, ExprKind::Name(n) if n == name)
}

impl Checker<'_> {
    /// Whether the program says that it runs in the network; what it says besides is checked later.
    pub(crate) fn has_role(&self) -> bool {
        self.file.items.iter().any(|item| match &item.kind {
            ItemKind::Deploy { calls } => calls.iter().any(|call| {
                matches!(&call.kind, ExprKind::Call(callee, args)
                    if names(callee, "register_role") && args.first().is_some_and(|a| names(a, "in_network")))
            }),
            _ => false,
        })
    }

    /// Whether an event has a packet that can go on.
    pub(crate) fn carries_packet(&self, event: ir::EventId) -> bool {
        self.program.events[event.index()].kind == ir::EventKind::Net && self.has_role()
    }

    /// `register_role(in_network, packets);`
    pub(crate) fn role(&mut self, args: &[Expr], span: Span) {
        let packets = match args {
            [role, packets] if names(role, "in_network") => self.deploy_number(packets, &Ty::U64),
            _ => {
                return self.report(
                    Diagnostic::error(codes::ROLE_SHAPE, "this is not a role", span, "in deploy")
                        .note("a program without a role is an endpoint")
                        .mend("write `register_role(in_network, packets);` with the number of packets that it keeps at most"),
                );
            }
        };
        if self.program.net_header.layer == ir::NetLayer::Link {
            return self.report(
                Diagnostic::error(
                    codes::LINK,
                    "a program in the network is over `ipv4`",
                    span,
                    "over `link`",
                )
                .note("the network header says where a packet ends, and which protocol it has")
                .mend("use `net_header ipv4`, or leave this out"),
            );
        }
        let Some(packets) = packets else { return };
        if self.fold(&packets).is_some_and(|n| n > PACKETS_MAX) {
            return self.report(
                Diagnostic::error(
                    codes::ROLE_PACKETS,
                    "too many packets to keep",
                    args[1].span,
                    format!("more than {PACKETS_MAX}"),
                )
                .mend("choose a smaller number"),
            );
        }
        self.program.in_network = Some(packets);
    }

    /// Reports something that is not for programs at an end.
    pub(crate) fn not_at_an_end(&mut self, span: Span, what: &str) {
        self.report(
            Diagnostic::error(codes::ROLE, format!("{what} is for programs in the network"), span, "not here")
                .note("an endpoint has one interface, and packets end there")
                .mend("add `register_role(in_network, packets);` to `deploy` if it is to run between the interfaces of a node"),
        );
    }
}
