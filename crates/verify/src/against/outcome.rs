// SPDX-License-Identifier: MIT OR Apache-2.0
//! What came of a path in each version, and what of it is not the same.

use carrick_ir::{BpId, Program, Ty};
use carrick_solve::Term;
use rustc_hash::FxHashSet;

use super::names::Names;

use crate::layout::{self, parts_of};
use crate::machine::{Machine, Made, unsupported};
use crate::path::End;
use crate::report::written;
use crate::value::{Array, Effect, Value};

/// What a version begins with.
#[derive(Debug)]
pub(super) struct Side<'p> {
    pub program: &'p Program,
    /// what its functions are given, by type
    pub objects: Vec<(Ty, usize)>,
    pub number: usize,
}

/// What a version has done on a path.
#[derive(Debug)]
pub(super) struct Outcome<'p> {
    pub program: &'p Program,
    pub objects: Vec<(Ty, usize)>,
    pub effects: Vec<Effect>,
    pub deleted: FxHashSet<usize>,
    pub made: Vec<Made>,
    pub stopped: bool,
}

/// How a value is told.
#[derive(Debug, Clone)]
pub(super) enum Shown {
    Number(Ty, Term),
    Words(String),
}

impl Shown {
    pub(super) fn text(&self, program: &Program, value: &mut dyn FnMut(Term) -> u128) -> String {
        match self {
            Shown::Number(ty, term) => written(program, ty, value(*term)),
            Shown::Words(words) => words.clone(),
        }
    }
}

/// One number, or whether something is there.
#[derive(Debug)]
pub(super) struct Leaf {
    pub what: String,
    pub same: Term,
    pub shown: [Shown; 2],
}

/// A value, and of which type it is in which program.
#[derive(Clone, Copy)]
struct Of<'a> {
    program: &'a Program,
    ty: &'a Ty,
    value: &'a Value,
}

/// All that can be seen of both from outside.
pub(super) fn compare(
    machine: &mut Machine<'_>,
    names: &Names,
    last: bool,
    [old, new]: [&Outcome<'_>; 2],
    leaves: &mut Vec<Leaf>,
) -> Result<(), End> {
    let programs = [old.program, new.program];
    let mut comparing = Comparing { machine, names, programs, leaves };
    if !last {
        let does = |stopped: bool| if stopped { "stops" } else { "goes on" };
        comparing.words("the chain", does(old.stopped), does(new.stopped));
    }
    comparing.instructions(old, new)?;
    for (ty, object) in &old.objects {
        let name = names.translate(&carrick_ir::print::type_name(old.program, ty));
        let Some((other_ty, other)) =
            new.objects.iter().find(|(ty, _)| carrick_ir::print::type_name(new.program, ty) == name)
        else {
            continue;
        };
        let is_context = matches!(ty, Ty::Context(_));
        let is = |deleted: bool| if deleted { "deleted" } else { "stays" };
        let gone = (old.deleted.contains(object), new.deleted.contains(other));
        if is_context {
            comparing.words(&name, is(gone.0), is(gone.1));
        }
        // Nobody sees them behind the chain.
        if last && (!is_context || gone == (true, true)) {
            continue;
        }
        let (value, other_value) =
            (comparing.machine.heap[*object].clone(), comparing.machine.heap[*other].clone());
        let of = Of { program: old.program, ty, value: &value };
        comparing.values(&name, of, Of { program: new.program, ty: other_ty, value: &other_value })?;
    }
    comparing.made(old, new)
}

struct Comparing<'a, 'm, 'p> {
    machine: &'m mut Machine<'p>,
    names: &'a Names,
    programs: [&'a Program; 2],
    leaves: &'a mut Vec<Leaf>,
}

impl Comparing<'_, '_, '_> {
    fn words(&mut self, what: &str, old: &str, new: &str) {
        if old != new {
            let same = self.machine.path.terms.truth(false);
            let shown = [old, new].map(|words| Shown::Words(words.to_owned()));
            self.leaves.push(Leaf { what: what.to_owned(), same, shown });
        }
    }

    fn instructions(&mut self, old: &Outcome<'_>, new: &Outcome<'_>) -> Result<(), End> {
        let listed =
            |words: Vec<String>| if words.is_empty() { "nothing".to_owned() } else { words.join(", ") };
        let words = listed(old.effects.iter().map(|e| self.names.translate(&e.what)).collect());
        let other_words = listed(new.effects.iter().map(|e| e.what.clone()).collect());
        if words != other_words {
            self.words("instructions", &words, &other_words);
            return Ok(());
        }
        for (effect, other) in old.effects.iter().zip(&new.effects) {
            self.operands(&other.what, (old.program, effect), (new.program, other))?;
        }
        Ok(())
    }

    /// Of an instruction, or of where bytes come from.
    fn operands(
        &mut self,
        what: &str,
        (old, effect): (&Program, &Effect),
        (new, other): (&Program, &Effect),
    ) -> Result<(), End> {
        let names =
            |effect: &Effect| effect.parts.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ");
        let (all, others) = (names(effect), names(other));
        if all != others {
            self.words(&format!("operands of {what}"), &all, &others);
            return Ok(());
        }
        for ((name, ty, value), (_, other_ty, other_value)) in effect.parts.iter().zip(&other.parts) {
            let of = Of { program: old, ty, value };
            let other = Of { program: new, ty: other_ty, value: other_value };
            self.values(&format!("{what}: {name}"), of, other)?;
        }
        Ok(())
    }

    /// Where the bytes of two packets come from.
    fn sources(
        &mut self,
        what: &str,
        (old, from): (&Program, &Value),
        (new, other): (&Program, &Value),
    ) -> Result<(), End> {
        match (from, other) {
            (Value::Source(from), Value::Source(other)) => {
                let words = self.names.translate(&from.what);
                if words != other.what {
                    self.words(what, &words, &other.what);
                    return Ok(());
                }
                self.operands(&format!("{what}: {words}"), (old, from), (new, other))
            }
            (Value::List(all), Value::List(others)) if all.len() == others.len() => {
                all.iter().zip(others).try_for_each(|(a, b)| self.sources(what, (old, a), (new, b)))
            }
            (Value::List(all), Value::List(others)) => {
                self.words(what, &counted(all.len(), "frame"), &counted(others.len(), "frame"));
                Ok(())
            }
            (Value::Nothing, Value::Nothing) => Ok(()),
            (from, _) => {
                let is = |there: bool| if there { "a payload" } else { "no payload" };
                let there = *from != Value::Nothing;
                self.words(what, is(there), is(!there));
                Ok(())
            }
        }
    }

    fn made(&mut self, old: &Outcome<'_>, new: &Outcome<'_>) -> Result<(), End> {
        // That one more is made is an instruction, which is compared.
        for (made, other) in old.made.iter().zip(&new.made) {
            let (ty, other_ty) = (Ty::Context(made.context), Ty::Context(other.context));
            let (value, other_value) =
                (self.machine.heap[made.object].clone(), self.machine.heap[other.object].clone());
            let name = format!("new {}", carrick_ir::print::type_name(new.program, &other_ty));
            let of = Of { program: old.program, ty: &ty, value: &value };
            self.values(&name, of, Of { program: new.program, ty: &other_ty, value: &other_value })?;
        }
        Ok(())
    }

    fn values(&mut self, what: &str, old: Of<'_>, new: Of<'_>) -> Result<(), End> {
        match (old.value, new.value) {
            (Value::Nothing, Value::Nothing) => {}
            (Value::Scalar(a), Value::Scalar(b)) => self.numbers(what, (old.ty, *a), (new.ty, *b)),
            (Value::Addr(a, len), Value::Addr(b, other)) => {
                self.numbers(&format!("{what} is memory"), (&Ty::Bool, *a), (&Ty::Bool, *b));
                self.numbers(&format!("length of {what}"), (&Ty::Bytes, *len), (&Ty::Bytes, *other));
            }
            (Value::Record(a), Value::Record(b)) => self.records(what, (old, a), (new, b))?,
            (Value::List(a), Value::List(b)) => {
                let elements = |list: &[Value]| counted(list.len(), "element");
                self.words(what, &elements(a), &elements(b));
                if a.len() == b.len() {
                    self.elements(what, (old, a), (new, b))?;
                }
            }
            (Value::Window(a), Value::Window(b)) => {
                self.numbers(&format!("{what}.head"), (&Ty::Seq32, a.head), (&Ty::Seq32, b.head));
                self.words(what, &counted(a.ranges.len(), "range"), &counted(b.ranges.len(), "range"));
                for (at, (a, b)) in a.ranges.iter().zip(&b.ranges).enumerate() {
                    self.numbers(&format!("{what}[{at}].from"), (&Ty::U64, a.0), (&Ty::U64, b.0));
                    self.numbers(&format!("{what}[{at}].to"), (&Ty::U64, a.1), (&Ty::U64, b.1));
                }
            }
            (Value::Array(a), Value::Array(b)) => self.arrays(what, (old.ty, a), (new.ty, b))?,
            _ => return Err(unsupported(&format!("a value of two forms in `{what}`"))),
        }
        Ok(())
    }

    fn numbers(&mut self, what: &str, (ty, a): (&Ty, Term), (other, b): (&Ty, Term)) {
        let (shape, other_shape) =
            (layout::shape(self.programs[0], ty), layout::shape(self.programs[1], other));
        let terms = &mut self.machine.path.terms;
        let (width, other_width) = (terms.width(a), terms.width(b));
        // Numbers of other types are the same if their values are.
        let wide = width.max(other_width) + u8::from(shape != other_shape && width.max(other_width) < 128);
        let (wide_a, wide_b) = (terms.resize(a, wide, shape.1), terms.resize(b, wide, other_shape.1));
        let same = terms.equal(wide_a, wide_b);
        if terms.as_constant(same) != Some(1) {
            let shown = [Shown::Number(ty.clone(), a), Shown::Number(other.clone(), b)];
            self.leaves.push(Leaf { what: what.to_owned(), same, shown });
        }
    }

    fn elements(
        &mut self,
        what: &str,
        (old, a): (Of<'_>, &[Value]),
        (new, b): (Of<'_>, &[Value]),
    ) -> Result<(), End> {
        let (Ty::List(of, ..) | Ty::Array(of, _), Ty::List(other, ..) | Ty::Array(other, _)) =
            (old.ty, new.ty)
        else {
            return Err(unsupported(&format!("a value of two forms in `{what}`")));
        };
        if a.len() != b.len() {
            self.words(what, &counted(a.len(), "element"), &counted(b.len(), "element"));
        }
        for (at, (a, b)) in a.iter().zip(b).enumerate() {
            let (old, new) = (Of { ty: of, value: a, ..old }, Of { ty: other, value: b, ..new });
            self.values(&format!("{what}[{at}]"), old, new)?;
        }
        Ok(())
    }

    /// Parts of the same name; what only one version has is a declaration that differs.
    fn records(
        &mut self,
        what: &str,
        (old, a): (Of<'_>, &[Value]),
        (new, b): (Of<'_>, &[Value]),
    ) -> Result<(), End> {
        if let (Ty::Blueprint(bp), Ty::Blueprint(other)) = (old.ty, new.ty) {
            return self.blueprints(what, (old.program, *bp, a), (new.program, *other, b));
        }
        if matches!(old.ty, Ty::Array(..)) {
            return self.elements(what, (old, a), (new, b));
        }
        let (parts, others) = (parts_of(old.program, old.ty), parts_of(new.program, new.ty));
        if parts.len() != a.len() || others.len() != b.len() {
            return Err(unsupported(&format!("a value without names in `{what}`")));
        }
        for (at, (name, ty)) in parts.iter().enumerate() {
            let name = self.names.new_name(name).to_owned();
            if let Some(other) = others.iter().position(|(other, _)| *other == name) {
                let (old, new) =
                    (Of { ty, value: &a[at], ..old }, Of { ty: &others[other].1, value: &b[other], ..new });
                self.values(&format!("{what}.{name}"), old, new)?;
            }
        }
        Ok(())
    }

    fn blueprints(
        &mut self,
        what: &str,
        (old, bp, a): (&Program, BpId, &[Value]),
        (new, other, b): (&Program, BpId, &[Value]),
    ) -> Result<(), End> {
        let (fields, others) = (&old.blueprints[bp.index()].fields, &new.blueprints[other.index()].fields);
        for (at, field) in fields.iter().enumerate() {
            let name = self.names.new_name(&field.name).to_owned();
            let Some(to) = others.iter().position(|other| other.name == name) else { continue };
            let of = Of { program: old, ty: &field.ty, value: &a[at] };
            self.values(
                &format!("{what}.{name}"),
                of,
                Of { program: new, ty: &others[to].ty, value: &b[to] },
            )?;
        }
        self.options(
            what,
            (old, bp, &a[layout::options(old, bp)]),
            (new, other, &b[layout::options(new, other)]),
        )?;
        let (net, other_net) = (&a[layout::net(old, bp)], &b[layout::net(new, other)]);
        let of = Of { program: old, ty: &Ty::NetHeader, value: net };
        self.values(what, of, Of { program: new, ty: &Ty::NetHeader, value: other_net })?;
        if let (Value::Record(a), Value::Record(b)) =
            (&a[layout::payload(old, bp)], &b[layout::payload(new, other)])
            && let ([Value::Scalar(a), _, from, frames], [Value::Scalar(b), _, other_from, other_frames]) =
                (&a[..], &b[..])
        {
            self.numbers(&format!("{what}: length of the payload"), (&Ty::Bytes, *a), (&Ty::Bytes, *b));
            self.sources(&format!("{what}: payload"), (old, from), (new, other_from))?;
            self.sources(&format!("{what}: payload"), (old, frames), (new, other_frames))?;
        }
        Ok(())
    }

    fn options(
        &mut self,
        what: &str,
        (old, bp, a): (&Program, BpId, &Value),
        (new, other, b): (&Program, BpId, &Value),
    ) -> Result<(), End> {
        let (Value::Record(a), Value::Record(b)) = (a, b) else { return Ok(()) };
        for (at, opt) in layout::members(old, bp).iter().enumerate() {
            let def = &old.opts[opt.index()];
            let name = self.names.new_name(&def.name);
            let to = layout::members(new, other).iter().position(|opt| new.opts[opt.index()].name == name);
            let (Some(to), Value::Record(a)) = (to, &a[at]) else { continue };
            let Value::Record(b) = &b[to] else { continue };
            let other = &new.opts[layout::members(new, other)[to].index()];
            let tys = |def: &carrick_ir::OptDef| {
                let fields = def.fields.iter().map(|f| (f.name.clone(), f.ty.clone()));
                let list = def.list.as_ref().map(|list| (list.name.clone(), list.ty()));
                [("is there".to_owned(), Ty::Bool)].into_iter().chain(fields).chain(list).collect::<Vec<_>>()
            };
            for ((part, ty), (a, ((_, other_ty), b))) in
                tys(def).iter().zip(a.iter().zip(tys(other).iter().zip(b)))
            {
                let of = Of { program: old, ty, value: a };
                self.values(
                    &format!("{what}.{name} {part}"),
                    of,
                    Of { program: new, ty: other_ty, value: b },
                )?;
            }
        }
        Ok(())
    }

    /// They are the same if any element is.
    fn arrays(&mut self, what: &str, (ty, a): (&Ty, &Array), (other, b): (&Ty, &Array)) -> Result<(), End> {
        let (Ty::Array(of, _), Ty::Array(other, _)) = (ty, other) else { return Ok(()) };
        if a == b {
            return Ok(());
        }
        let at = self.machine.fresh("which element", &Ty::U64, 64);
        let (a, b) = (self.machine.read_array(a, at)?, self.machine.read_array(b, at)?);
        self.numbers(&format!("{what}[...]"), (of, a), (other, b));
        Ok(())
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
