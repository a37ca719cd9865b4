// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statements and instructions.

use super::names::name;
use super::printer::Printer;
use crate::{Arg, Block, Expr, Instr, LocalId, Operand, Over, Place, Stmt, StmtKind};

impl Printer<'_> {
    pub(super) fn block(&mut self, block: &Block) {
        self.indent += 1;
        block.stmts.iter().for_each(|s| self.stmt(s));
        self.indent -= 1;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::If { cond, then, otherwise } => {
                self.nested(&format!("if {}", self.expr(cond)), then);
                if !otherwise.stmts.is_empty() {
                    self.nested("else", otherwise);
                }
            }
            StmtKind::Block(body) => self.nested("block", body),
            StmtKind::For { var, over, body } => {
                let over = match over {
                    Over::Range { from, to, max } => {
                        format!("{}..{} max {max}", self.expr(from), self.expr(to))
                    }
                    Over::EachOf(list) => self.place(list),
                };
                self.nested(&format!("for {} in {over}", self.typed_local(*var)), body);
            }
            other => self.line(&self.simple(other)),
        }
    }

    fn nested(&mut self, head: &str, body: &Block) {
        self.line(&format!("{head} {{"));
        self.block(body);
        self.line("}");
    }

    fn typed_local(&self, local: LocalId) -> String {
        let ty = self.function.and_then(|f| f.locals.get(local.index())).map(|l| self.ty(&l.ty));
        format!("{}: {}", self.local(local), ty.unwrap_or_else(|| "?".to_owned()))
    }

    /// A statement without others in it.
    fn simple(&self, stmt: &StmtKind) -> String {
        match stmt {
            StmtKind::Let { local, init } => {
                let init = init.as_ref().map_or_else(String::new, |e| format!(" = {}", self.expr(e)));
                format!("let {}{init}", self.typed_local(*local))
            }
            StmtKind::Assign { place, value } => format!("{} = {}", self.place(place), self.expr(value)),
            StmtKind::Call { dest, func, args } => {
                let func = name(&self.program.functions, func.index(), |d| &d.name);
                let args: Vec<String> = args.iter().map(|a| self.arg(a)).collect();
                self.with_dest(*dest, &format!("{func}({})", args.join(", ")))
            }
            StmtKind::Random { dest } => self.with_dest(Some(*dest), "random()"),
            StmtKind::Change { what, dest, on, args } => {
                self.with_dest(*dest, &self.method(on, what.name(), args))
            }
            StmtKind::Return(Some(value)) => format!("return {}", self.expr(value)),
            StmtKind::Return(None) => "return".to_owned(),
            StmtKind::Break => "break".to_owned(),
            StmtKind::Continue => "continue".to_owned(),
            StmtKind::Stop => "stop".to_owned(),
            StmtKind::Assert { claim, cond } => format!("assert #{claim} {}", self.expr(cond)),
            StmtKind::SetFlowId { event, id } => {
                format!("{}.flow_id = {}", self.local(*event), self.expr(id))
            }
            StmtKind::Extract { bp } => format!("extract({})", self.local(*bp)),
            StmtKind::SetPayload { bp, ctx, offset, len, mss } => {
                let mut args = vec![self.local(*ctx), self.expr(offset), self.expr(len)];
                args.extend(mss.as_ref().map(|m| self.expr(m)));
                format!("{}.payload = data({})", self.local(*bp), args.join(", "))
            }
            StmtKind::SetPayloadOf { bp, ctx, id, offset, len, mss } => {
                let of = name(&self.program.contexts, ctx.index(), |d| &d.name);
                let mut args = vec![format!("{of} {}", self.expr(id)), self.expr(offset), self.expr(len)];
                args.extend(mss.as_ref().map(|m| self.expr(m)));
                format!("{}.payload = data({})", self.local(*bp), args.join(", "))
            }
            StmtKind::SetPayloadAt { bp, addr, len, mss } => {
                let mut args = vec![self.expr(addr), self.expr(len)];
                args.extend(mss.as_ref().map(|m| self.expr(m)));
                format!("{}.payload = data({})", self.local(*bp), args.join(", "))
            }
            StmtKind::FrameAdd { bp, frame } => {
                format!("{}.add({})", self.local(*bp), self.local(*frame))
            }
            StmtKind::OptAdd { bp, opt, args } => {
                format!("{}.add({}({}))", self.local(*bp), self.opt_name(*opt), self.exprs(args))
            }
            StmtKind::Instr(instr) => self.instr(instr),
            // Printed by `stmt`.
            StmtKind::If { .. } | StmtKind::Block(_) | StmtKind::For { .. } => String::new(),
        }
    }

    fn with_dest(&self, dest: Option<LocalId>, call: &str) -> String {
        dest.map_or_else(|| call.to_owned(), |d| format!("let {} = {call}", self.typed_local(d)))
    }

    fn arg(&self, arg: &Arg) -> String {
        match arg {
            Arg::Value(value) => self.expr(value),
            Arg::Ref(local) => format!("&{}", self.local(*local)),
        }
    }

    pub(super) fn method(&self, place: &Place, method: &str, args: &[Expr]) -> String {
        format!("{}.{method}({})", self.place(place), self.exprs(args))
    }

    fn instr(&self, instr: &Instr) -> String {
        let mut args: Vec<String> = Vec::new();
        let (mut context, mut timer) = (None, None);
        for (_, operand) in instr.operands() {
            match operand {
                Operand::ContextType(_) => {}
                Operand::Context(local) => context = Some(*local),
                Operand::Timer(id) => timer = Some(*id),
                Operand::Which(which) => {
                    args.extend(context.zip(timer).map(|(c, t)| self.timer(c, t, which.as_ref())));
                }
                Operand::OwnContext(local)
                | Operand::Initial(local)
                | Operand::Packet(local)
                | Operand::Event(local) => args.push(self.local(*local)),
                Operand::Header(local) | Operand::Sent(local) => args.extend(local.map(|l| self.local(l))),
                Operand::Rules(rules) => {
                    let rules = rules.iter().map(|r| name(&self.program.seg_rules, r.index(), |d| &d.name));
                    args.extend(rules.map(str::to_owned));
                }
                Operand::Queue(queue) => {
                    args.extend(queue.as_ref().map(|q| format!("queue {}", self.expr(q))));
                }
                _ => args.extend(operand.expr().map(|e| self.expr(e))),
            }
        }
        format!("{}({})", instr.opcode().name(), args.join(", "))
    }
}
