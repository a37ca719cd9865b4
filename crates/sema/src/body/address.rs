// SPDX-License-Identifier: MIT OR Apache-2.0
//! What programs ask of addresses, which are `uint32` over IPv4 and pairs of `uint64` over IPv6.

use carrick_ir::{self as ir, BinOp, ExprKind, Proj, StmtKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast;

use super::Body;
use super::place::extended;

/// The first address of several hosts: multicast, and what follows it (RFC 1122 §3.2.1.3; RFC 4291 §2.4).
const IPV4_MULTICAST: u64 = 0xe000_0000;
const IPV6_MULTICAST_HIGH: u64 = 0xff << 56;

impl Body<'_, '_> {
    /// `is_unicast(ip)`: neither unspecified nor multicast, nor, over IPv4, anything above multicast.
    pub(super) fn is_unicast(&mut self, args: &[ast::Expr], span: Span) -> Option<ir::Expr> {
        self.count(args, 1, span)?;
        let ty = self.cx.program.address_ty();
        let address = self.value_of_type(&args[0], &ty)?;
        if ty == Ty::U32 {
            let some = self.compared(BinOp::Ne, address.clone(), 0, span);
            let below = self.compared(BinOp::Lt, address, IPV4_MULTICAST, span);
            return Some(self.of_bools(BinOp::LogicalAnd, some, below, span));
        }
        let [high, low] = self.halves(address, span)?;
        let below = self.compared(BinOp::Lt, high.clone(), IPV6_MULTICAST_HIGH, span);
        let [high, low] = [high, low].map(|half| self.compared(BinOp::Ne, half, 0, span));
        let some = self.of_bools(BinOp::LogicalOr, high, low, span);
        Some(self.of_bools(BinOp::LogicalAnd, some, below, span))
    }

    /// `ip_high(ip)` and `ip_low(ip)`: 64 bits of an address each; an IPv4 address is in the low ones.
    pub(super) fn half(&mut self, low: bool, args: &[ast::Expr], span: Span) -> Option<ir::Expr> {
        self.count(args, 1, span)?;
        let ty = self.cx.program.address_ty();
        let address = self.value_of_type(&args[0], &ty)?;
        match (ty == Ty::U32, low) {
            (true, false) => Some(self.make(ExprKind::Lit(0), Ty::U64, span)),
            (true, true) => Some(self.cast(address, &Ty::U64)),
            (false, _) => self.halves(address, span).map(|[high, of_low]| if low { of_low } else { high }),
        }
    }

    /// `ip_t(high, low)`: the address of its halves; over IPv4, the lowest 32 bits of them.
    pub(super) fn address_of_halves(
        &mut self,
        high: &ast::Expr,
        low: &ast::Expr,
        span: Span,
    ) -> Option<ir::Expr> {
        let [high, low] = [high, low].map(|half| self.value_of_type(half, &Ty::U64));
        let ty = self.cx.program.address_ty();
        Some(match &ty {
            Ty::Id(id) => self.make(ExprKind::MakeId(*id, vec![high?, low?]), ty.clone(), span),
            _ => {
                high?;
                self.cast(low?, &ty)
            }
        })
    }

    /// The two parts of an IPv6 address.
    fn halves(&mut self, address: ir::Expr, span: Span) -> Option<[ir::Expr; 2]> {
        let place = match address.kind {
            ExprKind::Load(place) => place,
            _ => {
                self.needs_statements(span)?;
                let local = self.temporary(address.ty.clone());
                self.emit(StmtKind::Let { local, init: Some(address) });
                self.local_place(local)
            }
        };
        Some([0, 1].map(|half| {
            let part = extended(place.clone(), Proj::Field(half), Ty::U64);
            self.make(ExprKind::Load(part), Ty::U64, span)
        }))
    }

    fn compared(&mut self, op: BinOp, value: ir::Expr, with: u64, span: Span) -> ir::Expr {
        let with = self.make(ExprKind::Lit(with), value.ty.clone(), span);
        self.make(ExprKind::Binary(op, Box::new(value), Box::new(with)), Ty::Bool, span)
    }

    fn of_bools(&mut self, op: BinOp, a: ir::Expr, b: ir::Expr, span: Span) -> ir::Expr {
        self.make(ExprKind::Binary(op, Box::new(a), Box::new(b)), Ty::Bool, span)
    }
}
