// SPDX-License-Identifier: MIT OR Apache-2.0
//! `carrick new`

use std::fs::{self, File};
use std::io::{self, Write};
use std::process::ExitCode;

use carrick_driver::Failure;

use crate::args::{New, Template};

/// What stands for the protocol's name in a template.
const NAME: &str = "NAME";

fn files(template: Template) -> [(&'static str, &'static str); 2] {
    match template {
        Template::Stream => [
            ("NAME.mtp", include_str!("../../templates/stream/program.mtp")),
            ("README.md", include_str!("../../templates/stream/README.md")),
        ],
        Template::Message => [
            ("NAME.mtp", include_str!("../../templates/message/program.mtp")),
            ("README.md", include_str!("../../templates/message/README.md")),
        ],
        Template::ReceiverDriven => [
            ("NAME.mtp", include_str!("../../templates/receiver-driven/program.mtp")),
            ("README.md", include_str!("../../templates/receiver-driven/README.md")),
        ],
        Template::InNetwork => [
            ("NAME.mtp", include_str!("../../templates/in-network/program.mtp")),
            ("README.md", include_str!("../../templates/in-network/README.md")),
        ],
    }
}

pub fn run(args: &New) -> Result<ExitCode, Failure> {
    let path = args.path.display();
    let name = args.path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(plain) {
        return Err(Failure::Usage(format!(
            "`{name}` is no name of a protocol: take letters, digits, `_` and `-`, a letter first"
        )));
    }
    let failed = |e: io::Error| Failure::Usage(format!("cannot write to {path}: {e}; choose another folder"));
    fs::create_dir_all(&args.path).map_err(failed)?;
    for (file, text) in files(args.template) {
        let file = args.path.join(file.replace(NAME, name));
        // Nothing that is there already is lost.
        let mut made = File::create_new(&file).map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => {
                Failure::Usage(format!("{} is there already; choose another folder", file.display()))
            }
            _ => failed(e),
        })?;
        made.write_all(text.replace(NAME, name).as_bytes()).map_err(failed)?;
        println!("{}", file.display());
    }
    match args.template {
        Template::Stream => {
            println!("try: carrick sim {path}/{name}.mtp --bytes 10MB --delay 10ms --rate 100Mbps --loss 1%");
        }
        Template::Message => {
            println!("try: carrick sim {path}/{name}.mtp --bytes 1MB --delay 5ms --loss 1%");
        }
        Template::ReceiverDriven => {
            println!("try: carrick sim {path}/{name}.mtp --message 64KB --bytes 10MB --delay 1ms --loss 1%");
        }
        Template::InNetwork => {
            println!("try: carrick new parcel");
            println!("     carrick sim parcel/parcel.mtp --via {path}/{name}.mtp --bytes 2MB --delay 2ms");
        }
    }
    Ok(ExitCode::SUCCESS)
}
