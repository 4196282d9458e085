//! Triton's own modules for H100 with asynchronous operations compute the results of their cases.

use crate::overlap::program::text;
use crate::prelude::*;
use tilewright_verify::case::ProgramCase;

/// Triton's names of asynchronous operations; a tested module has at least one of them.
const WORDS: [&str; 2] = ["ttng.warp_group_dot", "ttng.async_tma_copy"];

pub fn modules_with_layouts_give_what_they_must() {
    let kernels = shared_data::path("kernels");
    let (target, dialects, imports) =
        (target("h100"), tilewright_dialects::all_dialects(), tilewright_dialects::read_import_tables());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target: &target };
    let (mut run, mut pending, mut wrong) = (0, Vec::new(), Vec::new());
    for file in ProgramCase::list_case_files(&kernels.join("cases")).unwrap() {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let module = kernels.join("ttgir").join(format!("{name}.cuda90.ttgir"));
        let Ok(program) = std::fs::read_to_string(module) else { continue };
        if !WORDS.iter().any(|word| program.contains(word)) {
            continue;
        }
        let case = ProgramCase::read(&file).unwrap_or_else(|error| panic!("{error}"));
        let began = std::time::Instant::now();
        match case.compile_and_run_variant(&compiler, &program, &ProgramOptions::default(), &RunLimits::default()) {
            Ok((kernel, outcome)) => {
                if !outcome.differences.is_empty() {
                    wrong.push(format!("{name}: {}", outcome.differences[0]));
                }
                if text(&kernel).contains("ready_token products") {
                    pending.push(name.clone());
                }
            }
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
        eprintln!("{name}: {:?}", began.elapsed());
        run += 1;
    }
    eprintln!("{run} were run; products go on in {pending:#?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(run > 10 && pending.len() > 5, "{run} were run, in {} products go on", pending.len());
}
