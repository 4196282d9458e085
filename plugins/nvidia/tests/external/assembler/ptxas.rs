//! Runs `ptxas` and returns its output.

use crate::prelude::*;
use std::process::Command;

/// Assembles PTX that must be valid, and returns the assembler's output.
pub fn assemble(name: &str, architecture: &str, ptx: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("kernel.ptx");
    std::fs::write(&file, ptx).unwrap();
    let mut command = Command::new(object::find_assembler().unwrap());
    command.args(["-v", &format!("-arch={architecture}"), "-o"]).arg(directory.path().join("cubin")).arg(&file);
    let output = command.output().unwrap();
    let log = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{name}: {log}\n{ptx}");
    log
}

/// Assembles PTX as [`assemble`] does, and fails if a kernel spills registers.
pub fn assemble_without_spills(name: &str, architecture: &str, ptx: &str) -> String {
    let log = assemble(name, architecture, ptx);
    let none = "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads";
    assert_eq!(log.matches(none).count(), ptx.matches(".entry ").count(), "{name}: {log}");
    log
}
