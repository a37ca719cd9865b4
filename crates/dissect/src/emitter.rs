// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the parts of the script share.

use std::cell::RefCell;
use std::collections::BTreeSet;

use carrick_ir::{
    BlueprintDef, BpId, EventId, ExprKind, FuncId, Function, Instr, LocalId, OptListId, Program, Proj,
    StmtKind, Ty, walk,
};

use crate::types::{Rep, rep};
use crate::writer::Writer;
use crate::{library, names};

/// What the parser, and all that it calls, works with.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    pub functions: BTreeSet<FuncId>,
    pub blueprints: BTreeSet<BpId>,
    pub events: BTreeSet<EventId>,
    pub option_lists: BTreeSet<OptListId>,
    /// fields of blueprints that conditions of the parser read: mostly, they say what kind of packet it is
    pub decisive: BTreeSet<(BpId, u32)>,
}

/// What turned out to be needed, or impossible, while the parts were written.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub consts: BTreeSet<usize>,
    pub params: BTreeSet<usize>,
    pub constructors: BTreeSet<String>,
    pub refused: Option<String>,
}

pub(crate) struct Emitter<'p> {
    pub p: &'p Program,
    pub w: Writer,
    pub reach: Reach,
    pub found: RefCell<Found>,
    pub function: Option<&'p Function>,
    /// the names of its locals
    pub locals: Vec<String>,
    /// what `BpField` means
    pub header: Option<&'p BlueprintDef>,
    /// of the loop at hand, and how many there are
    pub label: u32,
    pub labels: u32,
    library: Vec<&'static str>,
}

impl<'p> Emitter<'p> {
    pub(crate) fn new(program: &'p Program) -> Self {
        Emitter {
            p: program,
            w: Writer::default(),
            reach: reach(program),
            found: RefCell::default(),
            function: None,
            locals: Vec::new(),
            header: None,
            label: 0,
            labels: 0,
            library: library::names(),
        }
    }

    pub(crate) fn rep(&self, ty: &Ty) -> Rep {
        rep(self.p, ty)
    }

    /// Something that the script cannot do; what is returned stands for it until that is reported.
    pub(crate) fn refuse(&self, what: &str) -> String {
        self.found.borrow_mut().refused.get_or_insert_with(|| what.to_owned());
        "nil".to_owned()
    }

    pub(crate) fn local_ty(&self, local: LocalId) -> &'p Ty {
        self.function.and_then(|f| f.locals.get(local.index())).map_or(&Ty::Void, |l| &l.ty)
    }

    pub(crate) fn local(&self, local: LocalId) -> String {
        self.locals.get(local.index()).cloned().unwrap_or_default()
    }

    /// Begins with a function of the program.
    pub(crate) fn enter(&mut self, function: &'p Function) {
        self.function = Some(function);
        self.locals = names::locals(function.locals.iter().map(|l| l.name.as_str()), &self.library);
    }
}

fn reach(program: &Program) -> Reach {
    let mut reach = Reach::default();
    let mut waiting = vec![program.parser];
    while let Some(id) = waiting.pop() {
        let Some(function) = program.functions.get(id.index()) else { continue };
        if !reach.functions.insert(id) {
            continue;
        }
        let local = |at: LocalId| function.locals.get(at.index()).map(|l| &l.ty);
        walk::statements(&function.body, &mut |stmt| match &stmt.kind {
            StmtKind::Call { func, .. } => waiting.push(*func),
            StmtKind::Extract { bp } => {
                if let Some(Ty::Blueprint(bp)) = local(*bp) {
                    reach.blueprints.insert(*bp);
                }
            }
            StmtKind::If { cond, .. } => walk::expressions(cond, &mut |e| {
                if let ExprKind::Load(place) = &e.kind
                    && let (Some(Ty::Blueprint(bp)), [Proj::Field(at)]) = (local(place.root), &place.path[..])
                {
                    reach.decisive.insert((*bp, *at));
                }
            }),
            StmtKind::Instr(Instr::Raise { event }) => {
                if let Some(Ty::Event(event)) = local(*event) {
                    reach.events.insert(*event);
                }
            }
            _ => {}
        });
    }
    let lists = reach.blueprints.iter().filter_map(|bp| program.blueprints.get(bp.index())?.options);
    reach.option_lists = lists.collect();
    reach
}
