// SPDX-License-Identifier: MIT OR Apache-2.0
//! Methods of lists, windows, timers and options.

use carrick_ir::methods::{Declaration, Gives, Operand};
use carrick_ir::{self as ir, Change, ExprKind, Order, Query, StmtKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{self, Ident};
use carrick_syntax::diag::Diagnostic;

use super::Body;
use super::place::Node;
use crate::codes;
use crate::env::Def;

impl Body<'_, '_> {
    /// A method; `Some(None)` if it has no value.
    pub(super) fn method(
        &mut self,
        node: Node,
        method: &Ident,
        args: &[ast::Expr],
        span: Span,
    ) -> Option<Option<ir::Expr>> {
        match self.there(node, span)? {
            Node::Timer(ctx, timer, which) if method.name == "armed" => {
                self.count(args, 0, span)?;
                let armed = ExprKind::TimerArmed(ctx, timer, which.map(Box::new));
                Some(Some(self.make(armed, Ty::Bool, span)))
            }
            Node::Option(bp, opt) if method.name == "valid" => {
                self.count(args, 0, span)?;
                Some(Some(self.make(ExprKind::OptPresent(bp, opt), Ty::Bool, span)))
            }
            Node::Payload(bp) if method.name == "add" => {
                self.count(args, 1, span)?;
                self.frame_add(bp, &args[0]).map(|()| None)
            }
            Node::Options(bp, list) if method.name == "add" => {
                self.count(args, 1, span)?;
                self.option_add(bp, list, &args[0]).map(|()| None)
            }
            Node::ReadOnly(place, why)
                if matches!(place.path.last(), Some(ir::Proj::OptField(..)))
                    && matches!(
                        method.name.as_str(),
                        "add" | "set" | "insert" | "remove" | "pop" | "clear" | "retain"
                    ) =>
            {
                self.assignable(Node::ReadOnly(place, why), span).map(|_| None)
            }
            Node::Place(place) if method.name == "take" && place.ty.has_none() => {
                self.count(args, 0, span)?;
                Some(Some(self.take(place, span)))
            }
            Node::ReadOnly(place, why) if method.name == "take" && place.ty.has_none() => {
                self.count(args, 0, span)?;
                self.report(
                    Diagnostic::error(codes::READ_ONLY, "this cannot be taken", span, why)
                        .mend("use the value as it is, without `take()`"),
                )
            }
            Node::Place(place) | Node::ReadOnly(place, _) => match place.ty.clone() {
                Ty::Packet if method.name == "left" || method.name == "peek" => {
                    self.packet_rest(method, args, span)
                }
                Ty::List(element, most, order) => {
                    self.list_method(place, (&element, most, order), method, args, span)
                }
                Ty::Wnd { .. } => self.declared_method(place, method, args, span),
                _ => self.no_method(method),
            },
            _ => self.no_method(method),
        }
    }

    /// The value of a place, which is `none` from then on.
    fn take(&mut self, place: ir::Place, span: Span) -> ir::Expr {
        let ty = place.ty.clone();
        let value = self.make(ExprKind::Load(place.clone()), ty.clone(), span);
        let taken = self.kept(value, span);
        let value = self.make(ExprKind::Lit(0), ty, span);
        self.emit(StmtKind::Assign { place, value });
        taken
    }

    pub(super) fn no_method<T>(&mut self, method: &Ident) -> Option<T> {
        let declared = Query::ALL.iter().map(|m| m.name()).chain(Change::ALL.iter().map(|m| m.name()));
        let known: Vec<&str> =
            declared.chain(["get", "armed", "valid", "left", "peek", "take", "retain"]).collect();
        self.cx.unknown(codes::UNKNOWN_METHOD, "method", method, &known);
        None
    }

    fn frame_add(&mut self, bp: ir::LocalId, arg: &ast::Expr) -> Option<()> {
        let Ty::Blueprint(packet) = self.locals[bp.index()].ty else { return None };
        let frames = self.cx.program.blueprints[packet.index()].frames.clone();
        let member = |b: &ir::BpId| frames.as_ref().is_some_and(|f| f.members.contains(b));
        let frame = self.variable(arg, |ty| matches!(ty, Ty::Blueprint(b) if member(b)));
        if frames.is_none() {
            self.cx.frame_error(
                codes::FRAME,
                arg.span,
                "frames are only added to a list of frames".to_owned(),
                "its payload is a `data_t`",
                "declare `list<a_frame_union, N> frames;` in place of the payload",
            );
            return None;
        }
        let Some(frame) = frame else {
            self.cx.frame_error(
                codes::FRAME_ADDED,
                arg.span,
                "this is no frame of the packet".to_owned(),
                "not a variable of a member of its frame union",
                "declare `a_frame f;`, set its fields and pass it",
            );
            return None;
        };
        self.emit(StmtKind::FrameAdd { bp, frame });
        Some(())
    }

    /// What no extract has taken yet.
    fn packet_rest(&mut self, method: &Ident, args: &[ast::Expr], span: Span) -> Option<Option<ir::Expr>> {
        self.count(args, 0, span)?;
        if !self.cx.program.blueprints.iter().any(|bp| bp.frame) {
            self.cx.frame_error(
                codes::FRAME,
                span,
                "this program has no frames".to_owned(),
                "what is left of a packet is its frames",
                "use `h.payload.len`, or declare blueprints without `over`",
            );
            return None;
        }
        let (kind, ty) = match method.name.as_str() {
            "left" => (ExprKind::PacketLeft, Ty::Bytes),
            _ => (ExprKind::PacketPeek, Ty::U8),
        };
        Some(Some(self.make(kind, ty, span)))
    }

    fn option_add(&mut self, bp: ir::LocalId, list: ir::OptListId, arg: &ast::Expr) -> Option<()> {
        let members = self.cx.program.opt_lists[list.index()].members.clone();
        let (name, args): (&ast::Expr, &[ast::Expr]) = match &arg.kind {
            ast::ExprKind::Call(callee, args) => (callee, args),
            _ => (arg, &[]),
        };
        let ast::ExprKind::Name(text) = &name.kind else {
            return self.report(
                Diagnostic::error(codes::OPTION_NAME, "only options are added", arg.span, "not an option")
                    .mend("write `bp.opts.add(an_option(value))`"),
            );
        };
        let ident = Ident { name: text.clone(), span: name.span };
        let opt = self.cx.lookup("option", &ident, |d| match d {
            Def::Opt(opt) if members.contains(&opt) => Some(opt),
            _ => None,
        })?;
        let wanted = self.cx.program.opts[opt.index()].given();
        self.count(args, wanted.len(), arg.span)?;
        let typed: Vec<_> = args.iter().zip(wanted).map(|(e, ty)| (e, Some(ty))).collect();
        let args = self.arguments(&typed)?;
        self.emit(StmtKind::OptAdd { bp, opt, args });
        Some(())
    }

    fn list_method(
        &mut self,
        list: ir::Place,
        (element, most, order): (&Ty, u32, Order),
        method: &Ident,
        args: &[ast::Expr],
        span: Span,
    ) -> Option<Option<ir::Expr>> {
        match (method.name.as_str(), order) {
            // What keeps a list sorted: what is put at a place of the program's choice is not among it.
            ("set" | "insert", Order::Sorted | Order::SortedBy(_)) => self.report(
                Diagnostic::error(codes::SORTED, "this list is sorted", method.span, "chooses a position")
                    .note("the key of an element decides its position in a sorted list")
                    .mend("use `add`"),
            ),
            (name @ ("get" | "set"), _) => {
                self.count(args, if name == "get" { 1 } else { 2 }, span)?;
                let index = self.index_value(&args[0], most)?;
                let mut place = list;
                place.path.push(ir::Proj::Elem(index));
                place.ty = element.clone();
                if name == "get" {
                    return Some(Some(self.make(ExprKind::Load(place), element.clone(), span)));
                }
                let value = self.value_of_type(&args[1], element)?;
                self.emit(StmtKind::Assign { place, value });
                Some(None)
            }
            ("retain", _) => {
                let message = "this keeps no elements of a list";
                self.report(
                    Diagnostic::error(
                        codes::RETAIN,
                        message,
                        span,
                        "not a statement with a name and a condition",
                    )
                    .mend("write a statement `list.retain(x, condition);`, with a new name for the element"),
                )
            }
            _ => self.declared_method(list, method, args, span),
        }
    }

    /// A method of a list or a window, with the operands that it is declared with.
    fn declared_method(
        &mut self,
        on: ir::Place,
        method: &Ident,
        args: &[ast::Expr],
        span: Span,
    ) -> Option<Option<ir::Expr>> {
        if let Some(query) = Query::named(&method.name, &on.ty) {
            let args = self.operands(query.declaration(), &on.ty, args, span)?;
            let ty = query.declaration().gives.ty(&on.ty);
            return Some(Some(self.make(ExprKind::Query(query, on, args), ty, span)));
        }
        let Some(what) = Change::named(&method.name, &on.ty) else { return self.no_method(method) };
        let args = self.operands(what.declaration(), &on.ty, args, span)?;
        let gives = what.declaration().gives;
        let dest = (gives != Gives::Nothing).then(|| self.temporary(gives.ty(&on.ty)));
        self.emit(StmtKind::Change { what, dest, on, args });
        Some(dest.map(|dest| self.load(dest, span)))
    }

    fn operands(
        &mut self,
        method: &Declaration,
        on: &Ty,
        args: &[ast::Expr],
        span: Span,
    ) -> Option<Vec<ir::Expr>> {
        let (least, most) = method.operands();
        if !(least..=most).contains(&args.len()) {
            return self.wrong_count(args.len(), &most.to_string(), span);
        }
        let mut typed = Vec::new();
        for (operand, arg) in method.takes.iter().zip(args) {
            let ty = match (operand, on) {
                (Operand::Element, _) => Some(Gives::Element.ty(on)),
                (Operand::Key, Ty::List(element, _, order)) => self.cx.program.sort_key(element, *order),
                (Operand::Number | Operand::MaybeNumber, _) => Some(Ty::Seq32),
                _ => None,
            };
            typed.push((arg, ty));
        }
        let mut values = self.arguments(&typed)?;
        for ((operand, value), arg) in method.takes.iter().zip(&mut values).zip(args) {
            if let (Operand::Index, Ty::List(_, most, _)) = (operand, on) {
                *value = self.index_of(value.clone(), *most, arg.span)?;
            }
        }
        Some(values)
    }
}
