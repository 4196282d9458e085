//! Bulk copy instructions, which copy a box (rectangular part) of a tensor or a range of bytes, and the tensor maps of
//! their cases.

use tilewright_kernel::{OutOfBoundsFill, TensorMap};
use tilewright_plan::movement::PlanContext;
use tilewright_target::{Completion, Instruction, Semantics, TargetDescription, TensorCopyLayout, TensorCopyOperand};
use tilewright_verify::kernels::{BulkCopyExtent, BulkCopyFlaw};
use tilewright_verify::{
    CheckFailure, TestCase, build_box_copy_case, build_bulk_copy_1d_case, check_emulated, edge_box_origins,
    with_combined_element,
};

use super::executed::not_built;
use crate::{Context, Verdict};

/// Number of bytes that the cases of 1-D bulk copies copy.
pub(super) const BULK_COPY_BYTES: u32 = 1040;

/// Returns the direction of an instruction's copy, as the word that case names use.
pub(super) fn copy_direction(row: &Instruction) -> &'static str {
    match row.semantics {
        Semantics::Reduce(reduction) => reduction.name(),
        _ if row.completion == Completion::Mbarrier => "to-shared",
        _ => "from-shared",
    }
}

/// Returns a tensor map for elements of `element_bits` bits whose boxes have the layout `box_layout` in shared memory.
/// The row size is three granules, not a power of two, unless the layout fixes it (`row_bytes`); along the other axes a
/// box has 9, 2, 3 and 1 elements. Outside of the tensor, 16-bit elements are filled with NaN, others with zeros, so
/// that both fills are tested.
pub(super) fn map_of(operand: &TensorCopyOperand, box_layout: &TensorCopyLayout, element_bits: u32) -> TensorMap {
    // Bulk reductions combine no integers of 16 bits.
    let element_bits = if operand.elements.is_empty() { element_bits } else { element_bits.max(32) };
    let row_bytes = box_layout.row_bytes.unwrap_or(3 * operand.row_granularity);
    let mut box_sizes = vec![row_bytes * 8 / element_bits, 9, 2, 3, 1];
    box_sizes.truncate(operand.rank as usize);
    let outside = if element_bits == 16 { OutOfBoundsFill::NotANumber } else { OutOfBoundsFill::Zeros };
    let map = TensorMap { element_bits, element: None, box_sizes, swizzle: box_layout.swizzle, outside };
    with_combined_element(map.clone(), operand).unwrap_or(map)
}

/// Returns the tensor map (`None` for a 1-D copy) and the number of bytes that an instruction copies in its cases;
/// `None` if it is not a bulk copy.
pub(super) fn bulk_copy_of(row: &Instruction) -> Option<(Option<TensorMap>, u32)> {
    if !BulkCopyExtent::is_copied_by(row) {
        return None;
    }
    let map = row.tensor_copy_operand().and_then(|operand| Some(map_of(operand, operand.layouts.first()?, 16)));
    Some((map, BULK_COPY_BYTES))
}

/// Builds four test cases of the instruction `row`. Each case copies one box of the tensor map `map`: a box inside of
/// the tensor, one across its start, one across its end, and one beyond its end, along all axes.
pub(super) fn box_cases(row: &Instruction, map: &TensorMap, lanes: u32) -> Result<Vec<TestCase>, CheckFailure> {
    origins(map).map(|origin| build_box_copy_case(row, map, &origin, lanes, None)).collect()
}

/// Builds the test cases of [`box_cases`] for a device.
pub(super) fn box_test_cases(context: &Context, row: &Instruction, map: &TensorMap) -> Result<Vec<TestCase>, Verdict> {
    box_cases(row, map, context.target().description().lanes.default).map_err(not_built)
}

/// Runs the test cases of [`box_cases`] on the emulator, whose canonical NaN is the fill value outside of the tensor.
pub(super) fn check_box_cases(
    row: &Instruction,
    map: &TensorMap,
    target: &TargetDescription,
) -> Result<(), CheckFailure> {
    box_cases(row, map, target.lanes.default)?.into_iter().try_for_each(|case| emulated(case, row, target))
}

/// Runs a test case of an instruction on the emulator and checks the results.
pub(super) fn emulated(case: TestCase, row: &Instruction, target: &TargetDescription) -> Result<(), CheckFailure> {
    let plan_context = PlanContext::new(target).with_instructions(std::slice::from_ref(row));
    check_emulated(&case.with_exact_bits(), plan_context).map(drop)
}

fn origins(map: &TensorMap) -> impl Iterator<Item = Vec<i32>> {
    (0..4).map(|which| map.box_sizes.iter().map(|&size| edge_box_origins(size)[which]).collect())
}

/// Runs a kernel with a flaw, such as a missing wait, on the emulator, which must report a fault.
pub(super) fn run_flawed(
    row: &Instruction,
    flaw: BulkCopyFlaw,
    target: &TargetDescription,
) -> Result<(), CheckFailure> {
    let lanes = target.lanes.default;
    let case = match bulk_copy_of(row) {
        Some((Some(map), _)) => build_box_copy_case(row, &map, &vec![0; map.rank()], lanes, Some(flaw)),
        _ => build_bulk_copy_1d_case(row, BULK_COPY_BYTES, lanes, Some(flaw)),
    };
    emulated(case?, row, target)
}
