//! Predicts the scratch memory that conversions, reductions and scans of a solved program take beside its tensors in shared
//! memory.

use std::collections::HashMap;

use tilewright_layout::Dim;
use tilewright_plan::movement::{plan_conversion, plan_reduction, plan_scan};
use tilewright_tile::Op;
use tilewright_tile::op::name::{tt, ttg};

use super::SynthesisError;
use super::live_bytes::{TensorBytes, describe_tensor_bytes, peak_live_bytes};
use super::solved::Solved;
use crate::LaunchConfig;
use crate::graph::Kind;
use crate::memory::element_bits_while_moved;

/// Finds the most scratch memory with which a program fits the shared memory of the target, as lowering does: data
/// movements go through half as much, in more rounds, until it fits. `tensors` has the tensors with their bytes.
///
/// Returns the configuration with this limit, and the bytes of shared memory of a block.
///
/// # Errors
/// [`SynthesisError::SharedMemoryExceeded`] if the program does not fit with any limit.
pub(super) fn fit_scratch<'m>(
    program: Solved<'_, 'm>,
    tensors: &[TensorBytes],
) -> Result<(LaunchConfig<'m>, u64), SynthesisError> {
    let (mut config, most) = (*program.config, u64::from(program.config.context.target.shared.bytes));
    let exceeded = |bytes| SynthesisError::SharedMemoryExceeded {
        target: program.config.context.target.name.clone(),
        bytes,
        most,
        tensors: describe_tensor_bytes(program.body, tensors),
    };
    let tensor_bytes = peak_live_bytes(program.body, tensors, |_| 0);
    if tensor_bytes > most {
        return Err(exceeded(tensor_bytes));
    }
    let moves = |op: &Op| matches!(program.body.op(*op).name(), ttg::CONVERT_LAYOUT | tt::REDUCE | tt::SCAN);
    let ops: Vec<Op> = program.body.walk_region(program.body.root()).into_iter().filter(moves).collect();
    let mut taken = u64::MAX;
    loop {
        let limited = Solved { config: &config, ..program };
        let scratch = ops.iter().map(|&op| Ok((op, scratch_bytes(limited, op)?)));
        match scratch.collect::<Result<HashMap<Op, u64>, SynthesisError>>() {
            Ok(scratch) => {
                let of_op = |op: Op| scratch.get(&op).copied().unwrap_or(0);
                taken = peak_live_bytes(program.body, tensors, of_op);
            }
            Err(_) if taken < u64::MAX => return Err(exceeded(taken)),
            Err(error) => return Err(error),
        }
        if taken <= most {
            return Ok((config, taken));
        }
        if config.context.scratch_bytes == 0 {
            return Err(exceeded(taken));
        }
        config.context = config.context.with_scratch_bytes(config.context.scratch_bytes / 2);
    }
}

/// Returns the bytes of shared memory through which a conversion, a reduction or a scan moves data.
fn scratch_bytes(program: Solved<'_, '_>, op: Op) -> Result<u64, SynthesisError> {
    let (operation, context) = (program.body.op(op), program.config.context);
    let layout = program.layout(operation.operands[0])?;
    let stats = match (operation.name(), Kind::along_an_axis(program.body, op)) {
        (ttg::CONVERT_LAYOUT, _) => {
            let bits = element_bits_while_moved(program.body.value_type(operation.operands[0]));
            plan_conversion(&layout, &program.layout(operation.results[0])?, bits, context)?.stats
        }
        (_, Kind::Reduce(axis, widths, _)) => {
            plan_reduction(&layout, Dim::tensor(axis), &widths, context.target)?.stats
        }
        (_, Kind::Scan(axis, widths, direction, _)) => {
            plan_scan(&layout, Dim::tensor(axis), &widths, direction, context.target)?.stats
        }
        _ => return Ok(0),
    };
    Ok(stats.largest_buffer_bytes)
}
