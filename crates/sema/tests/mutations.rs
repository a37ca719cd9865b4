// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs that are nearly right never make the checker panic.

use std::path::Path;
use std::sync::LazyLock;

use carrick_sema::check;
use carrick_syntax::diag::Severity;
use carrick_syntax::lexer::lex;
use carrick_syntax::parse;
use proptest::prelude::*;

/// The tokens of the programs that provoke diagnostics: small, and together they use everything.
static PROGRAMS: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ui");
    let entries = std::fs::read_dir(folder).expect("the folder of programs");
    let mut paths: Vec<_> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "mtp"));
    paths.sort();
    let texts = paths.iter().map(|p| std::fs::read_to_string(p).expect("a readable program"));
    texts.filter(|t| parse(t).1.is_empty()).map(|t| tokens(&t)).collect()
});

fn tokens(text: &str) -> Vec<String> {
    let all = lex(text).0.into_iter().filter(|t| !t.kind.is_comment());
    all.map(|t| text[t.span.start as usize..t.span.end as usize].to_owned()).collect()
}

/// Replaces, removes or doubles a token, or puts one of another program in its place.
fn mutate(program: &mut Vec<String>, (kind, at, other, from): (u8, usize, usize, usize)) {
    let at = at % program.len();
    let donor = &PROGRAMS[other % PROGRAMS.len()];
    match kind % 4 {
        0 => program[at] = donor[from % donor.len()].clone(),
        1 => drop(program.remove(at)),
        2 => program.insert(at, program[at].clone()),
        // A token of the same program fits more often.
        _ => program[at] = program[from % program.len()].clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_program_that_is_nearly_right_is_checked(
        which in any::<usize>(),
        mutations in proptest::collection::vec(any::<(u8, usize, usize, usize)>(), 1..4),
    ) {
        let mut program = PROGRAMS[which % PROGRAMS.len()].clone();
        for mutation in mutations {
            mutate(&mut program, mutation);
        }
        let text = program.join(" ");
        let (file, syntax) = parse(&text);
        if syntax.iter().all(|d| d.severity != Severity::Error) {
            let (program, diagnostics) = check(&file, "t", "t.mtp", &text);
            let wrong = diagnostics.iter().any(|d| d.severity == Severity::Error);
            prop_assert_eq!(program.is_none(), wrong);
            for d in &diagnostics {
                prop_assert!(text.get(d.primary.span.start as usize..d.primary.span.end as usize).is_some());
            }
        }
    }
}
