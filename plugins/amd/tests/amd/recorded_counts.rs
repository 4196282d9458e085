//! Committed counts of the test programs' assembly: instructions, vector registers and spills may not grow.
#![allow(clippy::unwrap_used)]

use tilewright_vendor_testkit::prelude::*;
use tilewright_vendor_testkit::recorded_counts::{CompiledCase, Metrics, check_no_growth, file};

use crate::targets::target;

/// Bytes of a vector register in each lane.
const REGISTER_BYTES: u64 = 4;

#[test]
fn assembly_does_not_grow_on_mi250() {
    check("mi250");
}

#[test]
fn assembly_does_not_grow_on_mi300x() {
    check("mi300x");
}

fn check(name: &str) {
    check_no_growth(&file(&format!("assembled.{name}.jsonl")), &target(name), measure);
}

/// Returns the counts of a kernel's assembly.
fn measure(compiled: &CompiledCase) -> Metrics {
    let text = compiled.artifact.payload_text(CodeFormat::Assembly).unwrap();
    let start = text.find(&format!("\n{}:", compiled.launch.kernel)).unwrap();
    let code = text[start..].split(".amdhsa_kernel").next().unwrap();
    let is_instruction = |line: &&str| {
        let word = line.trim_start();
        word.len() < line.len() && word.starts_with(|letter: char| letter.is_ascii_lowercase())
    };
    let number = |name: &str| -> u64 {
        let value = text.split(&format!(".{name}:")).nth(1).and_then(|rest| rest.split_whitespace().next());
        value.unwrap().parse().unwrap()
    };
    let counts = [
        ("written", code.lines().filter(is_instruction).count() as u64),
        ("registers", number("vgpr_count")),
        ("spills", REGISTER_BYTES * number("vgpr_spill_count")),
    ];
    counts.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
}
