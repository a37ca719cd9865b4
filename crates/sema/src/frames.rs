// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames: blueprints that stand in the payload of another one.

use carrick_ir::{self as ir, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::{Field, ItemKind, TypeKind};
use carrick_syntax::diag::Diagnostic;

use crate::body::{Body, Scope};
use crate::env::Def;
use crate::{Checker, codes};

/// The most frames of a packet.
const FRAMES_MAX: u32 = ir::validate::numbers::FRAMES_MAX;
/// The most bytes that a payload is aligned to.
const ALIGN_MAX: u32 = 8;

impl Checker<'_> {
    /// A frame is a part of a packet, which alone has checksums.
    pub(crate) fn not_in_frame(&mut self, bp: &ir::BlueprintDef, field: &Field) {
        if !bp.frame {
            return;
        }
        self.frame_error(
            codes::FRAME_CHECKSUM,
            field.span,
            format!("the frame `{}` cannot have a checksum", bp.name),
            "checksums are a packet's",
            "move it to the blueprint of the packet, or write `over` and the packet's network header",
        );
    }

    pub(crate) fn frame_error(&mut self, code: u16, span: Span, message: String, label: &str, mend: &str) {
        self.report(
            Diagnostic::error(code, message, span, label)
                .note("a blueprint without `over` is a frame: it is part of a packet's payload")
                .mend(mend),
        );
    }

    /// The members of the frame unions.
    pub(crate) fn frame_unions(&mut self) {
        let file = self.file;
        for item in &file.items {
            let ItemKind::FrameUnion { members, .. } = &item.kind else { continue };
            let mut found = Vec::new();
            for name in members {
                let pick = |d| if let Def::Blueprint(b) = d { Some(b) } else { None };
                let Some(bp) = self.lookup("frame", name, pick) else { continue };
                if self.is_packet(bp) {
                    self.frame_error(
                        codes::PACKET_IN_UNION,
                        name.span,
                        format!("`{}` is a packet, not a frame", name.name),
                        "it is over a network header",
                        "remove `over` and the network header from its declaration",
                    );
                    continue;
                }
                found.push(bp);
            }
            self.frame_unions.push(found);
        }
    }

    /// Before blueprints are declared.
    fn is_packet(&self, bp: ir::BpId) -> bool {
        let blueprints = self.file.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Blueprint { over, .. } => Some(over.is_some()),
            _ => None,
        });
        blueprints.into_iter().nth(bp.index()).unwrap_or(false)
    }

    /// Which union a field is a list of.
    pub(crate) fn frame_list(&mut self, field: &Field) -> Option<u32> {
        let TypeKind::List(element, _) = &field.ty.kind else { return None };
        let TypeKind::Name(name) = &element.kind else { return None };
        let Some(Def::FrameUnion(union)) = self.env.get(name) else { return None };
        Some(union)
    }

    /// `list<a_frame_union, N> frames;`
    pub(crate) fn frames(&mut self, bp: &ir::BlueprintDef, field: &Field, union: u32) -> Option<ir::Frames> {
        if bp.frame {
            self.frame_error(
                codes::FRAMES_IN_FRAME,
                field.span,
                "a frame cannot hold frames".to_owned(),
                "frames in a frame",
                "give it a `data_t` payload",
            );
            return None;
        }
        let members = self.frame_unions.get(union as usize).cloned()?;
        let TypeKind::List(_, Some(most)) = &field.ty.kind else {
            self.resolve(&field.ty);
            return None;
        };
        let most = self.length(most)?;
        if most > FRAMES_MAX {
            self.frame_error(
                codes::FRAME_LIMIT,
                field.span,
                format!("a packet cannot have {most} frames"),
                "too many",
                "use at most 64",
            );
            return None;
        }
        Some(ir::Frames { members, most })
    }

    /// `data_t payload align n;`: what the payload's length, with zeros behind it, is a multiple of.
    pub(crate) fn payload_alignment(&mut self, bp: ir::BpId, fields: &[Field]) {
        for (field, align) in fields.iter().filter_map(|f| Some((f, f.align.as_ref()?))) {
            let def = &self.program.blueprints[bp.index()];
            let of_packet = def.payload_name.as_ref() == Some(&field.name.name) && !def.frame;
            let error = |message: String, label: &'static str, mend: &'static str| {
                Diagnostic::error(codes::PAYLOAD_ALIGN, message, align.span, label)
                    .note("zeros after the payload make its length a multiple of this")
                    .mend(mend)
            };
            if !of_packet || def.frames.is_some() {
                let name = &field.name.name;
                let mend = "remove `align`, or give it to the payload of a packet";
                self.report(error(format!("`{name}` is not the payload of a packet"), "aligned", mend));
                continue;
            }
            match self.length(align) {
                Some(n) if n <= ALIGN_MAX => self.program.blueprints[bp.index()].payload_align = n,
                Some(n) => {
                    let mend = "choose 1 to 8 bytes";
                    self.report(error(format!("a payload is not aligned to {n} bytes"), "too large", mend));
                }
                None => {}
            }
        }
    }

    /// `data_t payload[len];`: how much of what is left of a packet is the frame's.
    pub(crate) fn payload_length(&mut self, bp: ir::BpId, fields: &[Field]) {
        for field in fields {
            let Some(len) = &field.array else { continue };
            let def = &self.program.blueprints[bp.index()];
            if def.payload_name.as_ref() != Some(&field.name.name) {
                continue;
            }
            let plain = def.parts.is_empty() && def.options.is_none() && def.frames.is_none();
            if !(def.frame || plain) {
                self.frame_error(
                    codes::PAYLOAD_LENGTH,
                    len.span,
                    "the payload of this packet has no length of its own".to_owned(),
                    "its header has no fixed length",
                    "remove the length: it ends with the packet, or declare a frame in the payload",
                );
                continue;
            }
            let value = Body::new(self, Scope::Header(bp)).computed_value(len, &Ty::Bytes);
            self.program.blueprints[bp.index()].payload_len = value;
        }
    }
}
