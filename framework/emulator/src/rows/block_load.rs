//! Loads of a block of a matrix in global memory to registers: every lane gets the elements that the layout of the result
//! says; those outside of the matrix are zero.

use super::super::fault::LaneFault;
use super::super::meaning::Call;
use super::held::Held;
use super::named_block::NamedBlock;
use tilewright_kernel::is_result;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{Completion, Instruction, Operand};

/// One such instruction.
pub(super) struct BlockLoad {
    named: NamedBlock,
    /// From (register, lane) to rows and columns of the block.
    layout: LinearLayout,
    bits: u32,
}

impl BlockLoad {
    pub(super) fn of(row: &Instruction) -> Result<Self, String> {
        if row.completion != Completion::AtOnce {
            return Err("loads of blocks are done at once, but its row completes later".to_owned());
        }
        let named = NamedBlock::of(row)?;
        let Some(Operand::Register { bits, layout, .. }) = row.operands.iter().find(|operand| is_result(operand))
        else {
            return Err("its row gives no registers".to_owned());
        };
        let block = named.block();
        let sizes = [0, 1].map(|axis| 1u64 << layout.out_bits(Dim::tensor(axis)));
        if *bits != block.element_bits || sizes != [u64::from(block.rows), u64::from(block.columns)] {
            return Err("its registers are of another block than the one that it names".to_owned());
        }
        Ok(Self { named, layout: layout.clone(), bits: *bits })
    }

    pub(super) fn execute(&self, call: &mut Call<'_>) -> Result<(), LaneFault> {
        let ty = call.result_types().next().ok_or_else(|| call.wrong("it has no result"))?;
        let block = self.named.block();
        let row_bytes = block.row_bytes();
        let mut bytes = vec![0; (u64::from(block.rows) * row_bytes) as usize];
        let runs = self.named.inside(call)?;
        call.load_runs(&runs, 1, &mut bytes)?;
        let mut held = Held::zeros(call.lanes(), ty);
        let width = u64::from(self.bits / 8);
        for place in 0..1u64 << self.layout.ins().bits() {
            let (lane, register) =
                (self.layout.ins().coordinate(place, Dim::LANE), self.layout.ins().coordinate(place, Dim::REGISTER));
            let image = self.layout.apply_packed(place);
            let [row, column] = [0, 1].map(|axis| self.layout.outs().coordinate(image, Dim::tensor(axis)));
            let at = (row * row_bytes + column * width) as usize;
            let element =
                bytes[at..at + width as usize].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
            held.set(lane as u32, register as u32 * self.bits, self.bits, element);
        }
        held.into_result(call, ty)
    }
}
