// SPDX-License-Identifier: MIT OR Apache-2.0
//! Methods of lists, windows, timers and options.

use carrick_ir::{self as ir, ExprKind, Order, StmtKind, Ty};
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
        match node {
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
                        "add" | "set" | "insert" | "remove" | "pop" | "clear"
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
                Ty::List(element, most, Order::Given) => {
                    self.list_method(place, (&element, most), method, args, span)
                }
                Ty::List(element, most, order) => {
                    self.sorted_method(place, (&element, most, order), method, args, span)
                }
                Ty::Wnd { .. } => self.window_method(place, method, args, span),
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

    fn no_method<T>(&mut self, method: &Ident) -> Option<T> {
        let known = [
            "len",
            "full",
            "add",
            "get",
            "set",
            "insert",
            "find",
            "remove",
            "pop",
            "clear",
            "reset",
            "head",
            "test",
            "unset",
            "first_set",
            "first_unset",
            "slide",
            "armed",
            "valid",
            "left",
            "peek",
            "take",
        ];
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
        (element, most): (&Ty, u32),
        method: &Ident,
        args: &[ast::Expr],
        span: Span,
    ) -> Option<Option<ir::Expr>> {
        let (name, wanted) = match method.name.as_str() {
            name @ ("len" | "full" | "pop" | "clear") => (name, 0),
            name @ ("add" | "get" | "remove") => (name, 1),
            name @ ("set" | "insert") => (name, 2),
            _ => return self.no_method(method),
        };
        self.count(args, wanted, span)?;
        match name {
            "len" => return Some(Some(self.make(ExprKind::ListLen(list), Ty::U32, span))),
            "full" => return Some(Some(self.make(ExprKind::ListFull(list), Ty::Bool, span))),
            "pop" => {
                let dest = self.temporary(element.clone());
                self.emit(StmtKind::ListPop { dest: Some(dest), list });
                return Some(Some(self.load(dest, span)));
            }
            "clear" => self.emit(StmtKind::ListClear { list }),
            "add" => {
                let value = self.value_of_type(&args[0], element)?;
                self.emit(StmtKind::ListAdd { list, value });
            }
            "insert" => {
                let typed = [(&args[0], None), (&args[1], Some(element.clone()))];
                let mut values = self.arguments(&typed)?.into_iter();
                let (index, value) = (values.next()?, values.next()?);
                let index = self.index_of(index, most, args[0].span)?;
                self.emit(StmtKind::ListInsert { list, index, value });
            }
            "remove" => {
                let index = self.index_value(&args[0], most)?;
                self.emit(StmtKind::ListRemove { list, index });
            }
            _ => {
                let index = self.index_value(&args[0], most)?;
                let mut place = list;
                place.path.push(ir::Proj::Elem(index));
                place.ty = element.clone();
                if name == "get" {
                    return Some(Some(self.make(ExprKind::Load(place), element.clone(), span)));
                }
                let value = self.value_of_type(&args[1], element)?;
                self.emit(StmtKind::Assign { place, value });
            }
        }
        Some(None)
    }

    /// What keeps a list sorted: what is put at a place of the program's choice is not among it.
    fn sorted_method(
        &mut self,
        list: ir::Place,
        (element, most, order): (&Ty, u32, Order),
        method: &Ident,
        args: &[ast::Expr],
        span: Span,
    ) -> Option<Option<ir::Expr>> {
        match method.name.as_str() {
            "find" => {
                self.count(args, 1, span)?;
                let ty = self.cx.program.sort_key(element, order)?;
                let key = Box::new(self.value_of_type(&args[0], &ty)?);
                Some(Some(self.make(ExprKind::ListFind(list, key), Ty::U32, span)))
            }
            "set" | "insert" => self.report(
                Diagnostic::error(codes::SORTED, "this list is sorted", method.span, "chooses a position")
                    .note("the key of an element decides its position in a sorted list")
                    .mend("use `add`"),
            ),
            _ => self.list_method(list, (element, most), method, args, span),
        }
    }

    fn window_method(
        &mut self,
        wnd: ir::Place,
        method: &Ident,
        args: &[ast::Expr],
        span: Span,
    ) -> Option<Option<ir::Expr>> {
        let sequence = |body: &mut Self, i: usize| body.value_of_type(&args[i], &Ty::Seq32);
        match (method.name.as_str(), args.len()) {
            ("head", 0) => Some(Some(self.make(ExprKind::WndHead(wnd), Ty::Seq32, span))),
            ("first_set", 0) => Some(Some(self.make(ExprKind::WndFirstSet(wnd), Ty::Seq32, span))),
            ("first_unset", 0) => Some(Some(self.make(ExprKind::WndFirstUnset(wnd), Ty::Seq32, span))),
            ("test", 1) => {
                let at = Box::new(sequence(self, 0)?);
                Some(Some(self.make(ExprKind::WndTest(wnd, at), Ty::Bool, span)))
            }
            ("reset", 1) => {
                let at = sequence(self, 0)?;
                self.emit(StmtKind::WndReset { wnd, at });
                Some(None)
            }
            ("slide", 0) => {
                self.emit(StmtKind::WndSlide { wnd, to: None });
                Some(None)
            }
            ("slide", 1) => {
                let to = Some(sequence(self, 0)?);
                self.emit(StmtKind::WndSlide { wnd, to });
                Some(None)
            }
            (name @ ("set" | "unset"), 2) => {
                let typed: Vec<_> = args.iter().map(|e| (e, Some(Ty::Seq32))).collect();
                let mut numbers = self.arguments(&typed)?.into_iter();
                let (from, to) = (numbers.next()?, numbers.next()?);
                let dest = self.temporary(Ty::Bool);
                self.emit(StmtKind::WndSet { dest: Some(dest), wnd, value: name == "set", from, to });
                Some(Some(self.load(dest, span)))
            }
            ("head" | "first_set" | "first_unset" | "test" | "reset" | "set" | "unset", n) => {
                let wanted = match method.name.as_str() {
                    "test" | "reset" => "1",
                    "set" | "unset" => "2",
                    _ => "0",
                };
                self.wrong_count(n, wanted, span)
            }
            _ => self.no_method(method),
        }
    }
}
