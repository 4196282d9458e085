//! The source lane of `shfl.sync.idx` as constants. If the source lane has some bits of the reading lane's index and
//! constant other bits, as in a scan, the operand that splits a warp into segments states it, and no instruction
//! computes a lane.

use tilewright_llvm::values::{BasicValueEnum, CallSiteValue, InstructionOpcode, InstructionValue, IntValue, Operand};

/// The bits of a lane's index.
const LANE_BITS: u32 = 31;

/// A source lane whose bits are those of the reading lane's index, or constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SegmentLane {
    /// The bits that are those of the reading lane's index: lanes that agree in them are a segment.
    pub(super) kept: u32,
    /// The other bits that are one.
    pub(super) ones: u32,
}

impl SegmentLane {
    /// Returns the source lane if it is computed from the thread's index by conjunctions and disjunctions with
    /// constants only.
    pub(super) fn find(lane: IntValue<'_>) -> Option<Self> {
        let from = lane.as_instruction()?;
        if from.get_opcode() == InstructionOpcode::Call {
            return reads_thread_index(from).then_some(Self { kept: LANE_BITS, ones: 0 });
        }
        let (source, constant) = operands(from)?;
        let Self { kept, ones } = Self::find(source)?;
        match from.get_opcode() {
            InstructionOpcode::And => Some(Self { kept: kept & constant, ones: ones & constant }),
            InstructionOpcode::Or => Some(Self { kept: kept & !constant, ones: (ones | constant) & LANE_BITS }),
            _ => None,
        }
    }
}

/// Returns the source lane without a conjunction that keeps all bits of a lane's index: `shfl` reads only these.
pub(super) fn strip_mask(lane: IntValue<'_>) -> IntValue<'_> {
    let source = lane.as_instruction().filter(|from| from.get_opcode() == InstructionOpcode::And).and_then(operands);
    source.filter(|(_, mask)| mask & LANE_BITS == LANE_BITS).map_or(lane, |(source, _)| source)
}

/// Returns the operands of a binary instruction whose second operand is a constant.
fn operands<'ctx>(from: InstructionValue<'ctx>) -> Option<(IntValue<'ctx>, u32)> {
    let operand = |at| from.get_operand(at).and_then(Operand::value);
    match (operand(0)?, operand(1)?) {
        (BasicValueEnum::IntValue(source), BasicValueEnum::IntValue(constant)) => {
            Some((source, constant.get_zero_extended_constant()? as u32))
        }
        _ => None,
    }
}

fn reads_thread_index(call: InstructionValue<'_>) -> bool {
    let called = CallSiteValue::try_from(call).ok().and_then(|call| call.get_called_fn_value());
    called.is_some_and(|function| function.get_name().to_bytes() == b"llvm.nvvm.read.ptx.sreg.tid.x")
}
