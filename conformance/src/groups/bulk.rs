//! Rows that copy a box of a tensor or a span of bytes, and the maps that they are shown with.

use tilewright_kernel::{Outside, TensorMap};
use tilewright_plan::movement::PlanContext;
use tilewright_target::{Completion, Instruction, Operand, TargetDescription, TensorCopyLayout, TensorCopyOperand};
use tilewright_verify::kernels::{Bulk, BulkFlaw};
use tilewright_verify::{CheckFailure, TestCase, box_copy_case, box_origins, check_emulated, span_copy_case};

use super::executed::not_built;
use crate::{Context, Verdict};

/// Bytes of the spans that are shown.
pub(super) const SPAN_BYTES: u32 = 1040;

/// The box of a row, where it copies one.
pub(super) fn box_operand(row: &Instruction) -> Option<&TensorCopyOperand> {
    row.operands.iter().find_map(|operand| match operand {
        Operand::Box(operand) => Some(operand),
        _ => None,
    })
}

/// Which way a row copies, as a word.
pub(super) fn way(row: &Instruction) -> &'static str {
    if row.completion == Completion::Mbarrier { "to-shared" } else { "from-shared" }
}

/// A map of boxes of an arrangement, of sizes that are no powers of two where they may be others.
pub(super) fn map_of(operand: &TensorCopyOperand, arrangement: &TensorCopyLayout, element_bits: u32) -> TensorMap {
    let row_bytes = arrangement.row_bytes.unwrap_or(3 * operand.row_grain);
    let mut box_sizes = vec![row_bytes * 8 / element_bits, 9, 2, 3, 1];
    box_sizes.truncate(operand.rank as usize);
    let outside = if element_bits == 16 { Outside::NotANumber } else { Outside::Zeros };
    TensorMap { element_bits, box_sizes, mix: arrangement.mix, outside }
}

/// What a row is shown to copy.
pub(super) fn shown(row: &Instruction) -> Option<(Option<TensorMap>, u32)> {
    if !Bulk::is_of(row) {
        return None;
    }
    let map = box_operand(row).and_then(|operand| Some(map_of(operand, operand.arrangements.first()?, 16)));
    Some((map, SPAN_BYTES))
}

/// Copies of the box wherever it may begin in the tensor: inside, over its begin and its end, beyond.
pub(super) fn box_cases(row: &Instruction, map: &TensorMap, lanes: u32) -> Result<Vec<TestCase>, CheckFailure> {
    origins(map).map(|origin| box_copy_case(row, map, &origin, lanes, None)).collect()
}

/// The same to be run on a device.
pub(super) fn box_test_cases(context: &Context, row: &Instruction, map: &TensorMap) -> Result<Vec<TestCase>, Verdict> {
    box_cases(row, map, context.target().description().lanes.default).map_err(not_built)
}

/// The same on the emulator, whose one NaN stands for what is outside.
pub(super) fn everywhere(row: &Instruction, map: &TensorMap, target: &TargetDescription) -> Result<(), CheckFailure> {
    box_cases(row, map, target.lanes.default)?.into_iter().try_for_each(|case| emulated(case, row, target))
}

/// Checks a case of a row on the emulator.
pub(super) fn emulated(case: TestCase, row: &Instruction, target: &TargetDescription) -> Result<(), CheckFailure> {
    let plan_context = PlanContext::of(target).with_instructions(std::slice::from_ref(row));
    check_emulated(&case.with_exact_bits(), plan_context).map(drop)
}

fn origins(map: &TensorMap) -> impl Iterator<Item = Vec<i32>> {
    (0..4).map(|which| map.box_sizes.iter().map(|&size| box_origins(size)[which]).collect())
}

/// Copies something with a flaw.
pub(super) fn flawed(row: &Instruction, flaw: BulkFlaw, target: &TargetDescription) -> Result<(), CheckFailure> {
    let lanes = target.lanes.default;
    let case = match shown(row) {
        Some((Some(map), _)) => box_copy_case(row, &map, &vec![0; map.rank()], lanes, Some(flaw)),
        _ => span_copy_case(row, SPAN_BYTES, lanes, Some(flaw)),
    };
    emulated(case?, row, target)
}
