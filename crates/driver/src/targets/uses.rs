// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a program asks of a target, and where: read off the tree in which features are chosen, so that what a build
//! leaves out does not count.

use carrick_ir as ir;
use carrick_syntax::Span;
use carrick_syntax::ast::{Expr, ExprKind, File, ItemKind, StmtKind, Type, TypeKind};
use carrick_syntax::walk::{self, Node, named_call};

/// A word that a target knows or does not, and where the program needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// as target files have it
    pub name: String,
    /// where the program says it
    pub span: Span,
}

/// All that a program uses, each kind in the order of the text.
#[derive(Debug, Default)]
pub struct Uses {
    /// the transport instructions
    pub instructions: Vec<Use>,
    /// `net_event`, ...
    pub event_kinds: Vec<Use>,
    /// what its packets go over
    pub net_header: Vec<Use>,
    /// the shape of its interface, if it has one
    pub interface: Vec<Use>,
    /// `endpoint` or `in_network`
    pub role: Vec<Use>,
    /// `icmp`, if it reads errors that the network reports
    pub reports: Vec<Use>,
    /// of `register_pkt_sched`
    pub blocks: Vec<Use>,
    /// of `register_ev_sched`
    pub event_blocks: Vec<Use>,
}

impl Uses {
    /// Of a program that is right, with its tree.
    pub fn of(program: &ir::Program, file: &File) -> Uses {
        let mut uses = Uses { instructions: instructions(program, file), ..Uses::default() };
        for item in &file.items {
            match &item.kind {
                ItemKind::Event { kind, .. } => {
                    // The papers write them in capitals.
                    uses.event_kinds.push(of(&kind.name.to_ascii_lowercase(), kind.span));
                }
                ItemKind::NetHeader { name, .. } => {
                    uses.net_header.push(of(program.net_header.layer.name(), name.span))
                }
                ItemKind::Interface { name, .. } => uses.interface.push(of(&name.name, name.span)),
                ItemKind::Function { name, .. } if is_report_parser(program, &name.name) => {
                    uses.reports.push(of("icmp", name.span));
                }
                ItemKind::Deploy { calls } => {
                    calls.iter().for_each(|call| uses.registered(program, call));
                    if uses.role.is_empty() {
                        uses.role.push(of("endpoint", Span::new(item.span.start, item.span.start + 6)));
                    }
                }
                _ => {}
            }
        }
        uses
    }

    /// Of a program without a tree: what it uses is known, and not where.
    pub fn without_places(program: &ir::Program) -> Uses {
        let named = |name: &str| of(name, Span::default());
        let blocks = |schedule: &ir::Schedule| ir::uses::blocks(schedule).into_iter().map(named).collect();
        let role = if program.in_network.is_some() { "in_network" } else { "endpoint" };
        Uses {
            instructions: ir::uses::instructions(program).into_iter().map(named).collect(),
            event_kinds: program.events.iter().map(|e| named(ir::uses::event_kind_name(e.kind))).collect(),
            net_header: vec![named(program.net_header.layer.name())],
            interface: program.interface.iter().map(|i| named(&i.name)).collect(),
            role: vec![named(role)],
            reports: program.report_parser.iter().map(|_| named("icmp")).collect(),
            blocks: blocks(&program.schedule),
            event_blocks: program.event_schedule.as_ref().map_or_else(Vec::new, |e| blocks(&e.schedule)),
        }
    }

    fn registered(&mut self, program: &ir::Program, call: &Expr) {
        match named_call(call) {
            Some((what, [role, ..])) if what.name == "register_role" => {
                if let ExprKind::Name(name) = &role.kind {
                    self.role.push(of(name, role.span));
                }
            }
            // One queue, first in, first out, is what there is anyway.
            Some((what, [block])) if what.name == "register_pkt_sched" && !is_fifo(block) => {
                blocks(program, block, &mut self.blocks);
            }
            Some((what, [block])) if what.name == "register_ev_sched" => {
                blocks(program, block, &mut self.event_blocks);
            }
            _ => {}
        }
    }
}

fn of(name: &str, span: Span) -> Use {
    Use { name: name.to_owned(), span }
}

fn instructions(program: &ir::Program, file: &File) -> Vec<Use> {
    let issued = ir::uses::instructions(program);
    let mut found = Vec::new();
    walk::bodies(file, &mut |node| match node {
        Node::Stmt(stmt) if matches!(stmt.kind, StmtKind::Raise { .. }) => {
            found.push(of("raise", Span::new(stmt.span.start, stmt.span.start + 5)));
        }
        Node::Stmt(_) => {}
        Node::Expr(e) => {
            if let Some((name, _)) = named_call(e)
                && issued.contains(&name.name.as_str())
            {
                found.push(of(&name.name, name.span));
            }
        }
    });
    // A parser that returns its events raises them.
    for item in &file.items {
        if let ItemKind::Function { ret, .. } = &item.kind
            && is_list_of_events(ret)
        {
            found.push(of("raise", ret.span));
        }
    }
    found.sort_by_key(|used| used.span.start);
    found
}

fn is_report_parser(program: &ir::Program, name: &str) -> bool {
    program.report_parser.is_some_and(|parser| program.functions[parser.index()].name == name)
}

fn is_list_of_events(ty: &Type) -> bool {
    let TypeKind::List(element, _) = &ty.kind else { return false };
    matches!(&element.kind, TypeKind::Name(name) if name == "event_t")
}

fn is_fifo(e: &Expr) -> bool {
    named_call(e).is_some_and(|(name, _)| name.name == "fifo")
}

/// A block and those that feed it. An input that is no block, a number of queues or an event, waits in queues that are
/// first in, first out.
fn blocks(program: &ir::Program, e: &Expr, found: &mut Vec<Use>) {
    let Some((name, args)) = named_call(e) else {
        return found.push(of("fifo", e.span));
    };
    found.push(of(&name.name, name.span));
    if name.name == "fifo" {
        return;
    }
    for (at, arg) in args.iter().enumerate() {
        match &arg.kind {
            ExprKind::Call(..) => blocks(program, arg, found),
            ExprKind::Name(name) if name == "PER_FLOW" => found.push(of("per_flow", arg.span)),
            ExprKind::Name(name) if is_event(program, name) => found.push(of("fifo", arg.span)),
            // What follows the first is quanta and rates.
            _ if at == 0 => found.push(of("fifo", arg.span)),
            _ => {}
        }
    }
}

/// Whether a name stands for events rather than for a number.
fn is_event(program: &ir::Program, name: &str) -> bool {
    ["net_event", "app_event", "timer_event"].contains(&name) || program.events.iter().any(|e| e.name == name)
}
