// SPDX-License-Identifier: MIT OR Apache-2.0
//! The application's side: which call is which event, on which context.

use carrick_ir::{self as ir, EventKind, Ty};
use carrick_syntax::ast::{CallTarget, Ident, InterfaceCall, ItemKind};
use carrick_syntax::diag::Diagnostic;

use crate::body::{Body, Scope};
use crate::env::Def;
use crate::{Checker, codes};

/// The calls of a shape, each with what applications give to it.
type Shape = &'static [(&'static str, &'static [&'static str])];

/// The shapes whose calls are known; the `addr_t` of a field called `data` or `buf` is that of the application.
const SHAPES: [(&str, Shape); 6] = [
    (
        "stream",
        &[
            ("listen", &["local_ip", "local_port", "backlog"]),
            ("accept", &[]),
            ("connect", &["local_ip", "local_port", "remote_ip", "remote_port"]),
            ("send", &["data", "len"]),
            ("recv", &["buf", "len"]),
            ("shutdown", &[]),
            ("close", &[]),
            ("abort", &[]),
        ],
    ),
    (
        "multistream",
        &[
            ("listen", &["local_ip", "local_port", "backlog"]),
            ("accept", &[]),
            ("connect", &["local_ip", "local_port", "remote_ip", "remote_port"]),
            ("open_stream", &[]),
            ("accept_stream", &[]),
            ("send", &["data", "len"]),
            ("recv", &["buf", "len"]),
            ("shutdown", &[]),
            ("reset", &[]),
            ("close", &[]),
        ],
    ),
    (
        "message",
        &[
            ("open", &["local_ip", "local_port", "remote_ip", "remote_port"]),
            ("send", &["data", "len"]),
            ("recv", &["buf", "len"]),
            ("close", &[]),
            ("listen", &["local_ip", "local_port", "backlog"]),
            ("accept", &[]),
            ("unlisten", &[]),
            ("shutdown", &[]),
            ("limit", &["item"]),
        ],
    ),
    (
        "rpc",
        &[
            ("open", &["local_ip", "local_port"]),
            ("request", &["remote_ip", "remote_port", "data", "len"]),
            ("accept", &[]),
            ("recv_request", &["buf", "len"]),
            ("respond", &["data", "len"]),
            ("recv_response", &["buf", "len"]),
            ("cancel", &[]),
            ("close", &[]),
        ],
    ),
    (
        "verbs",
        &[
            ("open", &["local_qp", "remote_ip", "remote_qp", "send_psn", "recv_psn"]),
            ("register", &["buf", "len", "key", "addr", "may_read", "may_write"]),
            ("deregister", &["key"]),
            ("post_send", &["data", "len", "with_imm", "imm"]),
            ("post_recv", &["buf", "len"]),
            ("post_write", &["data", "len", "key", "addr", "with_imm", "imm"]),
            ("post_read", &["buf", "len", "key", "addr"]),
            ("close", &[]),
        ],
    ),
    (
        OFFLOAD,
        &[
            ("open", &["buffer"]),
            ("take", &[]),
            ("recv", &["buf", "len"]),
            ("put", &["data", "len"]),
            ("consume", &[]),
        ],
    ),
];

/// The shape of programs that hand the messages of others to an application.
const OFFLOAD: &str = "offload";

impl Checker<'_> {
    pub(crate) fn check_interface(&mut self) {
        let file = self.file;
        for item in &file.items {
            let ItemKind::Interface { name, calls } = &item.kind else { continue };
            if let Some(first) = &self.program.interface {
                let first = first.name.clone();
                self.report(
                    Diagnostic::error(
                        codes::INTERFACE_SHAPE,
                        "a program has one interface",
                        name.span,
                        "another one",
                    )
                    .note(format!("`{first}` is the first"))
                    .mend("put all calls into one"),
                );
                continue;
            }
            self.check_twins(calls.iter().map(|c| &c.name));
            self.check_role_of_offload(name);
            let lowered = calls.iter().filter_map(|c| self.interface_call(name, c)).collect();
            self.program.interface = Some(ir::Interface { name: name.name.clone(), calls: lowered });
        }
    }

    /// An offload is on the path of messages, not at its end.
    fn check_role_of_offload(&mut self, name: &Ident) {
        if name.name != OFFLOAD || self.has_role() {
            return;
        }
        self.report(
            Diagnostic::error(
                codes::INTERFACE_SHAPE,
                "the interface `offload` is for programs in the network, and this one is an endpoint",
                name.span,
                "takes messages on their path",
            )
            .mend(
                "add `register_role(in_network, packets);` to `deploy`, or give the interface another name",
            ),
        );
    }

    fn interface_call(&mut self, interface: &Ident, call: &InterfaceCall) -> Option<ir::InterfaceCall> {
        let event = self.lookup("app event", &call.event, |d| match d {
            Def::Event(e) => Some(e),
            _ => None,
        })?;
        let def = self.program.events[event.index()].clone();
        if def.kind != EventKind::App {
            self.report(
                Diagnostic::error(
                    codes::CALL_TARGET,
                    format!("`{}` is not an app event", call.event.name),
                    call.event.span,
                    "called by an application",
                )
                .mend("declare it as `: app_event`"),
            );
            return None;
        }
        self.check_call_fields(call, &def);
        self.check_shape(interface, call, &def);
        let target = self.call_target(call, event)?;
        Some(ir::InterfaceCall { name: call.name.name.clone(), doc: call.doc.as_str().into(), event, target })
    }

    /// A call carries words and one piece of data.
    fn check_call_fields(&mut self, call: &InterfaceCall, event: &ir::EventDef) {
        let given = |ty: &Ty| ty.is_scalar() || [&Ty::Addr, &self.program.address_ty()].contains(&ty);
        let Some(field) = event.fields.iter().find(|f| !given(&f.ty)) else { return };
        let ty = self.name(&field.ty);
        self.report(
            Diagnostic::error(
                codes::CALL_FIELD,
                format!("applications cannot give `{}` to `{}`: it is a `{ty}`", field.name, call.name.name),
                call.event.span,
                "called by an application",
            )
            .note("a call takes scalars and at most one `addr_t`")
            .mend("give the event a field for each part, and assemble it in a processor"),
        );
    }

    fn check_shape(&mut self, interface: &Ident, call: &InterfaceCall, event: &ir::EventDef) {
        let Some((shape, calls)) = SHAPES.iter().find(|(name, _)| *name == interface.name) else { return };
        let Some((_, wanted)) = calls.iter().find(|(n, _)| *n == call.name.name) else { return };
        self.memory_is_an_address(call, event, wanted);
        let missing: Vec<&str> =
            wanted.iter().copied().filter(|w| !event.fields.iter().any(|f| f.name == **w)).collect();
        if !missing.is_empty() {
            self.report(
                Diagnostic::error(
                    codes::INTERFACE_SHAPE,
                    format!(
                        "`{}` has the parameters `{}`, which `{}` lacks",
                        call.name.name,
                        missing.join("`, `"),
                        event.name
                    ),
                    call.event.span,
                    "these fields are missing",
                )
                .note(format!(
                    "the calls of `{shape}` are {}, with the parameters that the reference lists",
                    in_words(calls)
                ))
                .mend("add the fields to the event, or give the interface another name"),
            );
        }
    }

    /// What an application gives as memory is an `addr_t` of the event.
    fn memory_is_an_address(&mut self, call: &InterfaceCall, event: &ir::EventDef, wanted: &[&str]) {
        let memory = wanted.iter().find(|name| ["data", "buf"].contains(name));
        let field = memory.and_then(|name| event.fields.iter().find(|f| f.name == **name));
        let Some(field) = field.filter(|field| field.ty != Ty::Addr) else { return };
        let ty = self.name(&field.ty);
        self.report(
            Diagnostic::error(
                codes::INTERFACE_SHAPE,
                format!(
                    "applications give memory as `{}` of `{}`: it is a `{ty}`",
                    field.name, call.name.name
                ),
                call.event.span,
                "not an `addr_t`",
            )
            .mend(format!("declare it as `addr_t {};`", field.name)),
        );
    }

    fn call_target(&mut self, call: &InterfaceCall, event: ir::EventId) -> Option<ir::CallTarget> {
        let context = self.event_context[event.index()];
        let wrong = |message: String, mend: &str| {
            Diagnostic::error(codes::CALL_TARGET, message, call.span, "this call").mend(mend)
        };
        match (&call.target, context) {
            (CallTarget::None, None) => Some(ir::CallTarget::Nowhere),
            (CallTarget::None, Some(_)) => {
                self.report(wrong(
                    format!("`{}` names no context", call.name.name),
                    "add `on a_context`, or `at an_id(...)`",
                ));
                None
            }
            (CallTarget::On { context: name }, found) => {
                let named =
                    self.lookup("context", name, |d| if let Def::Context(c) = d { Some(c) } else { None })?;
                if found != Some(named) {
                    self.report(wrong(
                        format!("the processors of `{}` do not take `{}`", call.event.name, name.name),
                        if found.is_some() {
                            "name the context that they take"
                        } else {
                            "leave `on` and the context out"
                        },
                    ));
                    return None;
                }
                Some(ir::CallTarget::On(named))
            }
            (CallTarget::At { id, args }, found) => {
                let named = self.lookup("id", id, |d| if let Def::Id(i) = d { Some(i) } else { None })?;
                let wanted = found.map(|c| self.program.contexts[c.index()].id);
                if wanted != Some(named) {
                    self.report(match found {
                        Some(_) => wrong(
                            format!("the context of `{}` is not found by `{}`", call.event.name, id.name),
                            "use the id of the context that its processors take",
                        ),
                        None => wrong(
                            format!("the processors of `{}` take no context", call.event.name),
                            "leave `at` and the id out",
                        ),
                    });
                    return None;
                }
                let made = Body::new(self, Scope::Call(event)).id_parts(named, args, id.span)?;
                Some(ir::CallTarget::At { id: named, parts: made })
            }
        }
    }
}

/// The names of the calls of a shape, as a sentence has them.
fn in_words(calls: Shape) -> String {
    let names: Vec<&str> = calls.iter().map(|(name, _)| *name).collect();
    names.split_last().map(|(last, others)| format!("{} and {last}", others.join(", "))).unwrap_or_default()
}
