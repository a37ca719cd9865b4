// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is compared with what: processors of the same names, or whole chains where these have others.

use carrick_ir::{Chain, FuncId, Program};

use super::names::Names;
use super::report::Declared;
use super::texts::Texts;
use crate::instr::rebinds;

/// Functions of both versions that run one after the other.
#[derive(Debug)]
pub(super) struct Pair {
    pub name: String,
    /// the events in whose chains they are
    pub events: Vec<String>,
    pub old: Vec<FuncId>,
    pub new: Vec<FuncId>,
    pub same_text: bool,
    /// nothing of the chain is before it
    pub first: bool,
    /// nothing of the chain follows
    pub last: bool,
    /// the id of the event is that of its context
    pub same_id: bool,
}

/// All pairs, and chains that differ in more than their processors.
pub(super) fn all(old: &Program, new: &Program, names: &Names, texts: &Texts) -> (Vec<Pair>, Vec<Declared>) {
    let mut found =
        Found { old, new, names, texts, rebinds: rebinds(old) || rebinds(new), pairs: Vec::new() };
    let mut declared = Vec::new();
    for (event, chain) in chains(old) {
        let event = names.new_name(event);
        let other = chains(new).find(|(name, _)| *name == event).map(|(_, chain)| chain);
        let (head, frame) = (format!("chain {event}"), names.translate(&frame(old, chain)));
        let other_frame = other.map(|other| self::frame(new, other));
        if other_frame.as_ref() != Some(&frame) {
            declared.push(Declared { head, old: Some(frame), new: other_frame, outside: true });
        } else if let Some(other) = other {
            found.lists(event, chain, other);
        }
    }
    let is_old = |event: &str| chains(old).any(|(name, _)| names.new_name(name) == event);
    for (event, chain) in chains(new).filter(|(event, _)| !is_old(event)) {
        let (head, new) = (format!("chain {event}"), Some(frame(new, chain)));
        declared.push(Declared { head, old: None, new, outside: true });
    }
    declared.extend(found.parsers());
    (found.pairs, declared)
}

/// The chains, by event.
fn chains(program: &Program) -> impl Iterator<Item = (&str, &Chain)> {
    let all = program.events.iter().zip(&program.chains);
    all.filter_map(|(event, chain)| Some((event.name.as_str(), chain.as_ref()?)))
}

/// What a chain works on, in words.
fn frame(program: &Program, chain: &Chain) -> String {
    let name = |ctx: &carrick_ir::CtxId| program.contexts[ctx.index()].name.clone();
    let context = chain.context.as_ref().map(|ctx| format!("on {}", name(ctx)));
    let mut text = context.unwrap_or_else(|| "on no context".to_owned());
    if !chain.fallback.is_empty() {
        text += &format!(", else found by {:?}", chain.fallback);
    }
    for shared in &chain.shared {
        text += &format!(", sharing {} by parts {:?}", name(&shared.context), shared.parts);
    }
    let mut globals: Vec<String> = chain.globals.iter().map(name).collect();
    globals.sort();
    text.extend(globals.iter().map(|global| format!(", with {global}")));
    if chain.absent.is_some() {
        text += ", also where it is absent";
    }
    text
}

struct Found<'a> {
    old: &'a Program,
    new: &'a Program,
    names: &'a Names,
    texts: &'a Texts,
    rebinds: bool,
    pairs: Vec<Pair>,
}

impl Found<'_> {
    fn new_name(&self, func: FuncId) -> &str {
        &self.new.functions[func.index()].name
    }

    fn is_named_alike(&self, old: FuncId, new: FuncId) -> bool {
        self.names.new_name(&self.old.functions[old.index()].name) == self.new_name(new)
    }

    fn lists(&mut self, event: &str, old: &Chain, new: &Chain) {
        let by_id = old.fallback.is_empty();
        self.list(event, (&old.present, &new.present), by_id, "");
        if let (Some(old), Some(new)) = (&old.absent, &new.absent) {
            self.list(event, (old, new), false, " without its context");
        }
    }

    fn list(&mut self, event: &str, (old, new): (&[FuncId], &[FuncId]), by_id: bool, how: &str) {
        let alike =
            old.len() == new.len() && old.iter().zip(new).all(|(old, new)| self.is_named_alike(*old, *new));
        if !alike {
            self.pairs.push(Pair {
                name: format!("the chain of {event}{how}"),
                events: vec![event.to_owned()],
                old: old.to_vec(),
                new: new.to_vec(),
                same_text: false,
                first: true,
                last: true,
                same_id: by_id,
            });
            return;
        }
        let both = old.len();
        for (at, (old, new)) in old.iter().zip(new).enumerate() {
            let ends = (at == 0, at + 1 == both);
            self.processor(event, (*old, *new), ends, by_id && (at == 0 || !self.rebinds));
        }
    }

    fn processor(
        &mut self,
        event: &str,
        (old, new): (FuncId, FuncId),
        (first, last): (bool, bool),
        same_id: bool,
    ) {
        if let Some(known) = self.pairs.iter_mut().find(|pair| pair.old == [old] && pair.new == [new]) {
            known.events.push(event.to_owned());
            known.same_id &= same_id;
            known.first &= first;
            known.last &= last;
            return;
        }
        let name = self.new_name(new).to_owned();
        let same_text = self.texts.is_same(&name);
        self.pairs.push(Pair {
            same_text,
            name,
            events: vec![event.to_owned()],
            old: vec![old],
            new: vec![new],
            first,
            last,
            same_id,
        });
    }

    /// The parsers; what is declared of one that only one version has.
    fn parsers(&mut self) -> Option<Declared> {
        for (old, new) in self.old.parsers().zip(self.new.parsers()) {
            let name = self.new_name(new).to_owned();
            let same_text = self.is_named_alike(old, new) && self.texts.is_same(&name);
            self.pairs.push(Pair {
                name,
                events: Vec::new(),
                old: vec![old],
                new: vec![new],
                same_text,
                first: true,
                last: true,
                same_id: false,
            });
        }
        let named = |program: &Program, parser: Option<FuncId>| {
            parser.map(|parser| program.functions[parser.index()].name.clone())
        };
        let (old, new) = (named(self.old, self.old.report_parser), named(self.new, self.new.report_parser));
        (old.is_some() != new.is_some()).then(|| Declared {
            head: "report parser".to_owned(),
            old,
            new,
            outside: true,
        })
    }
}
