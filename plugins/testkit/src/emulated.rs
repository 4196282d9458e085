//! Runs the kernels of tests on the emulator.

use std::fmt::Display;

use crate::prelude::*;
use tilewright_emulator::RunReport;
use tilewright_verify::{CheckFailure, TestCase};

/// The initial contents of a buffer in global memory that is passed to a kernel.
#[derive(Debug, Clone)]
pub enum InitialBuffer {
    Bytes(Vec<u8>),
    /// A buffer of this many uninitialised bytes.
    Empty(usize),
}

/// Emulates one block of a kernel whose parameters are the buffers and then the scalars `numbers`. Returns the buffers'
/// final contents and the emulator's report.
pub fn run_block(
    target: &dyn Target,
    kernel: &Kernel,
    buffers: &[InitialBuffer],
    numbers: &[u64],
) -> Result<(Vec<Vec<u8>>, RunReport), Fault> {
    let mut memory = GlobalMemory::new();
    let buffers: Vec<_> = buffers
        .iter()
        .map(|given| match given {
            InitialBuffer::Bytes(bytes) => memory.allocate_with(bytes),
            InitialBuffer::Empty(bytes) => memory.allocate(*bytes),
        })
        .collect();
    let numbers = numbers.iter().map(|&number| Argument::Scalar(number));
    let arguments: Vec<_> = buffers.iter().map(|&buffer| Argument::Buffer(buffer)).chain(numbers).collect();
    let semantics = SemanticsTable::from_instructions(target.instructions());
    let emulator = Emulator::new(kernel, target.description())?.with_semantics(&semantics);
    let report = emulator.run([1, 1, 1], &arguments, &mut memory, &RunLimits::default())?;
    let left = buffers.iter().map(|&buffer| memory.read_all(buffer).expect("all is written").to_vec());
    Ok((left.collect(), report))
}

/// Emulates a test case and checks its expected results and counts; panics with `what` in the message if they differ.
#[track_caller]
pub fn check_case<'a>(
    case: Result<TestCase, CheckFailure>,
    context: impl Into<PlanContext<'a>>,
    what: impl Display,
) -> RunReport {
    let checked = case.and_then(|case| check_emulated(&case, context));
    checked.unwrap_or_else(|wrong| panic!("{what}: {wrong}"))
}
