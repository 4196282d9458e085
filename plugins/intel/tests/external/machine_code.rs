//! Machine code that the vendor's offline compiler makes of products of matrices: `dpas` as often as the plan issues it.
#![allow(clippy::unwrap_used)]

use crate::validated_target::target;
use std::path::Path;
use std::process::{Command, Output};

use crate::dots::{older, products_of_blocks};
use crate::tools::offline_compiler;
use crate::validated_target::ValidatedTarget;
use tilewright_vendor_testkit::dots::{object, planned, problem};
use tilewright_vendor_testkit::prelude::*;

/// Why the compiler's disassembler does not work here, if it does not: it opens a library that distributions pack apart.
pub fn missing_disassembler() -> Option<String> {
    let compiler = offline_compiler().map_err(|error| error.to_string());
    compiler.and_then(|compiler| listing(&compiler, &spirv_of_a_product(), "pvc")).err()
}

fn spirv_of_a_product() -> Vec<u8> {
    let target = target("max1550");
    object(&target, &planned(&target, &MmaProblem { warps: 1, ..problem(&target, [8, 16, 16], ["f16", "f16", "f32"]) }))
}

fn run(compiler: &Path, at: &Path, arguments: &[&str]) -> Result<Output, String> {
    let output = Command::new(compiler).args(arguments).current_dir(at).output().map_err(|error| error.to_string())?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() { Ok(output) } else { Err(format!("`ocloc {}`: {printed}", arguments[0])) }
}

/// The machine code that the compiler makes of a module, as its disassembler lists it.
fn listing(compiler: &Path, spirv: &[u8], device: &str) -> Result<String, String> {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    std::fs::write(at.join("dot.spv"), spirv).unwrap();
    run(compiler, at, &["compile", "-spirv_input", "-device", device, "-file", "dot.spv", "-out_dir", "made"])?;
    let mut files = std::fs::read_dir(at.join("made")).unwrap().map(|file| file.unwrap().path());
    let binary = files.find(|file| file.extension().is_some_and(|end| end == "bin")).ok_or("ocloc made no binary")?;
    run(compiler, at, &["disasm", "-file", binary.to_str().unwrap(), "-device", device, "-dump", "code"])?;
    let mut files = std::fs::read_dir(at.join("code")).into_iter().flatten().map(|file| file.unwrap().path());
    let listing =
        files.find(|file| file.extension().is_some_and(|end| end == "asm")).ok_or("`ocloc disasm` lists nothing")?;
    Ok(std::fs::read_to_string(listing).unwrap())
}

/// Lines of the machine code that name an instruction.
fn count(spirv: &[u8], device: &str, word: &str) -> u64 {
    let text = listing(&offline_compiler().unwrap(), spirv, device).unwrap_or_else(|error| panic!("{error}"));
    text.lines().filter(|line| line.trim_start().starts_with(word)).count() as u64
}

/// With the older compiler's own functions all of a product is in its code: the loads, and `dpas` as often as the plan issues
/// it, or as a chunk of it does.
pub fn dpas_is_behind_loads_of_blocks() {
    let target = target("max1550");
    for plan in products_of_blocks(&target) {
        let (calls, older) = older(&target, &plan);
        let (name, device) = (plan.unit_name(), &target.description().architecture);
        let found = count(&older, device, "dpas.8x");
        // The compiler may write the iterations of the loop over chunks one after the other.
        assert!(
            [plan.cost.issues / plan.chunks(), plan.cost.issues].contains(&found),
            "{name}: {found} of {}",
            plan.cost.issues
        );
        let loads = count(&older, device, "send.ugm");
        assert!(loads >= calls, "{name}: {loads} accesses of memory for {calls} loads of blocks");
    }
}

pub fn dpas_is_issued_as_often_as_planned() {
    for (name, lanes, rows) in [("max1550", 16, 8), ("a770", 8, 8)] {
        let target = target(name);
        for types in [["f16", "f16", "f32"], ["bf16", "bf16", "f32"], ["i8", "i8", "i32"]] {
            // Rows of 32 bytes, of which no blocks are loaded: the offline compiler of Debian 12 leaves these to be linked.
            let k = if types[0] == "i8" { 32 } else { 16 };
            let problem = MmaProblem { warps: 1, ..problem(&target, [rows, lanes, k], types) };
            let plan = planned(&target, &problem);
            assert!(plan.row().is_some_and(|row| row.starts_with("dpas")), "{name} {types:?}: {}", plan.unit_name());
            let spirv = object(&target, &plan);
            assert_eq!(
                count(&spirv, &target.description().architecture, "dpas.8x"),
                plan.cost.issues,
                "{name} {types:?}"
            );
        }
    }
}
