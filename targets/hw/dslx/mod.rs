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
mod text;
mod timers;
mod types;

use std::collections::BTreeSet;
use std::fmt::Write;

use carrick_ir::{
    Block, Chain, CtxId, EventId, FuncId, Function, Instr, Loc, Local, LocalId, NetLayer, Program, Stmt,
    StmtKind, Text, Ty, bounds, walk,
};

use body::Places;
use carrick_driver::targets::Unsupported;
use effects::{Effects, Var, changed};
use emitter::{Emitted, Emitter, unsupported};
pub use emitter::{Input, Site};
pub use packets::Packets;
pub use shape::{Leaf, PartTy, Shapes, parts};
pub use timers::{TIMER_BITS, WOKEN_BITS, event_bits, fires};

/// Bits of the number of wide operands.
pub const NUMBER_BITS: u32 = 8;

/// Statements that issue instructions, and slots of one run: their numbers have 8 bits.
const MOST_SITES: u32 = 255;

/// A program as DSLX, and what those need to know who connect it.
pub struct Design {
    pub text: String,
    /// the events that have a chain, with the names of their functions
    pub chains: Vec<(EventId, String)>,
    /// the context of all chains
    pub context: CtxId,
    /// what a chain is given beside event and context, from the most significant bits on
    pub inputs: Vec<Input>,
    /// the statements that issue instructions: the first has number 1
    pub sites: Vec<Site>,
    /// bits of the operands in a slot
    pub args: u32,
    /// places of the instructions that one run of a chain issues: each statement has its own, or shares it with one that does not
    /// run when it does
    pub slots: u32,
    /// bits of the operands that no slot has space for, and how many such places there are
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

    /// Bits of all slots, and of wide operands.
    pub fn instructions(&self) -> u32 {
        self.slots * self.slot() + self.wides * self.wide
    }
}

/// Writes a program in DSLX.
///
/// # Errors
/// The first part of it of which no circuit is made.
pub fn emit(program: &Program) -> Emitted<Design> {
    with_packets_or_without(program, narrowest)
}

/// The first part of a program of which no circuit is made. How wide slots are makes no difference.
pub fn refusal(program: &Program) -> Option<Unsupported> {
    with_packets_or_without(program, |program, packets| written(program, packets, u32::MAX)).err()
}

/// Writes a program with the packets in the circuit, or else, with the reason, without.
fn with_packets_or_without(
    program: &Program,
    write: impl Fn(&Program, Emitted<Packets>) -> Emitted<Design>,
) -> Emitted<Design> {
    if program.net_header.layer == NetLayer::Ipv6 {
        return unsupported("addresses of IPv6", Loc::default());
    }
    let whole = Packets::of(program).and_then(|packets| write(program, Ok(packets)));
    whole.or_else(|why| write(program, Err(why)))
}

/// Writes a program so that what a chain issues has the fewest bits: operands of so many bits have space in each slot, and there
/// are places for the others.
fn narrowest(program: &Program, packets: Emitted<Packets>) -> Emitted<Design> {
    let mut best = written(program, packets.clone(), u32::MAX)?;
    let mut widths: BTreeSet<u32> = best.sites.iter().map(|site| site.bits).collect();
    widths.pop_last();
    for bits in widths {
        let design = written(program, packets.clone(), bits)?;
        if design.instructions() < best.instructions() {
            best = design;
        }
    }
    Ok(best)
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
    let name = |event: EventId| names::variable(&program.events[event.index()].name);
    let names: Vec<_> = dispatched(program).map(|(event, _)| (event, name(event))).collect();
    let (chains, places) = emitter.chains(context, &names)?;
    let (mut parser, mut builder) = (String::new(), String::new());
    if packets.is_ok() {
        let bits = names.iter().map(|(event, _)| event_bits(program, &emitter.shapes, *event)).max();
        parser = emitter.parser(&names, bits.unwrap_or(0).max(1))?;
        builder = emitter.builder()?;
    }
    let context_type = emitter.ty(&Ty::Context(context));
    bounded(program, emitter.sites.len() as u32, places)?;
    let (slots, wides) = (places.slots.max(1), places.wides.max(1));
    let widest =
        |wide| emitter.sites.iter().filter(move |site| site.wide == wide).map(|site| site.bits).max();
    let (args, wide) = (widest(false).unwrap_or(0).max(NUMBER_BITS), widest(true).unwrap_or(1));
    let randoms = most(program, &|stmt| matches!(stmt.kind, StmtKind::Random { .. }));
    if randoms > 0 {
        emitter.inputs.insert(Input::Random(randoms));
    }
    let makes = emitter.made.is_some();
    let env = emitter.env();
    let mut text = format!(
        "// The chains of {}: each is a pure function of event, context and environment.\n\
         // Made by carrick; the comments name the lines of the program.\n\n\
         const ARGS = u32:{args};\nconst SLOTS = u32:{slots};\nconst WIDE = u32:{wide};\nconst WIDES = u32:{wides};\n\n{}{env}",
        program.name, emitter.types
    );
    text.push_str(&issue::declarations(makes.then_some(context_type.as_str()), randoms > 0, timers));
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

/// Refuses chains that issue more than there are numbers for, or more than one instance.
fn bounded(program: &Program, sites: u32, places: Places) -> Emitted<()> {
    if sites.max(places.slots) > MOST_SITES {
        let what = format!("more than {MOST_SITES} instructions of a chain, or statements that issue them");
        return unsupported(what, Loc::default());
    }
    if most(program, &|stmt| matches!(stmt.kind, StmtKind::Instr(Instr::NewCtx { .. }))) > 1 {
        return unsupported("a chain that makes more than one instance", Loc::default());
    }
    Ok(())
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
        StmtKind::For { body, .. } => in_block(body, is, of).saturating_mul(bounds::turns(stmt).unwrap_or(1)),
        StmtKind::Call { func, .. } => of.get(func.index()).copied().unwrap_or(0),
        _ => u32::from(is(stmt)),
    });
    counts.fold(0, u32::saturating_add)
}

impl Emitter<'_> {
    /// The functions of all chains, and the places of what one of them issues.
    fn chains(&mut self, context: CtxId, names: &[(EventId, String)]) -> Emitted<(String, Places)> {
        let mut text = String::new();
        let mut places = self.places.get(&self.program.parser).copied().unwrap_or_default();
        for ((event, chain), (_, name)) in dispatched(self.program).zip(names) {
            suits(self.program, chain)?;
            let (of_chain, its_places) = self.chain(event, chain, context, name)?;
            text.push_str(&of_chain);
            places = places.or(its_places);
        }
        Ok((text, places))
    }

    fn width(&self, types: &[Ty]) -> u32 {
        types.iter().map(|ty| self.shapes.width(ty)).sum()
    }

    /// The function of a chain, with one for its processors on a context and one for those without.
    fn chain(
        &mut self,
        event: EventId,
        chain: &Chain,
        context: CtxId,
        name: &str,
    ) -> Emitted<(String, Places)> {
        let own = &self.program.events[event.index()].name;
        let (mut text, mut arms, mut places) = (String::new(), Vec::new(), Vec::new());
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
            let (function_text, _, of_arm) = self.written(&function, &effects)?;
            text.push_str(&function_text);
            arms.push(arm(&function.name, &effects));
            places.push(of_arm);
        }
        if chain.context.is_none() {
            (arms[1], places[1]) = (arms[0].clone(), places[0]);
        }
        text.push_str(&self.outermost(event, context, name, &arms, &places));
        Ok((text, places[0].or(places[1])))
    }

    /// The function of a chain, which chooses between processors on a context and those without.
    fn outermost(
        &mut self,
        event: EventId,
        context: CtxId,
        name: &str,
        arms: &[String],
        places: &[Places],
    ) -> String {
        let own = &self.program.events[event.index()].name;
        let (e, c) = (self.ty(&Ty::Event(event)), self.ty(&Ty::Context(context)));
        let (present, absent) = (&arms[0], &arms[1]);
        let joined = body::either(&["c".into(), "io".into()], Places::default(), places[0], places[1]);
        if timers::timers(self.program).is_empty() {
            return format!(
                "// The chain of `{own}`.\n\
                 pub fn {name}(found: u1, e: {e}, c: {c}, env: Env) -> ({c}, Issued) {{\n    \
                 let (io, at, when__) = (zero!<Issued>(), zero!<Place>(), found);\n    \
                 let then__ = {{\n{present}    }};\n    let else__ = {{\n{absent}    }};\n    {joined}\n    (c, io)\n}}\n\n"
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
             let (at, when__) = (zero!<Place>(), {runs});\n    let then__ = {{\n{present}    }};\n    let else__ = {{\n{absent}    }};\n    {joined}\n    \
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
            doc: Text::default(),
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
            let name = input.name(self.program);
            let ty = match input {
                Input::Param(_) => format!("uN[{}]", input.bits(self.program, &self.shapes)),
                _ => self.ty(&input.ty(self.program)),
            };
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
    let io = if effects.io { "at, io, " } else { "" };
    let call = match gives.is_empty() {
        true => String::new(),
        false => format!("        let {} = {name}(env, {io}e, c);\n", body::tuple(&gives)),
    };
    format!("{call}        (c, io)\n")
}
