// SPDX-License-Identifier: MIT OR Apache-2.0
//! Places: reading and writing parts of values.

use carrick_ir::{Place, Proj, Ty};

use crate::layout;
use crate::machine::{Frame, Machine, unsupported};
use crate::path::End;
use crate::value::{Step, Value};

impl<'p> Machine<'p> {
    fn steps(&mut self, place: &'p Place, frame: &mut Frame) -> Result<Vec<Step>, End> {
        let program = self.program;
        let ty = self.local_ty(frame, place.root).ok_or_else(|| unsupported("a value without a type"))?;
        let mut steps = Vec::new();
        for proj in &place.path {
            let part = match (proj, ty) {
                (Proj::Field(field), _) => *field as usize,
                (Proj::Index(at) | Proj::Elem(at), _) => {
                    steps.push(Step::At(self.scalar(at, frame)?));
                    continue;
                }
                (Proj::CtxId, Ty::Context(context)) => layout::id(program, *context),
                (Proj::Token, Ty::Event(event)) => layout::token(program, *event),
                (Proj::FlowId, Ty::Event(event)) => layout::flow_id(program, *event),
                (Proj::Net(field), Ty::NetHeader) => *field as usize,
                (Proj::Net(field), Ty::Blueprint(bp)) => {
                    steps.push(Step::Part(layout::net(program, *bp)));
                    *field as usize
                }
                (Proj::OptField(opt, field), Ty::Blueprint(bp)) => {
                    let member = layout::member(program, *bp, *opt);
                    let member = member.ok_or_else(|| unsupported("an option of another blueprint"))?;
                    steps.push(Step::Part(layout::options(program, *bp)));
                    steps.push(Step::Part(member));
                    1 + *field as usize
                }
                (Proj::PayloadLen | Proj::PayloadAddr, Ty::Blueprint(bp)) => {
                    steps.push(Step::Part(layout::payload(program, *bp)));
                    usize::from(matches!(proj, Proj::PayloadAddr))
                }
                _ => return Err(unsupported("a part of a value inside another")),
            };
            steps.push(Step::Part(part));
        }
        Ok(steps)
    }

    pub(crate) fn load(&mut self, place: &'p Place, frame: &mut Frame) -> Result<Value, End> {
        if place.path.is_empty() {
            return Ok(frame.locals[place.root.index()].clone());
        }
        let indexed = place.path.iter().any(|p| matches!(p, Proj::Index(_) | Proj::Elem(_)));
        let zero = if indexed { self.zero(&place.ty) } else { Value::Nothing };
        let steps = self.steps(place, frame)?;
        let root = match &frame.locals[place.root.index()] {
            Value::Object(at) => &self.heap[*at],
            local => local,
        };
        if let Some((array, at)) = root.array_at(&steps) {
            let (array, at) = (array.clone(), at);
            return self.read_array(&array, at).map(Value::Scalar);
        }
        root.get(&mut self.path.terms, &steps, &zero)
            .ok_or_else(|| unsupported("an index over values of different form"))
    }

    pub(crate) fn store(&mut self, place: &'p Place, frame: &mut Frame, value: Value) -> Result<(), End> {
        let steps = self.steps(place, frame)?;
        let value = self.by_value(value);
        let guard = self.guard();
        let root = match &mut frame.locals[place.root.index()] {
            Value::Object(at) => &mut self.heap[*at],
            local => local,
        };
        root.set(&mut self.path.terms, &steps, &value, guard)
            .ok_or_else(|| unsupported("an index over values of different form"))
    }
}
