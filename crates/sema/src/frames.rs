//! Frames: blueprints that stand in the payload of another one.

use carrick_ir::{self as ir, Ty};
use carrick_syntax::Span;
use carrick_syntax::ast::Field;
use carrick_syntax::diag::Diagnostic;

use crate::body::{Body, Scope};
use crate::{Checker, codes};

impl Checker<'_> {
    /// A frame is a part of a packet, which alone has checksums.
    pub(crate) fn not_in_frame(&mut self, bp: &ir::BlueprintDef, field: &Field) {
        if !bp.frame {
            return;
        }
        self.frame_error(
            field.span,
            format!("the frame `{}` cannot have a checksum", bp.name),
            "checksums are a packet's",
            "move it to the blueprint of the packet, or write `over` and the packet's network header",
        );
    }

    pub(crate) fn frame_error(&mut self, span: Span, message: String, label: &str, mend: &str) {
        self.report(
            Diagnostic::error(codes::FRAME, message, span, label)
                .note("a blueprint without `over` is a frame: it stands in the payload of a packet")
                .mend(mend),
        );
    }

    /// `data_t payload[len];`: how much of what is left of a packet is the frame's.
    pub(crate) fn payload_length(&mut self, bp: ir::BpId, fields: &[Field]) {
        for field in fields {
            let Some(len) = &field.array else { continue };
            let def = &self.program.blueprints[bp.index()];
            if def.payload_name.as_ref() != Some(&field.name.name) {
                let name = field.name.name.clone();
                self.report(
                    Diagnostic::error(
                        codes::FIELD_TYPE,
                        format!("`{name}` cannot be an array"),
                        len.span,
                        "the fields of a header are scalars",
                    )
                    .mend("declare one field for each element"),
                );
                continue;
            }
            if !def.frame {
                self.frame_error(
                    len.span,
                    "the payload of a packet has no length of its own".to_owned(),
                    "it ends with the packet",
                    "remove the length, or declare a frame that stands in the payload",
                );
                continue;
            }
            let value = Body::new(self, Scope::Header(bp)).computed_value(len, &Ty::Bytes);
            self.program.blueprints[bp.index()].payload_len = value;
        }
    }
}
