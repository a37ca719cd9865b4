// SPDX-License-Identifier: MIT OR Apache-2.0
//! The declarations of chosen features beside and inside those that are always there.

use super::Chosen;
use crate::assemble::codes;
use crate::ast::*;
use crate::diag::Diagnostic;

/// The tree without features, with all that the chosen ones add.
pub(super) fn merge(tree: &File, chosen: &[Chosen], diagnostics: &mut Vec<Diagnostic>) -> File {
    let mut merged = File { imports: tree.imports.clone(), ..File::default() };
    let plain = tree.items.iter().filter(|i| !matches!(i.kind, ItemKind::Feature(_)));
    merged.items.extend(plain.cloned());
    let always = merged.items.len();
    for item in &tree.items {
        let ItemKind::Feature(feature) = &item.kind else { continue };
        if !chosen.iter().any(|c| c.has(feature)) {
            merged.left_out.push(item.span);
            continue;
        }
        for inner in &feature.items {
            if let ItemKind::Feature(nested) = &inner.kind {
                diagnostics.push(nested_feature(nested));
                continue;
            }
            let there = merged.items.iter_mut().find(|i| extends(&inner.kind, &i.kind));
            match there {
                Some(there) => extend(&mut there.kind, inner.kind.clone(), diagnostics),
                None => merged.items.push(inner.clone()),
            }
        }
    }
    place_fields(&mut merged.items[..always], tree);
    merged
}

fn nested_feature(nested: &Feature) -> Diagnostic {
    Diagnostic::error(
        codes::FEATURE_NESTED,
        "a feature is inside another feature",
        nested.name.span,
        "declared inside of a feature",
    )
    .mend("declare it outside of the other one, with `requires`")
}

/// The name and what it is called in messages, of what can be extended.
fn extendable(kind: &ItemKind) -> Option<(&'static str, &str)> {
    Some(match kind {
        ItemKind::Enum { name, .. } => ("enum", &name.name),
        ItemKind::Struct { name, .. } => ("struct", &name.name),
        ItemKind::Event { name, .. } => ("event", &name.name),
        ItemKind::Context { name, .. } => ("context", &name.name),
        ItemKind::Scratchpad { name, .. } => ("scratchpad", &name.name),
        ItemKind::NetHeader { name, .. } => ("net_header", &name.name),
        ItemKind::OptUnion { name, .. } => ("opt_union", &name.name),
        ItemKind::FrameUnion { name, .. } => ("frame_union", &name.name),
        ItemKind::Blueprint { name, .. } => ("pkt_bp", &name.name),
        ItemKind::Dispatch { name, .. } => ("dispatch", &name.name),
        ItemKind::Machine { name, .. } => ("machine", &name.name),
        ItemKind::Interface { name, .. } => ("interface", &name.name),
        ItemKind::Layout { blueprint, .. } => ("layout", &blueprint.name),
        ItemKind::Deploy { .. } => ("deploy", ""),
        _ => return None,
    })
}

fn extends(new: &ItemKind, there: &ItemKind) -> bool {
    extendable(new).is_some_and(|new| extendable(there) == Some(new))
}

/// Adds to a declaration what another of the same kind and name says.
fn extend(there: &mut ItemKind, more: ItemKind, diagnostics: &mut Vec<Diagnostic>) {
    use ItemKind as K;
    let mut differs = |what: &str, was: &Ident, now: &Ident| {
        if was.name != now.name {
            diagnostics.push(
                Diagnostic::error(
                    codes::EXTENSION_DIFFERS,
                    format!("this extends a declaration with {what} `{}`", was.name),
                    now.span,
                    format!("{what} `{}`", now.name),
                )
                .cause(was.span, "declared here")
                .mend("repeat the original declaration, or choose a new name"),
            );
        }
    };
    match (there, more) {
        (K::Enum { variants, .. }, K::Enum { variants: new, .. }) => variants.extend(new),
        (K::Struct { fields, .. }, K::Struct { fields: new, .. })
        | (K::Scratchpad { fields, .. }, K::Scratchpad { fields: new, .. })
        | (K::NetHeader { fields, .. }, K::NetHeader { fields: new, .. }) => fields.extend(new),
        (K::Event { fields, kind, .. }, K::Event { fields: new, kind: now, .. }) => {
            differs("the kind", kind, &now);
            fields.extend(new);
        }
        (K::Context { fields, timers, by, .. }, K::Context { fields: new, timers: more, by: now, .. }) => {
            if let (Some(by), Some(now)) = (by, now) {
                differs("the id", by, &now);
            }
            fields.extend(new);
            timers.extend(more);
        }
        (K::Blueprint { fields, over, .. }, K::Blueprint { fields: new, over: now, .. }) => {
            if let (Some(over), Some(now)) = (over, now) {
                differs("the header", over, &now);
            }
            fields.extend(new);
        }
        (K::OptUnion { members, .. }, K::OptUnion { members: new, .. })
        | (K::FrameUnion { members, .. }, K::FrameUnion { members: new, .. }) => members.extend(new),
        (K::Interface { calls, .. }, K::Interface { calls: new, .. }) => calls.extend(new),
        (K::Deploy { calls }, K::Deploy { calls: new }) => calls.extend(new),
        (K::Layout { entries, .. }, K::Layout { entries: new, .. }) => extend_layout(entries, new),
        (K::Dispatch { arms, .. }, K::Dispatch { arms: new, .. }) => extend_arms(arms, new, diagnostics),
        (
            K::Machine { states, anywhere, context, .. },
            K::Machine { states: new, anywhere: more, context: now, .. },
        ) => {
            if context.name.name != now.name.name {
                differs("the name of its context", &context.name, &now.name);
            }
            extend_states(states, new);
            anywhere.extend(more);
        }
        // `extends` has compared the kinds.
        _ => {}
    }
}

/// The chain of an event that has one grows; the others are added.
fn extend_arms(arms: &mut Vec<Arm>, new: Vec<Arm>, diagnostics: &mut Vec<Diagnostic>) {
    for arm in new {
        match arms.iter_mut().find(|a| a.event.name == arm.event.name) {
            Some(there) => {
                match (&there.fallback, arm.fallback) {
                    (Some(was), Some(now)) => diagnostics.push(
                        Diagnostic::error(
                            codes::EXTENSION_DIFFERS,
                            format!("`{}` has a second lookup already", arm.event.name),
                            now.span,
                            "another one",
                        )
                        .cause(was.span, "declared here")
                        .mend("remove one of them"),
                    ),
                    (None, now) => there.fallback = now,
                    _ => {}
                }
                there.chain.extend(arm.chain);
                if let Some(absent) = arm.absent {
                    there.absent.get_or_insert_default().extend(absent);
                }
            }
            None => arms.push(arm),
        }
    }
}

/// In a state that is there, more happens; the others are added.
fn extend_states(states: &mut Vec<State>, new: Vec<State>) {
    for state in new {
        match states.iter_mut().find(|s| s.name.name == state.name.name) {
            Some(there) => there.reactions.extend(state.reactions),
            None => states.push(state),
        }
    }
}

/// A group that is there grows; what is said of a field anew takes the place of what was said.
fn extend_layout(entries: &mut Vec<LayoutEntry>, new: Vec<LayoutEntry>) {
    use LayoutEntry as E;
    for entry in new {
        let there = entries.iter_mut().find(|e| match (&**e, &entry) {
            (E::Group { name: a, .. }, E::Group { name: b, .. })
            | (E::Range { field: a, .. }, E::Range { field: b, .. })
            | (E::Align { field: a, .. }, E::Align { field: b, .. }) => a.name == b.name,
            _ => false,
        });
        match (there, entry) {
            (Some(E::Group { fields, .. }), E::Group { fields: more, .. }) => fields.extend(more),
            (Some(there), entry) => *there = entry,
            (None, entry) => entries.push(entry),
        }
    }
}

/// Fields that features add to a blueprint stand before its options and its payload.
fn place_fields(items: &mut [Item], tree: &File) {
    let lists: Vec<&str> = tree.items.iter().filter_map(|i| option_list(&i.kind)).collect();
    for item in items {
        let ItemKind::Blueprint { name, fields, .. } = &mut item.kind else { continue };
        let own = tree.items.iter().find_map(|i| match &i.kind {
            ItemKind::Blueprint { name: of, fields, .. } if of.name == name.name => Some(fields.len()),
            _ => None,
        });
        let Some(own) = own.filter(|own| *own < fields.len()) else { continue };
        let is_last = |f: &Field| match &f.ty.kind {
            TypeKind::Name(ty) => ty == "data_t" || lists.contains(&ty.as_str()),
            TypeKind::List(..) => true,
            _ => false,
        };
        let at = fields[..own].iter().position(is_last).unwrap_or(own);
        let added = fields.split_off(own);
        let last = fields.split_off(at);
        // A feature may bring options or a payload too.
        let (late, early): (Vec<Field>, Vec<Field>) = added.into_iter().partition(is_last);
        fields.extend(early);
        let (options, payload): (Vec<Field>, Vec<Field>) = late
            .into_iter()
            .chain(last)
            .partition(|f| !matches!(&f.ty.kind, TypeKind::Name(t) if t == "data_t"));
        let trailer = options.iter().position(|f| !is_last(f)).unwrap_or(options.len());
        let mut options = options;
        let trailers = options.split_off(trailer);
        fields.extend(options.into_iter().chain(payload).chain(trailers));
    }
}

fn option_list(kind: &ItemKind) -> Option<&str> {
    if let ItemKind::OptList { name, .. } = kind { Some(&name.name) } else { None }
}
