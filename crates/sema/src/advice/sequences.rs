// SPDX-License-Identifier: MIT OR Apache-2.0
//! Plain integers that are sequence numbers by their use, and wrap: packets carry them, a context counts them up (or the header
//! calls them so), and the program does nothing with them but copy them, add to them, subtract them and compare them with each
//! other. A number that has a limit, or is used as a quantity, is none.

use std::collections::BTreeMap;

use carrick_ir::builtins::{Kind, Takes};
use carrick_ir::{
    Arg, BinOp, Builtin, Change, EventKind, Expr, ExprKind, Function, Loc, Over, Place, Program, Proj, Stmt,
    StmtKind, Ty, walk,
};
use carrick_syntax::Span;
use carrick_syntax::diag::{Diagnostic, Edit};

use crate::checker::Ordered;
use crate::{Checker, codes};

/// What holds a number. All values of a type are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Holder {
    Context(u32, u32),
    Event(u32, u32),
    Struct(u32, u32),
    Scratchpad(u32, u32),
    Blueprint(u32, u32),
    Option(u32, u32),
    /// a variable of a function
    Local(u32, u32),
    /// what a function returns
    Result(u32),
}

/// What is known of the numbers of one group: those that are copied from one to the other.
#[derive(Debug, Clone, Default)]
struct Group {
    /// how programs write the header's field, and its bits
    carried: Option<(String, u32)>,
    /// what says that the number counts up: the context's field, or the header's own name
    counts: Option<String>,
    /// it has a limit, or is a quantity
    plain: bool,
}

/// Two values that are compared, or added to one group, at one place.
struct Compared {
    loc: Loc,
    extreme: bool,
    sides: [Vec<usize>; 2],
}

/// The numbers of a program in groups (a union-find), and where they are compared.
struct Numbers<'p> {
    program: &'p Program,
    known: BTreeMap<Holder, usize>,
    parents: Vec<usize>,
    groups: Vec<Group>,
    compared: Vec<Compared>,
}

impl Checker<'_> {
    /// Comparisons by `<` of numbers that wrap.
    pub(super) fn advise_sequences(&mut self) {
        let all = std::mem::take(&mut self.ordered);
        let mut numbers = Numbers::of(&self.program);
        let found = numbers.wrong();
        for ordered in all {
            let key = (self.loc(ordered.span), ordered.extreme);
            if let Some(group) = found.get(&key) {
                let diagnostic = self.sequence_warning(&ordered, group);
                self.report(diagnostic);
            }
        }
    }

    fn sequence_warning(&self, ordered: &Ordered, group: &Group) -> Diagnostic {
        let (field, bits) = group.carried.clone().unwrap_or_default();
        let counts = group.counts.as_deref().unwrap_or_default();
        let message = format!("`{field}` is a sequence number, and compared as a plain number");
        let label = "wrong once one of the two has wrapped";
        let warning = Diagnostic::warning(codes::SEQ_BY_USE, message, ordered.span, label).note(format!(
            "packets carry it, {counts}, and nothing limits it: after 2^{bits} - 1 it is 0 again"
        ));
        if bits != 32 {
            return warning.mend("use a `seq32`, or a number that is too wide to wrap (`uint64`)");
        }
        if ordered.extreme {
            return warning.mend("declare it `seq32`, and use `seq_min` or `seq_max`");
        }
        let edit = |span: Span| Edit { span, replacement: format!("seq32({})", self.source(span)) };
        let mut warning =
            warning.mend("compare in serial order (RFC 1982); better, declare the numbers `seq32`");
        if let Some(mend) = &mut warning.mend {
            mend.edits = ordered.operands.map(edit).to_vec();
        }
        warning
    }

    fn source(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }
}

impl<'p> Numbers<'p> {
    fn of(program: &'p Program) -> Numbers<'p> {
        let mut numbers = Numbers {
            program,
            known: BTreeMap::new(),
            parents: Vec::new(),
            groups: Vec::new(),
            compared: Vec::new(),
        };
        for (at, function) in (0..).zip(&program.functions) {
            let mut of = InFunction { numbers: &mut numbers, function, at };
            walk::statements(&function.body, &mut |stmt| of.statement(stmt));
            walk::all(&function.body, &mut |e| of.expression(e));
        }
        numbers
    }

    /// The comparisons within a group of sequence numbers. Numbers of two groups that are compared limit each other.
    fn wrong(&mut self) -> BTreeMap<(Loc, bool), Group> {
        let compared = std::mem::take(&mut self.compared);
        let mut within = Vec::new();
        for Compared { loc, extreme, sides } in compared {
            let [a, b] = sides.map(|side| side.into_iter().map(|at| self.root(at)).collect::<Vec<_>>());
            match (a.first(), b.first()) {
                (Some(x), Some(y)) if x == y => within.push((loc, extreme, *x)),
                _ => a.into_iter().chain(b).for_each(|at| self.groups[at].plain = true),
            }
        }
        let is_sequence = |group: &Group| group.carried.is_some() && group.counts.is_some() && !group.plain;
        let wrong = within.into_iter().filter(|(.., at)| is_sequence(&self.groups[*at]));
        wrong.map(|(loc, extreme, at)| ((loc, extreme), self.groups[at].clone())).collect()
    }

    fn number(&mut self, holder: Holder) -> usize {
        if let Some(at) = self.known.get(&holder) {
            return self.root(*at);
        }
        let at = self.parents.len();
        self.parents.push(at);
        self.groups.push(self.first_known(holder));
        self.known.insert(holder, at);
        at
    }

    /// What the declaration of a holder says of its numbers.
    fn first_known(&self, holder: Holder) -> Group {
        let p = self.program;
        let (of, field, bits, limited) = match holder {
            Holder::Blueprint(of, at) => {
                let of = &p.blueprints[of as usize];
                let field = &of.fields[at as usize];
                (&of.name, &field.name, field.bits, field.bits == 0 || field.range.is_some())
            }
            Holder::Option(of, at) => {
                let of = &p.opts[of as usize];
                let Some(field) = of.fields.get(at as usize) else { return Group::default() };
                let bits = if let Ty::Int { bits, .. } = field.ty { u32::from(bits) } else { 32 };
                (&of.name, &field.name, bits, field.fixed.is_some())
            }
            // What an application gives is a quantity.
            Holder::Event(of, _) => {
                let plain = p.events[of as usize].kind == EventKind::App;
                return Group { plain, ..Group::default() };
            }
            _ => return Group::default(),
        };
        let counts = is_name_of_sequence(field).then(|| "its name says that it counts up".to_owned());
        Group { carried: Some((format!("{of}.{field}"), bits)), counts, plain: limited }
    }

    fn root(&self, mut at: usize) -> usize {
        while self.parents[at] != at {
            at = self.parents[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.parents[b] = a;
            let other = std::mem::take(&mut self.groups[b]);
            let group = &mut self.groups[a];
            group.carried = group.carried.take().or(other.carried);
            group.counts = group.counts.take().or(other.counts);
            group.plain |= other.plain;
        }
    }

    fn join_all(&mut self, a: &[usize], b: &[usize]) {
        for (x, y) in a.iter().flat_map(|x| b.iter().map(move |y| (*x, *y))) {
            self.join(x, y);
        }
    }

    fn make_plain(&mut self, numbers: &[usize]) {
        for at in numbers {
            let root = self.root(*at);
            self.groups[root].plain = true;
        }
    }
}

/// `seq`, `seq_num`, `sequence`, and the packet and transmission sequence numbers of RoCE and SCTP.
fn is_name_of_sequence(name: &str) -> bool {
    name.split('_').any(|word| word.starts_with("seq") || ["psn", "tsn", "ssn"].contains(&word))
}

/// Whether a value is an unsigned integer that wraps within the life of a connection.
fn wraps(ty: &Ty) -> bool {
    matches!(ty, Ty::Int { bits: ..=32, signed: false })
}

/// Whether a value is the same in the whole run.
fn is_fixed(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Lit(_) | ExprKind::Const(_) | ExprKind::Param(_) => true,
        ExprKind::Cast(inner) => is_fixed(inner),
        ExprKind::Binary(_, a, b) => is_fixed(a) && is_fixed(b),
        _ => false,
    }
}

/// One function, whose statements and expressions are gone through.
struct InFunction<'n, 'p> {
    numbers: &'n mut Numbers<'p>,
    function: &'p Function,
    at: u32,
}

impl InFunction<'_, '_> {
    fn statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Let { local, init: Some(value) } => self.flows(Holder::Local(self.at, local.0), value),
            StmtKind::Assign { place, value } => self.assigned(place, value),
            StmtKind::Return(Some(value)) => self.flows(Holder::Result(self.at), value),
            StmtKind::Call { dest, func, args } => {
                for (at, arg) in (0..).zip(args) {
                    if let Arg::Value(value) = arg {
                        self.flows(Holder::Local(func.0, at), value);
                    }
                }
                if let Some(dest) = dest {
                    let result = self.numbers.number(Holder::Result(func.0));
                    let dest = self.numbers.number(Holder::Local(self.at, dest.0));
                    self.numbers.join(result, dest);
                }
            }
            StmtKind::OptAdd { opt, args, .. } => {
                let fields = &self.numbers.program.opts[opt.index()].fields;
                let free = (0..).zip(fields).filter(|(_, field)| field.fixed.is_none()).map(|(at, _)| at);
                for (at, value) in free.zip(args) {
                    self.flows(Holder::Option(opt.0, at), value);
                }
            }
            StmtKind::Change { what: Change::ListAdd | Change::ListInsert, on, args, .. } => {
                let (list, value) = (self.holder(on), args.last());
                list.zip(value).into_iter().for_each(|(list, value)| self.flows(list, value));
            }
            StmtKind::Change { what: Change::ListPop, dest: Some(var), on: list, .. } => {
                if let Some(list) = self.holder(list) {
                    let list = self.numbers.number(list);
                    let var = self.numbers.number(Holder::Local(self.at, var.0));
                    self.numbers.join(list, var);
                }
            }
            // It counts to a limit.
            StmtKind::For { over: Over::Range { from, to, .. }, .. } => {
                let (from, to) = (self.bases(from), self.bases(to));
                self.numbers.make_plain(&[from, to].concat());
            }
            _ => {}
        }
    }

    /// Also notes that a field of a context is counted up: `c.next = c.next + n`.
    fn assigned(&mut self, place: &Place, value: &Expr) {
        let Some(holder) = self.holder(place).filter(|_| wraps(&place.ty)) else { return };
        self.flows(holder, value);
        let is_same = |e: &Expr| matches!(&uncast(e).kind, ExprKind::Load(from) if from == place);
        let of_context = matches!(self.function.locals[place.root.index()].ty, Ty::Context(_));
        if let ExprKind::Binary(BinOp::Add, a, b) = &uncast(value).kind
            && of_context
            && (is_same(a) || is_same(b))
        {
            let name = self.name(place);
            let number = self.numbers.number(holder);
            let group = &mut self.numbers.groups[number];
            group.counts.get_or_insert_with(|| format!("`{name}` counts it up"));
        }
    }

    /// The value is from now on one of the holder's.
    fn flows(&mut self, holder: Holder, value: &Expr) {
        let from = self.bases(value);
        if !from.is_empty() {
            let to = self.numbers.number(holder);
            self.numbers.join_all(&[to], &from);
        }
    }

    fn expression(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Binary(BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge, a, b) => {
                self.compares(e, a, b, false)
            }
            ExprKind::Builtin(Builtin::Min | Builtin::Max, args) => {
                self.compares(e, &args[0], &args[1], true)
            }
            ExprKind::Binary(op, a, b) if is_of_quantities(*op) => {
                let numbers = [self.bases(a), self.bases(b)].concat();
                self.numbers.make_plain(&numbers);
            }
            ExprKind::Builtin(function, args)
                if matches!(function.declaration().takes, Takes::Alike(_, Kind::Quantity)) =>
            {
                let numbers: Vec<usize> = args.iter().flat_map(|e| self.bases(e)).collect();
                self.numbers.make_plain(&numbers);
            }
            // A wider number does not wrap with it.
            ExprKind::Cast(inner) if !wraps(&e.ty) && e.ty != Ty::Seq32 => {
                let numbers = self.bases(inner);
                self.numbers.make_plain(&numbers);
            }
            _ => {}
        }
    }

    fn compares(&mut self, whole: &Expr, a: &Expr, b: &Expr, extreme: bool) {
        let sides = [self.bases(a), self.bases(b)];
        self.numbers.compared.push(Compared { loc: whole.loc, extreme, sides });
    }

    /// The numbers of which a value is a copy, perhaps advanced: of a sum that is the left one. A difference is a distance.
    fn bases(&mut self, e: &Expr) -> Vec<usize> {
        if !wraps(&e.ty) {
            return Vec::new();
        }
        match &e.kind {
            ExprKind::Load(place) => {
                let holder = self.holder(place);
                holder.map(|holder| self.numbers.number(holder)).into_iter().collect()
            }
            ExprKind::Cast(inner) => self.bases(inner),
            ExprKind::Binary(BinOp::Add, a, b) if is_fixed(a) => self.bases(b),
            ExprKind::Binary(BinOp::Add, a, _) => self.bases(a),
            ExprKind::Binary(BinOp::Sub | BinOp::And, a, b) if is_fixed(b) => self.bases(a),
            ExprKind::Cond(_, a, b) => [self.bases(a), self.bases(b)].concat(),
            // The lesser one may be a limit.
            ExprKind::Builtin(Builtin::Max, args) => args.iter().flat_map(|e| self.bases(e)).collect(),
            _ => Vec::new(),
        }
    }

    /// The last field on the way to a place, or its variable.
    fn holder(&self, place: &Place) -> Option<Holder> {
        let p = self.numbers.program;
        let mut ty = &self.function.locals[place.root.index()].ty;
        let mut found = Some(Holder::Local(self.at, place.root.0));
        for proj in &place.path {
            let (holder, next) = match (proj, ty) {
                (Proj::Index(_) | Proj::Elem(_), Ty::Array(inner, _) | Ty::List(inner, ..)) => {
                    (found, &**inner)
                }
                (Proj::Field(at), Ty::Context(id)) => {
                    (Some(Holder::Context(id.0, *at)), &p.contexts[id.index()].fields[*at as usize].ty)
                }
                (Proj::Field(at), Ty::Event(id)) => {
                    (Some(Holder::Event(id.0, *at)), &p.events[id.index()].fields[*at as usize].ty)
                }
                (Proj::Field(at), Ty::Struct(id)) => {
                    (Some(Holder::Struct(id.0, *at)), &p.structs[id.index()].fields[*at as usize].ty)
                }
                (Proj::Field(at), Ty::Scratch(id)) => {
                    (Some(Holder::Scratchpad(id.0, *at)), &p.scratchpads[id.index()].fields[*at as usize].ty)
                }
                (Proj::Field(at), Ty::Blueprint(id)) => {
                    (Some(Holder::Blueprint(id.0, *at)), &p.blueprints[id.index()].fields[*at as usize].ty)
                }
                (Proj::OptField(id, at), _) => (Some(Holder::Option(id.0, *at)), &place.ty),
                _ => return None,
            };
            (found, ty) = (holder, next);
        }
        found
    }

    /// How programs write a field of a context.
    fn name(&self, place: &Place) -> String {
        let Some(Holder::Context(of, at)) = self.holder(place) else { return "a context".to_owned() };
        let of = &self.numbers.program.contexts[of as usize];
        format!("{}.{}", of.name, of.fields[at as usize].name)
    }
}

/// Without conversions.
fn uncast(e: &Expr) -> &Expr {
    if let ExprKind::Cast(inner) = &e.kind { uncast(inner) } else { e }
}

/// Whether an operator works on quantities, which sequence numbers are not.
fn is_of_quantities(op: BinOp) -> bool {
    use BinOp::*;
    matches!(op, Mul | Div | Shl | Shr | FixedMul | FixedDiv | Scale | BytesPerRate | BytesPerDuration)
}
