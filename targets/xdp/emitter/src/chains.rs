// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chains: finding and holding their contexts, running their processors.

use carrick_emit_c::Emitter;
use carrick_ir::{self as ir, Chain, EventDef};

use crate::raised::Source;
use crate::{host_request, owners, raised, shared_lock};

/// A function for each event; those whose events others raise come before them.
pub(crate) fn run_functions(e: &mut Emitter<'_>) {
    for index in 0..e.p.events.len() {
        run_declaration(e, index);
    }
    e.w.blank();
    for index in 0..e.p.events.len() {
        if let Some(chain) = &e.p.chains[index] {
            run(e, index, chain);
        }
    }
    for source in Source::ALL {
        raised::run_from(e, source);
    }
}

fn run_head(e: &Emitter<'_>, index: usize) -> String {
    let event = &e.p.events[index];
    format!(
        "CARRICK_GLOBAL_FN int {}_run(struct {} *core, struct {} *e)",
        e.names.own(&event.name),
        e.names.own("core"),
        e.names.declared(&event.name)
    )
}

fn run_declaration(e: &mut Emitter<'_>, index: usize) {
    if e.p.chains[index].is_some() {
        let head = run_head(e, index);
        e.w.line(format!("{head};"));
    }
}

fn run(e: &mut Emitter<'_>, index: usize, chain: &Chain) {
    let event = &e.p.events[index];
    let head = run_head(e, index);
    e.w.open(format!("{head} {{"));
    e.w.line("CARRICK_GIVEN(core && e);");
    e.w.line("CARRICK_ALIGNED(core);");
    e.w.line("CARRICK_ALIGNED(e);");
    e.w.line(format!("struct {} *chain = &core->chain;", e.names.own("chain")));
    e.w.line("chain->stopped = chain->deleted = false;");
    e.w.line("chain->raised_count = 0;");
    if !e.p.claims.is_empty() {
        e.w.line(format!("chain->event = {};", index + 1));
    }
    let taken = take_contexts(e, chain);
    let handle = e.handle_of_chain(chain);
    e.w.line(format!("chain->handle = {handle};"));
    owners::owner_runs(e, event, chain);
    e.w.open("if (!chain->stopped) {");
    one_run(e, event, chain);
    e.w.close("}");
    release_contexts(e, chain, &taken);
    e.w.end_with("return 0;");
}

/// Takes the chain's contexts in the one order that there is: what is kept, its own, those that it shares, the global
/// ones. It counts as stopped if one is held too long.
fn take_contexts(e: &mut Emitter<'_>, chain: &Chain) -> Vec<ir::CtxId> {
    let mut taken = Vec::new();
    if let Some(own) = chain.context {
        let (ty, name) = (e.names.context(own), e.names.own(&e.p.contexts[own.index()].name));
        let shares_kept = shared_lock::shares_kept(e, chain);
        let first = match chain.shared.first() {
            Some(kept) if shares_kept => format!("!{} ? NULL : ", e.instance(kept.context)),
            _ => String::new(),
        };
        let take = format!("struct {ty} *c = {first}{name}_take(core, &e->flow__);");
        if !shares_kept {
            e.w.line(&take);
            if !chain.fallback.is_empty() {
                let key = e.second_key(chain, own, "e->flow__.");
                e.w.line(format!("if (!c)\n    c = {name}_take(core, &{key});"));
            }
            host_request::only_the_wanted(e, own, &name);
        }
        for shared in &chain.shared {
            let def = &e.p.contexts[shared.context.index()];
            let text = format!(
                "struct {} *{} = {}{}_take(core, &{});",
                e.names.declared(&def.name),
                e.instance(shared.context),
                if shares_kept { "" } else { "!c ? NULL : " },
                e.names.own(&def.name),
                e.shared_id(chain, shared, "e->flow__")
            );
            e.w.line(text);
            if !shares_kept {
                taken.push(shared.context);
            }
        }
        if shares_kept {
            e.w.line(&take);
            host_request::only_the_wanted(e, own, &name);
        }
        for shared in chain.shared.iter().filter(|_| !shares_kept) {
            e.w.line("/* Without what it shares it is not there either. */");
            e.w.open(format!("if (c && !{}) {{", e.instance(shared.context)));
            e.w.line("carrick_release(&c->held__);");
            e.w.line("c = NULL;");
            e.w.close("}");
        }
    }
    pointers_are_asked(e, chain);
    for global in &chain.globals {
        let def = &e.p.contexts[global.index()];
        let (ty, at) = (e.names.declared(&def.name), e.instance(*global));
        let id = e.names.id(def.id);
        let name = e.names.own(&def.name);
        e.w.line(format!("struct {ty} *{at} = {name}_take(core, (const struct {id} *)NULL);"));
        taken.push(*global);
    }
    taken
}

/// The compiler forgets how it found the contexts: it would keep which are there as a number, which the verifier does not
/// connect with the pointers.
fn pointers_are_asked(e: &mut Emitter<'_>, chain: &Chain) {
    if !e.over_ipv6() || chain.context.is_none() {
        return;
    }
    e.w.line("CARRICK_BARRIER_VAR(c);");
    for shared in &chain.shared {
        let at = e.instance(shared.context);
        e.w.line(format!("CARRICK_BARRIER_VAR({at});"));
    }
}

fn release_contexts(e: &mut Emitter<'_>, chain: &Chain, taken: &[ir::CtxId]) {
    for ctx in taken.iter().rev() {
        let at = e.instance(*ctx);
        e.w.line(format!("if ({at})"));
        e.w.line(format!("    carrick_release(&{at}->held__);"));
    }
    if let Some(own) = chain.context {
        let name = e.names.own(&e.p.contexts[own.index()].name);
        // Else the compiler keeps what it found of it long ago, which the verifier does not connect with the pointer.
        e.w.line("CARRICK_BARRIER_VAR(c);");
        e.w.line("if (c && chain->deleted)");
        e.w.line(format!("    {name}_remove(core, c);"));
        if !shared_lock::is_kept(e, own) {
            e.w.line("else if (c)\n    carrick_release(&c->held__);");
        }
    }
}

/// The run, with the contexts held.
fn one_run(e: &mut Emitter<'_>, event: &EventDef, chain: &Chain) {
    let globals: Vec<String> = chain.globals.iter().map(|g| e.instance(*g)).collect();
    if !globals.is_empty() {
        e.w.open(format!("if ({}) {{", globals.join(" && ")));
    }
    e.run_body(event, chain);
    if !globals.is_empty() {
        e.w.close("}");
    }
}
