// SPDX-License-Identifier: MIT OR Apache-2.0
//! How finished lines lie: none longer than people read, and `CARRICK_UNUSED` only where something may be unused.

use std::borrow::Cow;
use std::collections::HashSet;

/// The longest line, as in the runtime.
const COLUMNS: usize = 120;
/// What stands before a break: of those within the same parentheses, what binds least comes first.
const BREAKS: [&str; 5] = [",", "||", "&&", " |", " +"];
const UNUSED: &str = "CARRICK_UNUSED ";

/// The names in a piece of C.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The names that a line uses in every build, members of structs left out. What a claim does when it fails is in some.
fn used(line: &str) -> impl Iterator<Item = &str> {
    let code = if line.starts_with('#') { "" } else { line.split("/*").next().unwrap_or(line) };
    let code = match code.contains("CARRICK_CLAIM(") {
        true => code.rsplit_once("__claim_failed(").map_or(code, |(before, _)| before),
        false => code,
    };
    names(code).filter(move |name| {
        let at = name.as_ptr() as usize - code.as_ptr() as usize;
        let (before, after) = (&code[..at], &code[at + name.len()..]);
        // What is only assigned is set, but not used.
        let assigned = before.trim().is_empty()
            && [" = ", " += ", " -= ", " |= "].iter().any(|op| after.starts_with(op));
        !assigned && !before.ends_with("->") && !before.ends_with('.')
    })
}

/// For each line whether every build has it: what is between `#ifdef` and `#endif` is in some alone.
fn everywhere(lines: &[String]) -> Vec<bool> {
    let mut depth = 0_usize;
    let mut all = Vec::with_capacity(lines.len());
    for line in lines {
        depth += usize::from(line.starts_with("#if"));
        all.push(depth == 0);
        depth = depth.saturating_sub(usize::from(line.starts_with("#endif")));
    }
    all
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The name that a declaration without its attributes declares: of a parameter, or of a variable that is alone.
fn declared(declaration: &str) -> Option<&str> {
    let before = declaration.split(['=', ';', '[']).next()?;
    names(before).last().filter(|_| !before.contains(','))
}

/// The lines, without the attribute on all that every build uses.
pub fn mark_unused(lines: &[String]) -> Vec<Cow<'_, str>> {
    let (mut once, mut used_twice) = (HashSet::new(), HashSet::new());
    let mut in_all: Vec<Vec<&str>> = Vec::with_capacity(lines.len());
    for (line, everywhere) in lines.iter().zip(everywhere(lines)) {
        let names: Vec<&str> = if everywhere { used(line).collect() } else { Vec::new() };
        if !is_declaration(line) {
            used_twice.extend(names.iter().filter(|name| !once.insert(**name)));
        }
        in_all.push(names);
    }
    let marked = |at: usize| {
        let line: &str = &lines[at];
        if !line.contains(UNUSED) {
            return Cow::Borrowed(line);
        }
        let end = at + 1 + lines[at + 1..].iter().take_while(|l| belongs(l, indent(line))).count();
        let inside = |name: &str| in_all[at + 1..end].iter().flatten().any(|used| *used == name);
        match (indent(line), line.trim_start().strip_prefix(UNUSED)) {
            (0, _) => Cow::Owned(without_attributes(line, &used_twice, inside)),
            (depth, Some(rest)) if !rest.contains(", ") && declared(rest).is_some_and(inside) => {
                Cow::Owned(format!("{}{rest}", " ".repeat(depth)))
            }
            _ => Cow::Borrowed(line),
        }
    };
    (0..lines.len()).map(marked).collect()
}

/// Whether a line is in the block of one that is indented so far, behind it.
fn belongs(line: &str, depth: usize) -> bool {
    line.is_empty()
        || line.starts_with('#')
        || (depth == 0 && indent(line) > 0)
        || (depth > 0 && indent(line) >= depth)
}

/// The declaration of a function that is defined later.
fn is_declaration(line: &str) -> bool {
    indent(line) == 0 && line.ends_with(");")
}

/// The head of a function, or its declaration: the attribute in front is the function's, others are of parameters.
fn without_attributes(head: &str, functions: &HashSet<&str>, inside: impl Fn(&str) -> bool) -> String {
    let (own, rest) = head.strip_prefix(UNUSED).map_or((false, head), |rest| (true, rest));
    let Some((before, parameters)) = rest.split_once('(') else { return head.to_owned() };
    let called = names(before).last().is_some_and(|name| functions.contains(name));
    let own = if own && !called { UNUSED } else { "" };
    let parameters: Vec<String> = parameters
        .split(", ")
        .map(|parameter| match parameter.strip_prefix(UNUSED) {
            Some(bare) if declared(bare.split(')').next().unwrap_or(bare)).is_some_and(&inside) => {
                bare.to_owned()
            }
            _ => parameter.to_owned(),
        })
        .collect();
    format!("{own}{before}({}", parameters.join(", "))
}

/// A line as several, if it is too long: a comment between words, code within parentheses. A comment behind code comes
/// before it then.
pub fn folded(line: &str) -> Vec<String> {
    if line.chars().count() <= COLUMNS || line.starts_with('#') {
        return vec![line.to_owned()];
    }
    if ["/*", "* "].iter().any(|begin| line.trim_start().starts_with(begin)) {
        return folded_comment(line);
    }
    match line.split_once(" /* ") {
        Some((code, comment)) if comment.ends_with("*/") => {
            let mut lines = folded(&format!("{}/* {comment}", " ".repeat(indent(line))));
            lines.extend(folded_code(code));
            lines
        }
        Some(_) => vec![line.to_owned()],
        None => folded_code(line),
    }
}

/// A line of a comment: what follows begins with a star below the first one.
fn folded_comment(line: &str) -> Vec<String> {
    let stars = " ".repeat(indent(line) + usize::from(line.trim_start().starts_with('/'))) + "*";
    let mut lines = Vec::new();
    let mut rest = line.to_owned();
    while rest.chars().count() > COLUMNS {
        let words = rest.char_indices().take(COLUMNS + 1).filter(|(_, c)| *c == ' ').map(|(at, _)| at);
        let Some(at) = words.last().filter(|at| *at > stars.len() + 1) else { break };
        let more = rest.split_off(at);
        lines.push(rest);
        rest = format!("{stars}{more}");
    }
    lines.push(rest);
    lines
}

fn folded_code(line: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = line.to_owned();
    let mut hanging = indent(line) + 4;
    while rest.chars().count() > COLUMNS {
        let Some((at, column)) = last_break(&rest, hanging) else { break };
        hanging = column;
        let more = rest.split_off(at);
        lines.push(rest.trim_end().to_owned());
        rest = format!("{}{}", " ".repeat(column), more.trim_start());
    }
    lines.push(rest);
    lines
}

/// Where a line is broken that is too long: behind the last comma, or else operator, of the outermost parentheses that
/// hold one, and the column at which it goes on: `hanging`, or where those parentheses begin.
fn last_break(line: &str, hanging: usize) -> Option<(usize, usize)> {
    let mut open: Vec<usize> = Vec::new();
    let mut best: Option<((usize, usize), usize, usize)> = None;
    let mut quoted = false;
    for (at, c) in line.char_indices().take(COLUMNS) {
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '{' | '[' => open.push(at + 1),
            ')' | '}' | ']' => _ = open.pop(),
            ' ' if at > indent(line) => {
                let Some(binds) = BREAKS.iter().position(|end| line[..at].ends_with(end)) else { continue };
                let (strength, column) = ((open.len(), binds), open.last().copied().unwrap_or(hanging));
                if best.is_none_or(|(least, ..)| strength <= least) {
                    best = Some((strength, at, column));
                }
            }
            _ => {}
        }
    }
    // What is far to the right has no room there.
    best.map(|(_, at, column)| (at, if column > COLUMNS / 2 { hanging } else { column }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str) -> String {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        mark_unused(&lines).join("\n")
    }

    #[test]
    fn what_every_build_uses_is_not_marked() {
        let text = "CARRICK_UNUSED static void f(CARRICK_UNUSED int *a, CARRICK_UNUSED int b, CARRICK_UNUSED int c) {\n    CARRICK_UNUSED int x = 1;\n    g(a, x);\n#ifdef CARRICK_TRACE\n    g(b, 0);\n#endif\n}\nvoid h(int *q) {\n    f(q, 1, 2);\n}";
        let expected = "static void f(int *a, CARRICK_UNUSED int b, CARRICK_UNUSED int c) {\n    int x = 1;\n    g(a, x);\n#ifdef CARRICK_TRACE\n    g(b, 0);\n#endif\n}\nvoid h(int *q) {\n    f(q, 1, 2);\n}";
        assert_eq!(marked(text), expected);
        let set = "static void f(int *a) {\n    CARRICK_UNUSED int x = 1;\n    x += 2;\n    g(a);\n}";
        assert_eq!(marked(set), set);
        let apart = "CARRICK_UNUSED static void f(void) {\n    {\n        CARRICK_UNUSED int x = 1;\n    }\n    int x = 2;\n    g(x);\n}";
        assert_eq!(marked(apart), apart);
    }

    #[test]
    fn long_lines_are_broken_within_parentheses() {
        let argument = "a_rather_long_argument_of_a_call(with, some)";
        let line = format!("    f({argument}, {argument}, {argument});");
        let expected = [format!("    f({argument}, {argument},"), format!("      {argument});")];
        assert_eq!(folded(&line), expected);
        assert_eq!(folded("    f(a, b);"), ["    f(a, b);"]);
        let sum = format!("    return {argument} + {argument} + {argument};");
        assert_eq!(
            folded(&sum),
            [format!("    return {argument} + {argument} +"), format!("        {argument};")]
        );
        let both = format!("    return {argument} && {argument} + {argument};");
        assert_eq!(
            folded(&both),
            [format!("    return {argument} &&"), format!("        {argument} + {argument};")]
        );
    }

    #[test]
    fn long_comments_are_broken_between_words() {
        let words = "words that say what it is ".repeat(6);
        let comment = format!("    int n; /* {words}*/");
        let lines = folded(&comment);
        assert_eq!(lines.len(), 3);
        assert!(
            lines[0].starts_with("    /* words")
                && lines[1].starts_with("     * ")
                && lines[1].ends_with("*/")
        );
        assert_eq!(lines[2], "    int n;");
        let inside = format!(" * {words}");
        assert!(folded(&inside).iter().all(|line| line.starts_with(" * ") && line.len() <= COLUMNS));
    }
}
