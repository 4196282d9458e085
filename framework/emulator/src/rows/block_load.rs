//! Loads of a matrix block from global memory to registers. Each lane receives the elements of the result's layout;
//! elements outside of the matrix are zero.

use super::super::fault::LaneFault;
use super::super::semantics::InstructionCall;
use super::named_block::NamedBlock;
use super::operand_bits::RegisterBits;
use tilewright_kernel::is_result_operand;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{Completion, Instruction, InstructionOperand};

/// The semantics of a block-load instruction: the warp loads a block of a matrix in global memory to its registers.
pub(super) struct BlockLoad {
    named: NamedBlock,
    /// Layout of the block: (register, lane) to (row, column).
    layout: LinearLayout,
    bits: u32,
}

impl BlockLoad {
    pub(super) fn of(row: &Instruction) -> Result<Self, String> {
        if row.completion != Completion::Immediate {
            return Err("block loads are synchronous, but its description has a queue or an mbarrier".to_owned());
        }
        let named = NamedBlock::of(row)?;
        let Some(InstructionOperand::Register { bits, layout, .. }) =
            row.operands.iter().find(|operand| is_result_operand(operand))
        else {
            return Err("its description has no register operand".to_owned());
        };
        let block = named.block();
        let sizes = [0, 1].map(|axis| 1u64 << layout.out_bits(Dim::tensor(axis)));
        if *bits != block.element_bits || sizes != [u64::from(block.rows), u64::from(block.columns)] {
            return Err("its registers have another shape than its block".to_owned());
        }
        Ok(Self { named, layout: layout.clone(), bits: *bits })
    }

    pub(super) fn execute(&self, call: &mut InstructionCall<'_>) -> Result<(), LaneFault> {
        let ty = call.result_types().next().ok_or_else(|| call.invalid_use_fault("it has no result"))?;
        let block = self.named.block();
        let row_bytes = block.row_bytes();
        let mut bytes = vec![0; (u64::from(block.rows) * row_bytes) as usize];
        let runs = self.named.inside(call)?;
        call.load_runs(&runs, 1, &mut bytes)?;
        let mut operand_bits = RegisterBits::zeros(call.lanes(), ty);
        let width = u64::from(self.bits / 8);
        for packed in 0..1u64 << self.layout.ins().total_bits() {
            let (lane, register) =
                (self.layout.ins().coordinate(packed, Dim::LANE), self.layout.ins().coordinate(packed, Dim::REGISTER));
            let image = self.layout.apply_packed(packed);
            let [row, column] = [0, 1].map(|axis| self.layout.outs().coordinate(image, Dim::tensor(axis)));
            let at = (row * row_bytes + column * width) as usize;
            let element =
                bytes[at..at + width as usize].iter().rev().fold(0, |packed, &byte| packed << 8 | u64::from(byte));
            operand_bits.set(lane as u32, register as u32 * self.bits, self.bits, element);
        }
        operand_bits.into_result(call)
    }
}
