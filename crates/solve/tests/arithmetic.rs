// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random terms: their values, simplified and as circuits, are those of the language's arithmetic.

use carrick_ir::{BinOp, Ty, arith};
use carrick_solve::{Answer, Solver, Term, Terms, Values, answers, script};
use std::io::Write;
use std::process::{Command, Stdio};

/// A generator of numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Often a number at which arithmetic is special.
    fn number(&mut self, ty: &Ty) -> u64 {
        let value = match self.below(4) {
            0 => self.below(4),
            1 => u64::MAX - self.below(3),
            2 => 1 << self.below(64),
            _ => self.next(),
        };
        arith::canonical(ty, value)
    }
}

/// A term, its value by the language's arithmetic, and its type.
#[derive(Clone)]
struct Known {
    term: Term,
    value: u64,
    ty: Ty,
}

struct Made {
    terms: Terms,
    all: Vec<Known>,
    model: Vec<u128>,
}

fn width(ty: &Ty) -> u8 {
    arith::shape(ty).0 as u8
}

/// The bits of a value of this type.
fn bits(ty: &Ty, value: u64) -> u128 {
    u128::from(value) & (u128::MAX >> (128 - u32::from(width(ty))))
}

const OPS: [BinOp; 16] = [
    BinOp::Add,
    BinOp::Sub,
    BinOp::Mul,
    BinOp::Div,
    BinOp::Rem,
    BinOp::Shl,
    BinOp::Shr,
    BinOp::And,
    BinOp::Or,
    BinOp::Xor,
    BinOp::Eq,
    BinOp::Ne,
    BinOp::Lt,
    BinOp::Le,
    BinOp::Gt,
    BinOp::Ge,
];

fn apply(terms: &mut Terms, op: BinOp, signed: bool, a: Term, b: Term) -> Term {
    let less = |terms: &mut Terms, a, b| if signed { terms.slt(a, b) } else { terms.ult(a, b) };
    match op {
        BinOp::Add => terms.add(a, b),
        BinOp::Sub => terms.sub(a, b),
        BinOp::Mul => terms.mul(a, b),
        BinOp::Div if signed => terms.sdiv(a, b),
        BinOp::Div => terms.udiv(a, b),
        BinOp::Rem if signed => terms.srem(a, b),
        BinOp::Rem => terms.urem(a, b),
        BinOp::Shl => terms.shl(a, b),
        BinOp::Shr if signed => terms.ashr(a, b),
        BinOp::Shr => terms.lshr(a, b),
        BinOp::And => terms.and(a, b),
        BinOp::Or => terms.or(a, b),
        BinOp::Xor => terms.xor(a, b),
        BinOp::Eq => terms.equal(a, b),
        BinOp::Ne => {
            let equal = terms.equal(a, b);
            terms.not(equal)
        }
        BinOp::Lt => less(terms, a, b),
        BinOp::Gt => less(terms, b, a),
        BinOp::Le => {
            let more = less(terms, b, a);
            terms.not(more)
        }
        _ => {
            let less = less(terms, a, b);
            terms.not(less)
        }
    }
}

/// Terms over three variables of each type.
fn random_terms(random: &mut Random, count: usize, widths: &[u8]) -> Made {
    let mut made = Made { terms: Terms::default(), all: Vec::new(), model: Vec::new() };
    let ints: Vec<Ty> =
        widths.iter().flat_map(|&bits| [false, true].map(|signed| Ty::Int { bits, signed })).collect();
    for ty in &ints {
        for _ in 0..3 {
            let value = random.number(ty);
            let term = made.terms.var("v", width(ty));
            made.model.push(bits(ty, value));
            made.all.push(Known { term, value, ty: ty.clone() });
        }
    }
    while made.all.len() < count {
        let next = random_term(random, &mut made, &ints);
        made.all.push(next);
    }
    made
}

fn random_term(random: &mut Random, made: &mut Made, ints: &[Ty]) -> Known {
    let ty = ints[random.below(ints.len() as u64) as usize].clone();
    let (a, b) = (operand(random, made, &ty), operand(random, made, &ty));
    match random.below(10) {
        0 => {
            let to = ints[random.below(ints.len() as u64) as usize].clone();
            let term = made.terms.resize(a.term, width(&to), arith::shape(&ty).1);
            Known { term, value: arith::cast(&to, a.value), ty: to }
        }
        1 => {
            let cond = operand(random, made, &Ty::Bool);
            let term = made.terms.ite(cond.term, a.term, b.term);
            Known { term, value: if cond.value != 0 { a.value } else { b.value }, ty }
        }
        2 => {
            let term = made.terms.not(a.term);
            Known { term, value: arith::canonical(&ty, !a.value), ty }
        }
        _ => {
            let op = OPS[random.below(OPS.len() as u64) as usize];
            // A count is not negative.
            let shift = matches!(op, BinOp::Shl | BinOp::Shr);
            let count = bits(&ty, b.value) as u64;
            let to = if matches!(op, BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge) {
                Ty::Bool
            } else {
                ty.clone()
            };
            let value = arith::binary(op, &ty, &to, a.value, if shift { count } else { b.value });
            let term = apply(&mut made.terms, op, arith::shape(&ty).1, a.term, b.term);
            Known { term, value, ty: to }
        }
    }
}

fn operand(random: &mut Random, made: &mut Made, ty: &Ty) -> Known {
    if random.below(5) > 0 {
        let of_type: Vec<&Known> = made.all.iter().filter(|known| known.ty == *ty).collect();
        if let Some(known) = of_type.get(random.below(of_type.len().max(1) as u64) as usize) {
            return (*known).clone();
        }
    }
    let value = random.number(ty);
    Known { term: made.terms.constant(bits(ty, value), width(ty)), value, ty: ty.clone() }
}

#[test]
fn values_are_those_of_the_language() {
    let mut random = Random(1);
    for _ in 0..50 {
        let made = random_terms(&mut random, 400, &[8, 16, 32, 64]);
        let mut values = Values::default();
        values.restart();
        for known in &made.all {
            let value = values.of(&made.terms, known.term, &made.model);
            assert_eq!(value, bits(&known.ty, known.value), "{:?}", made.terms.op(known.term));
        }
    }
}

/// Conditions that give each variable its value.
fn pinned(made: &mut Made) -> Vec<Term> {
    let variables: Vec<Term> = made.terms.variables().iter().map(|(_, term)| *term).collect();
    let pairs = variables.into_iter().zip(made.model.clone());
    pairs
        .map(|(variable, value)| {
            let value = made.terms.constant(value, made.terms.width(variable));
            made.terms.equal(variable, value)
        })
        .collect()
}

#[test]
fn circuits_compute_what_the_language_does() {
    let mut random = Random(2);
    let mut asked = 0;
    let small: (&[u8], usize) = (&[8, 16], 440);
    let wide: [(&[u8], usize); 3] = [(&[16, 32], 150), (&[8, 64], 80), (&[64], 50)];
    for (widths, count) in std::iter::repeat_n(small, 22).chain(wide.into_iter().cycle().take(6)) {
        let mut made = random_terms(&mut random, count, widths);
        let path = pinned(&mut made);
        let mut solver = Solver::default();
        for known in made.all.clone() {
            let value = made.terms.constant(bits(&known.ty, known.value), width(&known.ty));
            let equal = made.terms.equal(known.term, value);
            let other = made.terms.not(equal);
            let model = made.model.clone();
            assert!(matches!(solver.check(&made.terms, &path, equal, &model), Answer::Yes(_)));
            let answer = solver.check(&made.terms, &path, other, &model);
            assert_eq!(answer, Answer::No, "{:?}", made.terms.op(known.term));
            asked += 1;
        }
    }
    assert!(asked >= 10_000);
}

/// Without values: what a model says is so, and what has none is never so.
#[test]
fn models_satisfy_their_conditions() {
    let mut random = Random(3);
    let mut found = [0; 2];
    for _ in 0..40 {
        let mut made = random_terms(&mut random, 120, &[8, 16]);
        let conditions: Vec<Known> = made.all.iter().filter(|k| k.ty == Ty::Bool).cloned().collect();
        let mut solver = Solver::default();
        // What holds of the values of `made`, taken together with one more.
        let path: Vec<Term> = conditions.iter().take(4).map(|k| holding(&mut made.terms, k)).collect();
        for known in &conditions {
            let (same, model) = (holding(&mut made.terms, known), made.model.clone());
            assert!(matches!(solver.check(&made.terms, &path, same, &model), Answer::Yes(_)));
            let opposite = made.terms.not(same);
            let answer = solver.check(&made.terms, &path, opposite, &model);
            found[usize::from(answer == Answer::No)] += 1;
            let Answer::Yes(model) = answer else { continue };
            let mut values = Values::default();
            values.restart();
            for term in path.iter().chain([&opposite]) {
                assert_eq!(values.of(&made.terms, *term, &model), 1);
            }
        }
    }
    assert!(found.iter().all(|n| *n > 100), "{found:?}");
}

/// The condition, or its opposite: what holds of the values.
fn holding(terms: &mut Terms, known: &Known) -> Term {
    if known.value != 0 { known.term } else { terms.not(known.term) }
}

/// Another solver agrees, if there is one.
#[test]
fn z3_agrees() {
    if Command::new("z3").arg("--version").output().is_err() {
        eprintln!("SKIPPED z3_agrees: there is no z3 (apt-get install z3)");
        return;
    }
    let mut random = Random(4);
    let mut made = random_terms(&mut random, 300, &[8, 32]);
    let conditions: Vec<Known> = made.all.iter().filter(|k| k.ty == Ty::Bool).cloned().collect();
    let mut solver = Solver::default();
    let (mut scripts, mut ours) = (String::new(), Vec::new());
    for pair in conditions.windows(2) {
        let (first, second) = (pair[0].term, made.terms.not(pair[1].term));
        scripts.push_str(&script(&made.terms, &[first, second]));
        scripts.push_str("(reset)\n");
        // The first one need not hold of any model that we have: it is a part of the question.
        let both = made.terms.and(first, second);
        ours.push(Some(solver.check(&made.terms, &[], both, &Vec::new()) != Answer::No));
    }
    let mut z3 = Command::new("z3")
        .args(["-in", "-T:120"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    z3.stdin.take().unwrap().write_all(scripts.as_bytes()).unwrap();
    let output = z3.wait_with_output().unwrap();
    assert_eq!(answers(&String::from_utf8_lossy(&output.stdout)), ours);
}
