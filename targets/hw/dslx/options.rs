// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options of packets: the functions that read and write a list of them.

use std::fmt::Write;

use carrick_ir::{BpId, Ty};

use super::emitter::{Emitted, Emitter};
use super::names::variable;
use super::option_elements::{lengths, list_name};
use super::packets::{OPTIONS, most_options};
use super::shape::{options, scalar};

/// Bits of where options begin: of this octet, and of those behind it.
const BEGINS: u32 = OPTIONS + 1;

impl Emitter<'_> {
    /// The function that reads a list of options: one byte after the other, where an option may begin.
    pub fn options_reader(&mut self, bp: BpId) -> Emitted<String> {
        let program = self.program;
        let def = &program.blueprints[bp.index()];
        let ty = self.ty(&Ty::Blueprint(bp));
        let members: Vec<_> = options(program, def).collect();
        let (mut single, mut right, mut sets) = (Vec::new(), Vec::new(), String::new());
        for opt in &members {
            let name = variable(&opt.name);
            if opt.len == 1 && opt.list.is_none() {
                single.push(format!("kind == u8:{}", opt.kind));
                let _ = writeln!(
                    sets,
                    "        let bp = if fine && kind == u8:{} {{ {ty} {{ {name}: u1:1, ..bp }} }} else {{ bp }};",
                    opt.kind
                );
                continue;
            }
            let lens = lengths(program, opt);
            right.extend(lens.iter().map(|len| (opt.kind, *len)));
            let mut fields = vec![format!("{name}: u1:1")];
            let mut at = 16;
            for field in &opt.fields {
                let of = self.ty(&field.ty);
                let bits = scalar(program, &field.ty).0.next_multiple_of(8);
                fields.push(format!("{}_{}: part<u32:{at}, u32:{bits}>(o) as {of}", opt.name, field.name));
                at += bits;
            }
            fields.extend(opt.list.as_ref().map(|list| self.read_elements(opt, list, at)));
            // One with a list has one of its lengths if it is not broken.
            let size =
                if opt.list.is_none() { format!(" && size == u16:{}", opt.len) } else { String::new() };
            let _ = writeln!(
                sets,
                "        let bp = if fine && kind == u8:{}{size} {{ {ty} {{ {}, ..bp }} }} else {{ bp }};",
                opt.kind,
                fields.join(", ")
            );
        }
        let single = if single.is_empty() { "u1:0".into() } else { single.join(" || ") };
        // An option of a known kind has one of its lengths.
        let wrong = right.iter().map(|(kind, _)| {
            let lens = right.iter().filter(|(of, _)| of == kind).map(|(_, len)| format!("size != u16:{len}"));
            format!(" || (kind == u8:{kind} && {})", lens.collect::<Vec<_>>().join(" && "))
        });
        let (wrong, bits) = (wrong.collect::<String>(), OPTIONS * 8);
        // What an option at an octet would be does not depend on the octets before: only whether one begins there does. So the
        // path from octet to octet has two gates, and no sum.
        Ok(format!(
            "// Reads options of a `{}`; whether they are malformed. Bit n of `begins`: an option begins n octets behind.\n\
             fn read_options_{}(octets: uN[{bits}], len: u16, bp: {ty}) -> (u1, {ty}) {{\n    \
             let (_, broken, bp) = for (i, (begins, broken, bp)): (u32, (uN[{BEGINS}], u1, {ty})) in u32:0..u32:{OPTIONS} {{\n        \
             let o = octets << (i * u32:8);\n        let kind = part<u32:0, u32:8>(o);\n        \
             let at = i as u16;\n        let single = {single};\n        \
             let size = if single {{ u16:1 }} else {{ part<u32:8, u32:8>(o) as u16 }};\n        \
             let wrong = kind != u8:0 && !single && (at + u16:1 >= len || size < u16:2 || at + size > len{wrong});\n        \
             let goes_on = kind != u8:0 && !wrong;\n        let here = begins[0 +: u1] && at < len;\n        \
             let fine = here && goes_on;\n{sets}        \
             let next = if goes_on && at < len {{ uN[{BEGINS}]:1 << size }} else {{ uN[{BEGINS}]:0 }};\n        \
             let begins = begins | (if begins[0 +: u1] {{ next }} else {{ uN[{BEGINS}]:0 }});\n        \
             (begins >> u32:1, broken || (here && wrong), bp)\n    }}((uN[{BEGINS}]:1, u1:0, bp));\n    (broken, bp)\n}}\n\n",
            def.name,
            variable(&def.name)
        ))
    }

    /// The function that writes the options that a blueprint has: how many bytes, and these from the most significant bits on.
    pub fn options_writer(&mut self, bp: BpId, ty: &str) -> String {
        let program = self.program;
        let def = &program.blueprints[bp.index()];
        let Some(list) = def.options.map(|list| &program.opt_lists[list.index()]) else {
            return String::new();
        };
        let (bits, align) = (most_options(program, def) * 8, list.align);
        let mut text = format!(
            "// The options of a `{}`, of how many octets.\nfn list_{}(bp: {ty}) -> (u16, uN[{bits}]) {{\n    \
             let (len, all) = (u16:0, uN[{bits}]:0);\n",
            def.name,
            variable(&def.name)
        );
        for opt in options(program, def) {
            let (len, listed) = (u32::from(opt.len), opt.most_listed(program));
            let all = match &opt.list {
                Some(list) => {
                    let count = format!("bp.{}.len as u16", list_name(opt, list));
                    format!("(u16:{len} + ({count}) * u16:{})", list.octets(program))
                }
                None => format!("u16:{len}"),
            };
            let mut octets: Vec<String> = (1..align).map(|_| format!("u8:{}", list.pad)).collect();
            octets.push(format!("u8:{}", opt.kind));
            if opt.list.is_some() {
                octets.push(format!("({all} as u8)"));
            } else if len > 1 {
                octets.push(format!("u8:{len}"));
            }
            for field in &opt.fields {
                let width = scalar(program, &field.ty).0.next_multiple_of(8);
                octets.push(format!("(bp.{}_{} as uN[{width}])", opt.name, field.name));
            }
            octets.extend(opt.list.iter().flat_map(|list| self.write_elements(opt, list)));
            let chunk = (len + listed + align - 1) * 8;
            let _ = write!(
                text,
                "    let (len, all) = if bp.{} {{\n        let pad = (u16:0 - len - {all}) & u16:{};\n        \
                 let octets = ({}) << ((u16:{} - pad) as u32 * u32:8);\n        \
                 let first = (octets as uN[{bits}]) << u32:{};\n        \
                 (len + pad + {all}, all | (first >> ((len as u32) * u32:8)))\n    }} else {{ (len, all) }};\n",
                variable(&opt.name),
                align - 1,
                octets.join(" ++ "),
                align - 1,
                bits - chunk,
            );
        }
        let up = align - 1;
        let _ = write!(text, "    ((len + u16:{up}) & !u16:{up}, all)\n}}\n\n");
        text
    }
}
