// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a run can be stopped: the statements of a program, and what can be named at each.

use carrick_ir::{Block, FuncId, Function, Loc, LocalId, Program, Stmt, StmtKind};

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// the function that it is in
    pub func: FuncId,
    /// where the statement of the text begins
    pub loc: Loc,
    /// the first of those that the statement of the text became
    pub head: bool,
    /// the locals that are there before it runs
    pub visible: Vec<LocalId>,
}

/// All statements of a program, by function, each before those that are in it.
pub fn sites(program: &Program) -> Vec<Site> {
    let mut all = Vec::new();
    for (index, def) in program.functions.iter().enumerate() {
        let visible = (0..def.params).map(LocalId).collect();
        let mut walk = Walk { func: FuncId(index as u32), def, visible, all: &mut all };
        walk.block(&def.body, Loc::default());
    }
    all
}

struct Walk<'a> {
    func: FuncId,
    def: &'a Function,
    visible: Vec<LocalId>,
    all: &'a mut Vec<Site>,
}

impl Walk<'_> {
    /// `around`: where the statement stands that this block is in.
    fn block(&mut self, block: &Block, around: Loc) {
        let outer = self.visible.len();
        let mut last = around;
        for stmt in &block.stmts {
            if let StmtKind::Block(body) = &stmt.kind {
                self.block(body, last);
                continue;
            }
            self.all.push(Site {
                func: self.func,
                loc: stmt.loc,
                head: stmt.loc.line != 0 && stmt.loc != last,
                visible: self.visible.clone(),
            });
            last = stmt.loc;
            self.inner(stmt);
            self.visible.extend(stmt.begins());
        }
        self.visible.truncate(outer);
        debug_assert!(self.visible.iter().all(|l| l.index() < self.def.locals.len()));
    }

    fn inner(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::If { then, otherwise, .. } => {
                self.block(then, stmt.loc);
                self.block(otherwise, stmt.loc);
            }
            StmtKind::For { var, body, .. } => {
                self.visible.push(*var);
                self.block(body, stmt.loc);
                self.visible.pop();
            }
            _ => {}
        }
    }
}
