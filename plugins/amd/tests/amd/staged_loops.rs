//! Software-pipelined loops, through registers and by loads to LDS.
#![allow(clippy::unwrap_used)]

use crate::targets::target;
use tilewright_vendor_testkit::staged_program;
use tilewright_vendor_testkit::staged_program::{PipelinedLoopProgram, TileAddressSource};

/// The tested loop: each lane loads four adjacent elements of a row, and reads a column.
const PROGRAM: PipelinedLoopProgram = PipelinedLoopProgram::new(
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>",
    "#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 8], warpsPerCTA = [1, 4], order = [0, 1]}>",
    64,
);

/// Checks a loop whose loads are wider than the instructions that load to LDS: the loads go through registers into one
/// of two buffers.
#[test]
fn loads_go_by_registers_into_one_of_two_buffers() {
    let compiled = PROGRAM.compiled(&target("mi300x"), Some(3));
    assert_eq!((compiled.line().stages, compiled.line().bytes, compiled.conversions), (2, 2 * 4096, 0));
    assert!(compiled.prefetched_loads()[0].by.as_ref().unwrap().starts_with("by registers"), "{:?}", compiled.line());
    let run = |stages, iterations| {
        let compiled = PROGRAM.compiled(&target("mi300x"), Some(stages));
        PROGRAM.run(&target("mi300x"), &compiled.kernel, iterations, 32).unwrap()
    };
    let one_iteration = |stages| run(stages, 7).barriers - run(stages, 3).barriers;
    assert_eq!((one_iteration(1), one_iteration(2)), (8, 4));
    // One more iteration is stored than is read.
    let [before, after] = [run(1, 7), run(2, 7)];
    assert_eq!(before.wavefronts_loaded, after.wavefronts_loaded);
    assert_eq!(before.wavefronts_stored * 8, after.wavefronts_stored * 7);
}

#[test]
fn pipelining_preserves_results() {
    for program in [
        PROGRAM,
        PipelinedLoopProgram { from: TileAddressSource::Counter, ..PROGRAM },
        PipelinedLoopProgram { from: TileAddressSource::Loaded, ..PROGRAM },
        PipelinedLoopProgram { two: true, ..PROGRAM },
        PipelinedLoopProgram { other: Some(0), two: true, ..PROGRAM },
        PipelinedLoopProgram { other: Some(7), from: TileAddressSource::Counter, ..PROGRAM },
        PipelinedLoopProgram { elementwise: true, ..PROGRAM },
        PipelinedLoopProgram { twice: true, ..PROGRAM },
        PipelinedLoopProgram { begin: -3, step: 5, from: TileAddressSource::Counter, ..PROGRAM },
    ] {
        program.check(&target("mi300x"));
    }
}

#[test]
fn a_dot_in_stages() {
    staged_program::check_stages_table(&target("mi300x"), &[1, 2]);
}
