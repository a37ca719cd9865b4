// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of which nothing is known but their type, and a type's initial values.

use carrick_ir::{BpFieldKind, BpId, CtxId, Expr, FieldDef, NetField, Ty};
use carrick_solve::Term;

use crate::layout;
use crate::machine::{Frame, Machine};
use crate::path::End;
use crate::value::{Array, Base, OpenList, OpenWindow, Value, Window, is_long};

/// What the network layer writes into a header that says nothing of it (RFC 1700).
const DEFAULT_TTL: u128 = 64;

/// Full lists of more elements are not looked at.
const FULL_MAX: u32 = 16;

/// An array of so many equal elements.
fn array_of(element: Value, of: &Ty, len: u32, width: u8) -> Value {
    match element {
        Value::Scalar(value) if is_long(of, len) => {
            Value::Array(Array { base: Base::Same(value), len, width, writes: Vec::new() })
        }
        element => Value::Record(vec![element; len as usize]),
    }
}

impl<'p> Machine<'p> {
    /// A variable for a scalar of this type.
    pub(crate) fn variable(&mut self, name: String, ty: &Ty) -> Term {
        let (width, _) = layout::shape(self.program, ty);
        self.variable_of(name, ty, width)
    }

    pub(crate) fn variable_of(&mut self, name: String, ty: &Ty, width: u8) -> Term {
        self.types.push((self.program, ty.clone()));
        self.path.var(name, width)
    }

    /// The variable of this name that was made for the same occasion on an earlier path, or a new one.
    pub(crate) fn fresh(&mut self, what: &str, ty: &Ty, width: u8) -> Term {
        let at = self.occasion(what);
        let key = (what.to_owned(), at, width);
        if let Some(known) = self.fresh_known.get(&key) {
            return *known;
        }
        let term = self.variable_of(format!("{what} ({at})"), ty, width);
        self.fresh_known.insert(key, term);
        term
    }

    /// Which occasion of this name it is on the path.
    pub(crate) fn occasion(&mut self, what: &str) -> u32 {
        match self.fresh_used.get_mut(what) {
            Some(used) => {
                *used += 1;
                *used
            }
            None => {
                self.fresh_used.insert(what.to_owned(), 0);
                0
            }
        }
    }

    fn each(&mut self, fields: &[FieldDef], name: &str) -> Vec<Value> {
        fields.iter().map(|field| self.any(&field.ty, &format!("{name}.{}", field.name))).collect()
    }

    /// Any value of a type. Lists and windows are open: [`Machine::settle`] decides their lengths on each path.
    pub(crate) fn any(&mut self, ty: &Ty, name: &str) -> Value {
        let program = self.program;
        match ty {
            Ty::Struct(s) => Value::Record(self.each(&program.structs[s.index()].fields, name)),
            Ty::Scratch(s) => Value::Record(self.each(&program.scratchpads[s.index()].fields, name)),
            Ty::Id(id) => Value::Record(self.each(&program.ids[id.index()].parts, name)),
            Ty::Array(of, n) if is_long(of, *n) => self.any_array(of, *n, name),
            Ty::Array(of, n) => {
                Value::Record((0..*n).map(|i| self.any(of, &format!("{name}[{i}]"))).collect())
            }
            Ty::List(of, most, _) => self.any_list(of, *most, name),
            Ty::Wnd { size, .. } => {
                let head = self.variable(format!("{name}.head"), &Ty::Seq32);
                let count = self.variable_of(format!("{name}.ranges"), &Ty::U32, 32);
                let range = |m: &mut Self, i, end| m.variable(format!("{name}[{i}].{end}"), &Ty::U64);
                let ranges =
                    (0..self.bounds.k).map(|i| (range(self, i, "from"), range(self, i, "to"))).collect();
                Value::OpenWindow(Box::new(OpenWindow {
                    count,
                    size: *size,
                    window: Window { head, ranges },
                }))
            }
            Ty::Addr => {
                let there = self.variable(format!("{name}.is_memory"), &Ty::Bool);
                Value::Addr(there, self.variable(format!("{name}.len"), &Ty::Bytes))
            }
            Ty::Event(event) => {
                let def = &program.events[event.index()];
                let mut parts = self.each(&def.fields, name);
                parts.push(Value::Scalar(self.variable(format!("{name}.token"), &Ty::Token)));
                parts.push(match def.id {
                    Some(id) => self.any(&Ty::Id(id), &format!("{name}.id")),
                    None => Value::Nothing,
                });
                Value::Record(parts)
            }
            Ty::Context(context) => self.any_context(*context, name),
            Ty::NetHeader => {
                let fields = &program.net_header.fields;
                Value::Record(fields.iter().map(|f| self.any(&f.ty, &format!("{name}.{}", f.name))).collect())
            }
            Ty::Blueprint(_) => self.zero(ty),
            Ty::Void | Ty::Packet => Value::Nothing,
            ty => Value::Scalar(self.any_scalar(ty, name)),
        }
    }

    fn any_scalar(&mut self, ty: &Ty, name: &str) -> Term {
        let term = self.variable(name.to_owned(), ty);
        let limit = match ty {
            Ty::Enum(e) => {
                let values: Vec<u64> = self.program.enums[e.index()].variants.iter().map(|v| v.1).collect();
                let any = values.into_iter().map(|value| self.is(term, value)).collect::<Vec<_>>();
                let never = self.path.terms.truth(false);
                any.into_iter().fold(never, |any, one| self.path.terms.or(any, one))
            }
            Ty::Status => {
                let count = self.path.terms.constant(carrick_ir::STATUS_NAMES.len() as u128, 8);
                self.path.terms.ult(term, count)
            }
            _ => return term,
        };
        self.given.push(limit);
        term
    }

    pub(crate) fn is(&mut self, term: Term, value: u64) -> Term {
        let width = self.path.terms.width(term);
        let value = self.path.terms.constant(value.into(), width);
        self.path.terms.equal(term, value)
    }

    fn any_list(&mut self, of: &Ty, most: u32, name: &str) -> Value {
        let k = self.bounds.k.min(most as usize);
        let mut lengths: Vec<usize> = (0..=k).collect();
        // What is added to a full list is lost: that is a case of its own.
        if self.grows && most as usize > k && most <= FULL_MAX {
            lengths.push(most as usize);
        }
        let count = lengths[lengths.len() - 1];
        let len = self.variable_of(format!("{name}.len"), &Ty::U32, 32);
        let elements = (0..count).map(|i| self.any(of, &format!("{name}[{i}]"))).collect();
        Value::OpenList(Box::new(OpenList { len, lengths, elements }))
    }

    fn any_context(&mut self, context: CtxId, name: &str) -> Value {
        let def = &self.program.contexts[context.index()];
        let mut parts = self.each(&def.fields, name);
        parts.push(self.any(&Ty::Id(def.id), &format!("{name}.id")));
        let mut scalar = |m: &mut Self, part: &str, ty: &Ty| {
            let term = m.variable(format!("{name}.{part}"), ty);
            parts.push(Value::Scalar(term));
        };
        scalar(self, "handle", &Ty::Handle);
        scalar(self, "tx_room", &Ty::Bytes);
        scalar(self, "rx_size", &Ty::Bytes);
        for timer in &def.timers {
            scalar(self, &format!("{} runs", timer.name), &Ty::Bool);
        }
        Value::Record(parts)
    }

    /// Decides how long the lists are, and how many ranges the windows have.
    pub(crate) fn settle(&mut self, value: &mut Value) -> Result<(), End> {
        match value {
            Value::Record(parts) | Value::List(parts) => {
                parts.iter_mut().try_for_each(|part| self.settle(part))
            }
            Value::OpenList(open) => {
                let len = self.choose_count(open.len, &open.lengths)?;
                let mut elements = open.elements[..len].to_vec();
                elements.iter_mut().try_for_each(|element| self.settle(element))?;
                *value = Value::List(elements);
                Ok(())
            }
            Value::OpenWindow(open) => {
                let counts: Vec<usize> = (0..=open.window.ranges.len()).collect();
                let count = self.choose_count(open.count, &counts)?;
                let (size, head) = (open.size, open.window.head);
                let ranges = open.window.ranges[..count].to_vec();
                self.assume_ranges(&ranges, size)?;
                *value = Value::Window(Window { head, ranges });
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn choose_count(&mut self, count: Term, of: &[usize]) -> Result<usize, End> {
        let (last, before) = of.split_last().unwrap_or((&0, &[]));
        for &n in before {
            let is = self.is(count, n as u64);
            if self.path.branch(is) {
                return Ok(n);
            }
        }
        let is = self.is(count, *last as u64);
        self.path.assume(is)?;
        Ok(*last)
    }

    /// Ranges are ascending, apart from each other, and within the window.
    fn assume_ranges(&mut self, ranges: &[(Term, Term)], size: u64) -> Result<(), End> {
        let terms = &mut self.path.terms;
        let size = terms.constant(size.into(), 64);
        let mut conditions = Vec::new();
        for (i, (from, to)) in ranges.iter().enumerate() {
            conditions.push(terms.ult(*from, *to));
            let beyond = terms.ult(size, *to);
            conditions.push(terms.not(beyond));
            if let Some((_, before)) = i.checked_sub(1).map(|i| ranges[i]) {
                conditions.push(terms.ult(before, *from));
            }
        }
        conditions.into_iter().try_for_each(|cond| self.path.assume(cond))
    }

    /// Zeros.
    pub(crate) fn zero(&mut self, ty: &Ty) -> Value {
        let program = self.program;
        let mut all = |fields: &[FieldDef]| Value::Record(fields.iter().map(|f| self.zero(&f.ty)).collect());
        match ty {
            Ty::Struct(s) => all(&program.structs[s.index()].fields),
            Ty::Scratch(s) => all(&program.scratchpads[s.index()].fields),
            Ty::Id(id) => all(&program.ids[id.index()].parts),
            Ty::Array(of, n) => {
                let element = self.zero(of);
                array_of(element, of, *n, self.width(of))
            }
            Ty::List(..) => Value::List(Vec::new()),
            Ty::Wnd { .. } => Value::Window(Window { head: self.number(0, 32), ranges: Vec::new() }),
            Ty::Addr => Value::Addr(self.number(0, 1), self.number(0, 64)),
            Ty::Event(event) => {
                let def = &program.events[event.index()];
                let mut parts: Vec<Value> = def.fields.iter().map(|f| self.zero(&f.ty)).collect();
                parts.push(Value::Scalar(self.number(0, 64)));
                parts.push(def.id.map_or(Value::Nothing, |id| self.zero(&Ty::Id(id))));
                Value::Record(parts)
            }
            Ty::Context(context) => {
                let mut parts: Vec<Value> =
                    program.contexts[context.index()].fields.iter().map(|f| self.zero(&f.ty)).collect();
                self.complete_context(*context, &mut parts);
                Value::Record(parts)
            }
            Ty::Blueprint(bp) => self.zero_blueprint(*bp),
            Ty::NetHeader => {
                Value::Record(program.net_header.fields.iter().map(|f| self.zero(&f.ty)).collect())
            }
            Ty::Void | Ty::Packet => Value::Nothing,
            ty => {
                let width = layout::shape(program, ty).0;
                Value::Scalar(self.number(0, width))
            }
        }
    }

    /// Adds an id, a handle and units to the fields of a context that nothing was done with yet.
    fn complete_context(&mut self, context: CtxId, parts: &mut Vec<Value>) {
        let def = &self.program.contexts[context.index()];
        parts.push(self.zero(&Ty::Id(def.id)));
        parts.extend([64, 64, 64].map(|width| Value::Scalar(self.number(0, width))));
        parts.extend(def.timers.iter().map(|_| Value::Scalar(self.number(0, 1))));
    }

    fn zero_blueprint(&mut self, bp: BpId) -> Value {
        let program = self.program;
        let mut parts: Vec<Value> =
            program.blueprints[bp.index()].fields.iter().map(|f| self.zero(&f.ty)).collect();
        let mut options = Vec::new();
        for opt in layout::members(program, bp) {
            let def = &program.opts[opt.index()];
            let mut option = vec![Value::Scalar(self.number(0, 1))];
            option.extend(def.fields.iter().map(|f| self.zero(&f.ty)));
            option.extend(def.list.as_ref().map(|_| Value::List(Vec::new())));
            options.push(Value::Record(option));
        }
        parts.push(Value::Record(options));
        parts.push(self.zero(&Ty::NetHeader));
        let len = Value::Scalar(self.number(0, 64));
        let (from, frames) = (Value::Nothing, Value::List(Vec::new()));
        parts.push(Value::Record(vec![len, self.zero(&Ty::Addr), from, frames]));
        Value::Record(parts)
    }

    /// What a value of a type is at first.
    pub(crate) fn initial(&mut self, ty: &'p Ty) -> Result<Value, End> {
        let program = self.program;
        Ok(match ty {
            Ty::Struct(s) => Value::Record(self.initial_fields(&program.structs[s.index()].fields)?),
            Ty::Scratch(s) => Value::Record(self.initial_fields(&program.scratchpads[s.index()].fields)?),
            Ty::Array(of, n) => {
                let element = self.initial(of)?;
                array_of(element, of, *n, self.width(of))
            }
            Ty::Event(event) => {
                let def = &program.events[event.index()];
                let mut parts = self.initial_fields(&def.fields)?;
                parts.push(Value::Scalar(self.number(0, 64)));
                parts.push(def.id.map_or(Value::Nothing, |id| self.zero(&Ty::Id(id))));
                Value::Record(parts)
            }
            Ty::Context(context) => self.initial_context(*context)?,
            Ty::Blueprint(bp) => self.initial_blueprint(*bp)?,
            ty => self.zero(ty),
        })
    }

    fn initial_fields(&mut self, fields: &'p [FieldDef]) -> Result<Vec<Value>, End> {
        let one = |field: &'p FieldDef| match &field.init {
            Some(init) => self.outside(init),
            None => self.initial(&field.ty),
        };
        fields.iter().map(one).collect()
    }

    /// An expression outside of functions.
    pub(crate) fn outside(&mut self, e: &'p Expr) -> Result<Value, End> {
        self.eval(e, &mut Frame::default())
    }

    fn initial_blueprint(&mut self, bp: BpId) -> Result<Value, End> {
        let Value::Record(mut parts) = self.zero_blueprint(bp) else { return Ok(Value::Nothing) };
        let program = self.program;
        for (at, field) in program.blueprints[bp.index()].fields.iter().enumerate() {
            if let BpFieldKind::Plain { init: Some(init) } = &field.kind {
                parts[at] = self.outside(init)?;
            }
        }
        let mut net = Vec::new();
        for field in &program.net_header.fields {
            net.push(match &field.init {
                Some(init) => self.outside(init)?,
                None if field.field == NetField::Ttl => {
                    let width = layout::shape(program, &field.ty).0;
                    Value::Scalar(self.number(DEFAULT_TTL, width))
                }
                None => self.zero(&field.ty),
            });
        }
        parts[layout::net(program, bp)] = Value::Record(net);
        Ok(Value::Record(parts))
    }

    pub(crate) fn number(&mut self, value: u128, width: u8) -> Term {
        self.path.terms.constant(value, width)
    }
}

impl Machine<'_> {
    /// The first values of a scratchpad.
    pub(crate) fn initial_scratch(&mut self, scratchpad: carrick_ir::ScratchId) -> Result<Value, End> {
        let fields = &self.program.scratchpads[scratchpad.index()].fields;
        Ok(Value::Record(self.initial_fields(fields)?))
    }

    /// The first values of a context.
    pub(crate) fn initial_context(&mut self, context: CtxId) -> Result<Value, End> {
        let mut parts = self.initial_fields(&self.program.contexts[context.index()].fields)?;
        self.complete_context(context, &mut parts);
        Ok(Value::Record(parts))
    }
}
