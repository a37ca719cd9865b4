// SPDX-License-Identifier: MIT OR Apache-2.0
//! `p after q`, `p before q`: the order of a chain to which several features add.

use crate::assemble::codes;
use crate::ast::*;
use crate::diag::Diagnostic;
use crate::suggest::nearest;

/// Brings each chain of `tree` into its order; `whole` is the program with all its features.
pub(super) fn order(tree: &mut File, whole: &File, diagnostics: &mut Vec<Diagnostic>) {
    for item in &mut tree.items {
        let ItemKind::Dispatch { arms, .. } = &mut item.kind else { continue };
        for arm in arms {
            let known = known(whole, &arm.event);
            arm.chain = ordered(std::mem::take(&mut arm.chain), &known, diagnostics);
            if let Some(absent) = arm.absent.take() {
                arm.absent = Some(ordered(absent, &known, diagnostics));
            }
        }
    }
}

/// The processors that some feature, or the program without any, has in a chain of the event.
fn known<'a>(whole: &'a File, event: &Ident) -> Vec<&'a str> {
    let mut known: Vec<&str> = Vec::new();
    let all = std::iter::once(&whole.items).chain(super::declared::blocks(whole).map(|f| &f.items));
    for items in all {
        for item in items {
            let ItemKind::Dispatch { arms, .. } = &item.kind else { continue };
            let arms = arms.iter().filter(|a| a.event.name == event.name);
            known.extend(
                arms.flat_map(|a| a.chain.iter().chain(a.absent.iter().flatten()))
                    .map(|s| s.name.name.as_str()),
            );
        }
    }
    known
}

/// Steps without a place keep their order; the others go where they say, those of one place in the order of the file.
fn ordered(steps: Vec<Step>, known: &[&str], diagnostics: &mut Vec<Diagnostic>) -> Vec<Step> {
    let (mut placed, mut waiting): (Vec<Step>, Vec<Step>) =
        steps.into_iter().partition(|s| s.place.is_none());
    loop {
        let before = waiting.len();
        for step in std::mem::take(&mut waiting) {
            match position(&placed, &step) {
                Some(at) => placed.insert(at, step),
                None => waiting.push(step),
            }
        }
        if waiting.len() == before {
            break;
        }
    }
    for step in &waiting {
        report(step, &waiting, known, diagnostics);
    }
    // What a step refers to may be of a feature that is not chosen: then it stands last.
    placed.extend(waiting);
    for step in &mut placed {
        step.place = None;
    }
    placed
}

/// Where a step goes, once the one that it refers to is there.
fn position(placed: &[Step], step: &Step) -> Option<usize> {
    let place = step.place.as_ref()?;
    let of = placed.iter().position(|s| s.name.name == place.of.name)?;
    let same =
        |s: &Step| s.place.as_ref().is_some_and(|p| p.side == Side::After && p.of.name == place.of.name);
    Some(match place.side {
        Side::Before => of,
        Side::After => of + 1 + placed[of + 1..].iter().take_while(|s| same(s)).count(),
    })
}

fn report(step: &Step, waiting: &[Step], known: &[&str], diagnostics: &mut Vec<Diagnostic>) {
    let Some(Place { of, .. }) = &step.place else { return };
    if waiting.iter().any(|s| s.name.name == of.name) {
        diagnostics.push(
            Diagnostic::error(
                codes::PLACE_CYCLE,
                "the positions of these processors depend on each other",
                of.span,
                format!("`{}` has a position next to another processor, too", of.name),
            )
            .mend("give one of them a position next to a processor without one"),
        );
    } else if !known.contains(&of.name.as_str()) {
        let found = Diagnostic::error(
            codes::PLACE_UNKNOWN,
            format!("no chain of this event has `{}`", of.name),
            of.span,
            "not in the chain",
        );
        diagnostics.push(match nearest(&of.name, known.iter().copied()) {
            Some(near) => found.fix(format!("did you mean `{near}`?"), of.span, near),
            None => found.mend("name a processor of this chain, whichever feature adds it"),
        });
    }
}
