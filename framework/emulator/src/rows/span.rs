//! Copies of bytes that follow each other, in global and in shared memory, issued once by a warp.

use super::super::fault::LaneFault;
use super::super::mapped_tensor::Run;
use super::super::meaning::Call;
use tilewright_target::{Completion, Instruction, Operand};

/// One side: the number of its operand, and its alignment.
type Side = (usize, u32);

/// One such instruction.
pub(super) struct SpanCopy {
    shared: Side,
    global: Side,
    /// The number of the operand, and of what it is a multiple.
    bytes: (usize, u32),
    /// Of one that goes to shared memory.
    mbarrier: Option<usize>,
}

impl SpanCopy {
    /// The copy that the row makes; nothing where it is of no span.
    pub(super) fn of(row: &Instruction) -> Option<Result<Self, String>> {
        let find = |of: &dyn Fn(&Operand) -> Option<u32>| {
            row.operands.iter().enumerate().find_map(|(number, operand)| Some((number, of(operand)?)))
        };
        let shared = find(&|operand| match operand {
            Operand::SharedSpan { alignment } => Some(*alignment),
            _ => None,
        })?;
        let global = find(&|operand| match operand {
            Operand::GlobalSpan { alignment } => Some(*alignment),
            _ => None,
        });
        let bytes = find(&|operand| match operand {
            Operand::SpanBytes { grain } => Some(*grain),
            _ => None,
        });
        let mbarrier = row.operands.iter().position(|operand| *operand == Operand::Mbarrier);
        let (Some(global), Some(bytes)) = (global, bytes) else {
            return Some(Err("its row lacks the span in global memory, or how many bytes there are".to_owned()));
        };
        Some(match (row.completion, mbarrier, shared.0 < global.0) {
            (Completion::Mbarrier, Some(_), true) | (Completion::Queue(_), None, false) => {
                Ok(Self { shared, global, bytes, mbarrier })
            }
            _ => Err("its row says neither how it completes on an mbarrier nor on a queue".to_owned()),
        })
    }

    pub(super) fn execute(&self, call: &mut Call<'_>) -> Result<(), LaneFault> {
        let (number, grain) = self.bytes;
        let bytes = call.same_operand(number)?;
        if bytes == 0 || !bytes.is_multiple_of(u64::from(grain.max(1))) {
            return Err(call.wrong(&format!("{bytes} bytes; expected a multiple of {grain}, not zero")));
        }
        let shared = call.same_operand(self.shared.0)?;
        let run = Run { address: call.same_operand(self.global.0)?, at: 0, bytes };
        match self.mbarrier {
            Some(mbarrier) => {
                let mbarrier = call.same_operand(mbarrier)?;
                let room = call.shared_bytes();
                if bytes > room {
                    return Err(call.wrong(&format!("{bytes} bytes; shared memory has {room}")));
                }
                let mut content = vec![0; bytes as usize];
                call.load_runs(&[run], self.global.1, &mut content)?;
                call.completes_on_mbarrier(mbarrier);
                call.send_write(0, shared, &content, self.shared.1)?;
            }
            None => {
                let content = call.send_read(shared, bytes as u32, self.shared.1)?;
                call.send_runs(&[run], self.global.1, &content)?;
            }
        }
        call.count_bulk_copy(bytes as usize);
        Ok(())
    }
}
