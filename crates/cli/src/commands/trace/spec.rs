// SPDX-License-Identifier: MIT OR Apache-2.0
//! What to look at: from what the command line says to questions that can be asked.

use carrick_driver::probe::{Asked, Named, Question, beyond_traces};
use carrick_driver::{Failure, quantity};
use carrick_ir::{ContextDef, CtxId, EventId, Program, Ty};
use carrick_sim::watch::{Ask, Spec};
use carrick_syntax::lexer::{TokenKind, lex};
use carrick_syntax::suggest::nearest;

use super::hosts::Hosts;
use super::load_error::LoadError;
use crate::args::TraceArgs;

/// What `--set` says, apart: changes of contexts (`context.field = value`), and parameters (`name=value`).
pub fn changes_and_settings(set: &[String]) -> (Vec<String>, Vec<String>) {
    let left = |text: &str| text.split('=').next().is_some_and(|left| left.contains('.'));
    set.iter().cloned().partition(|text| left(text))
}

/// The whole of it.
pub fn spec(args: &TraceArgs, asked: &Asked, changes: &[String], hosts: Hosts) -> Result<Spec, LoadError> {
    let program = &asked.program;
    let on = args.on.iter().map(|name| event(program, name)).collect::<Result<Vec<_>, _>>()?;
    let texts: Vec<&str> = [&args.when, &args.show, &args.sample]
        .into_iter()
        .flatten()
        .chain(changes)
        .map(String::as_str)
        .collect();
    let context = context(args, program, &on, &texts)?;
    let mut scope = Vec::new();
    if let Some(ctx) = context {
        scope.push(named(&program.contexts[ctx].name, Ty::Context(CtxId(ctx as u32))));
    }
    let of_context = scope.clone();
    if let [event] = on[..] {
        scope.push(named(&program.events[event].name, Ty::Event(EventId(event as u32))));
    }
    let values = |from: &str, text: &Option<String>| match text {
        Some(text) => asks(program, asked.values(from, text, &scope)?),
        None => Ok(Vec::new()),
    };
    let mut show = values("--show", &args.show)?;
    show.extend(values("--sample", &args.sample)?);
    let when = args.when.as_ref().map(|text| asked.condition("--when", text, &scope)).transpose()?;
    let when = asks(program, when.into_iter().collect())?.pop();
    let mut set = Vec::new();
    for change in changes {
        set.push(asked.change("--set", change, &of_context)?);
    }
    Ok(Spec {
        on,
        context,
        hosts: hosts.names,
        only: hosts.only,
        when,
        show,
        every: args.every.as_deref().map(interval).transpose()?,
        list: args.list,
        at: args.at.iter().map(|at| quantity::duration(at)).collect::<Result<_, _>>()?,
        set: asks(program, set)?,
        most: args.most,
    })
}

fn named(name: &str, ty: Ty) -> Named {
    Named { name: name.to_owned(), ty, open: true }
}

/// Whether there is something to look at in a recorded trace.
///
/// # Errors
/// [`Failure::Usage`] with what to say.
pub fn makes_sense_of_recording(args: &TraceArgs) -> Result<(), Failure> {
    let usage = |text: &str| Err(Failure::Usage(text.to_owned()));
    if !args.at.is_empty() && !args.list {
        return usage("say what to do at that time: --list");
    }
    if !looks(args) {
        return usage(
            "say what to look at: --on EVENT, --when CONDITION, --sample EXPRESSIONS --every DURATION, or --list",
        );
    }
    Ok(())
}

fn looks(args: &TraceArgs) -> bool {
    !args.on.is_empty() || args.when.is_some() || args.sample.is_some() || args.list
}

/// Whether there is something to look at, and what changes contexts can.
///
/// # Errors
/// [`Failure::Usage`] with what to say.
pub fn makes_sense(args: &TraceArgs, changes: &[String]) -> Result<(), Failure> {
    let usage = |text: &str| Err(Failure::Usage(text.to_owned()));
    if !changes.is_empty() && args.compiled {
        return usage(
            "a compiled core runs nothing but its program: leave out --compiled to change contexts",
        );
    }
    if !changes.is_empty() && args.on.is_empty() && args.when.is_none() && args.at.is_empty() {
        return usage("say when --set is to change contexts: --on EVENT, --when CONDITION or --at TIME");
    }
    if !args.at.is_empty() && !args.list && changes.is_empty() {
        return usage("say what to do at that time: --list, or --set context.field=value");
    }
    if !looks(args) && changes.is_empty() {
        return usage(
            "say what to look at: --on EVENT, --when CONDITION, --sample EXPRESSIONS --every DURATION, --list, or --break LINE",
        );
    }
    Ok(())
}

fn interval(text: &str) -> Result<u64, Failure> {
    match quantity::duration(text)? {
        0 => Err(Failure::Usage("samples need some time between them: --every 1ms".to_owned())),
        every => Ok(every),
    }
}

fn event(program: &Program, name: &str) -> Result<usize, Failure> {
    program.events.iter().position(|e| e.name == name).ok_or_else(|| {
        unknown(program.file.raw(), "event", name, program.events.iter().map(|e| e.name.as_str()))
    })
}

fn unknown<'n>(file: &str, what: &str, name: &str, names: impl Iterator<Item = &'n str> + Clone) -> Failure {
    let hint = match nearest(name, names.clone()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("there are {}", names.collect::<Vec<_>>().join(", ")),
    };
    Failure::Usage(format!("{file} has no {what} {name:?}; {hint}"))
}

/// The type of the contexts that are asked about: the one that is named, that the event is for, or whose fields are named.
fn context(
    args: &TraceArgs,
    program: &Program,
    on: &[usize],
    texts: &[&str],
) -> Result<Option<usize>, Failure> {
    let contexts = &program.contexts;
    if let Some(name) = &args.context {
        let found = contexts.iter().position(|c| c.name == *name);
        let wrong = || unknown(program.file.raw(), "context", name, contexts.iter().map(|c| c.name.as_str()));
        return found.map(Some).ok_or_else(wrong);
    }
    if texts.is_empty() {
        return Ok(None);
    }
    let names: Vec<String> = texts.iter().flat_map(|text| names(text)).collect();
    if let Some(found) = contexts.iter().position(|c| names.contains(&c.name)) {
        return Ok(Some(found));
    }
    let of_event = |event: &usize| program.chains[*event].as_ref().and_then(|chain| chain.context);
    if let Some(ctx) = on.iter().find_map(of_event) {
        return Ok(Some(ctx.index()));
    }
    let known = |c: &ContextDef| names.iter().filter(|name| has(c, name)).count();
    if let (true, Some(ctx)) = (contexts.iter().all(|c| known(c) == 0), misspelt(contexts, &names)) {
        return Ok(Some(ctx));
    }
    let most = contexts.iter().map(known).max().unwrap_or(0);
    let mut best = contexts.iter().enumerate().filter(|(_, c)| known(c) == most).map(|(at, _)| at);
    match (best.next(), best.next()) {
        (Some(only), None) => Ok(Some(only)),
        (None, _) => Err(Failure::Usage(format!("{} has no context", program.file.raw()))),
        _ => {
            let all: Vec<&str> = contexts.iter().map(|c| c.name.as_str()).collect();
            Err(Failure::Usage(format!(
                "say which contexts are meant: --context {}",
                all.join(", or --context ")
            )))
        }
    }
}

/// The context that has a field of nearly such a name: the checker says the rest.
fn misspelt(contexts: &[ContextDef], names: &[String]) -> Option<usize> {
    let near =
        |c: &ContextDef, name: &str| nearest(name, c.declared_fields().map(|f| f.name.as_str())).is_some();
    contexts.iter().position(|c| names.iter().any(|name| near(c, name)))
}

fn has(context: &ContextDef, name: &str) -> bool {
    context.declared_fields().any(|f| f.name == name) || context.timers.iter().any(|t| t.base() == name)
}

/// The names in a text, but for those of fields behind a point.
fn names(text: &str) -> Vec<String> {
    let (tokens, _) = lex(text);
    let behind_point = |at: usize| at > 0 && tokens[at - 1].kind == TokenKind::Punct(".");
    let found = tokens.iter().enumerate().filter(|(at, t)| t.kind == TokenKind::Ident && !behind_point(*at));
    found.map(|(_, t)| text[t.span.start as usize..t.span.end as usize].to_owned()).collect()
}

/// The questions as the simulator asks them.
fn asks(program: &Program, questions: Vec<Question>) -> Result<Vec<Ask>, LoadError> {
    let ask = |question: Question| {
        if let Some(what) = beyond_traces(&question, program) {
            let text = format!("`{}` uses {what}, which traces do not contain", question.text);
            return Err(Failure::Usage(text).into());
        }
        Ok(Ask { text: question.text, function: question.function })
    };
    questions.into_iter().map(ask).collect()
}
