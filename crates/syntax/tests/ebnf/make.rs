// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random texts of a grammar.

use std::collections::{BTreeMap, BTreeSet};

use super::{Grammar, Node};

const NAMES: [&str; 5] = ["a", "b1", "_x", "some_name", "flow"];
const NUMBERS: [&str; 4] = ["42", "1_000", "0x2a", "0b101010"];
const QUANTITIES: [&str; 3] = ["10ms", "64KiB", "25Gbps"];
const GAPS: [&str; 7] = [" ", " ", " ", " ", "\n", " /* c */ ", " // c\n"];
/// Rules within rules, from which on what is shortest is taken.
const DEEP: u32 = 200;

/// Makes texts; the same ones for the same seed.
pub struct Maker<'a> {
    grammar: &'a Grammar,
    /// how many rules within rules each one takes at least
    heights: BTreeMap<&'a str, u32>,
    /// the alternatives that were taken, by where they are
    pub taken: BTreeSet<*const Node>,
    dice: u64,
    /// tokens until all is to be ended
    left: usize,
    depth: u32,
}

impl<'a> Maker<'a> {
    pub fn new(grammar: &'a Grammar, seed: u64) -> Maker<'a> {
        let mut heights: BTreeMap<&str, u32> = BTreeMap::new();
        loop {
            let more: Vec<(&str, u32)> = (grammar.rules.iter())
                .filter(|(name, _)| !heights.contains_key(name.as_str()))
                .filter_map(|(name, node)| Some((name.as_str(), height(&heights, node)? + 1)))
                .collect();
            if more.is_empty() {
                break;
            }
            heights.extend(more);
        }
        assert_eq!(heights.len(), grammar.rules.len(), "a rule has no end");
        Maker { grammar, heights, taken: BTreeSet::new(), dice: seed | 1, left: 0, depth: 0 }
    }

    /// A text of a rule that ends soon after so many tokens.
    pub fn text(&mut self, rule: &str, tokens: usize) -> String {
        self.left = tokens;
        let mut out = String::new();
        self.put(&self.grammar.rules[rule], &mut out);
        out
    }

    /// All alternatives and options of the grammar that can be taken or left.
    pub fn all(grammar: &Grammar) -> BTreeMap<*const Node, &Node> {
        let mut nodes: Vec<&Node> = grammar.rules.values().collect();
        let mut found = BTreeMap::new();
        while let Some(node) = nodes.pop() {
            if !matches!(node, Node::Row(_)) {
                found.extend(node.parts().iter().map(|part| (std::ptr::from_ref(part), part)));
            }
            nodes.extend(node.parts());
        }
        found
    }

    fn roll(&mut self, below: usize) -> usize {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        (self.dice >> 11) as usize % below
    }

    fn put(&mut self, node: &'a Node, out: &mut String) {
        let short = self.left == 0 || self.depth > DEEP;
        match node {
            Node::Text(text) => self.token(text, out),
            Node::Token(kind) => {
                let text = self.example(kind);
                self.token(text, out);
            }
            Node::Rule(name) => {
                // Expressions would take all that is left for what stands behind them.
                let kept = if name == "expr" { self.left - self.left / 4 } else { 0 };
                self.left -= kept;
                self.depth += 1;
                self.put(&self.grammar.rules[name], out);
                self.depth -= 1;
                self.left += kept;
            }
            Node::Row(nodes) => nodes.iter().for_each(|node| self.put(node, out)),
            Node::Choice(nodes) => {
                let least = nodes.iter().min_by_key(|node| height(&self.heights, node)).filter(|_| short);
                let fresh =
                    nodes.iter().find(|node| !short && !self.taken.contains(&std::ptr::from_ref(*node)));
                let index = self.roll(nodes.len());
                self.take(least.or(fresh).unwrap_or(&nodes[index]), out);
            }
            Node::Maybe(node) if !short && self.roll(2) == 0 => self.take(node, out),
            Node::Many(node) => {
                // Much in a file or a block, and little in each expression, or its first operand would be all of it.
                while !short && self.left > 0 && self.roll(6) < if self.depth < 7 { 4 } else { 1 } {
                    self.take(node, out);
                }
            }
            Node::Maybe(_) => {}
        }
    }

    fn take(&mut self, node: &'a Node, out: &mut String) {
        self.taken.insert(node);
        self.put(node, out);
    }

    fn token(&mut self, text: &str, out: &mut String) {
        self.left = self.left.saturating_sub(1);
        out.push_str(GAPS[self.roll(GAPS.len())]);
        out.push_str(text);
    }

    fn example(&mut self, kind: &str) -> &'static str {
        match kind {
            "NAME" => NAMES[self.roll(NAMES.len())],
            "NUMBER" => NUMBERS[self.roll(NUMBERS.len())],
            "QUANTITY" => QUANTITIES[self.roll(QUANTITIES.len())],
            "PATH" => "\"parts/a.mtp\"",
            _ => panic!("what is {kind}?"),
        }
    }
}

/// How many rules within rules a text of this takes at least, if that is known.
fn height(known: &BTreeMap<&str, u32>, node: &Node) -> Option<u32> {
    match node {
        Node::Rule(name) => known.get(name.as_str()).copied(),
        Node::Row(nodes) => nodes.iter().try_fold(0, |most, node| Some(most.max(height(known, node)?))),
        Node::Choice(nodes) => nodes.iter().filter_map(|node| height(known, node)).min(),
        Node::Text(_) | Node::Token(_) | Node::Maybe(_) | Node::Many(_) => Some(0),
    }
}
