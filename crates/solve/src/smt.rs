// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conditions as SMT-LIB 2, which other solvers read.

use std::fmt::Write;

use rustc_hash::FxHashSet;

use crate::op::{Op, Term};
use crate::term::Terms;

/// A script that asks whether all these conditions can hold.
pub fn script(terms: &Terms, conditions: &[Term]) -> String {
    let mut out = String::from("(set-logic QF_BV)\n");
    let mut defined = FxHashSet::default();
    for condition in conditions {
        define(terms, *condition, &mut defined, &mut out);
    }
    for condition in conditions {
        line(&mut out, format_args!("(assert (= t{} #b1))", condition.0));
    }
    out.push_str("(check-sat)\n");
    out
}

/// The answers of a solver that was given scripts: whether their conditions can hold.
pub fn answers(text: &str) -> Vec<Option<bool>> {
    let answer = |line: &str| match line.trim() {
        "sat" => Some(Some(true)),
        "unsat" => Some(Some(false)),
        "unknown" | "timeout" => Some(None),
        _ => None,
    };
    text.lines().filter_map(answer).collect()
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // A string takes all that is written.
    let _ = writeln!(out, "{text}");
}

/// Defines a term after those in it.
fn define(terms: &Terms, term: Term, defined: &mut FxHashSet<Term>, out: &mut String) {
    let mut open = vec![term];
    while let Some(&next) = open.last() {
        if defined.contains(&next) {
            open.pop();
            continue;
        }
        let before = open.len();
        open.extend(terms.op(next).operands().filter(|operand| !defined.contains(operand)));
        if open.len() > before {
            continue;
        }
        let (width, number) = (terms.width(next), next.0);
        match terms.op(next) {
            Op::Var(variable) => {
                let name = quoted(&terms.variables()[variable as usize].0, variable);
                line(out, format_args!("(declare-const {name} (_ BitVec {width}))"));
                line(out, format_args!("(define-fun t{number} () (_ BitVec {width}) {name})"));
            }
            op => {
                let text = expression(terms, op, width);
                line(out, format_args!("(define-fun t{number} () (_ BitVec {width}) {text})"));
            }
        }
        defined.insert(next);
    }
}

/// A quoted symbol, which two variables of one name do not share.
fn quoted(name: &str, number: u32) -> String {
    let name: String = name.chars().filter(|c| c.is_ascii_graphic() && !"|\\".contains(*c)).collect();
    format!("|{name} {number}|")
}

fn expression(terms: &Terms, op: Op, width: u8) -> String {
    use Op::*;
    let wider = |a: Term| width - terms.width(a);
    let plain = |name: &str, a: Term, b: Term| format!("({name} t{} t{})", a.0, b.0);
    let bit = |condition: String| format!("(ite {condition} #b1 #b0)");
    // Their quotient by zero is another.
    let by_zero =
        |quotient: String, b: Term| format!("(ite (= t{} (_ bv0 {width})) (_ bv0 {width}) {quotient})", b.0);
    match op {
        Const(value) => format!("(_ bv{value} {width})"),
        Var(number) => quoted(&terms.variables()[number as usize].0, number),
        Not(a) => format!("(bvnot t{})", a.0),
        And(a, b) => plain("bvand", a, b),
        Or(a, b) => plain("bvor", a, b),
        Xor(a, b) => plain("bvxor", a, b),
        Add(a, b) => plain("bvadd", a, b),
        Sub(a, b) => plain("bvsub", a, b),
        Mul(a, b) => plain("bvmul", a, b),
        UDiv(a, b) => by_zero(plain("bvudiv", a, b), b),
        URem(a, b) => plain("bvurem", a, b),
        SDiv(a, b) => by_zero(plain("bvsdiv", a, b), b),
        SRem(a, b) => plain("bvsrem", a, b),
        Shl(a, b) => plain("bvshl", a, b),
        LShr(a, b) => plain("bvlshr", a, b),
        AShr(a, b) => plain("bvashr", a, b),
        Eq(a, b) => bit(plain("=", a, b)),
        Ult(a, b) => bit(plain("bvult", a, b)),
        Slt(a, b) => bit(plain("bvslt", a, b)),
        Ite(c, a, b) => format!("(ite (= t{} #b1) t{} t{})", c.0, a.0, b.0),
        Slice(a, low) => format!("((_ extract {} {low}) t{})", low + width - 1, a.0),
        Zext(a) => format!("((_ zero_extend {}) t{})", wider(a), a.0),
        Sext(a) => format!("((_ sign_extend {}) t{})", wider(a), a.0),
    }
}
