//! The accesses of shared memory that a derivation states, for comparison with the emitted code; and the alternatives
//! that it lists.

use super::parts::example;
use super::{EXPLICIT_MEMORY_PROGRAMS, EmulatedDerivation, case, solution, synthesize_and_emulate, tiled};
use crate::prelude::*;
use tilewright_assign::synthesis::{AccessReport, Derivation, SynthesisOptions};

/// The operation of asynchronous copies from global to shared memory.
const COPY: &str = "ttg.async_copy_global_to_local";
const LOAD: &str = "ttg.local_load";

/// Counts of instructions by name. Plain accesses have the names `load 128` and `store 128`, with their bits.
pub type InstructionCounts = BTreeMap<String, u64>;

/// Returns the programs whose code is compared: those of the suite, its dot with other tiles and with parts of tiles,
/// and one whose copies are outside of loops.
pub fn compared_programs() -> Vec<(String, String, u32)> {
    let suite = EXPLICIT_MEMORY_PROGRAMS.into_iter().map(|name| {
        let (case, text) = case(name);
        (name.to_owned(), text, case.warps)
    });
    let (dot, text) = case("explicit_gemm");
    let tiles = [[64, 64, 16], [128, 64, 32], [64, 32, 32], [32, 64, 32], [128, 32, 16]];
    let tiles = tiles.map(|tile| {
        let k = tile[2];
        // With a known trip count, LLVM may unroll the loop.
        let constant = format!("%turns = arith.constant {} : i32", 160 / k);
        let text = tiled(&dot, &text, tile, 160).1.replace(&constant, &format!("%turns = arith.divsi %k, %c{k} : i32"));
        (format!("explicit_gemm {tile:?}"), text, dot.warps)
    });
    let fragments = ("fragment_gemm".to_owned(), example("fragment_gemm"), dot.warps);
    let straight = ("straight copies".to_owned(), straight_copies(&text), dot.warps);
    suite.chain(tiles).chain([fragments, straight]).collect()
}

/// Returns the suite's dot with two steps of K instead of its loop, which fill the same tensors by equal copies.
fn straight_copies(text: &str) -> String {
    let (before, rest) = text.split_once("    %sums = scf.for").expect("the loop");
    let (head, rest) = rest.split_once('\n').expect("the head of the loop");
    assert!(head.contains("iter_args(%sum = %empty)"));
    let (step, after) = rest.split_once("      scf.yield %next : tensor<64x64xf32>\n    }\n").expect("its end");
    let first = step.replace("%i]", "%c0]").replace("%sum ", "%empty ");
    let second = ["%ai", "%bi", "%ra", "%rb", "%next"].into_iter().fold(step.to_owned(), |step, name| {
        [" ", ",", "["]
            .into_iter()
            .fold(step, |step, end| step.replace(&format!("{name}{end}"), &format!("{name}2{end}")))
    });
    let second = second.replace("%i]", "%c1]").replace("%sum ", "%next ");
    format!("{before}{first}{second}{}", after.replace("%sums", "%next2"))
}

/// Compiles a program to assembly; returns its derivation and the assembly.
pub fn compiled(target: &dyn Target, (name, text, warps): &(String, String, u32)) -> (Derivation, String) {
    let solved = solution(target, text, *warps, SynthesisOptions::default());
    let (kernel, derivation, _) = solved.unwrap_or_else(|error| panic!("{name}: {error}"));
    (derivation, assembly(target, vec![kernel]))
}

/// Counts the instructions of the asynchronous copies that a derivation states.
pub fn stated_copies(derivation: &Derivation) -> InstructionCounts {
    stated(derivation, is_asynchronous)
}

/// Counts the other instructions that a derivation states for accesses of shared memory.
pub fn stated_accesses(derivation: &Derivation) -> InstructionCounts {
    let is_plain = |access: &AccessReport| [LOAD, COPY, "ttg.local_store"].contains(&&*access.operation);
    stated(derivation, |access| is_plain(access) && !is_asynchronous(access))
}

/// Whether an access is an asynchronous copy. A copy that no instruction can make asynchronous is one of plain stores.
fn is_asynchronous(access: &AccessReport) -> bool {
    access.operation == COPY && access.instruction.is_some()
}

fn stated(derivation: &Derivation, is_counted: impl Fn(&AccessReport) -> bool) -> InstructionCounts {
    let mut counts = InstructionCounts::new();
    for memory in &derivation.memories {
        // LLVM merges equal loads of a tensor that is written only once.
        let writes = memory.accesses.iter().filter(|access| access.operation != LOAD);
        let is_constant = writes.map(|access| access.emitted * access.weight).sum::<u64>() <= 1;
        let mut loads = BTreeSet::new();
        for access in memory.accesses.iter().filter(|access| is_counted(access)) {
            if access.operation == LOAD && is_constant && !loads.insert((name(access), &access.term)) {
                continue;
            }
            *counts.entry(name(access)).or_default() += access.issued * access.emitted;
        }
    }
    counts
}

fn name(access: &AccessReport) -> String {
    let direction = if access.operation == LOAD { "load" } else { "store" };
    access.instruction.clone().unwrap_or_else(|| format!("{direction} {}", access.vector_bits))
}

/// Checks that the asynchronous copies in the code are exactly those that derivations state, and that the code has at
/// least the other accesses that they state; reductions and conversions have further ones. `emitted` counts both in
/// assembly.
pub fn check_stated_accesses(target: &dyn Target, emitted: impl Fn(&str) -> [InstructionCounts; 2]) {
    let programs = compared_programs();
    assert!(programs.len() >= 20);
    let mut copies = 0;
    for program in &programs {
        let (derivation, code) = compiled(target, program);
        let [emitted_copies, others] = emitted(&code);
        assert_eq!(stated_copies(&derivation), emitted_copies, "{}: {derivation}", program.0);
        copies += emitted_copies.values().sum::<u64>();
        for (name, count) in stated_accesses(&derivation) {
            let there = others.get(&name).copied().unwrap_or(0);
            assert!(there >= count, "{}: {there} of {count} `{name}`: {derivation}", program.0);
        }
    }
    assert!(copies > 10, "{copies} copies in all programs");
}

/// Checks the alternatives of each program of the suite: at most ten, the fastest first, none faster than the program
/// that was taken, each with a reason; the cycles by resource add up to the predicted ones.
pub fn check_alternatives(target: &dyn Target) {
    let mut listed = 0;
    for name in EXPLICIT_MEMORY_PROGRAMS {
        let (case, text) = case(name);
        let solved = synthesize_and_emulate(target, &case, &text, SynthesisOptions::default());
        let EmulatedDerivation { derivation, .. } = &*solved;
        let total = |line: &tilewright_assign::synthesis::PredictedPerformance| {
            line.launch.cycles_by_resource().iter().map(|(_, cycles)| cycles).sum::<f64>()
        };
        let mut before = derivation.prediction.cycles;
        assert!((total(&derivation.prediction) / before - 1.0).abs() < 1e-9, "{name}: {derivation}");
        assert!(derivation.alternatives.len() <= 10, "{name}: {derivation}");
        for alternative in &derivation.alternatives {
            let Some(prediction) = &alternative.prediction else {
                before = f64::INFINITY;
                continue;
            };
            assert!(prediction.cycles >= before, "{name}: {derivation}");
            assert!((total(prediction) / prediction.cycles - 1.0).abs() < 1e-9, "{name}: {derivation}");
            assert!(!alternative.reason.is_empty() && !alternative.choices.is_empty(), "{name}: {derivation}");
            before = prediction.cycles;
            listed += 1;
        }
        let text = derivation.to_string();
        assert_eq!(text.matches("not taken: ").count(), derivation.alternatives.len(), "{text}");
    }
    assert!(listed > EXPLICIT_MEMORY_PROGRAMS.len(), "{listed} alternatives");
}
