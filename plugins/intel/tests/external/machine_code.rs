//! Machine code of MMA plans from the vendor's offline compiler: the code has as many `dpas` as the plan.
#![allow(clippy::unwrap_used)]

use crate::validated_target::target;
use std::path::Path;
use std::process::{Command, Output};

use crate::dots::{mma_plans_with_block_loads, older};
use crate::tools::offline_compiler;
use crate::validated_target::ValidatedTarget;
use tilewright_vendor_testkit::dots::{object, planned, problem};
use tilewright_vendor_testkit::prelude::*;

/// Returns the reason why the compiler's disassembler does not work on this machine; `None` if it works. The
/// disassembler needs a library that distributions package separately.
pub fn missing_disassembler() -> Option<String> {
    let compiler = offline_compiler().map_err(|error| error.to_string());
    compiler.and_then(|compiler| listing(&compiler, &spirv_of_a_dot(), "pvc")).err()
}

fn spirv_of_a_dot() -> Vec<u8> {
    let target = target("max1550");
    object(&target, &planned(&target, &problem(&target, [8, 16, 16], ["f16", "f16", "f32"]).with_warps(1)))
}

fn run(compiler: &Path, at: &Path, arguments: &[&str]) -> Result<Output, String> {
    let output = Command::new(compiler).args(arguments).current_dir(at).output().map_err(|error| error.to_string())?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() { Ok(output) } else { Err(format!("`ocloc {}`: {printed}", arguments[0])) }
}

/// Compiles a module and returns the disassembled machine code.
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

/// Returns the number of lines of the machine code that contain the instruction `word`.
fn count(spirv: &[u8], device: &str, word: &str) -> u64 {
    let text = listing(&offline_compiler().unwrap(), spirv, device).unwrap_or_else(|error| panic!("{error}"));
    text.lines().filter(|line| line.trim_start().starts_with(word)).count() as u64
}

/// Checks an MMA with block loads on older compilers, whose own functions replace the builtins: the machine code has
/// the loads, and `dpas` as often as planned for all of K or for one chunk.
pub fn dpas_is_behind_loads_of_blocks() {
    let target = target("max1550");
    for plan in mma_plans_with_block_loads(&target) {
        let (calls, older) = older(&target, &plan);
        let (name, device) = (plan.atom_name(), &target.description().architecture);
        let found = count(&older, device, "dpas.8x");
        // The compiler may unroll the loop over chunks.
        assert!(
            [plan.cost.issues / plan.chunk_count(), plan.cost.issues].contains(&found),
            "{name}: {found} of {}",
            plan.cost.issues
        );
        let loads = count(&older, device, "send.ugm");
        assert!(loads >= calls, "{name}: {loads} accesses of memory for {calls} loads of blocks");
    }
}

pub fn dpas_count_matches_the_plan() {
    for (name, lanes, rows) in [("max1550", 16, 8), ("a770", 8, 8)] {
        let target = target(name);
        for types in [["f16", "f16", "f32"], ["bf16", "bf16", "f32"], ["i8", "i8", "i32"]] {
            // Rows of 32 bytes have no 2-D block loads, which the offline compiler of Debian 12 would leave unlinked.
            let k = if types[0] == "i8" { 32 } else { 16 };
            let problem = problem(&target, [rows, lanes, k], types).with_warps(1);
            let plan = planned(&target, &problem);
            assert!(
                plan.instruction().is_some_and(|row| row.starts_with("dpas")),
                "{name} {types:?}: {}",
                plan.atom_name()
            );
            let spirv = object(&target, &plan);
            assert_eq!(
                count(&spirv, &target.description().architecture, "dpas.8x"),
                plan.cost.issues,
                "{name} {types:?}"
            );
        }
    }
}
