//! The protocols that come with the house are right, and so is what becomes of them.

mod common;

use std::path::{Path, PathBuf};

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols");
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let found = std::fs::read_dir(folder).into_iter().flatten();
        found.map(|e| e.expect("an entry").path()).collect()
    };
    let files = entries(&folder).into_iter().flat_map(|f| entries(&f));
    files.filter(|f| f.extension().is_some_and(|e| e == "mtp")).collect()
}

#[test]
fn each_becomes_valid_ir_without_a_diagnostic() {
    let programs = programs();
    assert!(!programs.is_empty(), "there are protocols");
    for path in programs {
        let text = std::fs::read_to_string(&path).expect("a readable program");
        let (file, syntax) = carrick_syntax::parse(&text);
        let (_, diagnostics) = carrick_sema::check(&file, "p", "p.mtp", &text);
        assert_eq!((syntax, diagnostics), (vec![], vec![]), "{}", path.display());
        common::lowered(&text);
    }
}
