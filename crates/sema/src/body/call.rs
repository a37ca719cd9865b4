// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that have a value: conversions, ids, built-in functions, functions of the program.

use carrick_ir::{self as ir, Arg, Builtin, ExprKind, StmtKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{self, Ident};
use carrick_syntax::diag::Diagnostic;

use super::{Body, Scope, Val};
use crate::codes;
use crate::env::Def;
use crate::types::{built_in, is_int};

impl Body<'_, '_> {
    pub(super) fn call_value(
        &mut self,
        callee: &ast::Expr,
        args: &[ast::Expr],
        span: Span,
        want: Option<&Ty>,
    ) -> Option<Val> {
        match &callee.kind {
            ast::ExprKind::Name(name) => {
                let name = Ident { name: name.clone(), span: callee.span };
                self.named_call(&name, args, span, want)
            }
            ast::ExprKind::Field(base, method) => {
                let node = self.node(base)?;
                self.method(node, method, args, span)?
                    .map_or_else(|| self.no_value(span), |v| Some(Val::Typed(v)))
            }
            ast::ExprKind::Error => None,
            _ => self.report(
                Diagnostic::error(
                    codes::NOT_CALLABLE,
                    "this cannot be called",
                    callee.span,
                    "not a function",
                )
                .mend("call a function by its name"),
            ),
        }
    }

    fn no_value<T>(&mut self, span: Span) -> Option<T> {
        self.report(
            Diagnostic::error(codes::NO_VALUE, "this call has no value", span, "used as a value")
                .mend("call it in a statement of its own"),
        )
    }

    fn named_call(&mut self, name: &Ident, args: &[ast::Expr], span: Span, want: Option<&Ty>) -> Option<Val> {
        if let (ir::ADDRESS, [high, low]) = (name.name.as_str(), args) {
            return self.address_of_halves(high, low, span).map(Val::Typed);
        }
        if let Some(ty) = self.conversion_target(&name.name) {
            return self.conversion(&ty, args, span).map(Val::Typed);
        }
        match self.cx.env.get(&name.name) {
            Some(Def::Id(id)) => return self.make_id(id, args, span).map(Val::Typed),
            Some(Def::Function(_)) if matches!(self.scope, Scope::Declaration | Scope::Header(_)) => {
                return self.report(
                    Diagnostic::error(
                        codes::NOT_CONSTANT,
                        "no function is called in a declaration",
                        span,
                        "known only when the program runs",
                    )
                    .mend("call it in an event processor and keep what it gives in a field"),
                );
            }
            Some(Def::Function(func)) => {
                let value = self.user_call(func, name, args, span, true)?;
                return value.map_or_else(|| self.no_value(span), |v| Some(Val::Typed(v)));
            }
            _ => {}
        }
        self.built_in_call(name, args, span, want).map(Val::Typed)
    }

    fn conversion_target(&self, name: &str) -> Option<Ty> {
        match self.cx.env.get(name) {
            Some(Def::Enum(id) | Def::Machine(id, _)) => Some(Ty::Enum(id)),
            _ if name == ir::ADDRESS => Some(self.cx.program.address_ty()),
            _ => built_in(name),
        }
    }

    fn conversion(&mut self, ty: &Ty, args: &[ast::Expr], span: Span) -> Option<ir::Expr> {
        self.count(args, 1, span)?;
        let value = match self.val(&args[0], None)? {
            // A literal converts as the widest integer, so that `uint8(300)` truncates as asked.
            Val::Int(v) => self.make(ExprKind::Lit(v as u64), if v < 0 { Ty::I64 } else { Ty::U64 }, span),
            other => self.with_own_type(other, args[0].span)?,
        };
        if value.ty == Ty::Fixed && is_int(ty) || is_int(&value.ty) && *ty == Ty::Fixed {
            return Some(self.whole_number(value, ty, span));
        }
        let number = |t: &Ty| *t != Ty::Fixed && t.is_scalar() && !matches!(t, Ty::Token | Ty::Handle);
        if !number(&value.ty) || !number(ty) {
            let (from, to) = (self.name(&value.ty), self.name(ty));
            return self.report(
                Diagnostic::error(
                    codes::CONVERSION,
                    format!("`{from}` does not convert to `{to}`"),
                    span,
                    "here",
                )
                .note("integers, seq32, units, bool, enums and status_t convert to each other by their bits; fixed converts from and to integers")
                .mend("use a part of the value, such as a field"),
            );
        }
        // An enum is as wide as its declaration says.
        let value = match ty {
            Ty::Enum(id) => {
                let repr = self.cx.program.enums.get(id.index())?.repr.clone();
                self.cast(value, &repr)
            }
            _ => value,
        };
        Some(self.cast(value, ty))
    }

    /// Checks the number of arguments.
    pub(super) fn count(&mut self, args: &[ast::Expr], wanted: usize, span: Span) -> Option<()> {
        if args.len() == wanted {
            return Some(());
        }
        self.wrong_count(args.len(), &wanted.to_string(), span)
    }

    pub(super) fn wrong_count<T>(&mut self, found: usize, wanted: &str, span: Span) -> Option<T> {
        self.report(
            Diagnostic::error(
                codes::ARGUMENT_COUNT,
                format!("expected {wanted} arguments, found {found}"),
                span,
                "this call",
            )
            .mend("pass as many arguments as the function takes"),
        )
    }

    pub(super) fn make_id(&mut self, id: ir::IdId, args: &[ast::Expr], span: Span) -> Option<ir::Expr> {
        let values = self.id_parts(id, args, span)?;
        Some(self.make(ExprKind::MakeId(id, values), Ty::Id(id), span))
    }

    /// The parts of an id, in order.
    pub(crate) fn id_parts(&mut self, id: ir::IdId, args: &[ast::Expr], span: Span) -> Option<Vec<ir::Expr>> {
        let parts: Vec<Ty> = self.cx.program.ids[id.index()].parts.iter().map(|p| p.ty.clone()).collect();
        self.count(args, parts.len(), span)?;
        let typed: Vec<_> = args.iter().zip(parts).map(|(e, ty)| (e, Some(ty))).collect();
        self.arguments(&typed)
    }

    /// A call of a function of the program: a statement whose result, if any, is kept in a temporary.
    pub(super) fn user_call(
        &mut self,
        func: ir::FuncId,
        name: &Ident,
        args: &[ast::Expr],
        span: Span,
        wants_value: bool,
    ) -> Option<Option<ir::Expr>> {
        self.cx.usage.mark(&name.name);
        let def = &self.cx.program.functions[func.index()];
        let params: Vec<Ty> = def.locals[..def.params as usize].iter().map(|l| l.ty.clone()).collect();
        let ret = def.ret.clone();
        self.count(args, params.len(), span)?;
        if params.contains(&Ty::Packet) {
            return self.report(
                Diagnostic::error(
                    codes::PARSER_CALLED,
                    "a parser cannot be called",
                    span,
                    "runs for each packet",
                )
                .mend("move shared code into a function"),
            );
        }
        if params.contains(&Ty::Void) {
            return None; // reported where it is declared
        }
        let mut values = Vec::new();
        for (arg, ty) in args.iter().zip(&params) {
            let mark = self.out.len();
            let value = if ty.is_by_ref() {
                Arg::Ref(self.reference(arg, ty)?)
            } else {
                Arg::Value(self.value_of_type(arg, ty)?)
            };
            if self.out.len() > mark {
                self.spill_arguments(&mut values, mark, span);
            }
            values.push(value);
        }
        let dest = (wants_value && ret != Ty::Void).then(|| self.temporary(ret));
        self.emit(StmtKind::Call { dest, func, args: values });
        Some(dest.map(|d| self.load(d, span)))
    }

    fn spill_arguments(&mut self, values: &mut [Arg], mark: usize, span: Span) {
        let mut at = mark;
        for value in values {
            if let Arg::Value(v) = value {
                let before = self.out.len();
                let kept = self.spill(v.clone(), at, span);
                at += self.out.len() - before;
                *value = Arg::Value(kept);
            }
        }
    }

    /// An argument that is passed by reference: a parameter or an event of the caller, as it is.
    fn reference(&mut self, arg: &ast::Expr, ty: &Ty) -> Option<ir::LocalId> {
        if let ast::ExprKind::Name(name) = &arg.kind
            && let Some(super::Binding::Local(local)) = self.find(name)
            && self.locals[local.index()].ty == *ty
            && (self.is_parameter(local) || matches!(ty, Ty::Event(_)))
        {
            return Some(local);
        }
        let wanted = self.name(ty);
        if let ast::ExprKind::Name(name) = &arg.kind
            && self.find(name).is_none()
            && self.cx.env.get(name).is_none()
        {
            let message = format!("there is no `{name}` here");
            let label = format!("expected the `{wanted}` of this chain");
            let mend = format!("add it to the processor's parameters: `{wanted} {name}`");
            return self.report(Diagnostic::error(codes::UNKNOWN_NAME, message, arg.span, label).mend(mend));
        }
        self.report(
            Diagnostic::error(
                codes::BY_REFERENCE,
                format!("expected the `{wanted}` of this chain"),
                arg.span,
                "passed by reference",
            )
            .mend("pass on the processor's own parameter"),
        )
    }

    fn built_in_call(
        &mut self,
        name: &Ident,
        args: &[ast::Expr],
        span: Span,
        want: Option<&Ty>,
    ) -> Option<ir::Expr> {
        let Some(function) = Builtin::named(&name.name) else {
            return if name.name == "data" {
                self.payload_as_value(span)
            } else {
                self.unknown_function(name)
            };
        };
        match function {
            Builtin::IsUnicast => self.is_unicast(args, span),
            Builtin::IpHigh | Builtin::IpLow => self.half(function == Builtin::IpLow, args, span),
            Builtin::Random => {
                self.count(args, 0, span)?;
                self.needs_statements(span)?;
                let dest = self.temporary(Ty::U32);
                self.emit(StmtKind::Random { dest });
                Some(self.load(dest, span))
            }
            Builtin::SatAdd | Builtin::SatSub => self.saturating(function, args, span, want),
            Builtin::Handle => self.handle(args, span),
            Builtin::TxRoom | Builtin::RxSize => {
                self.count(args, 1, span)?;
                let of = if function == Builtin::TxRoom { ExprKind::TxRoom } else { ExprKind::RxSize };
                self.unit_context(&args[0]).map(|ctx| self.make(of(ctx), Ty::Bytes, span))
            }
            Builtin::HeaderLen => self.longest_header(args, span),
            Builtin::GetFlowId => self.flow_id(args, span),
            _ => self.operation(function, args, span, want),
        }
    }

    fn payload_as_value<T>(&mut self, span: Span) -> Option<T> {
        self.report(
            Diagnostic::error(
                codes::PAYLOAD,
                "`data(...)` can only be assigned to a payload",
                span,
                "not here",
            )
            .mend("write `bp.payload = data(c.id, offset, len);`"),
        )
    }

    fn unknown_function(&mut self, name: &Ident) -> Option<ir::Expr> {
        let functions: Vec<String> = self
            .cx
            .names_to_suggest()
            .filter(|n| matches!(self.cx.env.get(n), Some(Def::Function(_) | Def::Id(_))))
            .map(str::to_owned)
            .collect();
        let mut candidates: Vec<&str> = functions.iter().map(String::as_str).collect();
        candidates.extend(Builtin::callable().map(|function| -> &str { function.name() }));
        candidates.extend(super::instr::instructions().map(|name| -> &str { name }));
        self.cx.unknown(codes::UNKNOWN_FUNCTION, "function", name, &candidates);
        None
    }

    /// `header_len(blueprint)`
    fn longest_header(&mut self, args: &[ast::Expr], span: Span) -> Option<ir::Expr> {
        self.count(args, 1, span)?;
        self.needs_statements(span)?;
        let ast::ExprKind::Name(name) = &args[0].kind else {
            let what = "`header_len` takes the name of a blueprint";
            let d = Diagnostic::error(codes::UNKNOWN_BLUEPRINT, what, args[0].span, "not a name");
            return self.report(d.mend("name a `pkt_bp`: `header_len(segment)`"));
        };
        let name = Ident { name: name.clone(), span: args[0].span };
        let bp = self
            .cx
            .lookup("blueprint", &name, |d| if let Def::Blueprint(bp) = d { Some(bp) } else { None })?;
        let octets = self.cx.program.blueprints[bp.index()].max_header_len;
        Some(self.make(ExprKind::Lit(u64::from(octets)), Ty::Bytes, span))
    }

    /// Effects need statements before them, which declarations do not have.
    pub(super) fn needs_statements(&mut self, span: Span) -> Option<()> {
        if matches!(self.scope, super::Scope::Function | super::Scope::Parser) {
            return Some(());
        }
        self.report(
            Diagnostic::error(
                codes::EFFECT_IN_DECLARATION,
                "this cannot be computed here",
                span,
                "has an effect",
            )
            .mend("set the field in an event processor"),
        )
    }

    fn handle(&mut self, args: &[ast::Expr], span: Span) -> Option<ir::Expr> {
        self.count(args, 1, span)?;
        match self.context_local(&args[0]) {
            Some(local) => Some(self.make(ExprKind::Handle(local), Ty::Handle, span)),
            None => self.report(
                Diagnostic::error(
                    codes::HANDLE_OF,
                    "only a context has a handle",
                    args[0].span,
                    "not a context",
                )
                .mend("pass the processor's context parameter"),
            ),
        }
    }

    fn flow_id(&mut self, args: &[ast::Expr], span: Span) -> Option<ir::Expr> {
        self.count(args, 1, span)?;
        let mut place = self.readable_place(&args[0])?;
        let id = match place.ty {
            Ty::Event(event) if place.path.is_empty() => self.cx.program.events[event.index()].id,
            _ => None,
        };
        let Some(id) = id else {
            return self.report(
                Diagnostic::error(
                    codes::FLOW_ID,
                    "this has no flow id",
                    args[0].span,
                    "not an event of a context",
                )
                .mend("pass an event whose chain takes a context"),
            );
        };
        place.path.push(ir::Proj::FlowId);
        place.ty = Ty::Id(id);
        Some(self.make(ExprKind::Load(place), Ty::Id(id), span))
    }
}
