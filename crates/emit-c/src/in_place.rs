// SPDX-License-Identifier: MIT OR Apache-2.0
//! Records with addresses of IPv6, which are too large to be values on the stack: they are put together, and copied, in place.

use carrick_ir::{Expr, ExprKind, Stmt, Ty};

use crate::Emitter;
use crate::names::safe;

impl Emitter<'_> {
    /// Puts together an id that has addresses of IPv6, part by part where it is wanted: as a value, compilers put it together
    /// on the stack, of which the kernel has little. False: it is none, or is made of what is there.
    pub(crate) fn id_in_place(&mut self, stmt: &Stmt, to: &str, id: &Expr) -> bool {
        let ExprKind::MakeId(def, parts) = &id.kind else { return false };
        let fields = &self.p.ids[def.index()].parts;
        if !fields.iter().any(|field| matches!(field.ty, Ty::Id(_))) {
            return false;
        }
        let values: Vec<String> = parts.iter().map(|part| self.value(part)).collect();
        if values.iter().any(|value| value.contains(to)) {
            return false;
        }
        for (field, value) in fields.iter().zip(values) {
            self.line(stmt, format!("{to}.{} = {value};", safe(&field.name)));
        }
        true
    }

    /// Copies an element of a list; zeros if there is none. False: it is none, or the program runs over IPv4.
    pub(crate) fn element_in_place(&mut self, stmt: &Stmt, to: &str, value: &Expr) -> bool {
        let ExprKind::Load(place) = &value.kind else { return false };
        let place = self.place(place);
        let Some(guard) = place.guard.filter(|_| self.over_ipv6()) else { return false };
        let from = place.text;
        self.line(stmt, format!("if ({guard})\n    CARRICK_COPY(&{to}, &{from});"));
        self.line(stmt, format!("else\n    CARRICK_ZERO(&{to});"));
        true
    }
}
