// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs of `carrick sim`, as programs read them.

use serde_json::Value;

use crate::build::root;
use crate::command::run;
use crate::net::skip;

/// What a run of a program prints, without how it was asked for and the time that it took; `None` where a C compiler is wanted and missing.
///
/// # Panics
/// If something went wrong in it.
#[track_caller]
pub fn simulate(program: &str, args: &[&str]) -> Option<Value> {
    let done = run(&root(), &[&["sim", program, "--format", "json"], args].concat());
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    if done.status.code() == Some(3) {
        skip(&said);
        return None;
    }
    assert!(done.status.success(), "{args:?}: {said}{}", String::from_utf8_lossy(&done.stdout));
    let mut result: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    ["wall_seconds", "arguments"].iter().for_each(|name| result[name] = Value::Null);
    Some(result)
}

/// So many requests were made and executed once, and each response came.
///
/// # Panics
/// If not.
#[track_caller]
pub fn all_answered(result: &Value, count: u64) {
    for side in ["client", "server"] {
        let messages = &result[side][0]["messages"];
        let fared = ["sent", "received", "again", "damaged", "failed"].map(|name| messages[name].as_u64());
        assert_eq!(fared, [count, count, 0, 0, 0].map(Some), "{side}: {result}");
    }
}
