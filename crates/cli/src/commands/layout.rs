// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick layout`

use std::process::ExitCode;

use carrick_driver::Failure;
use carrick_ir::{BlueprintDef, BpField, Program, print};
use serde_json::{Value, json};

use crate::args::Layout;
use crate::load::load;
use crate::output::{self, Format};

pub fn run(args: &Layout) -> Result<ExitCode, Failure> {
    let program = load(&args.source)?;
    match args.format {
        Format::Pretty => print!("{}", carrick_doc::layout(&program)),
        Format::Json => {
            let blueprints = program.blueprints.iter().map(|bp| blueprint(&program, bp));
            output::json(&json!({
                "program": program.name,
                "with": program.features,
                "blueprints": blueprints.collect::<Vec<_>>(),
            }));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn blueprint(program: &Program, bp: &BlueprintDef) -> Value {
    let groups = bp.groups.iter().map(|group| {
        let fields = bp.fields.iter().skip(group.first as usize).take(group.count as usize);
        json!({
            "name": group.name,
            "packed": group.packed,
            "as": group.shape,
            "fields": fields.filter(|f| !f.is_padding()).map(BpField::written).collect::<Vec<_>>(),
        })
    });
    json!({
        "name": bp.name,
        "kind": if bp.frame { "frame" } else { "packet" },
        "bytes": bp.fixed_len,
        "most_bytes": bp.max_header_len,
        "groups": groups.collect::<Vec<_>>(),
        "fields": bp.fixed_fields().iter().map(|f| field(program, f)).collect::<Vec<_>>(),
    })
}

fn field(program: &Program, field: &BpField) -> Value {
    json!({
        "name": if field.is_padding() { Value::Null } else { json!(field.written()) },
        "type": print::type_name(program, &field.ty),
        "bit": field.bit_offset,
        "bits": field.bits,
        "range": field.range.map(|(lo, hi)| [lo, hi]),
        "less": field.base,
    })
}
