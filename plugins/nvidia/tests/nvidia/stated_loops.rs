//! Reports of pipelined loops of programs without explicit memory, beside the PTX: the instructions that fill and read the
//! buffers, and the number of stages.

use std::path::Path;

use crate::explicit::accesses_of_ptx;
use crate::prelude::*;
use tilewright_assign::stages::LoopPipelineReport;

/// Programs of the suite with loops of loads.
const PROGRAMS: [&str; 3] = ["attention", "dot_loop", "dot_masked"];

/// Compiles a program; returns the reports of its pipelined loops, and the PTX.
fn compiled(target: &dyn Target, name: &str, stages: u32) -> (Vec<LoopPipelineReport>, String) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../conformance/kernels/{name}.ttir"));
    let text = std::fs::read_to_string(file).expect("a program of the suite");
    let options = ProgramOptions::default().with_warps(4).with_stages(stages);
    let mut loops = Vec::new();
    let kernel = compiler(target).compile_kernel(&text, &options, &mut |stage| {
        if let CompilationStageOutput::Layouts(assigned) = stage {
            loops = assigned.report.pipelined_loops().cloned().collect();
        }
    });
    let kernel = kernel.unwrap_or_else(|error| panic!("{name}: {error}"));
    (loops, assembly(target, vec![kernel]))
}

/// Checks that the asynchronous copies in PTX are those that the reports of loops state, and that matrices are read by the
/// stated instructions.
#[test]
fn copies_and_reads_of_loops_are_emitted() {
    let mut copies = 0;
    for gpu_model in ["a100", "h100"] {
        for name in PROGRAMS {
            let (loops, ptx) = compiled(&target(gpu_model), name, 3);
            assert!(!loops.is_empty(), "{name} on {gpu_model} has no pipelined loop");
            let [emitted, others] = accesses_of_ptx(&ptx);
            let claims: Vec<&str> =
                loops.iter().flat_map(|of| &of.loads).filter_map(|load| load.by.as_deref()).collect();
            let stated: BTreeSet<&str> =
                claims.iter().filter_map(|by| by.strip_prefix("copied by ")?.split(", read").next()).collect();
            let emitted: BTreeSet<&str> = emitted.keys().map(String::as_str).collect();
            assert_eq!(stated, emitted, "{name} on {gpu_model}: {claims:?}");
            copies += emitted.len();
            for read in claims.iter().filter_map(|by| by.split("read by ").nth(1)) {
                match read.strip_prefix("accesses of ").and_then(|width| width.split(' ').next()?.parse::<u64>().ok()) {
                    Some(bytes) => {
                        assert!(others.contains_key(&format!("load {}", 8 * bytes)), "{name}: {read}: {others:?}")
                    }
                    None => assert!(ptx.contains(read.split(".m64").next().unwrap_or(read)), "{name}: {read}"),
                }
            }
        }
    }
    assert!(copies > 3, "{copies} kinds of copies");
}

/// Checks the number of stages: with S stages, the copies of S - 2 later iterations are in flight when an iteration waits
/// for its own.
#[test]
fn stages_of_loops_are_emitted() {
    for gpu_model in ["a100", "h100"] {
        for (name, stages) in PROGRAMS.into_iter().flat_map(|name| [(name, 2), (name, 3), (name, 4)]) {
            let (loops, ptx) = compiled(&target(gpu_model), name, stages);
            for of in loops
                .iter()
                .filter(|of| of.loads.iter().any(|load| load.by.as_ref().is_some_and(|by| by.starts_with("copied"))))
            {
                let waits = ptx.lines().filter_map(|line| {
                    line.trim()
                        .strip_prefix("cp.async.wait_group")?
                        .trim()
                        .strip_suffix(';')?
                        .trim()
                        .parse::<u32>()
                        .ok()
                });
                let most = waits.max().unwrap_or_else(|| panic!("{name} on {gpu_model} waits for no copies"));
                assert_eq!(most, of.stages - 2, "{name} on {gpu_model}: {of}");
            }
        }
    }
}
