// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statements and whole bodies.

use carrick_ir::{self as ir, ExprKind, StmtKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{self, Ident, LetInit, TypeKind};
use carrick_syntax::diag::Diagnostic;

use super::place::Node;
use super::{Binding, Body, Scope, Val};
use crate::codes;

impl Body<'_, '_> {
    /// Elaborates the function with this number; its signature is known.
    pub(crate) fn function(
        &mut self,
        index: usize,
        (name, ret): (&Ident, &ast::Type),
        params: &[&Ident],
        body: &ast::Block,
    ) {
        let def = self.cx.program.functions[index].clone();
        self.ret = def.ret.clone();
        self.collects = is_list_of(ret, "instr_t") || is_list_of(ret, "event_t");
        if def.locals.iter().any(|l| l.ty == Ty::Packet) {
            self.scope = Scope::Parser;
        }
        for (param, local) in params.iter().zip(&def.locals) {
            let declared = self.declare(param, local.ty.clone());
            // A processor may take what it does not need: the chain passes it.
            self.used[declared.index()] = local.ty.is_by_ref() || local.ty == Ty::Void || self.in_parser();
        }
        self.parameters = def.locals.len();
        let block = self.block(body);
        if self.ret != Ty::Void && !always_leaves(&block) {
            self.missing_return(name, body);
        }
        self.advise_locals(&block);
        self.advise_payloads(&block);
        self.close_scope();
        self.keep_temporaries_apart();
        let function = &mut self.cx.program.functions[index];
        function.locals = std::mem::take(&mut self.locals);
        function.body = block;
    }

    fn missing_return(&mut self, name: &Ident, body: &ast::Block) {
        let returned = self.name(&self.ret.clone());
        let message = format!("`{}` may end without a value", name.name);
        let mut missing =
            Diagnostic::error(codes::MISSING_RETURN, message, name.span, format!("returns a `{returned}`"));
        if let Some(ast::StmtKind::Choose { branches, .. }) = body.stmts.last().map(|last| &last.kind)
            && branches.last().is_some_and(|last| !last.cases.is_empty())
        {
            missing = missing.note("a number that is not a member of the enum runs no branch: `else` would");
        }
        self.cx.report(missing.mend("end every path with `return`"));
    }

    pub(super) fn block(&mut self, block: &ast::Block) -> ir::Block {
        let outer = std::mem::take(&mut self.out);
        self.names.push(std::collections::BTreeMap::new());
        let mut left = false;
        for stmt in &block.stmts {
            if left {
                let what = ("this is never reached", "after a statement that leaves");
                self.advise_edit(codes::UNREACHABLE, what, stmt.span, ("remove it", String::new()));
                break;
            }
            self.at = self.cx.loc(stmt.span);
            let before = self.out.len();
            self.stmt(stmt);
            self.advise_sequence(before, stmt.span);
            left = self.out.len() > before && self.out.last().is_some_and(leaves);
        }
        self.close_scope();
        ir::Block { stmts: std::mem::replace(&mut self.out, outer) }
    }

    /// `None` if something was reported.
    pub(super) fn stmt(&mut self, stmt: &ast::Stmt) -> Option<()> {
        use ast::StmtKind as S;
        match &stmt.kind {
            S::Let { ty, name, array, init } => self.let_stmt(ty, name, array.as_ref(), init, stmt.span),
            S::Assign { place, op, value, .. } => self.assign(place, *op, value, stmt.span),
            S::Expr(e) => self.expr_stmt(e),
            S::If { cond, then, otherwise } => {
                self.advise_if(cond, then, otherwise.as_deref(), stmt.span);
                self.if_stmt(cond, then, otherwise.as_deref())
            }
            S::Block(block) => {
                let block = self.block(block);
                self.emit(StmtKind::Block(block));
                Some(())
            }
            S::For { ty, var, over, body } => self.for_loop(ty, var, over, body),
            S::While { cond, max, body } => self.while_loop(cond, max, body),
            S::Retain { list, word, var, keep } => self.retain(list, *word, var, keep),
            S::Choose { value, branches } => self.choice(value, branches),
            S::Break | S::Continue => self.loop_jump(matches!(stmt.kind, S::Break), stmt.span),
            S::Return(value) => self.return_stmt(value.as_ref(), stmt.span),
            S::Stop => self.stop(stmt.span),
            S::Raise { event, at, record } => self.raise_stmt(event, at.as_ref(), record.as_ref()),
            S::Goto(state) => self.goto(state, stmt.span),
            // Points are filled, or gone, before a tree is checked.
            S::Point { .. } => Some(()),
            S::Error => None,
        }
    }

    fn if_stmt(&mut self, cond: &ast::Expr, then: &ast::Block, otherwise: Option<&ast::Stmt>) -> Option<()> {
        let (span, known) = (cond.span, self.known_by(cond));
        let cond = self.condition(cond);
        cond.iter().for_each(|cond| self.advise_condition(cond, span));
        let at = self.at;
        let before = self.present.clone();
        self.present.extend(known.holds);
        let then = self.block(then);
        let behind_then = self.present_at_end(&then);
        self.present = before;
        self.present.extend(known.fails);
        let otherwise = otherwise.map_or_else(ir::Block::default, |o| self.branch(o));
        let behind_else = self.present_at_end(&otherwise);
        self.present_behind(behind_then, behind_else);
        self.at = at;
        self.emit(StmtKind::If { cond: cond?, then, otherwise });
        Some(())
    }

    /// The other branch of an `if`: a block, or another `if` in a block of its own.
    fn branch(&mut self, stmt: &ast::Stmt) -> ir::Block {
        match &stmt.kind {
            ast::StmtKind::Block(block) => self.block(block),
            _ => self.block(&ast::Block { stmts: vec![stmt.clone()], span: stmt.span }),
        }
    }

    fn let_stmt(
        &mut self,
        ty: &ast::Type,
        name: &Ident,
        array: Option<&ast::Expr>,
        init: &LetInit,
        span: Span,
    ) -> Option<()> {
        if let Some(done) = self.let_collected(ty, name, init) {
            return done;
        }
        let element = self.cx.resolve(ty);
        let resolved = match (element, array) {
            (Some(element), Some(length)) => self.cx.length(length).map(|n| Ty::Array(Box::new(element), n)),
            (element, _) => element,
        };
        let Some(ty) = resolved.and_then(|t| self.variable_type(t, ty.span)) else {
            // Uses of the name are not to be reported as unknown.
            self.bind(name, Binding::Wrong);
            return None;
        };
        if let LetInit::Value(ast::Expr { kind: ast::ExprKind::Record(entries), span }) = init {
            return self.let_record((name, ty), entries, *span);
        }
        let value = match init {
            LetInit::None => Some(None),
            LetInit::Value(e) => self.value_of_type(e, &ty).map(Some),
            LetInit::Args(args) => match ty {
                Ty::Id(id) if ty != self.cx.program.address_ty() => self.make_id(id, args, span).map(Some),
                _ => self.report(
                    Diagnostic::error(
                        codes::MADE_FROM_PARTS,
                        "only ids are made from their parts",
                        span,
                        "not an id",
                    )
                    .mend("assign the value with `=`"),
                ),
            },
        };
        if let Some(Some(value)) = &value
            && let Some(local) = self.just_made(value)
        {
            self.name_temporary(local, name);
            return Some(());
        }
        let local = self.declare(name, ty);
        self.emit(StmtKind::Let { local, init: value? });
        Some(())
    }

    fn variable_type(&mut self, ty: Ty, span: Span) -> Option<Ty> {
        if self.has_variables(&ty) {
            return Some(ty);
        }
        let name = self.name(&ty);
        self.report(
            Diagnostic::error(codes::VARIABLE_TYPE, format!("there are no variables of type `{name}` here"), span, "here")
                .note("parsers make net events; event processors make flow and sent events; scratchpads and packets are passed to them; windows live in contexts; arrays and lists hold no contexts")
                .mend("use another type"),
        )
    }

    fn has_variables(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Void | Ty::Scratch(_) | Ty::Packet | Ty::NetHeader | Ty::Wnd { .. } => false,
            Ty::Event(event) => {
                let kind = self.cx.program.events[event.index()].kind;
                if self.in_parser() {
                    kind == ir::EventKind::Net
                } else {
                    matches!(kind, ir::EventKind::Flow | ir::EventKind::Sent)
                }
            }
            Ty::Context(_) => !self.in_parser(),
            Ty::Array(element, _) | Ty::List(element, _, _) => {
                element.is_element() && self.has_variables(element)
            }
            _ => true,
        }
    }

    fn assign(
        &mut self,
        place: &ast::Expr,
        op: Option<ast::BinOp>,
        value: &ast::Expr,
        span: Span,
    ) -> Option<()> {
        if let ast::ExprKind::Field(..) = &place.kind
            && op.is_none()
            && is_data_call(value)
        {
            let node = self.node(place)?;
            return self.set_payload(node, place.span, value);
        }
        if op.is_none() && self.alike(place.span, value.span) {
            let what = ("this assigns itself", "nothing changes");
            let mend = ("remove it, or assign what was meant", String::new());
            self.advise_edit(codes::SELF_ASSIGNED, what, span, mend);
        }
        let node = self.node(place);
        if let Some(Node::Elements(elements)) = node {
            return self.assign_elements(elements, op, value, span);
        }
        if let (Some(Node::Optional(field)), None) = (&node, op) {
            let set = self.set_place(field.clone(), value, span);
            self.set_present(field, place.span);
            return set;
        }
        let target = node.and_then(|node| self.assignable(node, place.span));
        let Some(op) = op else {
            return match target {
                Some(target) => self.set_place(target, value, span),
                None => self.val(value, None).and(None),
            };
        };
        if let Some(target) = &target {
            self.note_entry(target, value);
        }
        let mark = self.out.len();
        let right = self.val(value, target.as_ref().map(|t| &t.ty));
        let (target, right) = (target?, right?);
        let after = self.out.len();
        let target = self.settled(target, mark);
        let mut left = self.make(ExprKind::Load(target.clone()), target.ty.clone(), place.span);
        if after > mark {
            // Read before the value has its effects, but behind the indices, which were put at the mark.
            left = self.spill(left, mark + self.out.len() - after, place.span);
        }
        let result = self.combine(op, (Val::Typed(left), place.span), (right, value.span), span)?;
        let value = self.coerce(result, &target.ty, value.span)?;
        let value = self.fitting(&target, value);
        self.emit(StmtKind::Assign { place: target, value });
        Some(())
    }

    /// `place = value;`
    pub(super) fn set_place(&mut self, target: ir::Place, value: &ast::Expr, span: Span) -> Option<()> {
        if let (Ty::Array(..), Some(array)) = (&target.ty, self.named_array(value))
            && self.elements_type(&array) == target.ty
        {
            self.copy_elements(&array, &target, span);
            return Some(());
        }
        self.note_entry(&target, value);
        let mark = self.out.len();
        let value = self.value_of_type(value, &target.ty.clone());
        let place = self.settled(target, mark);
        let value = value?;
        self.ranged_field(&place, &value, span);
        let value = self.fitting(&place, value);
        self.emit(StmtKind::Assign { place, value });
        Some(())
    }

    /// A value as the place can hold it: a blueprint's field has only its bits.
    pub(super) fn fitting(&self, place: &ir::Place, value: ir::Expr) -> ir::Expr {
        match (&place.path[..], &self.locals[place.root.index()].ty) {
            ([ir::Proj::Field(at)], Ty::Blueprint(bp)) => self.cx.cut_to_field(*bp, *at, value),
            _ => value,
        }
    }

    /// A constant that a field of a blueprint is set to lies in the field's range.
    pub(super) fn ranged_field(&mut self, place: &ir::Place, value: &ir::Expr, span: Span) {
        if let (Ty::Blueprint(bp), [ir::Proj::Field(at)]) =
            (&self.locals[place.root.index()].ty, &place.path[..])
        {
            self.cx.constant_in_range(*bp, *at as usize, value, span);
        }
    }

    /// The place as it was before the effects that were emitted since `mark`: its indices are kept.
    fn settled(&mut self, mut place: ir::Place, mark: usize) -> ir::Place {
        if self.out.len() == mark {
            return place;
        }
        for proj in &mut place.path {
            if let ir::Proj::Index(index) | ir::Proj::Elem(index) = proj {
                *index = self.spill(index.clone(), mark, Span::default());
            }
        }
        place
    }

    /// `bp.payload = data(id, offset, len[, mss]);`, `bp.payload = data(addr, len[, mss]);`
    pub(super) fn set_payload(&mut self, place: Node, span: Span, value: &ast::Expr) -> Option<()> {
        let ast::ExprKind::Call(_, args) = &value.kind else { return None };
        let Node::Payload(bp) = place else {
            return self.report(
                Diagnostic::error(
                    codes::PAYLOAD,
                    "`data(...)` can only be assigned to a payload",
                    span,
                    "not a payload",
                )
                .mend("assign it to the blueprint's `data_t` field"),
            );
        };
        if let Ty::Blueprint(packet) = self.locals[bp.index()].ty
            && self.cx.program.blueprints[packet.index()].frames.is_some()
        {
            self.cx.frame_error(
                codes::FRAME,
                value.span,
                "this payload is frames".to_owned(),
                "not data",
                "put the data into the payload of a frame, and `add` that",
            );
            return None;
        }
        if !(2..=4).contains(&args.len()) {
            return self.wrong_count(args.len(), "2 to 4", value.span);
        }
        if args.len() == 2 || args.len() == 3 && self.names_address(&args[0]) {
            let mut typed = vec![(&args[0], Some(Ty::Addr)), (&args[1], Some(Ty::Bytes))];
            typed.extend(args.get(2).map(|e| (e, Some(Ty::Bytes))));
            let mut values = self.arguments(&typed)?.into_iter();
            let (addr, len) = (values.next()?, values.next()?);
            self.payloads.push((bp, len.clone(), args[1].span));
            self.emit(StmtKind::SetPayloadAt { bp, addr, len, mss: values.next() });
            return Some(());
        }
        let own = self.own_unit(&args[0]);
        if own.is_none() && args[1..3].iter().any(|arg| self.own_unit(arg).is_some()) {
            return self.report(
                Diagnostic::error(
                    codes::PAYLOAD,
                    "the arguments of `data` are in another order",
                    args[0].span,
                    "expected the id of the data's context",
                )
                .mend("write `data(c.id, offset, len)`, or `data(addr, len)` for memory of a request"),
            );
        }
        let mut typed = vec![(&args[1], Some(Ty::U64)), (&args[2], Some(Ty::Bytes))];
        typed.extend(args.get(3).map(|e| (e, Some(Ty::Bytes))));
        if own.is_none() {
            typed.insert(0, (&args[0], None));
        }
        let mut values = self.arguments(&typed)?.into_iter();
        if let Some(ctx) = own {
            let (offset, len) = (values.next()?, values.next()?);
            self.payloads.push((bp, len.clone(), args[2].span));
            self.emit(StmtKind::SetPayload { bp, ctx, offset, len, mss: values.next() });
            return Some(());
        }
        let (id, offset, len) = (values.next()?, values.next()?, values.next()?);
        self.payloads.push((bp, len.clone(), args[2].span));
        let ctx = self.found_by(&id.ty, args[0].span)?;
        self.emit(StmtKind::SetPayloadOf { bp, ctx, id, offset, len, mss: values.next() });
        Some(())
    }

    /// Whether what `data` is given begins with a place, or a sum, of the type `addr_t`.
    fn names_address(&mut self, e: &ast::Expr) -> bool {
        match &e.kind {
            ast::ExprKind::Paren(inner) | ast::ExprKind::Binary(_, inner, _) => self.names_address(inner),
            ast::ExprKind::Field(_, field) if field.name == "id" => false,
            ast::ExprKind::Name(_) | ast::ExprKind::Field(..) | ast::ExprKind::Index(..) => {
                matches!(self.val(e, None), Some(super::Val::Typed(value)) if value.ty == Ty::Addr)
            }
            _ => false,
        }
    }

    fn expr_stmt(&mut self, e: &ast::Expr) -> Option<()> {
        if let ast::ExprKind::Call(callee, args) = &e.kind {
            match &callee.kind {
                ast::ExprKind::Name(name) => {
                    let ident = Ident { name: name.clone(), span: callee.span };
                    return self.call_stmt(&ident, args, e);
                }
                ast::ExprKind::Field(base, method) => return self.method_stmt(base, method, args, e.span),
                _ => {}
            }
        }
        if !matches!(e.kind, ast::ExprKind::Error) {
            self.val(e, None)?;
            self.cx.report(
                Diagnostic::warning(
                    codes::UNUSED_VALUE,
                    "this value is not used",
                    e.span,
                    "computed and forgotten",
                )
                .mend("remove it, or assign it"),
            );
        }
        Some(())
    }

    fn call_stmt(&mut self, name: &Ident, args: &[ast::Expr], e: &ast::Expr) -> Option<()> {
        if super::instr::is_instruction(&name.name) {
            let instr = self.instruction(name, args, e.span)?;
            self.emit(StmtKind::Instr(instr));
            return Some(());
        }
        if name.name == "assert" {
            return self.assertion(args, e.span);
        }
        if name.name == "set_flow_id" {
            return self.set_flow_id(args, e.span);
        }
        if let Some(crate::env::Def::Function(func)) = self.cx.env.get(&name.name) {
            return self.user_call(func, name, args, e.span, false).map(|_| ());
        }
        self.val(e, None)?;
        self.cx.report(
            Diagnostic::warning(
                codes::UNUSED_VALUE,
                "this value is not used",
                e.span,
                "computed and forgotten",
            )
            .mend("remove it, or assign it"),
        );
        Some(())
    }

    fn method_stmt(
        &mut self,
        base: &ast::Expr,
        method: &Ident,
        args: &[ast::Expr],
        span: Span,
    ) -> Option<()> {
        if let ast::ExprKind::Name(name) = &base.kind {
            match self.find(name) {
                Some(Binding::InstrList) => return self.add_instruction(method, args, span),
                Some(Binding::EventList) if method.name == "add" => {
                    self.count(args, 1, span)?;
                    return self.raise(&args[0]);
                }
                Some(Binding::Local(p)) if self.locals[p.index()].ty == Ty::Packet => {
                    return self.extract(method, args, span);
                }
                _ => {}
            }
        }
        if method.name == "extract" && self.is_packet(base) {
            return self.extract_again(base, args, span);
        }
        let node = self.node(base)?;
        let before = self.out.len();
        let value = self.method(node, method, args, span)?;
        if value.is_some() && self.out.len() == before {
            let mend = "remove it, or assign it";
            self.advise(codes::UNUSED_VALUE, "this value is not used", span, "computed and forgotten", mend);
        }
        self.drop_result();
        Some(())
    }

    fn extract(&mut self, method: &Ident, args: &[ast::Expr], span: Span) -> Option<()> {
        if method.name != "extract" {
            self.cx.unknown(codes::UNKNOWN_METHOD, "method of a packet", method, &["extract"]);
            return None;
        }
        self.count(args, 1, span)?;
        if let ast::ExprKind::Name(name) = &args[0].kind
            && let Some(Binding::Local(bp)) = self.find(name)
            && let Ty::Blueprint(kind) = self.locals[bp.index()].ty
        {
            if self.cx.takes_report(&self.locals[..self.parameters]) {
                self.cx.check_quoted(kind, args[0].span);
            }
            self.emit(StmtKind::Extract { bp });
            return Some(());
        }
        self.report(
            Diagnostic::error(
                codes::EXTRACT,
                "a packet is extracted into a blueprint",
                args[0].span,
                "not a blueprint variable",
            )
            .mend("declare `a_blueprint h;` and write `p.extract(h);`"),
        )
    }

    fn return_stmt(&mut self, value: Option<&ast::Expr>, span: Span) -> Option<()> {
        if self.collects && self.returns_collection(value, span)? {
            self.emit(StmtKind::Return(None));
            return Some(());
        }
        let value = match (value, self.ret.clone()) {
            (None, Ty::Void) => None,
            (Some(value), Ty::Void) => {
                return self.report(
                    Diagnostic::error(
                        codes::VALUE_RETURNED,
                        "this function returns nothing",
                        value.span,
                        "a value",
                    )
                    .mend("write `return;`, or change the function's type"),
                );
            }
            (None, ty) => {
                let name = self.name(&ty);
                return self.report(
                    Diagnostic::error(
                        codes::RETURN_VALUE,
                        format!("this function returns a `{name}`"),
                        span,
                        "no value",
                    )
                    .mend("return a value"),
                );
            }
            (Some(value), ty) => Some(self.value_of_type(value, &ty)?),
        };
        self.emit(StmtKind::Return(value));
        Some(())
    }

    /// `assert(cond);`
    fn assertion(&mut self, args: &[ast::Expr], span: Span) -> Option<()> {
        self.count(args, 1, span)?;
        let cond = self.condition(&args[0])?;
        self.advise_condition(&cond, args[0].span);
        let claim = self.cx.claim(args[0].span);
        self.emit(StmtKind::Assert { claim, cond });
        Some(())
    }

    fn stop(&mut self, span: Span) -> Option<()> {
        if self.in_parser() {
            return self.report(
                Diagnostic::error(codes::PARSER_STOP, "a parser has no chain to stop", span, "in a parser")
                    .mend("use `return`"),
            );
        }
        self.emit(StmtKind::Stop);
        Some(())
    }
}

pub(super) fn is_list_of(ty: &ast::Type, element: &str) -> bool {
    let TypeKind::List(inner, _) = &ty.kind else { return false };
    matches!(&inner.kind, TypeKind::Name(n) if n == element || (element == "instr_t" && n == "instr"))
}

pub(super) fn is_data_call(e: &ast::Expr) -> bool {
    matches!(&e.kind, ast::ExprKind::Call(callee, _) if matches!(&callee.kind, ast::ExprKind::Name(n) if n == "data"))
}

/// Whether what follows the statement in its block is never reached.
pub(super) fn leaves(stmt: &ir::Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Return(_) | StmtKind::Stop | StmtKind::Break | StmtKind::Continue => true,
        StmtKind::If { then, otherwise, .. } => {
            then.stmts.last().is_some_and(leaves) && otherwise.stmts.last().is_some_and(leaves)
        }
        StmtKind::Block(block) => block.stmts.last().is_some_and(leaves),
        _ => false,
    }
}

/// Whether every path through the block ends in `return` or `stop`.
fn always_leaves(block: &ir::Block) -> bool {
    block.stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Return(_) | StmtKind::Stop => true,
        StmtKind::If { then, otherwise, .. } => always_leaves(then) && always_leaves(otherwise),
        StmtKind::Block(block) => always_leaves(block),
        _ => false,
    })
}
