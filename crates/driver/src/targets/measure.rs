// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much a program does and holds at most, with the places where it says so.

use std::collections::{BTreeMap, BTreeSet};

use carrick_ir::bounds::{Cost, costs, loops, turns};
use carrick_ir::size::Sizes;
use carrick_ir::{self as ir, EventKind, Expr, FuncId, SchedInputs, fold};
use carrick_syntax::ast::{Arm, ExprKind, File, ItemKind, Step};
use carrick_syntax::walk::named_call;
use carrick_syntax::{LineCol, Places, Sources, Span};

/// So much of something, in one place.
#[derive(Debug, Clone)]
pub struct Amount {
    /// how much
    pub count: u64,
    /// where
    pub span: Span,
    /// the sentence before the number
    pub subject: String,
    /// what stands at the place
    pub label: String,
    /// what it is mostly made of
    pub causes: Vec<(Span, String)>,
    /// what it is the sum of, if that is not plain
    pub why: String,
}

/// A program that is right, and where its declarations are.
pub struct Measured<'p> {
    program: &'p ir::Program,
    places: Places<'p>,
    functions: Vec<Cost>,
    chains: Vec<Cost>,
    arms: BTreeMap<&'p str, &'p Arm>,
    declared: BTreeMap<&'p str, Span>,
    /// the names that registrations begin with, by their first argument; those without a name by what they register
    registered: BTreeMap<(String, String), Span>,
}

impl<'p> Measured<'p> {
    /// Of a complete program, with the tree in which its features are chosen; without one, places are unknown.
    pub fn new(program: &'p ir::Program, file: Option<&'p File>, sources: &'p Sources) -> Self {
        let (functions, chains) = costs(program);
        let mut all = Measured {
            program,
            places: Places::new(sources),
            functions,
            chains,
            arms: BTreeMap::new(),
            declared: BTreeMap::new(),
            registered: BTreeMap::new(),
        };
        for item in file.into_iter().flat_map(|file| &file.items) {
            match &item.kind {
                ItemKind::Event { name, .. }
                | ItemKind::Context { name, .. }
                | ItemKind::Blueprint { name, .. }
                | ItemKind::Function { name, .. } => _ = all.declared.insert(&name.name, name.span),
                ItemKind::Dispatch { arms, .. } => {
                    all.arms.extend(arms.iter().map(|arm| (arm.event.name.as_str(), arm)));
                }
                ItemKind::Deploy { calls } => {
                    for (what, args) in calls.iter().filter_map(named_call) {
                        let of = args.first().and_then(|a| match &a.kind {
                            ExprKind::Name(name) => Some(name.clone()),
                            _ => None,
                        });
                        all.registered.insert((what.name, of.unwrap_or_default()), what.span);
                    }
                }
                _ => {}
            }
        }
        all
    }

    fn declared(&self, name: &str) -> Span {
        self.declared.get(name).copied().unwrap_or_default()
    }

    /// The events that have a chain, with its number.
    fn dispatched(&self) -> impl Iterator<Item = (usize, &ir::EventDef)> {
        let events = self.program.events.iter().enumerate();
        events.filter(|(n, _)| self.program.chains[*n].is_some())
    }

    /// Where the chain of an event is written.
    fn arm(&self, event: &ir::EventDef) -> Span {
        self.arms.get(event.name.as_str()).map_or(Span::default(), |arm| arm.event.span)
    }

    /// What one run of each chain, and of the parser, does.
    pub(super) fn by_chain(&self, does: &str, of: fn(&Cost) -> u32) -> Vec<Amount> {
        let chains = self.dispatched().map(|(n, event)| Amount {
            count: u64::from(of(&self.chains[n])),
            span: self.arm(event),
            subject: format!("the chain of `{}` can {does}", event.name),
            label: "this chain".into(),
            causes: self.costliest(n, event, of),
            why: String::new(),
        });
        self.parsers(does, of).chain(chains).collect()
    }

    fn parsers(&self, does: &str, of: fn(&Cost) -> u32) -> impl Iterator<Item = Amount> {
        self.program.parsers().map(move |parser| {
            let name = &self.program.functions[parser.index()].name;
            Amount {
                count: u64::from(of(&self.functions[parser.index()])),
                span: self.declared(name),
                subject: format!("the parser `{name}` can {does}"),
                label: "for one packet".into(),
                causes: self.dearest_loop(parser, of).into_iter().collect(),
                why: String::new(),
            }
        })
    }

    /// The processor of a chain that does most, of the first path that does.
    fn costliest(&self, chain: usize, event: &ir::EventDef, of: fn(&Cost) -> u32) -> Vec<(Span, String)> {
        let Some(chain) = &self.program.chains[chain] else { return Vec::new() };
        let Some(arm) = self.arms.get(event.name.as_str()) else { return Vec::new() };
        let absent = arm.absent.iter().flatten().zip(chain.absent.iter().flatten());
        let steps: Vec<(&Step, &FuncId)> = arm.chain.iter().zip(&chain.present).chain(absent).collect();
        let cost = |(_, f): &&(&Step, &FuncId)| of(&self.functions[f.index()]);
        // `max_by_key` takes the last of several.
        let most = steps.iter().rev().max_by_key(cost).filter(|_| steps.len() > 1);
        let mut found: Vec<(Span, String)> = most
            .map(|step| (step.0.name.span, format!("{} of them here", cost(&step))))
            .into_iter()
            .collect();
        let dearest = steps.iter().rev().max_by_key(cost);
        found.extend(dearest.and_then(|(_, f)| self.dearest_loop(**f, of)));
        found
    }

    /// The loop of a function, or of those that it calls, that does most, if it does anything.
    fn dearest_loop(&self, func: FuncId, of: fn(&Cost) -> u32) -> Option<(Span, String)> {
        let loops = loops(self.program, func);
        let dearest = loops.iter().rev().max_by_key(|l| of(&l.cost)).filter(|l| of(&l.cost) > 0)?;
        let at = LineCol { line: dearest.loc.line, col: dearest.loc.col };
        let start = self.places.offset(dearest.loc.file as usize, at);
        let text = format!("{} in {} iterations", of(&dearest.cost), dearest.turns);
        Some((Span::new(start, start + "for".len() as u32), text))
    }

    /// How many iterations each loop of the chains has.
    pub(super) fn iterations(&self) -> Vec<Amount> {
        let mut open: Vec<FuncId> = Vec::new();
        for chain in self.program.chains.iter().flatten() {
            open.extend(chain.present.iter().chain(chain.absent.iter().flatten()));
        }
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        while let Some(func) = open.pop() {
            if !seen.insert(func) {
                continue;
            }
            let function = &self.program.functions[func.index()];
            ir::walk::statements(&function.body, &mut |stmt| {
                if let ir::StmtKind::Call { func, .. } = &stmt.kind {
                    open.push(*func);
                }
                if let Some(count) = turns(stmt) {
                    found.push(self.of_loop(&function.name, count.into(), stmt.loc));
                }
            });
        }
        found.sort_by_key(|amount: &Amount| amount.span.start);
        found
    }

    fn of_loop(&self, function: &str, count: u64, loc: ir::Loc) -> Amount {
        let start = self.places.offset(loc.file as usize, LineCol { line: loc.line, col: loc.col });
        Amount {
            count,
            span: Span::new(start, start + "for".len() as u32),
            subject: format!("a loop in `{function}` can have"),
            label: "this loop".into(),
            causes: Vec::new(),
            why: String::new(),
        }
    }

    /// What each event from outside issues; the events of a packet are counted together, at the parser.
    pub(super) fn blueprints(&self) -> Vec<Amount> {
        let counted = |kind: EventKind| !matches!(kind, EventKind::Net | EventKind::Flow);
        let events = self.dispatched().filter(|(_, event)| counted(event.kind));
        let events = events.map(|(n, event)| Amount {
            count: u64::from(self.chains[n].blueprints),
            span: self.arm(event),
            subject: format!("`{}` can issue", event.name),
            label: "with all events that it raises".into(),
            causes: self.costliest(n, event, |cost| cost.blueprints),
            why: String::new(),
        });
        self.parsers("cause", |cost| cost.blueprints).chain(events).collect()
    }

    /// How many contexts each chain takes.
    pub(super) fn contexts(&self) -> Vec<Amount> {
        let name = |c: &ir::CtxId| format!("`{}`", self.program.contexts[c.index()].name);
        let found = self.dispatched().filter_map(|(n, event)| {
            let chain = self.program.chains[n].as_ref()?;
            let shared = chain.shared.iter().map(|s| &s.context);
            let names: Vec<String> =
                chain.context.iter().chain(shared).chain(&chain.globals).map(name).collect();
            Some(Amount {
                count: names.len() as u64,
                span: self.arm(event),
                subject: format!("the chain of `{}` takes", event.name),
                label: "this chain".into(),
                causes: Vec::new(),
                why: names.join(", "),
            })
        });
        found.collect()
    }

    /// How long the header of each packet can be.
    pub(super) fn header_octets(&self) -> Vec<Amount> {
        let net = self.program.net_header.longest();
        let packets = self.program.blueprints.iter().filter(|bp| !bp.frame);
        let found = packets.map(|bp| Amount {
            count: u64::from(net + bp.max_header_len),
            span: self.declared(&bp.name),
            subject: format!("the header of `{}` can take", bp.name),
            label: "its header".into(),
            causes: Vec::new(),
            why: format!("{net} of the network header, {} before the payload", bp.max_header_len),
        });
        found.collect()
    }

    /// How many queues packets wait in.
    pub(super) fn queues(&self) -> Vec<Amount> {
        let schedule = &self.program.schedule;
        let flows = self.program.contexts.iter().filter(|c| !c.global).map(|c| self.number(&c.capacity));
        let flows = flows.fold(1, u64::saturating_add);
        let per_flow =
            schedule.blocks.iter().filter(|b| matches!(b.inputs, SchedInputs::PerFlow(_))).count() as u64;
        let plain = u64::from(schedule.queues).saturating_sub(per_flow);
        let key = self.registered.iter().find(|((what, _), _)| what == "register_pkt_sched");
        vec![Amount {
            count: plain.saturating_add(flows.saturating_mul(per_flow)),
            span: key.map(|(_, span)| *span).unwrap_or_default(),
            subject: "packets wait in".into(),
            label: "said here".into(),
            causes: Vec::new(),
            why: format!("{plain} by number, {} of flows", flows.saturating_mul(per_flow)),
        }]
    }

    /// How much room an instance of each context takes.
    pub(super) fn context_octets(&self) -> Vec<Amount> {
        let mut sizes = Sizes::new(self.program);
        let mut found = Vec::new();
        for (number, def) in self.program.contexts.iter().enumerate() {
            let mut fields: Vec<(u64, &str)> =
                def.fields.iter().map(|f| (sizes.value(&f.ty), f.name.as_str())).collect();
            fields.sort_by_key(|(octets, _)| std::cmp::Reverse(*octets));
            let told: Vec<String> =
                fields.iter().take(3).map(|(octets, name)| format!("{octets} of `{name}`")).collect();
            found.push(Amount {
                count: sizes.context(ir::CtxId(number as u32)),
                span: self.declared(&def.name),
                subject: format!("an instance of `{}` takes", def.name),
                label: "its fields, id and timers".into(),
                causes: Vec::new(),
                why: format!("{}, and the rest", told.join(", ")),
            });
        }
        found
    }

    /// How much room all instances take.
    pub(super) fn state_octets(&self) -> Vec<Amount> {
        let mut sizes = Sizes::new(self.program);
        let mut shares: Vec<(u64, &str, u64, u64)> = Vec::new();
        for (number, def) in self.program.contexts.iter().enumerate() {
            let units = [&def.tx_capacity, &def.rx_capacity].into_iter().flatten();
            let units = units.map(|e| self.number(e).checked_next_power_of_two().unwrap_or(u64::MAX));
            let each = units.fold(sizes.context(ir::CtxId(number as u32)), u64::saturating_add);
            let instances = if def.global { 1 } else { self.number(&def.capacity) };
            shares.push((each.saturating_mul(instances), &def.name, instances, each));
        }
        let total = shares.iter().fold(0_u64, |all, (octets, ..)| all.saturating_add(*octets));
        let Some((_, name, ..)) = shares.iter().max_by_key(|(octets, ..)| *octets) else { return Vec::new() };
        let told =
            shares.iter().map(|(_, name, instances, each)| format!("{instances} of `{name}`, each {each}"));
        vec![Amount {
            count: total,
            span: self.registration("register_ctx_spec", name).unwrap_or_else(|| self.declared(name)),
            subject: "the state of the program takes".into(),
            label: format!("most of it: the instances of `{name}`"),
            causes: Vec::new(),
            why: told.collect::<Vec<_>>().join("; "),
        }]
    }

    /// How deep the stack of each processor can be.
    pub(super) fn stack_octets(&self) -> Vec<Amount> {
        let stacks = Sizes::new(self.program).stacks();
        let mut entries: Vec<(FuncId, Span)> =
            self.program.parsers().map(|parser| (parser, Span::default())).collect();
        for (n, event) in self.dispatched() {
            let arm = self.arms.get(event.name.as_str());
            let steps = arm.into_iter().flat_map(|arm| arm.chain.iter().chain(arm.absent.iter().flatten()));
            let steps = steps.map(|step| step.name.span).chain(std::iter::repeat(Span::default()));
            let chain = self.program.chains[n].iter();
            let functions = chain.flat_map(|c| c.present.iter().chain(c.absent.iter().flatten()));
            entries.extend(functions.copied().zip(steps));
        }
        let found = entries.iter().map(|(f, step)| {
            let name = &self.program.functions[f.index()].name;
            Amount {
                count: stacks[f.index()],
                span: self.declared.get(name.as_str()).copied().unwrap_or(*step),
                subject: format!("the variables of `{name}` take"),
                label: "with those of the functions that it calls".into(),
                causes: Vec::new(),
                why: String::new(),
            }
        });
        found.collect()
    }

    fn registration(&self, what: &str, of: &str) -> Option<Span> {
        self.registered.get(&(what.to_owned(), of.to_owned())).copied()
    }

    /// The value of a number of `deploy`, with the parameters as they are by default.
    fn number(&self, e: &Expr) -> u64 {
        let default = |id: ir::ParamId| self.program.params.get(id.index()).map(|p| p.default);
        fold::fold(self.program, e, &default).unwrap_or(u64::MAX)
    }
}
