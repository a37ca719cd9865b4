//! The protocols that come with the house are right, and so is what becomes of them.

use std::path::{Path, PathBuf};

use carrick_syntax::assemble::features::{self, Choice};

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
        assert_eq!(syntax, [], "{}", path.display());
        let choices = features::combinations(&file).expect("not too many");
        for choice in choices.iter().chain([&Choice::default()]) {
            let configured = features::configure(&file, choice);
            let (program, diagnostics) = carrick_sema::check(&configured.tree, "p", "p.mtp", &text);
            assert_eq!(
                (configured.diagnostics, diagnostics),
                (vec![], vec![]),
                "{}: {choice:?}",
                path.display()
            );
            let program = carrick_lower::lower(program.expect("without errors"));
            assert_eq!(carrick_ir::validate::validate(&program), Ok(()), "{}: {choice:?}", path.display());
        }
    }
}
