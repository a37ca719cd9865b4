// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options: TLVs, which of them a list can hold, and the list itself.

use carrick_ir::{self as ir, Ty};
use carrick_syntax::ast::{Expr, Field, Ident, ItemKind, TypeKind};
use carrick_syntax::diag::Diagnostic;

use crate::env::Def;
use crate::option_elements::split_list;
use crate::tlv::is_varint;
use crate::types::is_int;
use crate::{Checker, codes};

impl Checker<'_> {
    pub(crate) fn option(&mut self, doc: ir::Text, name: &Ident, fields: &[Field]) -> ir::OptDef {
        self.check_twins(fields.iter().map(|f| &f.name));
        let (fields, last) = split_list(fields);
        let list = last.and_then(|field| self.option_elements(field));
        let mut def = ir::OptDef {
            name: name.name.clone(),
            doc,
            kind: 0,
            len: 1,
            wide: None,
            fields: Vec::new(),
            list,
        };
        if self.several_values(fields) {
            return def;
        }
        if fields.first().is_some_and(is_varint) {
            self.wide_option(&mut def, name, fields);
        } else {
            self.short_option(&mut def, name, fields, last.is_some());
        }
        self.longest_option(&mut def, name);
        def
    }

    /// `opt_t o { uint8 kind = K; uint8 len = L; ... }`; `listed`: the length depends on a list.
    fn short_option(&mut self, def: &mut ir::OptDef, name: &Ident, fields: &[Field], listed: bool) {
        let (values, octets) = self.option_fields(fields);
        let fixed_octet = |at: usize, name: &str| {
            values.get(at).filter(|f: &&ir::OptField| f.name == name && f.ty == Ty::U8).and_then(|f| f.fixed)
        };
        let kind = fixed_octet(0, "kind");
        let len = match listed {
            true => {
                values.get(1).filter(|f| f.name == "len" && f.ty == Ty::U8).map(|f| f.fixed.unwrap_or(octets))
            }
            false if values.len() == 1 => Some(1),
            false => fixed_octet(1, "len"),
        };
        let (Some(kind), Some(len)) = (kind, len) else {
            self.report(
                Diagnostic::error(codes::OPTION_SHAPE, "an option begins with its kind and length", name.span, "this option")
                    .note("receivers use the length byte to skip options that they do not know")
                    .mend(if listed {
                        "begin with `uint8 kind = K; uint8 len;`: the number of elements sets the length"
                    } else {
                        "begin with `uint8 kind = K; uint8 len = L;`, or with `uint8 kind = K;` alone for a single byte"
                    }),
            );
            return;
        };
        if kind == 0 && len > 1 {
            self.report(
                Diagnostic::error(
                    codes::OPTION_KIND_ZERO,
                    format!("kind 0 of `{}` ends the list", name.name),
                    name.span,
                    "its fields are never read",
                )
                .mend("give it another kind"),
            );
        }
        if listed && values[1].fixed.is_some() {
            self.elements_error(
                fields[1].span,
                format!("`{}` has no fixed length", name.name),
                "the number of elements sets it",
                "write `uint8 len;`",
            );
        } else if len != octets {
            self.report(
                Diagnostic::error(
                    codes::OPTION_LENGTH,
                    format!("the length of `{}` is {len} bytes, but its fields have {octets}", name.name),
                    name.span,
                    "this option",
                )
                .mend(format!("set `len` to {octets} or change the fields")),
            );
        }
        let skip = if len == 1 { 1 } else { 2 };
        def.fields = values.into_iter().skip(skip).collect();
        (def.kind, def.len) = (kind as u8, octets.min(255) as u8);
    }

    /// The fields of an option, and the bytes that they take.
    fn option_fields(&mut self, fields: &[Field]) -> (Vec<ir::OptField>, u64) {
        let mut values = Vec::new();
        let mut octets = 0;
        for field in fields {
            let ty = self.option_field_type(field, "uint8, uint16, uint32, uint64 or seq32");
            octets += u64::from(ir::arith::shape(&ty).0 / 8);
            let fixed = field.init.as_ref().and_then(|e| self.constant(e, &ty));
            values.push(ir::OptField { name: field.name.name.clone(), ty, varint: false, fixed });
        }
        (values, octets)
    }

    /// Returns the type of an option's field, and reports one that is no integer; `types` are those it may have.
    pub(crate) fn option_field_type(&mut self, field: &Field, types: &str) -> Ty {
        if field.range.is_some() {
            self.not_ranged(field, "in an option");
        }
        let ty = self.resolve(&field.ty).unwrap_or(Ty::U8);
        if !(is_int(&ty) || ty == Ty::Seq32) {
            let message = "an option's fields are integers";
            self.report(
                Diagnostic::error(codes::OPTION_SHAPE, message, field.ty.span, "not an integer")
                    .mend(format!("use {types}")),
            );
        }
        ty
    }

    pub(crate) fn option_unions(&mut self) {
        let file = self.file;
        for item in &file.items {
            if let ItemKind::OptUnion { members, .. } = &item.kind {
                let members = self.union_members(members);
                self.unions.push(members);
            }
        }
    }

    /// The options of a union; each must be told from the others by its kind, or by its length if they are of one kind.
    fn union_members(&mut self, names: &[Ident]) -> Vec<ir::OptId> {
        let mut members: Vec<ir::OptId> = Vec::new();
        for name in names {
            let pick = |d| if let Def::Opt(o) = d { Some(o) } else { None };
            let Some(opt) = self.lookup("option", name, pick) else { continue };
            let kind_of = |opt: &ir::OptDef| opt.wide.unwrap_or(u64::from(opt.kind));
            let new = &self.program.opts[opt.index()];
            let kind = kind_of(new);
            let same = |old: &ir::OptDef| {
                let lengths = old.list.is_some() || new.list.is_some() || old.len == new.len;
                kind_of(old) == kind && (old.wide.is_some() || lengths || old.len.min(new.len) == 1)
            };
            let twin = members.iter().find(|m| same(&self.program.opts[m.index()]));
            if let Some(twin) = twin {
                let message = format!("`{}` also has kind {kind}", self.program.opts[twin.index()].name);
                self.report(
                    Diagnostic::error(codes::OPTION_KIND_TWICE, message, name.span, "of the same kind")
                        .note("a receiver distinguishes options by their kind, and options of one kind by their length byte")
                        .mend("give each option a kind of its own, or a length"),
                );
                continue;
            }
            members.push(opt);
        }
        members
    }

    /// All but the lists' lengths, which need the blueprint that uses the list.
    pub(crate) fn option_lists(&mut self) {
        let file = self.file;
        for item in &file.items {
            if let ItemKind::OptList { name, fields } = &item.kind {
                let list = self.option_list(item.doc.as_str().into(), name, fields);
                self.program.opt_lists.push(list);
            }
        }
    }

    fn option_list(&mut self, doc: ir::Text, name: &Ident, fields: &[Field]) -> ir::OptListDef {
        let mut members = None;
        let (mut align, mut pad) = (1, 1);
        for field in fields {
            match field.name.name.as_str() {
                "len" => {}
                "align" => align = self.field_constant(field, &Ty::U64).unwrap_or(1),
                "pad" => pad = self.field_constant(field, &Ty::U8).unwrap_or(1),
                _ if matches!(field.ty.kind, TypeKind::List(..)) => {
                    members = self.list_members(field).or(members);
                }
                _ => self.unknown(
                    codes::OPTION_LIST_FIELD,
                    "part of an option list",
                    &field.name,
                    &["len", "align", "pad"],
                ),
            }
        }
        let has_len = fields.iter().any(|f| f.name.name == "len" && f.init.is_some());
        if members.is_none() || !has_len || ![1, 2, 4, 8].contains(&align) {
            self.report(
                Diagnostic::error(codes::OPTION_LIST, "this option list is malformed", name.span, "this list")
                    .note("it needs `bytes len = ...;` over fields of its blueprint, and `list<an_opt_union, N> opts;`; `align` is 1, 2, 4 or 8")
                    .mend("add what is missing"),
            );
        }
        self.same_heads(members.as_deref().unwrap_or_default(), align, name);
        self.padding_is_an_option(members.as_deref().unwrap_or_default(), (align, pad), name);
        let zero = ir::Expr { kind: ir::ExprKind::Lit(0), ty: Ty::Bytes, loc: ir::Loc::default() };
        ir::OptListDef {
            name: name.name.clone(),
            doc,
            members: members.unwrap_or_default(),
            len: zero,
            align: align.clamp(1, 8) as u32,
            pad: pad as u8,
        }
    }

    /// A receiver reads the bytes in front of an aligned option as options: of the padding's kind, there must be one of a single
    /// byte.
    fn padding_is_an_option(&mut self, members: &[ir::OptId], (align, pad): (u64, u64), name: &Ident) {
        let opts = || members.iter().map(|m| &self.program.opts[m.index()]);
        let uneven = |opt: &ir::OptDef| {
            let element = opt.list.as_ref().map_or(0, |list| u64::from(list.octets(&self.program)));
            opt.len > 1 && (!u64::from(opt.len).is_multiple_of(align) || !element.is_multiple_of(align))
        };
        let is_padding = |opt: &ir::OptDef| opt.len == 1 && opt.list.is_none() && u64::from(opt.kind) == pad;
        let wide = opts().any(|opt| opt.wide.is_some());
        if wide || pad > 0 && opts().any(is_padding) || !opts().any(uneven) {
            return;
        }
        let (message, mend) = match pad {
            0 => (
                "padding of kind 0 ends the list in front of an option".to_owned(),
                "pad with another kind, of which the list has an option of one byte".to_owned(),
            ),
            _ => (
                format!("the list has no option of one byte with kind {pad}, which is its padding"),
                format!("declare `opt_t pad_opt {{ uint8 kind = {pad}; }}`, and name it in the option union"),
            ),
        };
        self.report(
            Diagnostic::error(codes::OPTION_LIST, message, name.span, "no receiver can read this list")
                .note(format!("options are aligned to {align} bytes by padding in front of them, which a receiver reads as options"))
                .mend(mend),
        );
    }

    fn field_constant(&mut self, field: &Field, ty: &Ty) -> Option<u64> {
        let init = field.init.as_ref()?;
        self.constant(init, ty)
    }

    fn list_members(&mut self, field: &Field) -> Option<Vec<ir::OptId>> {
        let TypeKind::List(element, _) = &field.ty.kind else { return None };
        let TypeKind::Name(union) = &element.kind else { return None };
        let union = Ident { name: union.clone(), span: element.span };
        let index =
            self.lookup("option union", &union, |d| if let Def::OptUnion(u) = d { Some(u) } else { None })?;
        Some(self.unions[index as usize].clone())
    }

    /// The most bytes that the options of a list take when each is there once, with padding.
    pub(crate) fn longest_options(&self, list: ir::OptListId) -> u32 {
        let list = &self.program.opt_lists[list.index()];
        let sizes = list.members.iter().map(|m| &self.program.opts[m.index()]);
        sizes
            .map(|opt| match opt.wide {
                Some(_) => Self::longest_wide(opt) + opt.most_listed(&self.program),
                None if opt.len > 1 => {
                    (u32::from(opt.len) + opt.most_listed(&self.program)).next_multiple_of(list.align)
                }
                None => 0,
            })
            .sum()
    }

    /// The initialiser of the list's `len`.
    pub(crate) fn list_length(&self, list: ir::OptListId) -> Option<&Expr> {
        let lists = self.file.items.iter().filter_map(|i| match &i.kind {
            ItemKind::OptList { fields, .. } => Some(fields),
            _ => None,
        });
        let fields = lists.clone().nth(list.index())?;
        fields.iter().find(|f| f.name.name == "len")?.init.as_ref()
    }
}
