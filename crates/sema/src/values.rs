// SPDX-License-Identifier: MIT OR Apache-2.0
//! Enums and parameters.

use carrick_ir::{self as ir, Ty};
use carrick_syntax::ast::{Expr, Ident, ItemKind, State, Type, Variant};
use carrick_syntax::diag::Diagnostic;

use crate::types::fits;
use crate::{Checker, codes};

impl Checker<'_> {
    pub(crate) fn declare_enums(&mut self) {
        let file = self.file;
        for item in &file.items {
            let (name, repr, variants) = match &item.kind {
                ItemKind::Enum { name, repr, variants } => {
                    if variants.is_empty() {
                        self.no_variants(name);
                    }
                    let repr = self.enum_repr(repr);
                    let variants = self.variants(&repr, variants);
                    (name, repr, variants)
                }
                ItemKind::Machine { name, states, .. } => {
                    let variant = |s: &State| Variant { name: s.name.clone(), value: None };
                    let states: Vec<Variant> = states.iter().map(variant).collect();
                    (name, Ty::U8, self.variants(&Ty::U8, &states))
                }
                _ => continue,
            };
            self.program.enums.push(ir::EnumDef {
                name: name.name.clone(),
                doc: item.doc.as_str().into(),
                repr,
                variants,
            });
        }
        self.declare_report_enum();
    }

    fn no_variants(&mut self, name: &Ident) {
        self.report(
            Diagnostic::error(
                codes::EMPTY_ENUM,
                format!("`{}` has no variants", name.name),
                name.span,
                "an empty enum",
            )
            .mend("name its values: `{ A, B }`"),
        );
    }

    fn enum_repr(&mut self, repr: &Type) -> Ty {
        match self.resolve(repr) {
            Some(ty @ Ty::Int { signed: false, .. }) => ty,
            Some(_) => {
                self.report(
                    Diagnostic::error(
                        codes::ENUM_REPR,
                        "the type of an enum must be an unsigned integer",
                        repr.span,
                        "not one",
                    )
                    .mend("use uint8, uint16, uint32 or uint64"),
                );
                Ty::U64
            }
            None => Ty::U64,
        }
    }

    fn variants(&mut self, repr: &Ty, variants: &[Variant]) -> Vec<(String, u64)> {
        let mut values: Vec<(String, u64)> = Vec::new();
        let mut next = 0;
        for variant in variants {
            let value = match &variant.value {
                Some(expr) => self.constant(expr, &Ty::U64).unwrap_or(next),
                None => next,
            };
            let twin = values.iter().find(|(_, v)| *v == value).map(|(n, _)| n.clone());
            if twin.is_some() || !fits(repr, i128::from(value)) {
                let message = match twin {
                    Some(twin) => format!("{value} is already the value of `{twin}`"),
                    None => format!("{value} does not fit the enum's type"),
                };
                self.report(
                    Diagnostic::error(codes::ENUM_VALUE, message, variant.name.span, "this variant")
                        .mend("give it a value of its own that fits"),
                );
            }
            next = value.wrapping_add(1);
            values.push((variant.name.name.clone(), value));
        }
        values
    }

    pub(crate) fn declare_params(&mut self) {
        let file = self.file;
        for item in &file.items {
            if let ItemKind::Param { ty, name, value, lo, hi } = &item.kind {
                let param = self.param(&item.doc, ty, name, [value, lo, hi]);
                self.program.params.push(param);
            }
        }
    }

    fn param(&mut self, doc: &str, ty: &Type, name: &Ident, [value, lo, hi]: [&Expr; 3]) -> ir::ParamDef {
        let resolved = self.resolve(ty);
        if resolved == Some(Ty::Fixed) {
            self.report(
                Diagnostic::error(codes::PARAM_TYPE, "a parameter is a whole number", ty.span, "a fraction")
                    .note("parameters are set by numbers with a unit, on every target")
                    .mend("use an integer and `ratio`: `ratio(beta_percent, 100)`"),
            );
        } else if resolved.as_ref().is_some_and(|t| !t.is_scalar()) {
            self.report(
                Diagnostic::error(
                    codes::PARAM_TYPE,
                    "a parameter has a scalar type",
                    ty.span,
                    "not a scalar type",
                )
                .mend("use an integer, a unit, bool or an enum"),
            );
        }
        let known = resolved.is_some();
        let t = resolved.filter(Ty::is_scalar).unwrap_or(Ty::U64);
        let bounds = known.then(|| (self.constant(value, &t), self.constant(lo, &t), self.constant(hi, &t)));
        let (default, low, high) = match bounds {
            Some((Some(default), Some(low), Some(high))) => (default, low, high),
            _ => (0, 0, u64::MAX),
        };
        let less = |a, b| ir::arith::less(&t, a, b);
        if matches!(bounds, Some((Some(_), Some(_), Some(_)))) && (less(default, low) || less(high, default))
        {
            self.report(
                Diagnostic::error(
                    codes::PARAM_RANGE,
                    format!("the default of `{}` is outside its range", name.name),
                    value.span,
                    "the default",
                )
                .cause(lo.span.to(hi.span), "the range")
                .mend("widen the range or change the default"),
            );
        }
        ir::ParamDef { name: name.name.clone(), doc: doc.into(), ty: t, default, lo: low, hi: high }
    }
}
