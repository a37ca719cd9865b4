// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a file to a checked program.

use std::path::Path;
use std::sync::Arc;

use carrick_ir::{self as ir, Text};
use carrick_syntax::Sources;
use carrick_syntax::assemble::features::{self, Choice, Chosen};
use carrick_syntax::assemble::{Assembled, TEXT_MAX, assemble};
use carrick_syntax::ast::{self, Over};
use carrick_syntax::diag::{Diagnostic, Severity};
use carrick_syntax::diagnostics::Diagnostics;

use crate::targets::{Against, missing_features, unbuilt};
use crate::{Failure, files, table};

/// What became of one file.
#[derive(Debug)]
pub struct Compiled {
    /// the file as the user named it
    pub file: String,
    /// its text, and that of all that it imports
    pub sources: Sources,
    /// all that is wrong with it, in the order of the text
    pub diagnostics: Vec<Diagnostic>,
    /// the program, if there is no error
    pub program: Option<Arc<ir::Program>>,
}

impl Compiled {
    /// How many of the diagnostics are errors.
    pub fn errors(&self) -> usize {
        self.count(Severity::Error)
    }

    /// How many of the diagnostics are warnings.
    pub fn warnings(&self) -> usize {
        self.count(Severity::Warning)
    }

    fn count(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|d| d.severity == severity).map(|d| d.count).sum()
    }
}

/// Reads and compiles a file.
///
/// # Errors
/// [`Failure::Usage`] if the file cannot be read as text; what is wrong with the program itself is in the result.
pub fn compile_file(path: &Path) -> Result<Compiled, Failure> {
    compile_choice(path, &Choice::default())
}

/// As [`compile_file`], with the features that a build chooses.
///
/// # Errors
/// Also [`Failure::Usage`] if the choice names features that the program does not have.
pub fn compile_choice(path: &Path, choice: &Choice) -> Result<Compiled, Failure> {
    compile_for(path, choice, None)
}

/// As [`compile_choice`], for a target, if there is one: what it lacks is wrong too.
///
/// # Errors
/// As there.
pub fn compile_for(path: &Path, choice: &Choice, target: Option<&Against>) -> Result<Compiled, Failure> {
    if table::is_table(path) {
        return compile_table(path, choice, target);
    }
    let assembled = open_choice(path, choice)?;
    Ok(compile_assembled(&path.display().to_string(), &assembled, choice, target))
}

/// As [`compile_for`], of a program that is a table already.
fn compile_table(path: &Path, choice: &Choice, target: Option<&Against>) -> Result<Compiled, Failure> {
    let program = read_table(path, choice)?;
    let mut sources = Sources::new(program.file.raw(), program.texts.first().map_or("", Text::raw));
    for (name, text) in program.imports.iter().zip(program.texts.iter().skip(1)) {
        sources.add(name.raw(), text.raw());
    }
    let mut found = Diagnostics::default();
    if let Some(target) = target {
        let text = text_of(&program);
        let tree = text.as_ref().map(|(assembled, choice)| features::configure(&assembled.tree, choice).tree);
        found.extend(check_for(target, &program, tree.as_ref(), &sources).into_vec());
    }
    let program = (!found.has_errors()).then(|| Arc::new(program));
    Ok(Compiled { file: path.display().to_string(), sources, diagnostics: found.into_vec(), program })
}

/// As [`compile_choice`], with the tree and the choice that the program was made from.
pub(crate) fn compile_with_text(
    path: &Path,
    choice: &Choice,
) -> Result<(Compiled, Assembled, Choice), Failure> {
    if !table::is_table(path) {
        let assembled = open_choice(path, choice)?;
        let compiled = compile_assembled(&path.display().to_string(), &assembled, choice, None);
        return Ok((compiled, assembled, choice.clone()));
    }
    let compiled = compile_table(path, choice, None)?;
    let text = compiled.program.as_deref().and_then(text_of);
    let (assembled, choice) = text.ok_or_else(|| {
        Failure::Usage(format!(
            "{} lacks the text that its program was made from, and this needs it",
            path.display()
        ))
    })?;
    Ok((compiled, assembled, choice))
}

/// Returns the text that a program was made from and the features that it was built with, for those who need its tree. None without
/// text, or if the program is not what its text says.
pub fn text_of(program: &ir::Program) -> Option<(Assembled, Choice)> {
    let names = std::iter::once(&program.file).chain(&program.imports);
    let texts: Vec<(&str, &str)> = names.map(Text::raw).zip(program.texts.iter().map(Text::raw)).collect();
    let (_, main) = texts.first()?;
    let mut read = |wanted: &str| {
        let found = texts.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| "the program does not have it".to_owned())
    };
    let assembled = assemble(program.file.raw(), main, &mut read);
    let choice = choice_of(&assembled, program);
    let again = compile_named(&program.name, program.file.raw(), &assembled, &choice, None);
    (again.program.as_deref() == Some(program)).then_some((assembled, choice))
}

/// The features that the text of a program declares, with their documentation; none without text.
pub fn features_of(program: &ir::Program) -> Vec<(ast::Feature, String)> {
    let items = text_of(program).into_iter().flat_map(|(assembled, _)| assembled.tree.items);
    let features = items.filter_map(|item| match item.kind {
        ast::ItemKind::Feature(feature) if feature.of_option.is_none() => Some((feature, item.doc)),
        _ => None,
    });
    features.collect()
}

/// The features of the program, and none that its text has by default beside them.
fn choice_of(assembled: &Assembled, program: &ir::Program) -> Choice {
    let mut choice = Choice::default();
    program.features.iter().for_each(|feature| choice.add(feature.raw()));
    let chosen = features::configure(&assembled.tree, &choice).chosen;
    let more = chosen.into_iter().filter(|c| !program.features.contains(&c.to_string().into()));
    choice.without = more.map(|c| c.name).collect();
    if program.net_header.layer == ir::NetLayer::Ipv6 {
        choice.over = Over::Ipv6;
    }
    choice
}

/// The program in a table, whose features were chosen when it was made.
fn read_table(path: &Path, choice: &Choice) -> Result<ir::Program, Failure> {
    let file = path.display().to_string();
    if *choice != Choice::default() {
        return Err(Failure::Usage(format!(
            "{file} is a table: its features are chosen; choose others with `carrick build --target json` from its text"
        )));
    }
    table::read(&file, &read(path)?)
}

/// Reads a file with all that it imports, which has the features of the choice.
pub(crate) fn open_choice(path: &Path, choice: &Choice) -> Result<Assembled, Failure> {
    let file = path.display().to_string();
    if table::is_table(path) {
        return Err(Failure::Usage(format!("{file} is a table, and this needs the text of a program")));
    }
    let assembled = assemble(&file, &read(path)?, &mut read_import);
    checked_choice(&file, &assembled, choice)?;
    Ok(assembled)
}

/// A program and all choices of its features that go together.
///
/// # Errors
/// [`Failure::Usage`] if the file cannot be read as text, or if there are too many choices to try.
pub fn combinations_of(path: &Path, over: Over) -> Result<(Assembled, Vec<Choice>), Failure> {
    let file = path.display().to_string();
    let assembled = open_choice(path, &Choice { over, ..Choice::default() })?;
    let mut choices = features::combinations(&assembled.tree).ok_or_else(|| {
        Failure::Usage(format!(
            "{file} has too many combinations of features; check those that matter, with --with"
        ))
    })?;
    choices.iter_mut().for_each(|choice| choice.over = over);
    Ok((assembled, choices))
}

/// Reads a program.
///
/// # Errors
/// [`Failure::Usage`] if the file cannot be read as text.
pub fn read(path: &Path) -> Result<String, Failure> {
    read_text(path).map_err(|why| {
        let file = path.display().to_string().replace(char::is_control, "?");
        Failure::Usage(format!(
            "cannot read {file}: {why}; name a transport program, a file that ends in .mtp"
        ))
    })
}

/// Compiles a program that has been read; `file` is its name in messages and `#line`, and where its imports begin.
pub fn compile_text(file: &str, text: impl AsRef<str>) -> Compiled {
    compile_texts(file, text.as_ref(), &mut read_import)
}

/// The text of an imported file.
///
/// # Errors
/// Why there is none.
pub fn read_import(name: &str) -> Result<String, String> {
    read_text(Path::new(name))
}

fn read_text(path: &Path) -> Result<String, String> {
    files::text(path, TEXT_MAX as u64).map_err(|e| e.to_string())
}

/// As [`compile_text`], with imported files from wherever `read` has them; it says why where it has none.
pub fn compile_texts(
    file: &str,
    text: &str,
    read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Compiled {
    compile_assembled(file, &assemble(file, text, read), &Choice::default(), None)
}

/// As [`compile_texts`], with the features that a build chooses.
///
/// # Errors
/// [`Failure::Usage`] if the choice names features that the program does not have.
pub fn compile_texts_choice(
    file: &str,
    text: &str,
    read: &mut dyn FnMut(&str) -> Result<String, String>,
    choice: &Choice,
) -> Result<Compiled, Failure> {
    let assembled = assemble(file, text, read);
    checked_choice(file, &assembled, choice)?;
    Ok(compile_assembled(file, &assembled, choice, None))
}

/// Refuses a choice of features that the program does not have.
fn checked_choice(file: &str, assembled: &Assembled, choice: &Choice) -> Result<(), Failure> {
    features::check_choice(&assembled.tree, choice).map_err(|e| Failure::Usage(format!("{file}: {e}")))
}

/// As [`compile_for`], of a program that has been read whole already.
pub fn compile_assembled(
    file: &str,
    assembled: &Assembled,
    choice: &Choice,
    target: Option<&Against>,
) -> Compiled {
    compile_named(&program_name(file), file, assembled, choice, target)
}

/// As [`compile_assembled`], with the prefix of generated names.
pub(crate) fn compile_named(
    name: &str,
    file: &str,
    assembled: &Assembled,
    choice: &Choice,
    target: Option<&Against>,
) -> Compiled {
    let Assembled { tree, sources, diagnostics } = assembled;
    let mut found = Diagnostics::default();
    found.extend(diagnostics.iter().cloned());
    let mut program = None;
    if !found.has_errors() {
        let configured = features::configure(tree, choice);
        found.extend(configured.diagnostics);
        if !found.has_errors() {
            let (checked, more) = carrick_sema::check_sources(&configured.tree, name, sources);
            found.extend(more);
            program = checked.map(|checked| Arc::new(lower(checked, &configured.chosen)));
        }
        if let (Some(target), Some(checked)) = (target, &program) {
            found.extend(check_for(target, checked, Some(&configured.tree), sources).into_vec());
            program = program.filter(|_| !found.has_errors());
        }
        debug_assert_eq!(program.as_deref().map_or(Ok(()), carrick_ir::validate::validate), Ok(()));
    }
    Compiled { file: file.to_owned(), sources: sources.clone(), diagnostics: found.into_vec(), program }
}

/// What a target lacks of a program, or cannot build yet. Without a tree nobody knows where the program needs it.
fn check_for(
    target: &Against,
    program: &ir::Program,
    tree: Option<&ast::File>,
    sources: &Sources,
) -> Diagnostics {
    let mut found = Diagnostics::default();
    found.extend(missing_features::of(target, program, tree, sources));
    if !found.has_errors() {
        found.extend(unbuilt::of(target, program, tree, sources));
    }
    found
}

fn lower(mut checked: ir::Program, chosen: &[Chosen]) -> ir::Program {
    checked.features = chosen.iter().map(|feature| feature.to_string().into()).collect();
    // Two builds of one text are two programs.
    for octet in checked.features.iter().flat_map(|f| f.raw().bytes().chain([0])) {
        checked.source_hash = (checked.source_hash ^ u64::from(octet)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    carrick_lower::lower(checked)
}

/// The file's stem as a C identifier: the prefix of generated names. Those of the runtime begin with `carrick`.
pub(crate) fn program_name(file: &str) -> String {
    let stem = Path::new(file).file_stem().map_or_else(|| "program".into(), |s| s.to_string_lossy());
    let mut name: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || name.starts_with("carrick") {
        name.insert(0, 'p');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::program_name;

    #[test]
    fn a_program_is_named_for_its_file() {
        assert_eq!(program_name("a/b/stream.mtp"), "stream");
        assert_eq!(program_name("quick-lite.mtp"), "quick_lite");
        assert_eq!(program_name("9p.mtp"), "p9p");
        assert_eq!(program_name("carrick.mtp"), "pcarrick");
        assert_eq!(program_name(""), "program");
    }
}
