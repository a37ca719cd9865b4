// SPDX-License-Identifier: MIT OR Apache-2.0
//! The protocols that come with the house are right, and so is what becomes of them.

use std::path::{Path, PathBuf};

use carrick_syntax::assemble::assemble;
use carrick_syntax::assemble::features::{self, Choice};

/// The main file of each, which its folder is named for.
fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols");
    let folders = std::fs::read_dir(folder).expect("protocols/").map(|e| e.expect("an entry").path());
    let main = |folder: PathBuf| folder.join(folder.file_name().expect("a name")).with_extension("mtp");
    folders.map(main).filter(|file| file.is_file()).collect()
}

/// Choices of features are counted through like digits, so steps of a prime meet other options of each feature every time.
const STEP: usize = 7;

#[test]
fn each_becomes_valid_ir_without_a_diagnostic() {
    let programs = programs();
    assert!(!programs.is_empty(), "there are protocols");
    let mut read = |name: &str| std::fs::read_to_string(name).map_err(|e| e.to_string());
    for path in programs {
        let text = std::fs::read_to_string(&path).expect("a readable program");
        let program = assemble(&path.display().to_string(), &text, &mut read);
        assert_eq!(program.diagnostics, [], "{}", path.display());
        let choices = features::combinations(&program.tree).expect("not too many");
        let full = std::env::var_os("FULL").is_some_and(|value| !value.is_empty());
        let step = if full || choices.len() < 16 * STEP { 1 } else { STEP };
        for choice in choices.iter().step_by(step).chain([&Choice::default()]) {
            let configured = features::configure(&program.tree, choice);
            let (checked, diagnostics) = carrick_sema::check_sources(&configured.tree, "p", &program.sources);
            assert_eq!(
                (configured.diagnostics, diagnostics),
                (vec![], vec![]),
                "{}: {choice:?}",
                path.display()
            );
            let lowered = carrick_lower::lower(checked.expect("without errors"));
            assert_eq!(carrick_ir::validate::validate(&lowered), Ok(()), "{}: {choice:?}", path.display());
        }
    }
}
