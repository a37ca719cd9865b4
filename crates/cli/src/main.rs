//! The `carrick` command.
fn main() {}
