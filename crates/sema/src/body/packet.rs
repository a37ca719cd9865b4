// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a program in the network says of the packet that it looks at.

use carrick_ir::{self as ir, Instr, Opcode, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast;
use carrick_syntax::diag::Diagnostic;

use super::Body;
use crate::codes;

impl Body<'_, '_> {
    /// `forward(e.pkt, interface)`, `pkt_copy(e.pkt, interface)`, `drop(e.pkt)`, `pkt_store(e.pkt, key)`,
    /// `pkt_release(key, interface)`, `pkt_discard(key)`
    pub(super) fn packet_instruction(&mut self, op: Opcode, args: &[ast::Expr], span: Span) -> Option<Instr> {
        if !self.cx.has_role() {
            self.cx.not_at_an_end(span, &format!("`{}`", op.name()));
            return None;
        }
        let sends = matches!(op, Opcode::Forward | Opcode::PktCopy);
        let count = if matches!(op, Opcode::Drop | Opcode::PktDiscard) { 1 } else { 2 };
        if !(sends && args.len() == 3) {
            self.count(args, count, span)?;
        }
        if sends || matches!(op, Opcode::Drop | Opcode::PktStore) {
            self.event_packet(&args[0])?;
        }
        Some(match op {
            Opcode::Forward | Opcode::PktCopy => {
                let interface = self.interface(&args[1])?;
                let header = args.get(2).map(|h| self.whole_header(h));
                let header = header.map_or(Some(None), |h| h.map(Some))?;
                match op {
                    Opcode::PktCopy => Instr::PktCopy { interface, header },
                    _ => Instr::Forward { interface, header },
                }
            }
            Opcode::Drop => Instr::Drop,
            Opcode::PktStore => Instr::PktStore { key: self.value_of_type(&args[1], &Ty::U64)? },
            Opcode::PktDiscard => Instr::PktDiscard { key: self.value_of_type(&args[0], &Ty::U64)? },
            _ => {
                let typed = [(&args[0], Some(Ty::U64)), (&args[1], Some(Ty::U32))];
                let mut values = self.arguments(&typed)?.into_iter();
                let (key, interface) = (values.next()?, values.next()?);
                self.check_interface(&interface, args[1].span)?;
                Instr::PktRelease { key, interface }
            }
        })
    }

    /// `e.pkt`, with e the net event of the chain.
    fn event_packet(&mut self, e: &ast::Expr) -> Option<()> {
        if let ast::ExprKind::Field(base, field) = &e.kind
            && field.name == "pkt"
            && let Some(event) = self.variable(base, |ty| matches!(ty, Ty::Event(_)))
            && self.is_parameter(event)
            && let Ty::Event(kind) = self.locals[event.index()].ty
            && self.cx.carries_packet(kind)
        {
            return Some(());
        }
        self.report(
            Diagnostic::error(
                codes::PACKET,
                "this is not the packet of the chain's event",
                e.span,
                "not `e.pkt`",
            )
            .note("a packet exists while its event is processed; `pkt_store` keeps it for later")
            .mend("take the net event as a parameter, and write `e.pkt`"),
        )
    }

    /// A variable of a blueprint that is a packet without frames.
    fn whole_header(&mut self, e: &ast::Expr) -> Option<ir::LocalId> {
        let Some(header) = self.variable(e, |ty| matches!(ty, Ty::Blueprint(_))) else {
            return self.report(
                Diagnostic::error(codes::PACKET, "this is not a header", e.span, "not a blueprint variable")
                    .mend(
                        "declare `a_blueprint h;`, read it with `e.pkt.extract(h);`, change it and pass it",
                    ),
            );
        };
        let Ty::Blueprint(kind) = self.locals[header.index()].ty else { return None };
        let def = &self.cx.program.blueprints[kind.index()];
        if def.frame || def.frames.is_some() {
            let message = format!("`{}` is a packet of frames, or a frame", def.name);
            self.cx.frame_error(
                codes::FRAME,
                e.span,
                message,
                "not one header and a payload",
                "use a blueprint without frames",
            );
            return None;
        }
        Some(header)
    }

    /// `e.pkt.extract(h);` in a processor: what the parser could read is read again.
    pub(super) fn extract_again(&mut self, packet: &ast::Expr, args: &[ast::Expr], span: Span) -> Option<()> {
        self.event_packet(packet)?;
        self.count(args, 1, span)?;
        let bp = self.whole_header(&args[0])?;
        self.emit(ir::StmtKind::Extract { bp });
        Some(())
    }

    /// Whether something is `e.pkt`, with e an event that has one.
    pub(super) fn is_packet(&mut self, e: &ast::Expr) -> bool {
        let ast::ExprKind::Field(base, field) = &e.kind else { return false };
        field.name == "pkt"
            && self.variable(base, |ty| matches!(ty, Ty::Event(_))).is_some_and(|event| {
                matches!(self.locals[event.index()].ty, Ty::Event(kind) if self.cx.carries_packet(kind))
            })
    }

    /// A packet is nowhere but in these instructions.
    pub(super) fn packet_as_value<T>(&mut self, span: Span) -> Option<T> {
        self.report(
            Diagnostic::error(codes::PACKET, "a packet is not a value", span, "not a value")
                .mend("`forward`, `drop` or `pkt_store` it; `e.pkt.extract(h);` reads its header"),
        )
    }

    fn interface(&mut self, e: &ast::Expr) -> Option<ir::Expr> {
        let interface = self.value_of_type(e, &Ty::U32)?;
        self.check_interface(&interface, e.span)?;
        Some(interface)
    }

    fn check_interface(&mut self, interface: &ir::Expr, span: Span) -> Option<()> {
        match self.cx.fold(interface) {
            Some(n) if n > ir::ROUTE => self.report(
                Diagnostic::error(codes::INTERFACE, format!("there is no interface {n}"), span, "above 254")
                    .note("a node has at most 255 interfaces; they are numbered from 0")
                    .mend("write `ROUTE`, or the number of one that the node has"),
            ),
            _ => Some(()),
        }
    }
}
