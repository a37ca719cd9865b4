// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of the executor on one path.

use carrick_ir::{CtxId, Expr, FuncId, LocalId, Program, Ty};
use carrick_solve::{Solver, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::bounds::Bounds;

use crate::path::{End, Path};
use crate::site::{Checks, Doing};
use crate::value::{Effect, Value};

/// One condition that is not decided in this time is not worth waiting for.
const QUERY_MAX: Duration = Duration::from_secs(10);
/// The clock is read once for so many statements.
const STATEMENTS_BETWEEN: u64 = 64;

/// The locals of a function, and which one it is.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    pub func: Option<FuncId>,
    pub locals: Vec<Value>,
}

/// An instance of a context that `new_ctx` makes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Made {
    pub object: usize,
    pub context: CtxId,
}

/// What is known on a path: the values, and what was done.
#[derive(Debug)]
pub(crate) struct Machine<'p> {
    pub program: &'p Program,
    pub bounds: &'p Bounds,
    pub path: Path,
    pub heap: Vec<Value>,
    /// types of the variables, by number, and the program that they are of
    pub types: Vec<(&'p Program, Ty)>,
    /// what holds on every path: the ranges of variables
    pub given: Vec<Term>,
    /// variables of earlier paths that the same occasion makes
    pub fresh_known: FxHashMap<(String, u32, u8), Term>,
    /// how many occasions of each name this path has had, less one
    pub fresh_used: FxHashMap<String, u32>,
    /// elements of such lists, and what holds of them
    pub fresh_lists: FxHashMap<(String, u32), (Vec<Value>, Vec<Term>)>,
    /// results of functions that only their operands are known of
    pub results: FxHashMap<(&'static str, Vec<Term>), Term>,
    /// names of long arrays, and types of their elements
    pub arrays: Vec<(String, Ty)>,
    /// variables that are elements of them, by index
    pub array_elements: FxHashMap<(usize, Term), Term>,
    /// those that this path has read
    pub array_reads: Vec<(usize, Term, Term)>,
    pub params: Vec<Term>,
    pub now: Term,
    /// when the claims held that are assumed
    pub before: Term,
    pub address: Value,
    pub mtu: Term,
    /// conditions under which a statement or an operand counts; without them it has no effect
    pub guards: Vec<Term>,
    pub checks: Checks,
    pub doing: Doing,
    /// whether statements that this explores add to lists
    pub grows: bool,
    /// what the functions that run were given
    pub objects: Vec<usize>,
    /// what this version calls otherwise than the one with which it is compared
    pub names: Option<Arc<BTreeMap<String, String>>>,
    /// which headers were read of the packet, by number, and how many that were
    pub headers: (u32, u32),
    /// numbers of headers behind others
    pub header_numbers: FxHashMap<(u32, String), u32>,
    /// what is issued, if that is to be noted
    pub effects: Option<Vec<Effect>>,
    pub deleted: FxHashSet<usize>,
    pub made: Vec<Made>,
    /// the types of event whose timers have just fired
    pub fired: Vec<carrick_ir::EventId>,
    /// when the time of this unit is over
    pub until: Instant,
    pub cancelled: Arc<AtomicBool>,
    /// statements so far
    pub statements: u64,
}

impl<'p> Machine<'p> {
    pub(crate) fn new(program: &'p Program, bounds: &'p Bounds, cancelled: &Arc<AtomicBool>) -> Machine<'p> {
        let solver = Solver::new(cancelled.clone(), Some(bounds.time.min(QUERY_MAX)));
        let mut path = Path::new(solver);
        let mut types = Vec::new();
        let mut var = |name: &str, ty: Ty, width: u8| {
            types.push((program, ty));
            path.var(name.to_owned(), width)
        };
        let (now, before) = (var("now", Ty::Time, 64), var("when it began to hold", Ty::Time, 64));
        let mtu = var("mtu", Ty::Bytes, 64);
        let mut machine = Machine {
            program,
            bounds,
            path,
            heap: Vec::new(),
            types,
            given: Vec::new(),
            fresh_known: FxHashMap::default(),
            fresh_used: FxHashMap::default(),
            fresh_lists: FxHashMap::default(),
            results: FxHashMap::default(),
            arrays: Vec::new(),
            array_elements: FxHashMap::default(),
            array_reads: Vec::new(),
            params: Vec::new(),
            now,
            before,
            address: Value::Nothing,
            mtu,
            guards: Vec::new(),
            checks: Checks::default(),
            doing: Doing::Running,
            grows: false,
            objects: Vec::new(),
            names: None,
            headers: (0, 0),
            header_numbers: FxHashMap::default(),
            effects: None,
            deleted: FxHashSet::default(),
            made: Vec::new(),
            fired: Vec::new(),
            until: Instant::now() + bounds.time,
            cancelled: cancelled.clone(),
            statements: 0,
        };
        machine.begin_surroundings();
        machine
    }

    /// Time, the device, the address, and the parameters.
    fn begin_surroundings(&mut self) {
        let program = self.program;
        self.address = self.any(&program.address_ty(), "local_ip");
        let end = self.number(1 << 62, 64);
        let early = self.path.terms.ult(self.now, end);
        let later = self.path.terms.ult(self.now, self.before);
        let ordered = self.path.terms.not(later);
        let header = program.net_header.layer.header_len();
        let least = program.net_header.layer.sure_mtu().0 - header;
        let mtu = self.within(self.mtu, least.into(), (u16::MAX as u64) - u64::from(header), false);
        self.given.extend([early, ordered, mtu]);
        for (at, param) in program.params.iter().enumerate() {
            let (width, signed) = crate::layout::shape(program, &param.ty);
            let (lo, hi) =
                self.bounds.params.get(at).copied().flatten().map_or((param.lo, param.hi), |v| (v, v));
            if lo == hi {
                let value = self.number(lo.into(), width);
                self.params.push(value);
                continue;
            }
            let term = self.variable(param.name.clone(), &param.ty);
            let within = self.within(term, lo, hi, signed);
            self.given.push(within);
            self.params.push(term);
        }
    }

    /// Whether a number is in a range.
    pub(crate) fn within(&mut self, term: Term, lo: u64, hi: u64, signed: bool) -> Term {
        let width = self.path.terms.width(term);
        let terms = &mut self.path.terms;
        let (lo, hi) = (terms.constant(lo.into(), width), terms.constant(hi.into(), width));
        let (below, above) = match signed {
            true => (terms.slt(term, lo), terms.slt(hi, term)),
            false => (terms.ult(term, lo), terms.ult(hi, term)),
        };
        let outside = terms.or(below, above);
        terms.not(outside)
    }

    /// Begins a path.
    pub(crate) fn begin(&mut self) -> Result<(), End> {
        self.path.begin();
        self.heap.clear();
        self.guards.clear();
        self.deleted.clear();
        self.made.clear();
        self.array_reads.clear();
        self.fresh_used.clear();
        self.headers = (0, 0);

        self.doing = Doing::Running;
        for at in 0..self.given.len() {
            self.path.assume(self.given[at])?;
        }
        let program = self.program;
        for requirement in &program.requirements {
            let cond = self.scalar(&requirement.cond, &mut Frame::default())?;
            self.path.assume(cond)?;
        }
        Ok(())
    }

    /// Ends the unit if its time is over.
    pub(crate) fn stop_if_late(&mut self) -> Result<(), End> {
        self.statements += 1;
        if self.statements.is_multiple_of(STATEMENTS_BETWEEN) {
            if self.cancelled.load(Ordering::Relaxed) {
                return Err(End::Stopped("interrupted".to_owned()));
            }
            if Instant::now() >= self.until {
                let seconds = self.bounds.time.as_secs_f64();
                return Err(End::Stopped(format!("not all of its paths fit in {seconds} s")));
            }
        }
        Ok(())
    }

    /// A name as the version has it with which this one is compared.
    pub(crate) fn called(&self, name: &str) -> String {
        self.names.as_ref().and_then(|names| names.get(name)).map_or_else(|| name.to_owned(), Clone::clone)
    }

    pub(crate) fn alloc(&mut self, value: Value) -> usize {
        self.heap.push(value);
        self.heap.len() - 1
    }

    /// A value by itself, not by reference.
    pub(crate) fn by_value(&self, value: Value) -> Value {
        if let Value::Object(at) = value { self.heap[at].clone() } else { value }
    }

    pub(crate) fn object(&self, frame: &Frame, local: LocalId) -> Result<usize, End> {
        match frame.locals.get(local.index()) {
            Some(Value::Object(at)) => Ok(*at),
            _ => Err(unsupported("a reference to a value")),
        }
    }

    /// The type of a local that is a context.
    pub(crate) fn context_of(&self, frame: &Frame, local: LocalId) -> Result<CtxId, End> {
        match self.local_ty(frame, local) {
            Some(Ty::Context(context)) => Ok(*context),
            _ => Err(unsupported("a context by another name")),
        }
    }

    pub(crate) fn local_ty(&self, frame: &Frame, local: LocalId) -> Option<&'p Ty> {
        let func = &self.program.functions[frame.func?.index()];
        func.locals.get(local.index()).map(|local| &local.ty)
    }

    /// A part of an object.
    pub(crate) fn part_mut(&mut self, object: usize, part: usize) -> Result<&mut Value, End> {
        match self.heap.get_mut(object) {
            Some(Value::Record(parts)) if part < parts.len() => Ok(&mut parts[part]),
            _ => Err(unsupported("a part that a value does not have")),
        }
    }

    /// The condition under which what runs now counts.
    pub(crate) fn guard(&mut self) -> Term {
        let mut all = self.path.terms.truth(true);
        for guard in &self.guards {
            all = self.path.terms.and(all, *guard);
        }
        all
    }

    pub(crate) fn scalar(&mut self, e: &'p Expr, frame: &mut Frame) -> Result<Term, End> {
        match self.eval(e, frame)? {
            Value::Scalar(term) => Ok(term),
            _ => Err(unsupported("a number of several parts")),
        }
    }
}

pub(crate) fn unsupported(what: &str) -> End {
    End::Unsupported(what.to_owned())
}
