//! Bulk copies of contiguous bytes between global and shared memory, issued once by a warp.

use super::super::fault::LaneFault;
use super::super::mapped_tensor::Run;
use super::super::semantics::InstructionCall;
use tilewright_target::{Completion, Instruction, InstructionOperand};

/// The global or the shared side of the copy: its operand index, and the required alignment in bytes.
type Side = (usize, u32);

/// The semantics of a bulk copy instruction: a warp copies contiguous bytes between global and shared memory.
pub(super) struct BulkCopy1d {
    shared: Side,
    global: Side,
    /// Index of the operand with the copy's size, and the granularity in bytes: the size must be a multiple of it.
    bytes: (usize, u32),
    /// Index of the mbarrier operand; `None` for a copy from shared memory.
    mbarrier: Option<usize>,
}

impl BulkCopy1d {
    /// Derives the semantics of a bulk copy from a table row; `None` if the row has no operand for contiguous bytes of
    /// shared memory.
    pub(super) fn of(row: &Instruction) -> Option<Result<Self, String>> {
        let find = |of: &dyn Fn(&InstructionOperand) -> Option<u32>| {
            row.operands.iter().enumerate().find_map(|(index, operand)| Some((index, of(operand)?)))
        };
        let shared = find(&|operand| match operand {
            InstructionOperand::SharedBulk { alignment } => Some(*alignment),
            _ => None,
        })?;
        let global = find(&|operand| match operand {
            InstructionOperand::GlobalBulk { alignment } => Some(*alignment),
            _ => None,
        });
        let bytes = find(&|operand| match operand {
            InstructionOperand::BulkBytes { granularity } => Some(*granularity),
            _ => None,
        });
        let mbarrier = row.operands.iter().position(|operand| *operand == InstructionOperand::Mbarrier);
        let (Some(global), Some(bytes)) = (global, bytes) else {
            return Some(Err("its description lacks the span in global memory, or its size in bytes".to_owned()));
        };
        Some(match (row.completion, mbarrier, shared.0 < global.0) {
            (Completion::Mbarrier, Some(_), true) | (Completion::Queue(_), None, false) => {
                Ok(Self { shared, global, bytes, mbarrier })
            }
            _ => Err("its description has neither an mbarrier nor a queue".to_owned()),
        })
    }

    pub(super) fn execute(&self, call: &mut InstructionCall<'_>) -> Result<(), LaneFault> {
        let (index, granularity) = self.bytes;
        let bytes = call.uniform_operand(index)?;
        if bytes == 0 || !bytes.is_multiple_of(u64::from(granularity.max(1))) {
            return Err(
                call.invalid_use_fault(&format!("{bytes} bytes; expected a multiple of {granularity}, not zero"))
            );
        }
        let shared = call.uniform_operand(self.shared.0)?;
        let run = Run { address: call.uniform_operand(self.global.0)?, at: 0, bytes };
        match self.mbarrier {
            Some(mbarrier) => {
                let mbarrier = call.uniform_operand(mbarrier)?;
                let room = call.shared_bytes();
                if bytes > room {
                    return Err(call.invalid_use_fault(&format!("{bytes} bytes; shared memory has {room}")));
                }
                let mut content = vec![0; bytes as usize];
                call.load_runs(&[run], self.global.1, &mut content)?;
                call.set_completion_mbarrier(mbarrier);
                call.write_shared_asynchronously(0, shared, &content, self.shared.1)?;
            }
            None => {
                let content = call.read_shared_asynchronously(shared, bytes as u32, self.shared.1)?;
                call.send_runs(&[run], self.global.1, &content, None)?;
            }
        }
        call.count_bulk_copy(bytes as usize);
        Ok(())
    }
}
