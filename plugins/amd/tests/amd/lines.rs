//! Line tables of AMD code objects: they name the lines of the program, and the code is the same without them.
#![allow(clippy::unwrap_used)]
#![allow(dead_code, reason = "the test of objects needs a reader of DWARF")]

use std::collections::BTreeSet;
use std::process::Command;

use crate::targets::target;
use tilewright_vendor_testkit::lines::{FILE, add_source_locations, check_programs, instructions};
use tilewright_vendor_testkit::prelude::*;
use tilewright_vendor_testkit::programs::program_kernel;

/// The beginnings of the names of instructions that access global memory.
const ACCESSES: [&str; 7] =
    ["global_load", "global_store", "global_atomic", "buffer_load", "buffer_store", "buffer_atomic", "flat_"];

#[test]
fn accesses_of_programs_have_their_lines() {
    for (phase, name) in ["mi300x", "rx9070xt"].into_iter().enumerate() {
        let checked = check_programs(&target(name), &ACCESSES, phase);
        assert!(checked.programs > 20 && checked.accesses > 125, "{name}: {checked:?}");
        assert!(checked.without_line * 20 < checked.accesses, "{name}: {checked:?}");
        assert!(checked.elsewhere.len() * 20 < checked.accesses, "{name}: {checked:?}");
    }
}

/// The line table of a code object, as `llvm-dwarfdump` reads it, has the lines of its assembly.
pub fn objects_have_line_tables() {
    let target = target("mi300x");
    let text = std::fs::read_to_string(shared_data::workspace().join("conformance/kernels/add_masked.ttir")).unwrap();
    let kernel = program_kernel(&target, &add_source_locations(&text)).unwrap();
    let artifact = artifact(&target, vec![kernel], &[CodeFormat::Assembly, CodeFormat::Object]).unwrap();
    let object = &artifact.payloads.iter().find(|payload| payload.form == CodeFormat::Object).unwrap().bytes;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernel.hsaco");
    std::fs::write(&file, object).unwrap();
    // DWARF 4 keeps the directory in the compilation unit.
    let output = Command::new("llvm-dwarfdump").args(["--debug-info", "--debug-line"]).arg(&file).output().unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    let (directory, name) = FILE.rsplit_once('/').unwrap();
    assert!(table.contains(&format!("\"{name}\"")) && table.contains(directory), "{table}");
    let rows = table.lines().filter(|line| line.starts_with("0x"));
    let read: BTreeSet<usize> = rows.filter_map(|row| row.split_whitespace().nth(1)?.parse().ok()).collect();
    let lines: BTreeSet<usize> =
        instructions(artifact.payload_text(CodeFormat::Assembly).unwrap()).iter().map(|one| one.line).collect();
    assert!(lines.len() > 3 && lines.is_subset(&read), "{lines:?} {read:?}");
}
