// SPDX-License-Identifier: MIT OR Apache-2.0
//! `..name;` among fields: the fields of another declaration, in its place.

use std::collections::BTreeMap;

use crate::assemble::codes;
use crate::ast::*;
use crate::diag::Diagnostic;
use crate::span::Span;
use crate::suggest::nearest;

/// How many fields a declaration has at most, with those that it takes from others.
const FIELDS_MAX: usize = 1024;

/// Puts fields where they are taken.
pub(super) fn spread(tree: &mut File, diagnostics: &mut Vec<Diagnostic>) {
    let sources = tree.items.iter().filter_map(|item| source(&item.kind)).collect();
    let mut spreader = Spreader { sources, done: BTreeMap::new(), diagnostics };
    for item in &mut tree.items {
        let takes = matches!(
            item.kind,
            ItemKind::Struct { .. }
                | ItemKind::Event { .. }
                | ItemKind::Context { .. }
                | ItemKind::Scratchpad { .. }
        );
        let name = source(&item.kind).map(|(name, _)| name);
        let Some(fields) = item.kind.fields_mut().filter(|f| f.iter().any(|f| f.spread)) else {
            continue;
        };
        if takes {
            let mut open = name.into_iter().collect();
            *fields = spreader.expanded(std::mem::take(fields), &mut open);
        } else {
            spreader.misplaced(fields);
        }
    }
}

/// What has fields that others may take.
fn source(kind: &ItemKind) -> Option<(String, Vec<Field>)> {
    Some(match kind {
        ItemKind::Struct { name, fields }
        | ItemKind::Scratchpad { name, fields }
        | ItemKind::Event { name, fields, .. } => (name.name.clone(), fields.clone()),
        ItemKind::Id { name, parts } => (name.name.clone(), parts.iter().map(field_of_part).collect()),
        _ => return None,
    })
}

fn field_of_part(part: &Param) -> Field {
    Field::plain(part.ty.clone(), part.name.clone())
}

struct Spreader<'d> {
    sources: BTreeMap<String, Vec<Field>>,
    /// those whose own spreads are done
    done: BTreeMap<String, Vec<Field>>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl Spreader<'_> {
    /// The fields, with those that are taken; `open` are the declarations whose fields these are.
    fn expanded(&mut self, fields: Vec<Field>, open: &mut Vec<String>) -> Vec<Field> {
        let mut all = Vec::new();
        for field in fields {
            if !field.spread {
                all.push(field);
                continue;
            }
            let at = field.name.span;
            let taken = self.taken(&field.name, open);
            if all.len() + taken.len() > FIELDS_MAX {
                self.report(at, format!("more than {FIELDS_MAX} fields"), "too many", "take fewer of them");
                break;
            }
            // What is said of such a field is said of the place where it is taken.
            all.extend(taken.into_iter().map(|f| Field {
                name: Ident { span: at, ..f.name },
                span: field.span,
                ..f
            }));
        }
        all
    }

    fn taken(&mut self, from: &Ident, open: &mut Vec<String>) -> Vec<Field> {
        if let Some(done) = self.done.get(&from.name) {
            return done.clone();
        }
        if open.contains(&from.name) {
            let message = format!("`{}` takes its own fields", from.name);
            self.report(from.span, message, "leads back to where it began", "remove it");
            return Vec::new();
        }
        let Some(fields) = self.sources.get(&from.name).cloned() else {
            let near = nearest(&from.name, self.sources.keys().map(String::as_str)).map(str::to_owned);
            let mend = near.map_or_else(
                || "name a struct, an event, a scratchpad or an id".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            let message = format!("`{}` has no fields to take", from.name);
            self.report(from.span, message, "not a struct, an event, a scratchpad or an id", &mend);
            return Vec::new();
        };
        open.push(from.name.clone());
        let fields = self.expanded(fields, open);
        open.pop();
        self.done.insert(from.name.clone(), fields.clone());
        fields
    }

    fn misplaced(&mut self, fields: &mut Vec<Field>) {
        for field in fields.iter().filter(|f| f.spread) {
            let mend = "write the fields, or make a struct, event, context or scratchpad of it";
            self.report(field.name.span, "a header takes no fields of others".into(), "in a header", mend);
        }
        fields.retain(|f| !f.spread);
    }

    fn report(&mut self, span: Span, message: String, label: &str, mend: &str) {
        self.diagnostics.push(Diagnostic::error(codes::FIELDS_TAKEN, message, span, label).mend(mend));
    }
}
