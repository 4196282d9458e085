//! Runs the assembler for what it prints.

use crate::prelude::*;
use std::process::Command;

/// What the assembler says of PTX that it takes.
pub fn assemble(name: &str, architecture: &str, ptx: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("kernel.ptx");
    std::fs::write(&file, ptx).unwrap();
    let mut command = Command::new(object::assembler().unwrap());
    command.args(["-v", &format!("-arch={architecture}"), "-o"]).arg(directory.path().join("cubin")).arg(&file);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{name}: {said}\n{ptx}");
    said
}

/// The same; no kernel may spill registers.
pub fn assemble_without_spills(name: &str, architecture: &str, ptx: &str) -> String {
    let said = assemble(name, architecture, ptx);
    let none = "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads";
    assert_eq!(said.matches(none).count(), ptx.matches(".entry ").count(), "{name}: {said}");
    said
}
