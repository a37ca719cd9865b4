// SPDX-License-Identifier: MIT OR Apache-2.0
//! The script as a whole.

use carrick_ir::{NetLayer, Program};

use crate::emitter::Emitter;
use crate::library::Over;
use crate::types::literal;
use crate::{fields, library, names};

pub(crate) fn write(program: &Program, params: &[u64]) -> Result<String, String> {
    let mut emitter = Emitter::new(program);
    let declared = fields::declarations(&emitter);
    emitter.option_lists();
    emitter.blueprints();
    emitter.functions();
    emitter.events();
    let body = std::mem::take(&mut emitter.w).finish();
    let constructors = emitter.constructors();
    emitter.constants(params);
    let constants = std::mem::take(&mut emitter.w).finish();
    if let Some(what) = emitter.found.into_inner().refused {
        return Err(what);
    }
    let own = format!("{constants}{constructors}{body}");
    let (before, behind) = library::linked(&own, over(program));
    let text = format!("{declared}\n{before}{own}{behind}");
    Ok(text.trim_end().to_owned() + "\n")
}

fn over(program: &Program) -> Over {
    match program.net_header.layer {
        NetLayer::Ipv4 => Over::Ipv4,
        NetLayer::Ipv6 if program.net_header.segments().is_some() => Over::Ipv6Routed,
        NetLayer::Ipv6 => Over::Ipv6,
        NetLayer::Link if program.makes_ethernet_frames() => Over::Ethernet,
        NetLayer::Link => Over::Link,
    }
}

impl Emitter<'_> {
    fn constants(&mut self, params: &[u64]) {
        let found = std::mem::take(&mut *self.found.borrow_mut());
        if !found.consts.is_empty() {
            let consts = found.consts.iter().filter_map(|at| self.p.consts.get(*at));
            let entries: Vec<String> =
                consts.map(|c| names::entry(&c.name, &literal(self.rep(&c.ty), c.value))).collect();
            self.w.table("local const = ", &entries, "");
            self.w.line("");
        }
        if !found.params.is_empty() {
            let entry = |at: usize| {
                let def = self.p.params.get(at)?;
                let value = params.get(at).copied().unwrap_or(def.default);
                Some(names::entry(&def.name, &literal(self.rep(&def.ty), value)))
            };
            let entries: Vec<String> = found.params.iter().filter_map(|at| entry(*at)).collect();
            self.w.line("-- As the ends are deployed.");
            self.w.table("local param = ", &entries, "");
            self.w.line("");
        }
        *self.found.borrow_mut() = found;
    }
}
