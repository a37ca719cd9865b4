// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program in DSLX: a pure function for each chain, from event, context and what is around them to the context after it and the
//! instructions that it issues.

mod alone;
mod body;
mod builder;
mod effects;
mod emitter;
mod expr;
mod func;
mod init;
mod issue;
mod lists;
mod names;
mod option_elements;
mod options;
mod packets;
mod parser;
mod shape;
mod stmt;
mod timers;
mod types;

use std::collections::BTreeSet;
use std::fmt::Write;

use carrick_ir::bounds::{costs, issues};
use carrick_ir::{
    Block, Chain, CtxId, EventId, FuncId, Function, Instr, Loc, Local, LocalId, NetLayer, Program, Stmt,
    StmtKind, Ty, walk,
};

use effects::{Effects, Var, changed};
use emitter::{Emitted, Emitter, unsupported};
pub use emitter::{Input, Site};
pub use packets::Packets;
pub use shape::{Leaf, PartTy, Shapes, parts};
pub use timers::{TIMER_BITS, WOKEN_BITS, event_bits, fires};

/// Bits of the number of wide operands.
pub const NUMBER_BITS: u32 = 8;

/// A program as DSLX, and what those need to know who connect it.
pub struct Design {
    pub text: String,
    /// the events that have a chain, with the names of their functions
    pub chains: Vec<(EventId, String)>,
    /// the context of all chains
    pub context: CtxId,
    /// what a chain is given beside event and context, from the most significant bits on
    pub inputs: Vec<Input>,
    /// the statements that issue instructions, by number
    pub sites: Vec<Site>,
    /// bits of the operands in a slot
    pub args: u32,
    /// instructions that one run of a chain issues at most
    pub slots: u32,
    /// bits of the operands that no slot has space for, and how often one run of a chain issues such at most
    pub wide: u32,
    pub wides: u32,
    /// the program makes instances of the context
    pub makes: bool,
    /// of each chain, whether it runs while no other event is under way
    pub alone: Vec<bool>,
    /// timers of the context
    pub timers: u32,
    /// how long its packets are, or why the host reads and makes them
    pub packets: Emitted<Packets>,
}

impl Design {
    /// Bits of a slot: the number of its statement, and operands.
    pub fn slot(&self) -> u32 {
        8 + self.args
    }

    /// Bits of all slots with their count, and of wide operands with theirs.
    pub fn instructions(&self) -> u32 {
        self.slots * self.slot() + 8 + self.wides * self.wide + NUMBER_BITS
    }
}

/// Writes a program in DSLX.
///
/// # Errors
/// The first part of it of which no circuit is made.
pub fn emit(program: &Program) -> Emitted<Design> {
    if program.net_header.layer == NetLayer::Ipv6 {
        return unsupported("addresses of IPv6", Loc::default());
    }
    let whole = Packets::of(program).and_then(|packets| narrowest(program, Ok(packets)));
    whole.or_else(|why| narrowest(program, Err(why)))
}

/// Writes a program so that what a chain issues has the fewest bits: operands of so many bits have space in each slot, and there
/// are places for the others.
fn narrowest(program: &Program, packets: Emitted<Packets>) -> Emitted<Design> {
    let all = written(program, packets.clone(), u32::MAX)?;
    let widths: BTreeSet<u32> = all.sites.iter().map(|site| site.bits).collect();
    let best = widths.into_iter().min_by_key(|bits| {
        let Instructions { args, wide, wides } = instructions(program, &all.sites, all.slots, *bits);
        all.slots * args + wides * wide
    });
    match best {
        Some(bits) if bits < all.args => written(program, packets, bits),
        _ => Ok(all),
    }
}

/// How wide what a chain issues is.
struct Instructions {
    args: u32,
    wide: u32,
    wides: u32,
}

/// The same where slots have space for operands of so many bits.
fn instructions(program: &Program, sites: &[Site], slots: u32, slot_bits: u32) -> Instructions {
    let (wide, others): (Vec<&Site>, Vec<&Site>) = sites.iter().partition(|site| site.bits > slot_bits);
    let widest = |sites: &[&Site]| sites.iter().map(|site| site.bits).max().unwrap_or(0);
    let at: BTreeSet<Loc> = wide.iter().map(|site| site.loc).collect();
    let is_wide = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Instr(_)) && at.contains(&stmt.loc);
    Instructions {
        args: widest(&others).max(NUMBER_BITS),
        wide: widest(&wide).max(1),
        wides: issues(program, &is_wide).into_iter().max().unwrap_or(0).clamp(1, slots),
    }
}

fn written(program: &Program, packets: Emitted<Packets>, slot_bits: u32) -> Emitted<Design> {
    let mut emitter = Emitter::new(program, slot_bits);
    let context = only_context(program)?;
    let timers = timers::timers(program).len() as u32;
    if timers > 0 {
        emitter.inputs.insert(Input::Now);
    }
    let mut functions = String::new();
    for id in reachable(program, dispatched(program).map(|(_, chain)| chain), packets.is_ok()) {
        functions.push_str(&emitter.function(id)?);
    }
    let mut chains = String::new();
    let mut names = Vec::new();
    for (event, chain) in dispatched(program) {
        suits(program, chain)?;
        let name = names::variable(&program.events[event.index()].name);
        chains.push_str(&emitter.chain(event, chain, context, &name)?);
        names.push((event, name));
    }
    let (mut parser, mut builder) = (String::new(), String::new());
    if packets.is_ok() {
        let bits = names.iter().map(|(event, _)| event_bits(program, &emitter.shapes, *event)).max();
        parser = emitter.parser(&names, bits.unwrap_or(0).max(1))?;
        builder = emitter.builder()?;
    }
    let context_type = emitter.ty(&Ty::Context(context));
    let slots = costs(program).1.iter().map(|cost| cost.instructions).max().unwrap_or(0).max(1);
    let Instructions { args, wide, wides } = instructions(program, &emitter.sites, slots, slot_bits);
    let randoms = most(program, &|stmt| matches!(stmt.kind, StmtKind::Random { .. }));
    if randoms > 0 {
        emitter.inputs.insert(Input::Random(randoms));
    }
    let makes = emitter.made.is_some();
    if most(program, &|stmt| matches!(stmt.kind, StmtKind::Instr(Instr::NewCtx { .. }))) > 1 {
        return unsupported("a chain that makes more than one instance", Loc::default());
    }
    let env = emitter.env();
    let mut text = format!(
        "// The chains of {}: each is a pure function of event, context and environment.\n\
         // Made by carrick; the comments name the lines of the program.\n\n\
         const ARGS = u32:{args};\nconst SLOTS = u32:{slots};\nconst WIDE = u32:{wide};\nconst WIDES = u32:{wides};\n\n{}{env}",
        program.name, emitter.types
    );
    text.push_str(&issued(makes.then_some(context_type.as_str()), randoms > 0, timers));
    text.push_str(timers::functions(program));
    let _ = write!(text, "{}\n{functions}{chains}", emitter.helper_text);
    if let Ok(packets) = &packets {
        text.push_str(&packets.declarations(program));
        text.push_str(&parser);
        text.push_str(&builder);
    }
    let inputs = emitter.inputs.iter().cloned().collect();
    let alone = dispatched(program).map(|(_, chain)| alone::alone(program, chain)).collect();
    Ok(Design {
        text,
        chains: names,
        context,
        inputs,
        sites: emitter.sites,
        args,
        slots,
        wide,
        wides,
        makes,
        alone,
        timers,
        packets,
    })
}

/// What a chain has issued: the declarations.
fn issued(context: Option<&str>, draws: bool, timers: u32) -> String {
    let instance = context.map(|c| format!("    made: u1,\n    instance: {c},\n")).unwrap_or_default();
    let drawn = if draws { "    drawn: u8,\n" } else { "" };
    let (count, timed, scheduled) = match timers {
        0 => (String::new(), "", ""),
        n => (
            format!("// Timers of a flow.\nconst TIMERS = u32:{n};\n\n{}", timers::TIMER),
            "    timers: Timer[TIMERS],\n",
            "    ran: u1,\n    starts: uN[TIMERS],\n    cancels: u56[TIMERS],\n",
        ),
    };
    format!(
        "{count}// An instruction: the number of the statement that issued it, and its operands; or which of the wide ones they are.\n\
         pub struct Slot {{\n    site: u8,\n    args: uN[ARGS],\n}}\n\n\
         // What a chain has issued so far: whether it has stopped, whether its context ends, a new instance, the instructions.\n\
         pub struct Issued {{\n{timed}    stop: u1,\n    gone: u1,\n{instance}{drawn}{scheduled}    used: u8,\n    wide: uN[WIDE][WIDES],\n    count: u8,\n    slots: Slot[SLOTS],\n}}\n\n\
         fn issue(io: Issued, site: u8, args: uN[ARGS]) -> Issued {{\n    \
         Issued {{ count: io.count + u8:1, slots: update(io.slots, io.count, Slot {{ site: site, args: args }}), ..io }}\n}}\n\n\
         // The same, with operands for which a slot has no space.\n\
         fn issue_wide(io: Issued, site: u8, args: uN[WIDE]) -> Issued {{\n    \
         let wide = update(io.wide, io.used, args);\n    \
         issue(Issued {{ used: io.used + u8:1, wide: wide, ..io }}, site, io.used as uN[ARGS])\n}}\n\n"
    )
}

/// The context of all chains: the session table holds instances of one.
fn only_context(program: &Program) -> Emitted<CtxId> {
    match program.contexts.as_slice() {
        [one] if !one.global => Ok(CtxId(0)),
        [] => unsupported("a program without a context", Loc::default()),
        [_] => unsupported("a global context", Loc::default()),
        _ => unsupported("several contexts", Loc::default()),
    }
}

fn dispatched(program: &Program) -> impl Iterator<Item = (EventId, &Chain)> {
    let chains = program.chains.iter().enumerate();
    chains.filter_map(|(event, chain)| Some((EventId(event as u32), chain.as_ref()?)))
}

/// Refuses a chain that no session table with one lookup serves.
fn suits(program: &Program, chain: &Chain) -> Emitted<()> {
    let first = chain.present.iter().chain(chain.absent.iter().flatten()).next();
    let loc = first.map_or(Loc::default(), |f| program.functions[f.index()].loc);
    if !chain.fallback.is_empty() {
        return unsupported("a context that is found by a second id", loc);
    }
    Ok(())
}

/// The processors of chains, the parser, and what they call, callees first.
fn reachable<'p>(
    program: &'p Program,
    chains: impl IntoIterator<Item = &'p Chain>,
    parser: bool,
) -> BTreeSet<FuncId> {
    let mut found = BTreeSet::new();
    let mut open: Vec<FuncId> = parser.then_some(program.parser).into_iter().collect();
    for chain in chains {
        open.extend(chain.present.iter().chain(chain.absent.iter().flatten()));
    }
    while let Some(func) = open.pop() {
        if found.insert(func) {
            walk::statements(&program.functions[func.index()].body, &mut |stmt| {
                if let StmtKind::Call { func, .. } = &stmt.kind {
                    open.push(*func);
                }
            });
        }
    }
    found
}

/// How often one run of a chain comes by such a statement at most.
fn most(program: &Program, is: &dyn Fn(&Stmt) -> bool) -> u32 {
    let mut of: Vec<u32> = Vec::new();
    for function in &program.functions {
        let count = in_block(&function.body, is, &of);
        of.push(count);
    }
    let sum = |funcs: &[FuncId]| funcs.iter().map(|f| of[f.index()]).sum::<u32>();
    let chains = dispatched(program);
    let each =
        chains.map(|(_, chain)| sum(&chain.present).max(sum(chain.absent.as_deref().unwrap_or_default())));
    each.max().unwrap_or(0)
}

fn in_block(block: &Block, is: &dyn Fn(&Stmt) -> bool, of: &[u32]) -> u32 {
    let counts = block.stmts.iter().map(|stmt| match &stmt.kind {
        StmtKind::If { then, otherwise, .. } => in_block(then, is, of).max(in_block(otherwise, is, of)),
        StmtKind::Block(inner) => in_block(inner, is, of),
        StmtKind::ForRange { max, body, .. } => {
            in_block(body, is, of).saturating_mul(u32::try_from(*max).unwrap_or(u32::MAX))
        }
        StmtKind::ForEach { list, body, .. } => {
            let n = if let Ty::List(_, n, _) | Ty::Array(_, n) = list.ty { n } else { 1 };
            in_block(body, is, of).saturating_mul(n)
        }
        StmtKind::Call { func, .. } => of.get(func.index()).copied().unwrap_or(0),
        _ => u32::from(is(stmt)),
    });
    counts.fold(0, u32::saturating_add)
}

impl Emitter<'_> {
    fn width(&self, types: &[Ty]) -> u32 {
        types.iter().map(|ty| self.shapes.width(ty)).sum()
    }

    /// The function of a chain, with one for its processors on a context and one for those without.
    fn chain(&mut self, event: EventId, chain: &Chain, context: CtxId, name: &str) -> Emitted<String> {
        let own = &self.program.events[event.index()].name;
        let (mut text, mut arms) = (String::new(), Vec::new());
        let absent = chain.absent.as_deref().filter(|_| chain.context.is_some());
        for (kind, processors) in [("present", Some(chain.present.as_slice())), ("absent", absent)] {
            let function = self.processors(
                &format!("{own}_{kind}"),
                event,
                chain,
                context,
                processors.unwrap_or_default(),
            );
            let mut vars = BTreeSet::new();
            changed(&self.effects, self.program, &function.body, &mut vars);
            let params = (0..2).map(LocalId).filter(|p| vars.contains(&Var::Local(*p))).collect();
            let effects = Effects { io: vars.contains(&Var::Io), params };
            let (function_text, _) = self.written(&function, &effects)?;
            text.push_str(&function_text);
            arms.push(arm(&function.name, &effects));
        }
        if chain.context.is_none() {
            arms[1] = arms[0].clone();
        }
        text.push_str(&self.outermost(event, context, name, &arms));
        Ok(text)
    }

    /// The function of a chain, which chooses between processors on a context and those without.
    fn outermost(&mut self, event: EventId, context: CtxId, name: &str, arms: &[String]) -> String {
        let own = &self.program.events[event.index()].name;
        let (e, c) = (self.ty(&Ty::Event(event)), self.ty(&Ty::Context(context)));
        let (present, absent) = (&arms[0], &arms[1]);
        if timers::timers(self.program).is_empty() {
            return format!(
                "// The chain of `{own}`.\n\
                 pub fn {name}(found: u1, e: {e}, c: {c}, env: Env) -> ({c}, Issued) {{\n    \
                 let io = zero!<Issued>();\n    if found {{\n{present}    }} else {{\n{absent}    }}\n}}\n\n"
            );
        }
        let (given, begin, runs, absent) = match fires(self.program, event) {
            true => {
                let fired = self.fired(event);
                let begin = format!(
                    "    let (ran, timers) = woken_by(found, woken, timers, env);\n    let e = {fired};\n"
                );
                ("woken: Woken".to_owned(), begin, "ran", "        (c, io)\n")
            }
            false => (format!("e: {e}"), "    let ran = u1:1;\n".to_owned(), "found", absent.as_str()),
        };
        format!(
            "// The chain of `{own}`.\n\
             pub fn {name}(found: u1, {given}, c: {c}, timers: Timer[TIMERS], env: Env) -> ({c}, Issued) {{\n{begin}    \
             let io = Issued {{ timers: timers, starts: earlier(timers), ran: ran, ..zero!<Issued>() }};\n    \
             let (c, io) = if {runs} {{\n{present}    }} else {{\n{absent}    }};\n    \
             (c, scheduled(found, env, io))\n}}\n\n"
        )
    }

    /// Processors in a row as a function over event, context and scratchpads.
    fn processors(
        &self,
        name: &str,
        event: EventId,
        chain: &Chain,
        context: CtxId,
        processors: &[FuncId],
    ) -> Function {
        let local = |name: &str, ty: Ty| Local { name: name.into(), ty };
        let mut locals = vec![local("e", Ty::Event(event)), local("c", Ty::Context(context))];
        let mut stmts = Vec::new();
        for (n, pad) in chain.scratchpads.iter().enumerate() {
            let kind = StmtKind::Let { local: LocalId(locals.len() as u32), init: None };
            stmts.push(Stmt { kind, loc: Loc::default() });
            locals.push(local(&format!("scratch_{n}"), Ty::Scratch(*pad)));
        }
        for id in processors {
            func::call(*id, &self.program.functions[id.index()], &locals, &mut stmts);
        }
        Function {
            name: name.to_owned(),
            doc: String::new(),
            loc: Loc::default(),
            params: 2,
            locals,
            ret: Ty::Void,
            body: Block { stmts },
            pure: false,
            may_stop: false,
            max_raised: 0,
        }
    }

    /// The declaration of what is around a chain.
    fn env(&mut self) -> String {
        let mut text = "// What is around a chain.\npub struct Env {\n".to_owned();
        let inputs: Vec<Input> = self.inputs.iter().cloned().collect();
        for input in &inputs {
            let (name, ty) = (input.name(self.program), self.ty(&input.ty(self.program)));
            let _ = writeln!(text, "    {name}: {ty},");
        }
        if inputs.is_empty() {
            text.push_str("    nothing: u1,\n");
        }
        text + "}\n\n"
    }
}

/// The lines of a chain that call one of its functions.
fn arm(name: &str, effects: &Effects) -> String {
    let mut gives = Vec::new();
    if effects.io {
        gives.push("io".to_owned());
    }
    gives.extend(effects.params.iter().map(|p| if p.0 == 0 { "_" } else { "c" }.to_owned()));
    let io = if effects.io { "io, " } else { "" };
    let call = match gives.is_empty() {
        true => String::new(),
        false => format!("        let {} = {name}(env, {io}e, c);\n", body::tuple(&gives)),
    };
    format!("{call}        (c, io)\n")
}
