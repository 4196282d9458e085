//! Whole programs, compiled from their text and executed on the virtual device over their grids. Every buffer must
//! equal the case's expected data, which no compiler computed.

use crate::prelude::*;
use std::path::{Path, PathBuf};

use crate::virtual_device::bench::device;
use tilewright_verify::case::ProgramCase;

/// Returns the files of the programs: those of the committed suite, or all.
fn files(answers: Answers) -> Vec<PathBuf> {
    let folder = match answers {
        Answers::Sample => shared_data::workspace().join("conformance/kernels"),
        Answers::All => shared_data::path("kernels/cases"),
    };
    ProgramCase::list_case_files(&folder).unwrap()
}

/// Runs a program. Returns the reason why its results are wrong, or `None` if they are right; `Err` if the target does
/// not support the program.
fn run(file: &Path) -> Result<Option<String>, String> {
    let case = ProgramCase::read(file).unwrap_or_else(|error| panic!("{error}"));
    let text = std::fs::read_to_string(&case.program).unwrap();
    let (target, dialects, imports) =
        (target("a100"), tilewright_dialects::all_dialects(), tilewright_dialects::read_import_tables());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target: &target };
    let options = ProgramOptions::default().with_warps(case.warps).with_entry(&case.entry);
    let kernel = match compiler.compile_kernel(&text, &options, &mut |_| {}) {
        Ok(kernel) => kernel,
        Err(error) if error.is_unsupported() => return Err(error.to_string()),
        Err(error) => return Ok(Some(error.to_string())),
    };
    let checked = case.to_test_case(kernel).and_then(|case| check_on_device(&case, &target, &mut device()));
    Ok(checked.err().map(|wrong| wrong.to_string()))
}

/// Cases with expected data that no execution of their program gives; see `docs/programs.md`.
const MISTAKEN: [&str; 1] = ["loop_forms_i32"];

#[test]
fn programs_leave_what_they_must() {
    check_programs_leave_what_they_must(Answers::Sample);
}

pub fn check_programs_leave_what_they_must(answers: Answers) {
    let (mut wrong, mut unsupported, mut right) = (Vec::new(), Vec::new(), 0);
    for file in files(answers) {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        match run(&file) {
            Ok(None) if MISTAKEN.contains(&name.as_str()) => wrong.push(format!("{name}: it agrees by now")),
            Ok(None) => right += 1,
            Ok(Some(_)) if MISTAKEN.contains(&name.as_str()) => {}
            Ok(Some(message)) => wrong.push(format!("{name}: {message}")),
            Err(message) => unsupported.push(format!("{name}: {message}")),
        }
    }
    eprintln!("{right} programs are right; not for this product: {unsupported:#?}");
    assert!(wrong.is_empty(), "{} programs are wrong: {wrong:#?}", wrong.len());
    assert!(right > 10, "{right} programs were run");
}
