// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parameters of a program, set by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use carrick_ir::{ExprKind, Program, Requirement, arith, print, walk};
use carrick_syntax::suggest::nearest;

use crate::{Failure, quantity};

/// The values of all parameters, in order: the defaults but for those in `settings` (`name=value`).
///
/// # Errors
/// [`Failure::Usage`] for an unknown name, one that is set twice, a malformed value, one outside the parameter's range, or values
/// that do not meet a requirement of the program.
pub fn values(program: &Program, settings: &[String]) -> Result<Vec<u64>, Failure> {
    said_once(settings)?;
    layered(program, settings)
}

/// Whether no two of these settings are of one name.
///
/// # Errors
/// [`Failure::Usage`] naming both.
pub fn said_once(settings: &[String]) -> Result<(), Failure> {
    let mut before = BTreeMap::new();
    for setting in settings {
        let Some((name, _)) = setting.split_once('=') else { continue };
        if let Some(other) = before.insert(name, setting) {
            return Err(Failure::Usage(format!(
                "{other} and {setting} set one parameter: leave one of them out"
            )));
        }
    }
    Ok(())
}

/// As [`values`], where a later setting of a parameter takes the place of one before: those of a host stand behind those of all.
///
/// # Errors
/// As of [`values`].
pub fn layered(program: &Program, settings: &[String]) -> Result<Vec<u64>, Failure> {
    let mut values: Vec<u64> = program.params.iter().map(|p| p.default).collect();
    for setting in settings {
        let (name, text) = setting
            .split_once('=')
            .ok_or_else(|| Failure::Usage(format!("{setting:?} sets nothing; write it like name=value")))?;
        let at = program.params.iter().position(|p| p.name == name).ok_or_else(|| {
            let near = nearest(name, program.params.iter().map(|p| p.name.as_str()));
            let names: Vec<&str> = program.params.iter().map(|p| p.name.as_str()).collect();
            let hint = near
                .map_or_else(|| format!("there are {}", names.join(", ")), |n| format!("did you mean {n}?"));
            Failure::Usage(format!("{} has no parameter {name:?}; {hint}", program.file.raw()))
        })?;
        let param = &program.params[at];
        let value = quantity::of(&param.ty, text)
            .map_err(|wrong| Failure::Usage(format!("parameter {name}: {wrong}")))?;
        if arith::less(&param.ty, value, param.lo) || arith::less(&param.ty, param.hi, value) {
            let [lo, hi] = [param.lo, param.hi].map(|bound| print::literal(program, &param.ty, bound));
            return Err(Failure::Usage(format!("{name}={text} is outside {lo}..{hi}")));
        }
        values[at] = value;
    }
    match program.unmet(&values) {
        Some(unmet) => Err(Failure::Usage(not_met(program, unmet, &values))),
        None => Ok(values),
    }
}

/// What is required, and the values of the parameters in it.
fn not_met(program: &Program, unmet: &Requirement, values: &[u64]) -> String {
    let mut given = BTreeMap::new();
    walk::expressions(&unmet.cond, &mut |e| {
        if let ExprKind::Param(id) = &e.kind {
            let (name, value) = (&program.params[id.index()].name, values[id.index()]);
            given.insert(id.index(), format!("{name} is {}", print::literal(program, &e.ty, value)));
        }
    });
    let given: Vec<String> = given.into_values().collect();
    format!("{} requires `{}`, but {}", program.file_of(unmet.loc).raw(), unmet.text.raw(), given.join(", "))
}

/// Makes those values the program's own that say how much room its units of data have: what is built for the kernel has them
/// built in.
pub fn build_in(program: &mut Arc<Program>, values: &[u64]) {
    let mut rooms = Vec::new();
    for ctx in &program.contexts {
        for capacity in ctx.unit_sizes() {
            walk::expressions(capacity, &mut |e| {
                if let ExprKind::Param(id) = &e.kind {
                    rooms.push(id.index());
                }
            });
        }
    }
    for at in rooms {
        Arc::make_mut(program).params[at].default = values[at];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_set_once() {
        let settings = |all: &[&str]| all.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        for right in [&["a=1", "b=1"][..], &["a=1", "a.b=1"], &["a", "a"], &[]] {
            assert!(said_once(&settings(right)).is_ok(), "{right:?}");
        }
        let said = said_once(&settings(&["a=1", "b=2", "a=3"])).expect_err("twice").to_string();
        assert_eq!(said, "a=1 and a=3 set one parameter: leave one of them out");
    }
}
