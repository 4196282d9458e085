//! Machine code of the test programs compared with the committed counts: instructions, registers and spills.

use std::process::Command;

use crate::prelude::*;
use tilewright_testkit::external::Need;
use tilewright_vendor_testkit::recorded_counts::{CompiledCase, Metrics, about, check_no_growth, file};

/// Targets with committed counts, and the processor name for the assembler.
const TARGETS: [(&str, &str); 2] = [("a100", "sm_80"), ("h100", "sm_90a")];

/// Requires the version of the assembler that made the committed counts, since another one makes other code.
pub fn same_assembler() -> Need {
    let recorded = about(&file("assembled.h100.jsonl"))["ptxas"].as_str().unwrap().to_owned();
    let missing = object::find_assembler().ok().and_then(|program| {
        let output = Command::new(program).arg("--version").output().ok()?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let version =
            printed.split('V').next_back().and_then(|rest| rest.split_whitespace().next()).unwrap_or_default();
        (version != recorded).then(|| format!("the version is {version}"))
    });
    Need::of(&format!("ptxas {recorded}"), missing)
}

pub fn machine_code_does_not_grow() {
    for (name, processor) in TARGETS {
        check_no_growth(&file(&format!("assembled.{name}.jsonl")), &target(name), |compiled| {
            measure(compiled, processor)
        });
    }
}

/// Returns the counts of a kernel's machine code.
fn measure(compiled: &CompiledCase, processor: &str) -> Metrics {
    let directory = tempfile::tempdir().unwrap();
    let (ptx, cubin) = (directory.path().join("kernel.ptx"), directory.path().join("kernel.cubin"));
    std::fs::write(&ptx, &compiled.artifact.payload(CodeFormat::Assembly).unwrap().bytes).unwrap();
    let mut command = Command::new(object::find_assembler().unwrap());
    command.args(["-v", &format!("-arch={processor}"), "-o"]).arg(&cubin).arg(&ptx);
    let output = command.output().unwrap();
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{}: {log}", compiled.launch.kernel);
    let sum = |before: &str, after: &str| -> u64 {
        let parts = log.split(after).filter_map(|part| part.rsplit(before).next()?.trim().parse::<u64>().ok());
        parts.sum()
    };
    let counts = [
        ("encoded", count_encoded(&std::fs::read(&cubin).unwrap())),
        ("registers", sum("Used ", " registers")),
        ("spills", sum(" ", " bytes spill")),
    ];
    counts.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
}

/// Returns the number of instructions in the sections of code of an ELF object, without padding. An instruction has 16
/// bytes; the low 12 bits of a `NOP` are 0x918.
fn count_encoded(cubin: &[u8]) -> u64 {
    let number = |at: usize, bytes: usize| {
        cubin[at..at + bytes].iter().rev().fold(0usize, |number, &byte| number << 8 | usize::from(byte))
    };
    let (table, size, count) = (number(40, 8), number(58, 2), number(60, 2));
    let section = |index: usize| table + size * index;
    let strings = number(section(number(62, 2)) + 24, 8);
    let is_code = |&header: &usize| cubin[strings + number(header, 4)..].starts_with(b".text.");
    let code = (0..count).map(section).filter(is_code);
    let starts = code.flat_map(|header| {
        let start = number(header + 24, 8);
        (start..start + number(header + 32, 8)).step_by(16)
    });
    starts.filter(|&at| number(at, 2) & 0xfff != 0x918).count() as u64
}
