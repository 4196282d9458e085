//! Checks of line tables (debug information): programs of the conformance suite are compiled with their own line
//! numbers as source locations.

use std::path::Path;

use crate::prelude::*;
use crate::programs::compiler;
use tilewright_plugin::codegen::check_limits;
use tilewright_testkit::sample::sample;
use tilewright_verify::case::ProgramCase;

/// The file name in the source locations that [`add_source_locations`] adds.
pub const FILE: &str = "/source/kernel.py";

/// Appends a source location to each operation, with the operation's line in the text. Operations with regions get
/// none.
pub fn add_source_locations(program: &str) -> String {
    let mut text = String::new();
    for (number, line) in (1..).zip(program.lines()) {
        let op = line.trim();
        let is_operation = ["%", "tt.", "ttg.", "tw.", "amdg.", "scf.yield"].iter().any(|start| op.starts_with(start));
        // The rest of an operation, such as its types or its regions, may be on the following lines.
        let is_complete = is_operation && !op.starts_with("tt.func") && !op.ends_with(['{', '(', ',', ':']);
        text.push_str(line);
        if is_complete && !op.contains("loc(") && !op.contains("//") {
            text.push_str(&format!(" loc(\"{FILE}\":{number}:{})", number % 7));
        }
        text.push('\n');
    }
    text
}

/// An instruction of assembly, and its source line; 0 if it has no line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocatedInstruction<'a> {
    pub text: &'a str,
    pub line: usize,
}

/// Returns the instructions of assembly, each with the line of the last `.loc` directive before it.
pub fn instructions(assembly: &str) -> Vec<LocatedInstruction<'_>> {
    let (mut line, mut found) = (0, Vec::new());
    for text in assembly.lines() {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            [".loc", _, number, ..] => line = number.parse().unwrap(),
            [word, ..] if text.starts_with('\t') && !word.starts_with(['.', '/', ';']) => {
                found.push(LocatedInstruction { text, line });
            }
            _ => {}
        }
        if text.starts_with("\t.section\t.debug") {
            break;
        }
    }
    found
}

/// Results of [`check_programs`]: numbers of programs and of accesses to global memory, and accesses without the line
/// of a memory operation.
#[derive(Debug, Default)]
pub struct LineStats {
    pub programs: usize,
    pub accesses: usize,
    /// Number of accesses without a line, because LLVM merged accesses of several lines.
    pub without_line: usize,
    /// Accesses that have the line of an operation without memory access, because LLVM merges a load with the cast
    /// after it.
    pub elsewhere: Vec<String>,
}

/// Compiles one of four programs of the suite with and without source locations, from the program `phase` on, and
/// checks that the code is the same. Instructions that begin with one of `accesses` must have the line of an operation
/// that accesses memory.
pub fn check_programs(target: &dyn Target, accesses: &[&str], phase: usize) -> LineStats {
    let mut checked = LineStats::default();
    let files = ProgramCase::list_case_files(&shared_data::workspace().join("conformance/kernels")).unwrap();
    for file in sample(files, 4, phase) {
        if let Some(assembly) = check_code(target, &file) {
            checked.programs += 1;
            check_accesses(&file, &assembly, accesses, &mut checked);
        }
    }
    checked
}

/// Checks that source locations do not change a program's code. Returns the assembly with line directives; `None` if
/// the target does not support the program.
fn check_code(target: &dyn Target, file: &Path) -> Option<String> {
    let case = ProgramCase::read(file).unwrap_or_else(|error| panic!("{error}"));
    let text = std::fs::read_to_string(&case.program).unwrap();
    let options = ProgramOptions::default().with_warps(case.warps).with_entry(&case.entry);
    let compiled = |text: &str| compiler(target).compile_kernel(text, &options, &mut |_| {});
    let plain = match compiled(&text) {
        Ok(kernel) => kernel,
        Err(error) if error.is_unsupported() => return None,
        Err(error) => panic!("{}: {error}", file.display()),
    };
    if !plain.locations.is_empty()
        || check_limits(target.description(), &Module { kernels: vec![plain.clone()] }).is_err()
    {
        return None;
    }
    let with_lines =
        compiled(&add_source_locations(&text)).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let printed = |kernel: &Kernel| Module { kernels: vec![kernel.clone()] }.to_string();
    assert_eq!(printed(&plain), printed(&with_lines), "{}: kernel IR", file.display());
    let [plain, with_lines] =
        [plain, with_lines].map(|kernel| match artifact(target, vec![kernel], &[CodeFormat::Assembly]) {
            Ok(artifact) => Some(artifact.payload_text(CodeFormat::Assembly).unwrap().to_owned()),
            Err(CompileError::Unsupported(_)) => None,
            Err(error) => panic!("{}: {error}", file.display()),
        });
    let (plain, with_lines) = (plain?, with_lines?);
    let code = |assembly| instructions(assembly).into_iter().map(|one| one.text.to_owned()).collect::<Vec<_>>();
    assert_eq!(code(&plain), code(&with_lines), "{}: code", file.display());
    assert!(!plain.contains("\t.loc\t"), "{}: lines without locations", file.display());
    Some(with_lines)
}

fn check_accesses(file: &Path, assembly: &str, accesses: &[&str], checked: &mut LineStats) {
    let text = std::fs::read_to_string(ProgramCase::read(file).unwrap().program).unwrap();
    let source: Vec<&str> = text.lines().collect();
    // In explicit-memory programs, a pipelined copy has the line of the `tw.slice` whose tile it copies.
    const ACCESSES: [&str; 10] =
        ["load", "store", "atomic", "descriptor", "copy", "gather", "scatter", "tdm", "histogram", "tw.slice"];
    for one in instructions(assembly) {
        let bare = one.text.trim();
        let bare = bare.strip_prefix('@').and_then(|text| text.split_once(' ')).map_or(bare, |(_, text)| text.trim());
        if !accesses.iter().any(|access| bare.starts_with(access)) {
            continue;
        }
        checked.accesses += 1;
        match one.line {
            0 => checked.without_line += 1,
            line => {
                let found = source[line - 1];
                if !ACCESSES.iter().any(|name| found.contains(name)) {
                    checked.elsewhere.push(format!("{}: `{bare}` is at line {line}: {found}", file.display()));
                }
            }
        }
    }
}
