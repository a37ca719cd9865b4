// SPDX-License-Identifier: MIT OR Apache-2.0
//! What stands in packets.

use std::borrow::Cow;

use carrick_ir::{BlueprintDef, BpField, BpFieldKind, NetLayer, OptDef, Program, print};

use crate::header::Picture;
use crate::html::{code, escape, inline, prose, table};

pub fn packets(program: &Program) -> String {
    let over = match program.net_header.layer {
        NetLayer::Ipv4 | NetLayer::Ipv6 => format!("protocol {}", program.net_header.protocol),
        NetLayer::Link => "a packet begins with the first field".to_owned(),
    };
    let over = format!("<p>Over <code>{}</code>, {over}.</p>\n", escape(&program.net_header.name));
    let blueprints: String = program.blueprints.iter().map(|bp| blueprint(program, bp)).collect();
    format!("{over}{blueprints}{}", options(program))
}

fn blueprint(program: &Program, bp: &BlueprintDef) -> String {
    let names: Vec<Cow<'_, str>> = bp.fields.iter().map(BpField::written).collect();
    let names: Vec<&str> = names.iter().map(Cow::as_ref).collect();
    let mut picture = Picture::new();
    picture.fields(bp.fixed_fields(), None);
    for part in &bp.parts {
        let when = part
            .when
            .as_ref()
            .map(|e| print::without_parentheses(&print::expression(program, e, &names)).to_owned());
        match bp.part_fields(part) {
            [field] if part.varint => {
                picture.open(&format!("{} (1 to 8 bytes)", field.written()), when.as_deref());
            }
            fields => picture.fields(fields, when.as_deref()),
        }
    }
    if let (Some(list), Some(name)) = (bp.options, &bp.options_name) {
        picture.open(&format!("{name}: {}", program.opt_lists[list.index()].name), None);
    }
    if let Some(name) = &bp.payload_name {
        let frames = if bp.frames.is_some() { " (frames)" } else { "" };
        picture.open(&format!("{name}{frames}"), None);
    }
    for field in &bp.fields[bp.header_fields().len()..] {
        picture.fields(&[BpField { bit_offset: 0, ..field.clone() }], None);
    }
    let kind = if bp.frame { "frame" } else { "packet" };
    let rows = bp.fields.iter().filter(|f| !f.is_padding()).map(|field| {
        let ty = print::type_name(program, &field.ty);
        vec![
            code(&field.written()),
            code(&ty),
            field.bits.to_string(),
            value(program, field, &names),
            inline(&field.doc),
        ]
    });
    format!(
        "<h3 id=\"packet-{0}\"><code>{0}</code> <small>{kind}</small></h3>\n{1}{2}{3}",
        escape(&bp.name),
        prose(&bp.doc),
        picture.finish(&bp.name),
        table(&["field", "type", "bits", "value", ""], rows)
    )
}

/// What gives a field its value, if that is not the program's processors.
fn value(program: &Program, field: &BpField, names: &[&str]) -> String {
    let range = match field.range {
        Some((lo, hi)) if lo == hi => format!("{lo}, so not in the packet"),
        Some((lo, hi)) if field.base > 0 => format!("{lo}..{hi}, {lo} less in the packet"),
        Some((lo, hi)) => format!("{lo}..{hi}"),
        None => String::new(),
    };
    let own = own_value(program, field, names);
    let both = if range.is_empty() || own.is_empty() { "" } else { "; " };
    format!("{range}{both}{own}")
}

fn own_value(program: &Program, field: &BpField, names: &[&str]) -> String {
    match &field.kind {
        BpFieldKind::Plain { init: None } => String::new(),
        BpFieldKind::Plain { init: Some(e) } => {
            format!("at first {}", code(&print::expression(program, e, names)))
        }
        BpFieldKind::Computed(e) => {
            format!("always {}", code(print::without_parentheses(&print::expression(program, e, names))))
        }
        BpFieldKind::Checksum { fields: Some((first, last)), .. } => {
            let name = |at: &u32| code(names.get(*at as usize).copied().unwrap_or_default());
            format!("Internet checksum from {} to {}", name(first), name(last))
        }
        BpFieldKind::Checksum { pseudo, header, payload, fields: None } => {
            let parts = [(pseudo, "pseudo-header"), (header, "header"), (payload, "payload")];
            let over: Vec<&str> = parts.iter().filter(|(there, _)| **there).map(|(_, name)| *name).collect();
            format!("Internet checksum over {}", over.join(", "))
        }
        BpFieldKind::Crc(_) => "CRC-32".to_owned(),
    }
}

fn options(program: &Program) -> String {
    let rows = program.opts.iter().map(|opt| {
        let mut fields: Vec<String> =
            opt.fields.iter().map(|f| format!("{}: {}", f.name, of_option(program, f))).collect();
        fields.extend(
            opt.list.as_ref().map(|list| format!("{}: {}", list.name, print::type_name(program, &list.ty()))),
        );
        vec![code(&opt.name), kind(opt), len(program, opt), code(&fields.join(", ")), inline(&opt.doc)]
    });
    let table = table(&["option", "kind", "bytes", "fields", ""], rows);
    if table.is_empty() { table } else { format!("<h3>Options</h3>\n{table}") }
}

fn of_option(program: &Program, field: &carrick_ir::OptField) -> String {
    if field.varint { "varint_t".to_owned() } else { print::type_name(program, &field.ty) }
}

fn kind(opt: &OptDef) -> String {
    opt.wide.unwrap_or(u64::from(opt.kind)).to_string()
}

/// Bytes of an option; `2 + 8n`: with n elements.
fn len(program: &Program, opt: &OptDef) -> String {
    match &opt.list {
        _ if opt.wide.is_some() => "varies".to_owned(),
        Some(list) => {
            format!("{} + {}n, n from {} to {}", opt.len, list.octets(program), list.least, list.most)
        }
        None => opt.len.to_string(),
    }
}
