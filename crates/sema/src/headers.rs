// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is on the wire: network headers, blueprints, segmentation rules.

use carrick_ir::{self as ir, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{Expr, Field, Ident, ItemKind, TypeKind};
use carrick_syntax::diag::Diagnostic;

use crate::body::{Body, Scope};
use crate::env::Def;
use crate::header_arrays::Piece;
use crate::layout::Slot;
use crate::parts::Placing;
use crate::tlv::is_varint;
use crate::types::is_int;
use crate::{Checker, codes};

impl<'a> Checker<'a> {
    pub(crate) fn declare_headers(&mut self) {
        let file = self.file;
        let mut net_header: Option<Span> = None;
        for item in &file.items {
            match &item.kind {
                ItemKind::NetHeader { name, .. } if net_header.is_some() => {
                    self.report(
                        Diagnostic::error(
                            codes::NET_HEADER_TWICE,
                            "a program has one network header",
                            name.span,
                            "a second one",
                        )
                        .cause(net_header.unwrap_or_default(), "the first")
                        .mend("keep one of the two"),
                    );
                }
                ItemKind::NetHeader { name, fields } => {
                    net_header = Some(name.span);
                    self.net_header(name, fields);
                }
                ItemKind::Opt { name, fields } => {
                    let opt = self.option(item.doc.as_str().into(), name, fields);
                    self.program.opts.push(opt);
                }
                _ => {}
            }
        }
        self.option_unions();
        self.frame_unions();
        self.option_lists();
        for item in &file.items {
            if let ItemKind::Blueprint { name, over, fields } = &item.kind {
                self.blueprint(item.doc.as_str().into(), name, over.as_ref(), fields);
            }
        }
    }

    fn blueprint(&mut self, doc: ir::Text, name: &Ident, over: Option<&Ident>, fields: &'a [Field]) {
        if let Some(over) = over.filter(|over| !self.is_of_either_version(over)) {
            self.lookup("network header", over, |d| (d == Def::NetHeader).then_some(()));
        }
        let mut bp = ir::BlueprintDef {
            name: name.name.clone(),
            doc,
            fields: Vec::new(),
            frame: over.is_none(),
            payload_len: None,
            payload_align: 1,
            frames: None,
            groups: Vec::new(),
            parts: Vec::new(),
            trailer: false,
            fixed_len: 0,
            options: None,
            max_header_len: 0,
            options_name: None,
            payload_name: None,
        };
        let mut place = Placing::default();
        self.check_twins(fields.iter().map(|f| &f.name));
        for field in fields {
            self.check_reserved(&field.name, "net", "blueprint");
        }
        let (slots, groups) = self.arranged(name, fields);
        bp.groups = groups;
        for slot in &slots {
            match slot.field {
                Some(field) => self.blueprint_field(&mut bp, field, slot, &mut place),
                None => padding(&mut bp, slot, &mut place),
            }
        }
        if let (Some(slot), true) = (slots.iter().find(|s| s.range.is_some()), bp.frames.is_some())
            && let Some(field) = slot.field
        {
            self.not_ranged(field, "in a packet of frames");
        }
        self.check_element_names(&bp, fields);
        self.end_part(&mut bp, fields.last().map_or(name.span, |f| f.span), &place);
        let parts: u32 = bp.parts.iter().map(|part| bp.part_len(part)).sum();
        bp.max_header_len = bp.fixed_len + parts + bp.options.map_or(0, |list| self.longest_options(list));
        self.program.blueprints.push(bp);
    }

    /// `inet` in a program that is fixed to one version: programs of both kinds import such blueprints.
    fn is_of_either_version(&self, over: &Ident) -> bool {
        let fixed = |name: &str| matches!(self.env.names.get(name), Some((Def::NetHeader, _)));
        over.name == "inet" && ["ipv4", "ipv6"].into_iter().any(fixed)
    }

    /// The type of a field on the wire; `uint8` for one that has none.
    pub(crate) fn header_type(&mut self, field: &Field) -> Ty {
        match type_name(field) {
            "checksum16_t" => Ty::U16,
            "crc32_t" => Ty::U32,
            "varint_t" => Ty::U64,
            _ => self.resolve(&field.ty).unwrap_or(Ty::U8),
        }
    }

    fn blueprint_field(
        &mut self,
        bp: &mut ir::BlueprintDef,
        field: &Field,
        slot: &Slot<'_>,
        place: &mut Placing,
    ) {
        if self.payload_or_options(bp, field) {
            return;
        }
        let crc = field.array.is_none() && type_name(field) == "crc32_t";
        let trailer = crc && bp.payload_name.is_some();
        self.in_place(bp, field, trailer || bp.payload_name.is_none() && bp.options.is_none());
        for piece in self.pieces(field, slot.bits) {
            self.header_field(bp, (field, piece), slot, trailer, place);
        }
        self.range_in_packet(bp, field, slot);
        bp.trailer |= trailer;
    }

    fn header_field(
        &mut self,
        bp: &mut ir::BlueprintDef,
        (field, piece): (&Field, Piece),
        slot: &Slot<'_>,
        trailer: bool,
        place: &mut Placing,
    ) {
        let bits = piece.bits;
        if !trailer {
            self.enter_part(bp, field, is_varint(field), place);
        }
        if slot.bits.or(field.bits.as_ref().map(|_| bits)).is_none() && !place.offset.is_multiple_of(8) {
            self.bits_unaligned(field.span, place.offset);
            place.offset = place.offset.next_multiple_of(8);
        }
        let type_name = if piece.element.is_some() { "" } else { type_name(field) };
        if matches!(type_name, "checksum16_t" | "crc32_t") {
            self.not_in_frame(bp, field);
            self.checksum_in_place(bp, field, place.offset, bits);
            if !trailer {
                self.checksum_is_fixed(bp, field);
            }
        }
        let kind = match type_name {
            "checksum16_t" => self.checksum(field),
            "crc32_t" => ir::BpFieldKind::Crc(ir::Crc::default()),
            _ => ir::BpFieldKind::Plain { init: None },
        };
        let fixed = if bp.parts.is_empty() { place.offset } else { 8 * bp.fixed_len };
        bp.fields.push(ir::BpField {
            name: piece.name,
            doc: field.doc.as_str().into(),
            ty: piece.ty,
            bits,
            bit_offset: if trailer { fixed } else { place.offset },
            base: slot.base,
            range: slot.range,
            kind,
            element: piece.element,
        });
        if !trailer {
            place.offset += bits;
        }
    }

    /// Whether the field is one of those that come last.
    fn payload_or_options(&mut self, bp: &mut ir::BlueprintDef, field: &Field) -> bool {
        let type_name = type_name(field);
        if type_name == "data_t" {
            self.in_place(bp, field, bp.payload_name.is_none());
            self.always_there(field);
            bp.payload_name = Some(field.name.name.clone());
            return true;
        }
        if let Some(union) = self.frame_list(field) {
            self.in_place(bp, field, bp.payload_name.is_none());
            self.always_there(field);
            bp.payload_name = Some(field.name.name.clone());
            bp.frames = self.frames(bp, field, union);
            return true;
        }
        if let Some(Def::OptList(list)) = self.env.get(type_name) {
            self.in_place(bp, field, bp.payload_name.is_none() && bp.options.is_none());
            self.always_there(field);
            self.usage.mark(type_name);
            bp.options = Some(list);
            bp.options_name = Some(field.name.name.clone());
            return true;
        }
        false
    }

    fn in_place(&mut self, bp: &ir::BlueprintDef, field: &Field, ok: bool) {
        if !ok {
            self.report(
                Diagnostic::error(
                    codes::BLUEPRINT_ORDER,
                    format!("`{}` is declared too late in `{}`", field.name.name, bp.name),
                    field.span,
                    "after the options or the payload",
                )
                .note("a packet is its fixed fields, then one list of options, then the payload")
                .mend("move it up, and keep only one of each"),
            );
        }
    }

    /// The sum runs over pairs of bytes: a checksum is one of these pairs, and nothing is left to sum up another one.
    /// A CRC-32 needs whole bytes, and is filled in before the checksum, but behind no other CRC-32.
    fn checksum_in_place(&mut self, bp: &ir::BlueprintDef, field: &Field, offset: u32, bits: u32) {
        let crc = matches!(&field.ty.kind, TypeKind::Name(n) if n == "crc32_t");
        let (what, width, note) = if crc {
            (
                "CRC-32",
                32,
                "a CRC-32 is computed over whole bytes, when all other fields but the checksum have their values",
            )
        } else {
            (
                "checksum",
                16,
                "the Internet checksum is a sum over pairs of bytes; it is one of these pairs itself",
            )
        };
        let twin = bp.fields.iter().any(|f| match f.kind {
            ir::BpFieldKind::Checksum { .. } => !crc,
            ir::BpFieldKind::Crc(_) => crc,
            _ => false,
        });
        let (code, message) = if twin {
            (codes::CHECKSUM_TWICE, format!("this is a second {what}"))
        } else if bits != width {
            (codes::BIT_WIDTH, format!("a {what} has {width} bits"))
        } else if !offset.is_multiple_of(if crc { 8 } else { 16 }) {
            let octet = if crc { "a byte boundary" } else { "an even byte" };
            (codes::BIT_ALIGNMENT, format!("a {what} begins at {octet}"))
        } else {
            return;
        };
        let mend = if crc {
            "keep one `crc32_t`, without a width"
        } else {
            "keep one `checksum16_t`, without a width, behind an even number of bytes"
        };
        self.report(
            Diagnostic::error(code, message, field.span, format!("this {what}")).note(note).mend(mend),
        );
    }

    /// Ranges are checked of a packet as a whole.
    fn range_in_packet(&mut self, bp: &ir::BlueprintDef, field: &Field, slot: &Slot<'_>) {
        if slot.range.is_some() && (bp.frame || !field.presence.is_empty() || is_varint(field)) {
            self.not_ranged(field, "not in every packet, or of variable length");
        }
    }

    pub(crate) fn not_ranged(&mut self, field: &Field, why: &str) {
        self.report(
            Diagnostic::error(
                codes::FIELD_RANGE,
                format!("`{}` cannot have a range", field.name.name),
                field.span,
                why.to_owned(),
            )
            .mend("check it where the packet is extracted"),
        );
    }

    pub(crate) fn field_bits(&mut self, field: &Field, ty: &Ty) -> u32 {
        let width = match ty {
            Ty::Enum(id) => ir::arith::shape(&self.program.enums[id.index()].repr).0,
            other => ir::arith::shape(other).0,
        };
        let possible = is_int(ty) || matches!(ty, Ty::Seq32 | Ty::Enum(_) | Ty::Bool);
        let bits = match &field.bits {
            Some(bits) => self.constant(bits, &Ty::U64).unwrap_or(u64::from(width)),
            None => u64::from(width),
        };
        let other_bits = if field.bits.is_some() { is_varint(field) } else { *ty == Ty::Bool };
        if !possible || other_bits || bits == 0 || bits > u64::from(width) {
            let name = self.name(ty);
            let mend = match ty {
                Ty::Struct(_) => {
                    format!("declare its fields here, or an array of it: `{name} {}[1];`", field.name.name)
                }
                _ => "choose a width from 1 to that of the type".to_owned(),
            };
            self.report(
                Diagnostic::error(
                    codes::BIT_WIDTH,
                    format!("`{}` cannot have this width", field.name.name),
                    field.bits.as_ref().map_or(field.ty.span, |b| b.span),
                    format!("a {name} in a header"),
                )
                .note("header fields are integers, seq32 and enums of at most their own width, `bool` with `: 1`, and `varint_t` without a width")
                .mend(mend),
            );
            return width.max(8);
        }
        bits as u32
    }

    pub(crate) fn bits_unaligned(&mut self, span: carrick_syntax::Span, offset: u32) {
        self.report(
            Diagnostic::error(
                codes::BIT_ALIGNMENT,
                "the bit fields before this do not end at a byte boundary",
                span,
                "here",
            )
            .note(format!("{offset} bits from the beginning of the header"))
            .mend(format!("add a reserved field of {} bits", 8 - offset % 8)),
        );
    }

    /// `internet(pseudo, header, payload)`; all three without an initialiser.
    fn checksum(&mut self, field: &Field) -> ir::BpFieldKind {
        use carrick_syntax::ast::ExprKind as E;
        let Some(init) = &field.init else {
            self.no_net_in_sum(field.span, "pseudo-header");
            return ir::BpFieldKind::Checksum { pseudo: true, header: true, payload: true, fields: None };
        };
        if fields_covered(init).is_some() {
            // Which bytes these are is known when all fields have their places.
            return ir::BpFieldKind::Checksum { pseudo: false, header: false, payload: false, fields: None };
        }
        if let E::Call(callee, args) = &init.kind
            && matches!(&callee.kind, E::Name(n) if n == "internet")
        {
            let parts: Vec<&str> = args
                .iter()
                .filter_map(|a| if let E::Name(n) = &a.kind { Some(n.as_str()) } else { None })
                .collect();
            if parts.len() == args.len() && parts.iter().all(|p| ["pseudo", "header", "payload"].contains(p))
            {
                let has = |part| parts.contains(&part);
                if has("pseudo") {
                    self.no_net_in_sum(init.span, "pseudo-header");
                }
                return ir::BpFieldKind::Checksum {
                    pseudo: has("pseudo"),
                    header: has("header"),
                    payload: has("payload"),
                    fields: None,
                };
            }
        }
        self.report(
            Diagnostic::error(codes::NOT_A_CHECKSUM, "this is not a checksum", init.span, "computed how?")
                .mend("write `= internet(pseudo, header, payload)` with the parts that it covers, or `= internet(fields(first, last))`"),
        );
        ir::BpFieldKind::Checksum { pseudo: true, header: true, payload: true, fields: None }
    }

    /// Initial values, computed fields, list lengths and segmentation rules, now that every name is known.
    pub(crate) fn check_header_initialisers(&mut self) {
        let file = self.file;
        let mut index = 0;
        for item in &file.items {
            if let ItemKind::Blueprint { fields, .. } = &item.kind {
                self.blueprint_initialisers(ir::BpId(index), fields);
                index += 1;
            }
        }
        for item in &file.items {
            if let ItemKind::SegRule { name, params, blueprint, field, first, mid, last } = &item.kind {
                self.seg_rule(name, params, (blueprint, field), [first, mid, last.as_ref().unwrap_or(mid)]);
            }
        }
        self.coalescing_rules();
    }

    fn blueprint_initialisers(&mut self, bp: ir::BpId, fields: &[Field]) {
        for field in fields {
            let def = &self.program.blueprints[bp.index()];
            if field.array.is_some() && def.payload_name.as_ref() != Some(&field.name.name) {
                self.array_initialiser(bp, field);
                continue;
            }
            let defs = &def.fields;
            let Some(at) = defs.iter().position(|d| d.name == field.name.name) else { continue };
            if matches!(defs[at].kind, ir::BpFieldKind::Crc(_)) {
                self.crc(bp, at, field.span, field.init.as_ref());
                continue;
            }
            let Some(init) = &field.init else {
                self.least_of_range(bp, at, field.span);
                continue;
            };
            if matches!(defs[at].kind, ir::BpFieldKind::Checksum { .. }) {
                if let Some(covered) = fields_covered(init) {
                    self.sum_of_fields(bp, at, init.span, covered);
                }
                continue;
            }
            let ty = defs[at].ty.clone();
            let computed = mentions_length(init);
            let scope = if computed { Scope::Header(bp) } else { Scope::Declaration };
            let mut body = Body::new(self, scope);
            let value = if computed { body.computed_field(init, &ty) } else { body.value_of_type(init, &ty) };
            if let Some(value) = value {
                self.constant_in_range(bp, at, &value, init.span);
                let kind = if computed {
                    ir::BpFieldKind::Computed(value)
                } else {
                    let value = self.cut_to_field(bp, at as u32, value);
                    ir::BpFieldKind::Plain { init: Some(value) }
                };
                self.program.blueprints[bp.index()].fields[at].kind = kind;
            }
        }
        self.presences(bp, fields);
        self.payload_length(bp, fields);
        self.payload_alignment(bp, fields);
        self.computed_in_order(bp, fields);
        if let Some(list) = self.program.blueprints[bp.index()].options
            && let Some(len) = self.list_length(list).cloned()
        {
            let mut body = Body::new(self, Scope::Header(bp));
            if let Some(len) = body.computed_value(&len, &Ty::Bytes) {
                self.program.opt_lists[list.index()].len = len;
            }
        }
    }

    /// A field that cannot be zero begins as the least that it can be.
    pub(crate) fn least_of_range(&mut self, bp: ir::BpId, at: usize, span: Span) {
        let loc = self.loc(span);
        let field = &mut self.program.blueprints[bp.index()].fields[at];
        if let (Some((lo @ 1.., _)), ir::BpFieldKind::Plain { init }) = (field.range, &mut field.kind) {
            *init = Some(ir::Expr { kind: ir::ExprKind::Lit(lo), ty: field.ty.clone(), loc });
        }
    }

    /// `internet(fields(first, last))`
    fn sum_of_fields(&mut self, bp: ir::BpId, at: usize, span: Span, covered: (&Expr, &Expr)) {
        let Some(first) = self.covered_field(bp, covered.0) else { return };
        let Some(last) = self.covered_field(bp, covered.1) else { return };
        let fields = &self.program.blueprints[bp.index()].fields;
        let (from, to) = (&fields[first as usize], &fields[last as usize]);
        let end = to.bit_offset + to.bits;
        let pairs = from.bit_offset.is_multiple_of(8) && end.is_multiple_of(8);
        let inside = (first as usize..=last as usize).contains(&at);
        if !pairs || !inside || !(fields[at].bit_offset.wrapping_sub(from.bit_offset)).is_multiple_of(16) {
            self.report(
                Diagnostic::error(
                    codes::SUM_RANGE,
                    "this is not a range of bytes that a checksum can cover",
                    span,
                    "covers these fields",
                )
                .note("the sum covers pairs of bytes from the first field on, and the checksum is one of the pairs")
                .mend("name fields around the checksum, the first of which begins an even number of bytes before it"),
            );
            return;
        }
        let kind = ir::BpFieldKind::Checksum {
            pseudo: false,
            header: false,
            payload: false,
            fields: Some((first, last)),
        };
        self.program.blueprints[bp.index()].fields[at].kind = kind;
    }

    fn computed_in_order(&mut self, bp: ir::BpId, fields: &[Field]) {
        let def = self.program.blueprints[bp.index()].clone();
        for (at, field) in def.fields.iter().enumerate() {
            let ir::BpFieldKind::Computed(value) = &field.kind else { continue };
            let init = fields.iter().find(|f| f.name.name == field.name).and_then(|f| f.init.as_ref());
            let varint = def.parts.iter().any(|p| p.varint && p.first as usize == at);
            if let Some(init) = init {
                self.nothing_computed_before(bp, value, init.span, varint);
                self.computed_fits(&def, at, init.span);
            }
        }
    }

    /// Only of a fixed field of a packet without frames it is seen when a packet is made that the value does not fit.
    fn computed_fits(&mut self, def: &ir::BlueprintDef, at: usize, span: Span) {
        let seen = !def.frame && def.frames.is_none() && at < def.fixed_fields().len();
        let Some((_, most)) = def.values_when_sent(&def.fields[at]).filter(|_| !seen) else { return };
        let name = &def.fields[at].name;
        self.report(
            Diagnostic::error(
                codes::NARROWING,
                format!("`{name}` may not hold what it is computed from"),
                span,
                format!("may be more than {most}"),
            )
            .note("a field of a frame, of a packet of frames, or of an optional group is not checked when a packet is made")
            .mend("use a wider field, or convert the value if it is to be cut"),
        );
    }

    fn seg_rule(&mut self, name: &Ident, params: &[Ident], field: (&Ident, &Ident), values: [&Expr; 3]) {
        let (blueprint, field) = field;
        let pick = |d| if let Def::Blueprint(b) = d { Some(b) } else { None };
        let found = self
            .lookup("blueprint", blueprint, pick)
            .and_then(|bp| Some((bp, self.single_field(bp, field)? as usize)));
        let Some((bp, at)) = found else {
            return self.push_rule(name, ir::BpId(0), 0, None);
        };
        if let Some(param) = params.first() {
            self.report(
                Diagnostic::error(
                    codes::SEG_RULE_PARAMS,
                    "segmentation rules take no parameters",
                    param.span,
                    "a parameter",
                )
                .mend("use `bp.field`, a field of the blueprint as it was issued"),
            );
            return self.push_rule(name, bp, at as u32, None);
        }
        let def = &self.program.blueprints[bp.index()].fields[at];
        let ty = def.ty.clone();
        if !matches!(def.kind, ir::BpFieldKind::Plain { .. }) {
            self.report(
                Diagnostic::error(
                    codes::COMPUTED_RULE,
                    "a computed field has no segmentation rule",
                    field.span,
                    "computed for each packet",
                )
                .mend("remove the rule"),
            );
        }
        self.rule_leaves_presence(bp, at as u32, field.span);
        let exprs = values.map(|v| {
            let value = Body::new(self, Scope::SegRule(bp)).value_of_type(v, &ty)?;
            self.nothing_computed_before(bp, &value, v.span, false);
            Some(self.cut_to_field(bp, at as u32, value))
        });
        self.push_rule(name, bp, at as u32, exprs.into_iter().collect());
    }

    fn push_rule(&mut self, name: &Ident, blueprint: ir::BpId, field: u32, exprs: Option<Vec<ir::Expr>>) {
        let zero = || ir::Expr { kind: ir::ExprKind::Lit(0), ty: Ty::U64, loc: ir::Loc::default() };
        let mut exprs = exprs.unwrap_or_else(|| vec![zero(), zero(), zero()]).into_iter();
        let mut next = || exprs.next().unwrap_or_else(zero);
        let (first, mid, last) = (next(), next(), next());
        self.program.seg_rules.push(ir::SegRule {
            name: name.name.clone(),
            blueprint,
            field,
            first,
            mid,
            last,
        });
    }
}

fn type_name(field: &Field) -> &str {
    if let TypeKind::Name(name) = &field.ty.kind { name } else { "" }
}

/// What `internet(fields(first, last))` names.
fn fields_covered(init: &Expr) -> Option<(&Expr, &Expr)> {
    let ("internet", [part]) = crate::crc::call(init)? else { return None };
    let ("fields", [first, last]) = crate::crc::call(part)? else { return None };
    Some((first, last))
}

/// Bits that no field has.
fn padding(bp: &mut ir::BlueprintDef, slot: &Slot<'_>, place: &mut Placing) {
    let mut left = slot.bits.unwrap_or(0);
    while left > 0 {
        let bits = left.min(8);
        bp.fields.push(ir::BpField {
            name: format!("pad_{}__", bp.fields.len()),
            doc: ir::Text::default(),
            ty: Ty::U8,
            bits,
            bit_offset: place.offset,
            base: 0,
            range: None,
            kind: ir::BpFieldKind::Plain { init: None },
            element: None,
        });
        place.offset += bits;
        left -= bits;
    }
}

/// Whether the expression uses what is known only of a whole packet.
fn mentions_length(expr: &Expr) -> bool {
    use carrick_syntax::ast::ExprKind as E;
    match &expr.kind {
        E::Name(name) => name == "header_len" || name == "payload_len",
        E::Unary(_, a) | E::Paren(a) | E::Field(a, _) => mentions_length(a),
        E::Binary(_, a, b) | E::Index(a, b) => mentions_length(a) || mentions_length(b),
        E::Cond(a, b, c) => mentions_length(a) || mentions_length(b) || mentions_length(c),
        E::Call(f, args) => mentions_length(f) || args.iter().any(mentions_length),
        _ => false,
    }
}
