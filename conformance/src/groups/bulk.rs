//! Rows that copy a box of a tensor or a span of bytes, and the maps that they are shown with.

use tilewright_kernel::{Outside, TensorMap};
use tilewright_target::{BoxArrangement, BoxOperand, Completion, Instruction, Operand, TargetDescription};
use tilewright_verify::kernels::{Bulk, BulkFlaw};
use tilewright_verify::{Disproof, Trial, box_copy_trial, box_origins, prove_box_copy, prove_span_copy};

use super::executed::no_trials;
use crate::{Context, Verdict};

/// Bytes of the spans that are shown.
pub(super) const SPAN_BYTES: u32 = 1040;

/// The box of a row, where it copies one.
pub(super) fn box_operand(row: &Instruction) -> Option<&BoxOperand> {
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
pub(super) fn map_of(operand: &BoxOperand, arrangement: &BoxArrangement, element_bits: u32) -> TensorMap {
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

/// Copies the box wherever it may begin in the tensor: inside, over its begin and its end, beyond.
pub(super) fn everywhere(row: &Instruction, map: &TensorMap, target: &TargetDescription) -> Result<(), Disproof> {
    origins(map).try_for_each(|origin| prove_box_copy(row, map, &origin, None, target).map(drop))
}

/// The same to be run on a device.
pub(super) fn box_trials(context: &Context, row: &Instruction, map: &TensorMap) -> Result<Vec<Trial>, Verdict> {
    let lanes = context.target().description().lanes.default;
    origins(map).map(|origin| box_copy_trial(row, map, &origin, lanes)).collect::<Result<_, _>>().map_err(no_trials)
}

fn origins(map: &TensorMap) -> impl Iterator<Item = Vec<i32>> {
    (0..4).map(|which| map.box_sizes.iter().map(|&size| box_origins(size)[which]).collect())
}

/// Copies something with a flaw.
pub(super) fn flawed(row: &Instruction, flaw: BulkFlaw, target: &TargetDescription) -> Result<(), Disproof> {
    match shown(row) {
        Some((Some(map), _)) => prove_box_copy(row, &map, &vec![0; map.rank()], Some(flaw), target).map(drop),
        _ => prove_span_copy(row, SPAN_BYTES, Some(flaw), target).map(drop),
    }
}
