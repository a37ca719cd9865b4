// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers at which what a program does may change: those in its text, and those that its contexts hold.
//!
//! A number that is drawn from all numbers is hardly ever the end of a window. What a context holds plus a size is.

use carrick_ir::{Expr, ExprKind, Program, Ty, walk};

use crate::random_source::RandomSource;

/// How many of the last numbers of contexts are kept.
const SEEN_MOST: usize = 64;
/// Numbers of contexts below this are rather found in the program's text.
const SEEN_LEAST: u64 = 8;

/// Sizes of the program, and what its contexts held last.
#[derive(Debug, Clone, Default)]
pub struct Edges {
    sizes: Vec<u64>,
    seen: Vec<u64>,
    next: usize,
}

impl Edges {
    /// The numbers of a program: literals, parameters, and bounds of arrays, lists and windows.
    pub fn of(program: &Program) -> Edges {
        let mut sizes: Vec<u64> = program.params.iter().map(|p| p.default).collect();
        let mut note = |e: &Expr| {
            if let ExprKind::Lit(value) = e.kind {
                sizes.push(value);
            }
        };
        for function in &program.functions {
            walk::statements(&function.body, &mut |stmt| walk::of_statement(stmt, &mut note));
        }
        for context in &program.contexts {
            let capacities = std::iter::once(&context.capacity).chain(context.unit_sizes());
            capacities.for_each(|e| walk::expressions(e, &mut note));
        }
        sizes.extend(program.consts.iter().map(|c| c.value));
        let fields = program.contexts.iter().flat_map(|c| &c.fields);
        let fields = fields.chain(program.structs.iter().flat_map(|s| &s.fields));
        sizes.extend(fields.filter_map(|field| match field.ty {
            Ty::Array(_, n) | Ty::List(_, n, _) => Some(u64::from(n)),
            Ty::Wnd { size, .. } => Some(size),
            _ => None,
        }));
        sizes.sort_unstable();
        sizes.dedup();
        Edges { sizes, ..Edges::default() }
    }

    /// Notes what a context holds.
    pub fn see(&mut self, words: &[u64]) {
        for &word in words.iter().filter(|&&word| word >= SEEN_LEAST) {
            if self.seen.len() < SEEN_MOST {
                self.seen.push(word);
            } else {
                self.seen[self.next % SEEN_MOST] = word;
            }
            self.next = self.next.wrapping_add(1);
        }
    }

    /// One of the sizes, one less or one more.
    pub fn size(&self, random: &mut RandomSource) -> u64 {
        let size = Self::one_of(&self.sizes, random);
        size.wrapping_add(random.roll(3)).wrapping_sub(1)
    }

    /// A size or what a context holds, or their sum, one less or one more.
    pub fn number(&self, random: &mut RandomSource) -> u64 {
        let seen = Self::one_of(&self.seen, random);
        match random.roll(3) {
            0 => self.size(random),
            1 => seen.wrapping_add(random.roll(3)).wrapping_sub(1),
            _ => seen.wrapping_add(self.size(random)),
        }
    }

    fn one_of(numbers: &[u64], random: &mut RandomSource) -> u64 {
        match numbers.len() as u64 {
            0 => 0,
            n => numbers[random.roll(n) as usize],
        }
    }
}
