//! Finds the shell commands of a documentation page, without their output.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// Names of programs; a line in a code block that begins with one of them is a command.
const PROGRAMS: &[&str] = &[
    "alias",
    "cargo",
    "cd",
    "cmake",
    "conformance",
    "conformance-run",
    "echo",
    "mkdir",
    "python3",
    "sbatch",
    "scp",
    "ssh",
    "tilewright",
    "triton-venv/bin/python",
];

/// Returns the commands in the code blocks of a page: the lines that begin with one of `PROGRAMS`, possibly after
/// variable assignments, each joined with its continuation lines. Only blocks marked `sh` or `console`, or with no
/// language, are searched.
#[must_use]
pub fn commands(text: &str) -> Vec<String> {
    let (mut found, mut block) = (Vec::new(), None);
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match (event, &mut block) {
            (Event::Start(Tag::CodeBlock(kind)), _) => block = is_of_a_shell(&kind).then(String::new),
            // The parser emits an indented block line by line.
            (Event::Text(text), Some(block)) => block.push_str(&text),
            (Event::End(TagEnd::CodeBlock), _) => {
                let joined = block.take().unwrap_or_default().replace("\\\n", " ");
                found.extend(joined.lines().filter(|line| is_command(line)).map(str::to_owned));
            }
            _ => {}
        }
    }
    found
}

/// Whether a code block of this kind may contain shell commands.
fn is_of_a_shell(kind: &CodeBlockKind<'_>) -> bool {
    match kind {
        CodeBlockKind::Indented => true,
        CodeBlockKind::Fenced(language) => ["", "sh", "console"].contains(&language.as_ref()),
    }
}

fn is_command(line: &str) -> bool {
    let is_variable = |word: &&str| word.contains('=') && word.chars().next().is_some_and(|c| c.is_ascii_uppercase());
    let program = line.split(' ').find(|word| !is_variable(word)).unwrap_or_default();
    PROGRAMS.contains(&program)
}
