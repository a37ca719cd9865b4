// SPDX-License-Identifier: MIT OR Apache-2.0
//! `deploy`: what is registered, how many instances there may be, how much data they hold.

use carrick_ir::{self as ir, Instr, LocalId, StmtKind, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{Expr, ExprKind, Ident, ItemKind};
use carrick_syntax::diag::Diagnostic;

use crate::body::Body;
use crate::env::Def;
use crate::{Checker, codes};

const CALLS: [&str; 10] = [
    "register_ep_chains",
    "register_ctx_spec",
    "register_data_spec",
    "register_ev_parser",
    "register_interface",
    "register_seg_rule",
    "register_coalescing_rule",
    "register_pkt_sched",
    "register_role",
    "register_ev_sched",
];

impl Checker<'_> {
    pub(crate) fn check_deploy(&mut self) {
        let file = self.file;
        let mut blocks = file.items.iter().filter_map(|i| match &i.kind {
            ItemKind::Deploy { calls } => Some((calls, i.span)),
            _ => None,
        });
        let Some((calls, span)) = blocks.next() else {
            return self.report(
                Diagnostic::error(
                    codes::DEPLOY,
                    "the program is not deployed",
                    Span::default(),
                    "in this file",
                )
                .mend("add `deploy { register_ep_chains(...); register_ctx_spec(...); ... }`"),
            );
        };
        if let Some((_, second)) = blocks.next() {
            self.report(
                Diagnostic::error(
                    codes::DEPLOYED_TWICE,
                    "the program is deployed twice",
                    second,
                    "again here",
                )
                .cause(span, "first here")
                .mend("merge the two blocks"),
            );
        }
        let mut registered: Vec<String> = Vec::new();
        for call in calls {
            self.deploy_call(call, &mut registered);
        }
        let applies = |rule: &ir::CoalescingRule| {
            registered.contains(&format!("register_coalescing_rule({})", rule.name))
        };
        self.program.coalescing.retain(applies);
        self.check_registered(&registered, Span::new(span.start, span.start + 6), calls.last());
    }

    fn deploy_call(&mut self, call: &Expr, registered: &mut Vec<String>) -> Option<()> {
        let wrong = |code: u16, message: String| {
            Diagnostic::error(code, message, call.span, "in deploy")
                .note(format!("valid registrations: {}", CALLS.join(", ")))
                .mend("see the reference's section on deploy")
        };
        let named = match &call.kind {
            ExprKind::Call(callee, args) => match &callee.kind {
                ExprKind::Name(what) => Some((what, callee, args)),
                _ => None,
            },
            _ => None,
        };
        let Some((what, callee, args)) = named else {
            self.report(wrong(codes::DEPLOY_CALL, "this registers nothing".into()));
            return None;
        };
        if !CALLS.contains(&what.as_str()) {
            let name = Ident { name: what.clone(), span: callee.span };
            self.unknown(codes::DEPLOY_CALL, "registration", &name, &CALLS);
            return None;
        }
        if let "register_pkt_sched" | "register_ev_sched" | "register_role" = what.as_str() {
            if registered.contains(what) {
                self.report(wrong(codes::REGISTERED_TWICE, format!("`{what}` is repeated")));
            }
            registered.push(what.clone());
            match what.as_str() {
                "register_role" => self.role(args, call.span),
                "register_pkt_sched" => self.packet_schedule(args, call.span),
                _ => self.event_schedule(args, call.span),
            }
            return Some(());
        }
        let wanted: &[usize] = match what.as_str() {
            "register_ctx_spec" => &[2],
            "register_data_spec" => &[3, 5],
            _ => &[1],
        };
        let name = args.first().and_then(|a| match &a.kind {
            ExprKind::Name(n) => Some(Ident { name: n.clone(), span: a.span }),
            _ => None,
        });
        let Some(name) = name.filter(|_| wanted.contains(&args.len())) else {
            let more: Vec<String> = wanted.iter().map(|n| (n - 1).to_string()).collect();
            self.report(wrong(
                codes::REGISTER_ARGUMENTS,
                format!("`{what}` takes the name of a declaration and {} more arguments", more.join(" or ")),
            ));
            return None;
        };
        registered.push(what.clone());
        let found = self.lookup("such declaration", &name, |d| registers(what, d).then_some(d))?;
        let this = format!("{what}({})", name.name);
        if registered.contains(&this) {
            self.report(wrong(codes::REGISTERED_TWICE, format!("`{}` is registered twice", name.name)));
            return None;
        }
        registered.push(this);
        if matches!(found, Def::Function(f) if !self.takes_a_packet(f)) {
            self.report(wrong(codes::DEPLOY_CALL, format!("`{}` is not a parser", name.name)));
            return None;
        }
        match found {
            Def::Context(ctx) => self.deploy_context(what, ctx, &name, &args[1..]),
            _ => Some(()),
        }
    }

    /// How many instances of a context there are, or what its data units hold.
    fn deploy_context(&mut self, what: &str, ctx: ir::CtxId, name: &Ident, args: &[Expr]) -> Option<()> {
        if self.program.contexts[ctx.index()].global {
            self.not_for_globals(name.span, "registered", "remove this line");
            return None;
        }
        let ty = if what == "register_ctx_spec" { Ty::U64 } else { Ty::Bytes };
        let numbers: Option<Vec<ir::Expr>> = args.iter().map(|a| self.deploy_number(a, &ty)).collect();
        let mut numbers = numbers?.into_iter();
        let def = &mut self.program.contexts[ctx.index()];
        if what == "register_ctx_spec" {
            def.capacity = numbers.next()?;
        } else {
            def.tx_capacity = numbers.next();
            def.rx_capacity = numbers.next();
            def.rx_growth = numbers.next().zip(numbers.next()).map(|(most, pool)| ir::Growth { most, pool });
        }
        Some(())
    }

    fn takes_a_packet(&self, func: ir::FuncId) -> bool {
        self.program.functions[func.index()].locals.first().is_some_and(|l| l.ty == Ty::Packet)
    }

    /// A number that is known when the stack starts.
    pub(crate) fn deploy_number(&mut self, e: &Expr, ty: &Ty) -> Option<ir::Expr> {
        Body::for_declaration(self).value_of_type(e, ty)
    }

    /// `span` is that of the word `deploy`, `last` what stands last in it.
    fn check_registered(&mut self, registered: &[String], span: Span, last: Option<&Expr>) {
        self.check_queues(span, registered.iter().any(|r| r == "register_pkt_sched"));
        let mut missing = Vec::new();
        let no_parser = self.diagnostics.has(codes::PARSER);
        for what in ["register_ep_chains", "register_ev_parser"] {
            if what == "register_ev_parser" && (no_parser || self.program.report_parser.is_some()) {
                continue; // there is none to register, or two
            }
            if !registered.iter().any(|r| r == what) {
                missing.push((codes::DEPLOY_MISSING, self.registration(what)));
            }
        }
        let both = self.unregistered_parsers(registered);
        missing.extend(both.into_iter().map(|call| (codes::DEPLOY_MISSING, call)));
        if self.program.interface.is_some() && !registered.iter().any(|r| r == "register_interface") {
            missing.push((codes::INTERFACE_MISSING, self.registration("register_interface")));
        }
        for (index, context) in self.program.contexts.iter().enumerate() {
            if !context.global && !registered.contains(&format!("register_ctx_spec({})", context.name)) {
                missing.push((
                    codes::CTX_SPEC_MISSING,
                    format!("register_ctx_spec({}, how_many)", context.name),
                ));
            }
            let used = units_used(&self.program, ir::CtxId(index as u32));
            if used.resized && context.rx_growth.is_none() {
                let what = format!("register_data_spec({}, tx_bytes, rx_bytes, rx_most, pool)", context.name);
                missing.push((codes::DATA_SPEC_MISSING, what));
            } else if used.made && context.tx_capacity.is_none() {
                let what = format!("register_data_spec({}, tx_bytes, rx_bytes)", context.name);
                missing.push((codes::DATA_SPEC_MISSING, what));
            }
        }
        for (code, what) in missing {
            let diagnostic =
                Diagnostic::error(code, format!("`{what}` is missing"), span, "missing in this program");
            let add = format!("add `{what};`");
            // What is known whole can be added by a tool, in front of the last `;`.
            let whole = matches!(code, codes::DEPLOY_MISSING | codes::INTERFACE_MISSING);
            self.report(match last {
                Some(last) if whole && !what.contains("...") => {
                    let end = Span::new(last.span.end, last.span.end);
                    diagnostic.fix(add, end, format!(";\n    {what}"))
                }
                _ => diagnostic.mend(add),
            });
        }
    }

    /// The registration of the declaration that it is for, if there is one.
    fn registration(&self, what: &str) -> String {
        let name = self.file.items.iter().find_map(|item| {
            match &item.kind {
                ItemKind::Dispatch { name, .. } | ItemKind::Interface { name, .. } => Some(name),
                ItemKind::Function { name, .. } => Some(name),
                _ => None,
            }
            .filter(|name| {
                self.env.get(&name.name).is_some_and(|def| match def {
                    Def::Function(f) => self.takes_a_packet(f) && registers(what, def),
                    _ => registers(what, def),
                })
            })
        });
        format!("{what}({})", name.map_or("...", |n| n.name.as_str()))
    }
}

fn registers(what: &str, def: Def) -> bool {
    match what {
        "register_ep_chains" => def == Def::Dispatch,
        "register_ctx_spec" | "register_data_spec" => matches!(def, Def::Context(_)),
        "register_ev_parser" => matches!(def, Def::Function(_)),
        "register_interface" => def == Def::Interface,
        "register_coalescing_rule" => def == Def::CoalescingRule,
        _ => matches!(def, Def::SegRule(_)),
    }
}

/// What functions do with data units of a context.
#[derive(Default)]
struct UnitsUsed {
    made: bool,
    resized: bool,
}

fn units_used(program: &ir::Program, wanted: ir::CtxId) -> UnitsUsed {
    let mut used = UnitsUsed::default();
    for f in &program.functions {
        let is_of = |local: LocalId| f.locals[local.index()].ty == Ty::Context(wanted);
        ir::walk::statements(&f.body, &mut |s| match &s.kind {
            StmtKind::Instr(Instr::NewTxOrderedData { ctx, .. } | Instr::NewRxOrderedData { ctx, .. }) => {
                used.made |= is_of(*ctx);
            }
            StmtKind::Instr(Instr::RxResize { ctx, .. }) => used.resized |= is_of(*ctx),
            _ => {}
        });
    }
    used
}
