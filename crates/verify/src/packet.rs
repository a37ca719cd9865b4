// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blueprints: what is read from packets, and what is put into them.

use carrick_ir::{BpField, BpId, Expr, LocalId, OptId, Stmt, StmtKind, Ty};
use carrick_solve::Term;

use crate::layout;
use crate::machine::{Frame, Machine, unsupported};
use crate::path::End;
use crate::stmt::Flow;
use crate::value::{OpenList, Value};

/// No packet is longer.
const PACKET_MAX: u64 = u16::MAX as u64;

/// What a payload is made of, by name.
fn sources<'p, const N: usize>(
    exprs: [(&'static str, &'p Expr); N],
    mss: &'p Option<Expr>,
) -> Vec<(&'static str, &'p Expr)> {
    exprs.into_iter().chain(mss.as_ref().map(|mss| ("segments of", mss))).collect()
}

impl<'p> Machine<'p> {
    pub(crate) fn packet_stmt(&mut self, stmt: &'p Stmt, frame: &mut Frame) -> Result<Flow, End> {
        match &stmt.kind {
            StmtKind::SetFlowId { event, id } => {
                let id = self.eval(id, frame)?;
                let object = self.object(frame, *event)?;
                if let Some(Ty::Event(of)) = self.local_ty(frame, *event) {
                    *self.part_mut(object, layout::flow_id(self.program, *of))? = id;
                }
            }
            StmtKind::Extract { bp } => return self.extract(*bp, frame),
            StmtKind::SetPayload { bp, ctx, offset, len, mss } => {
                let what = format!("payload of {}", self.instance(*ctx, frame));
                let from = self.source(what, sources([("offset", offset), ("length", len)], mss), frame)?;
                let len = self.scalar(len, frame)?;
                self.set_payload(*bp, len, from, frame)?;
            }
            StmtKind::SetPayloadOf { bp, ctx, id, offset, len, mss } => {
                let what = format!("payload of a {}", self.program.contexts[ctx.index()].name);
                let exprs = sources([("id", id), ("offset", offset), ("length", len)], mss);
                let from = self.source(what, exprs, frame)?;
                self.eval(id, frame)?;
                let len = self.scalar(len, frame)?;
                // There may be no such instance.
                let found = self.fresh(&self.found_by(*ctx, &from), &Ty::Bool, 1);
                let nothing = self.number(0, 64);
                let len = self.path.terms.ite(found, len, nothing);
                self.set_payload(*bp, len, from, frame)?;
            }
            StmtKind::SetPayloadAt { bp, addr, len, mss } => {
                let what = "payload in memory".to_owned();
                let from = self.source(what, sources([("address", addr), ("length", len)], mss), frame)?;
                self.eval(addr, frame)?;
                let len = self.scalar(len, frame)?;
                self.set_payload(*bp, len, from, frame)?;
            }
            // Nothing reads the frames of a packet that is made.
            StmtKind::FrameAdd { bp, frame: local } => {
                if let Some(source) = self.frame_source(*local, frame) {
                    let at = layout::payload(self.program, self.blueprint_of(frame, *bp)?);
                    if let Value::Record(payload) = &mut self.parts(frame, *bp)?[at]
                        && let Some(Value::List(frames)) = payload.get_mut(3)
                    {
                        frames.push(source);
                    }
                }
            }
            StmtKind::OptAdd { bp, opt, args } => self.add_option(*bp, *opt, args, frame)?,
            _ => return Err(unsupported("a statement")),
        }
        Ok(Flow::Next)
    }

    /// What says whether there is an instance: where versions are compared, of each id by itself.
    fn found_by(&self, ctx: carrick_ir::CtxId, from: &Value) -> String {
        let name = self.called(&self.program.contexts[ctx.index()].name);
        match from {
            Value::Source(source) => {
                format!("an instance of {name} is found by {:?}", source.parts.first().map(|part| &part.2))
            }
            _ => "an instance is found".to_owned(),
        }
    }

    fn blueprint_of(&self, frame: &Frame, bp: LocalId) -> Result<BpId, End> {
        match self.local_ty(frame, bp) {
            Some(Ty::Blueprint(bp)) => Ok(*bp),
            _ => Err(unsupported("a blueprint inside another value")),
        }
    }

    fn parts<'f>(&self, frame: &'f mut Frame, bp: LocalId) -> Result<&'f mut Vec<Value>, End> {
        match &mut frame.locals[bp.index()] {
            Value::Record(parts) => Ok(parts),
            _ => Err(unsupported("a blueprint by reference")),
        }
    }

    fn set_payload(&mut self, bp: LocalId, len: Term, from: Value, frame: &mut Frame) -> Result<(), End> {
        let at = layout::payload(self.program, self.blueprint_of(frame, bp)?);
        let none = self.zero(&Ty::Addr);
        self.parts(frame, bp)?[at] =
            Value::Record(vec![Value::Scalar(len), none, from, Value::List(Vec::new())]);
        Ok(())
    }

    /// Whether a blueprint has an option.
    pub(crate) fn option_is_there(
        &mut self,
        frame: &mut Frame,
        bp: LocalId,
        opt: OptId,
    ) -> Result<Term, End> {
        let of = self.blueprint_of(frame, bp)?;
        let member = layout::member(self.program, of, opt);
        let options = &self.parts(frame, bp)?[layout::options(self.program, of)];
        if let (Value::Record(options), Some(member)) = (options, member)
            && let Value::Record(option) = &options[member]
            && let Value::Scalar(there) = option[0]
        {
            return Ok(there);
        }
        Err(unsupported("an option of another blueprint"))
    }

    fn add_option(
        &mut self,
        bp: LocalId,
        opt: OptId,
        args: &'p [Expr],
        frame: &mut Frame,
    ) -> Result<(), End> {
        let of = self.blueprint_of(frame, bp)?;
        let def = &self.program.opts[opt.index()];
        let member = layout::member(self.program, of, opt).ok_or_else(|| unsupported("an option"))?;
        let mut args = args.iter();
        let mut option = Vec::new();
        for field in &def.fields {
            let width = self.width(&field.ty);
            option.push(match (field.fixed, &mut args) {
                (Some(value), _) => Value::Scalar(self.number(value.into(), width)),
                (None, args) => match args.next() {
                    Some(arg) => self.eval(arg, frame)?,
                    None => self.zero(&field.ty),
                },
            });
        }
        let mut there = true;
        if let Some(list) = &def.list {
            let elements = match args.next() {
                Some(arg) => self.eval(arg, frame)?,
                None => Value::List(Vec::new()),
            };
            there = matches!(&elements, Value::List(of) if of.len() >= list.least as usize);
            option.push(elements);
        }
        option.insert(0, Value::Scalar(self.path.terms.truth(there)));
        let at = layout::options(self.program, of);
        if let Value::Record(options) = &mut self.parts(frame, bp)?[at] {
            options[member] = Value::Record(option);
        }
        Ok(())
    }

    /// Notes that a header is read. What stands in it depends on the headers before it: the words are another for others.
    fn next_header(&mut self, name: &str) -> String {
        let (before, count) = self.headers;
        let next = self.header_numbers.len() as u32 + 1;
        let number = *self.header_numbers.entry((before, name.to_owned())).or_insert(next);
        self.headers = (number, count + 1);
        if count == 0 { format!(" of {name}") } else { format!(" of {name}, header {}/{number}", count + 1) }
    }

    /// Any packet that the blueprint accepts; or one that it does not, which ends the parser.
    fn extract(&mut self, bp: LocalId, frame: &mut Frame) -> Result<Flow, End> {
        let of = self.blueprint_of(frame, bp)?;
        let def = &self.program.blueprints[of.index()];
        let behind = self.next_header(&self.called(&def.name));
        let refused = self.fresh(&format!("the packet is malformed{behind}"), &Ty::Bool, 1);
        if self.path.branch(refused) {
            return Ok(Flow::Stop);
        }

        let mut fields = Vec::new();
        for (at, field) in def.fields.iter().enumerate() {
            let optional = def.parts.iter().any(|part| {
                part.when.is_some() && (part.first..part.first + part.count).contains(&(at as u32))
            });
            fields.push(Value::Scalar(self.read_field(field, &behind, optional)?));
        }
        let mut options = Vec::new();
        for opt in layout::members(self.program, of) {
            options.push(self.read_option(*opt, &behind)?);
        }
        let len = self.fresh(&format!("length of the payload{behind}"), &Ty::Bytes, 64);
        let fits = self.within(len, 0, PACKET_MAX, false);
        self.path.assume(fits)?;
        let there = self.number(1, 1);
        let (from, frames) = (Value::Nothing, Value::List(Vec::new()));
        let payload = Value::Record(vec![Value::Scalar(len), Value::Addr(there, len), from, frames]);
        let net = layout::net(self.program, of);
        let parts = self.parts(frame, bp)?;
        let count = fields.len();
        parts[..count].clone_from_slice(&fields);
        parts[count] = Value::Record(options);
        parts[net + 1] = payload;
        Ok(Flow::Next)
    }

    /// Any bits that the field can have in a packet.
    fn read_field(&mut self, field: &BpField, behind: &str, optional: bool) -> Result<Term, End> {
        let (width, signed) = layout::shape(self.program, &field.ty);
        let bits = field.bits.min(width.into()) as u8;
        let mut value = match bits {
            0 => self.number(0, width),
            bits => {
                let raw = self.fresh(&format!("{}{behind}", self.called(&field.name)), &field.ty, bits);
                self.path.terms.resize(raw, width, signed)
            }
        };
        let base = self.number(field.base.into(), width);
        value = self.path.terms.add(value, base);
        if let Some((lo, hi)) = field.values_when_read() {
            let fits = self.within(value, lo, hi, false);
            self.path.assume(fits)?;
        }
        if optional {
            let there = self.fresh(&format!("a part is there{behind}"), &Ty::Bool, 1);
            let zero = self.number(0, width);
            value = self.path.terms.ite(there, value, zero);
        }
        Ok(value)
    }

    fn read_option(&mut self, opt: OptId, behind: &str) -> Result<Value, End> {
        let def = &self.program.opts[opt.index()];
        let called = self.called(&def.name);
        let there = self.fresh(&format!("{called}{behind}"), &Ty::Bool, 1);
        let mut option = vec![Value::Scalar(there)];
        for field in &def.fields {
            let width = self.width(&field.ty);
            option.push(Value::Scalar(self.fresh(
                &format!("{called}.{}{behind}", self.called(&field.name)),
                &field.ty,
                width,
            )));
        }
        if let Some(list) = &def.list {
            let len = self.fresh(&format!("{}{behind}", self.called(&list.name)), &Ty::U32, 32);
            let most = (list.least as usize + self.bounds.k).min(list.most as usize);
            let lengths: Vec<usize> = (list.least as usize..=most).collect();
            let name = format!("{called}.{}{behind}", self.called(&list.name));
            let key = (name.clone(), self.occasion(&name));
            let (elements, limits) = match self.fresh_lists.get(&key) {
                Some(known) => known.clone(),
                None => {
                    let before = self.given.len();
                    let made: Vec<Value> =
                        (0..most).map(|i| self.any(&list.element, &format!("{name}[{i}]"))).collect();
                    let made = (made, self.given.split_off(before));
                    self.fresh_lists.insert(key, made.clone());
                    made
                }
            };
            limits.into_iter().try_for_each(|limit| self.path.assume(limit))?;
            let mut elements = Value::OpenList(Box::new(OpenList { len, lengths, elements }));
            self.settle(&mut elements)?;
            // An option that is not there has none.
            if let (Value::List(elements), false) = (&mut elements, self.path.branch(there)) {
                elements.clear();
            }
            option.push(elements);
        }
        Ok(Value::Record(option))
    }
}
