//! Dispatch from a table row to its semantics.

use super::block_load::BlockLoad;
use super::bulk_copy_1d::BulkCopy1d;
use super::bulk_tensor_copy::BulkTensorCopy;
use super::copy::Copy;
use super::mma::Mma;
use super::prefetch::Prefetch;
use super::tensor_memory::{TensorCopy, TensorMove};
use super::transfer::Transfer;
use crate::fault::LaneFault;
use crate::semantics::{InstructionCall, InstructionSemantics, SemanticsTable};
use std::collections::BTreeSet;
use std::sync::OnceLock;
use tilewright_kernel::{InstructionSignature, Kernel, Op};
use tilewright_target::{Completion, Instruction, InstructionKind, Semantics};

impl SemanticsTable {
    /// Derives the semantics of all rows of a target.
    ///
    /// An incomplete row, for example of an unknown element type, gets the fault [`crate::FaultKind::Instruction`] as
    /// its semantics, with a message that names the missing part.
    #[must_use]
    pub fn from_instructions(rows: &[Instruction]) -> Self {
        Self::of_selected(rows.iter())
    }

    /// Derives the semantics of those rows that a kernel issues; copying all rows of a target's table would take longer
    /// than running a small kernel.
    #[must_use]
    pub fn from_kernel(kernel: &Kernel, rows: &[Instruction]) -> Self {
        let issued = kernel.statements().into_iter().filter_map(|statement| match &statement.op {
            Op::Instruction { name, .. } => Some(name.as_str()),
            _ => None,
        });
        let issued: BTreeSet<&str> = issued.collect();
        Self::of_selected(rows.iter().filter(|row| issued.contains(row.name.as_str())))
    }

    fn of_selected<'a>(rows: impl Iterator<Item = &'a Instruction>) -> Self {
        let mut semantics = Self::new();
        for row in rows {
            semantics.insert(&row.name, Row { row: row.clone(), read: OnceLock::new() });
        }
        semantics
    }
}

/// The semantics of one table row, derived when the instruction is first issued.
struct Row {
    row: Instruction,
    read: OnceLock<(InstructionSignature, Does)>,
}

enum Does {
    Block(BlockLoad),
    Box(BulkTensorCopy),
    Copy(Copy),
    BulkCopy1d(BulkCopy1d),
    Transfer(Transfer),
    TensorMove(TensorMove),
    TensorCopy(TensorCopy),
    Prefetch(Prefetch),
    Mma(Box<Mma>),
    Unknown(String),
}

impl Does {
    fn of(row: &Instruction) -> Self {
        let found = match row.semantics {
            Semantics::Move if row.kind == InstructionKind::AsyncCopy => Self::copy(row),
            Semantics::Reduce(_) => BulkTensorCopy::of(row)
                .unwrap_or_else(|| Err("it reduces no boxes of a tensor".to_owned()))
                .map(Self::Box),
            Semantics::Move if row.kind == InstructionKind::TensorMove => Self::tensor_move(row),
            Semantics::Move if row.kind == InstructionKind::GlobalMove => BlockLoad::of(row).map(Self::Block),
            Semantics::Prefetch => Prefetch::of(row).map(Self::Prefetch),
            Semantics::Move => Transfer::of(row).map(Self::Transfer),
            Semantics::Contract | Semantics::ContractSaturating | Semantics::CountDifferent => {
                Mma::of(row).map(|mma| Self::Mma(Box::new(mma)))
            }
        };
        found.unwrap_or_else(Self::Unknown)
    }

    /// Selects the semantics of a tensor-memory row: a move to or from registers, or a copy from shared memory.
    fn tensor_move(row: &Instruction) -> Result<Self, String> {
        match TensorCopy::of(row)? {
            Some(copy) => Ok(Self::TensorCopy(copy)),
            None => TensorMove::of(row).map(Self::TensorMove),
        }
    }

    /// Selects the semantics of a copy: a bulk tensor copy, a bulk copy of contiguous bytes, or a copy by each lane.
    fn copy(row: &Instruction) -> Result<Self, String> {
        let bulk_tensor_copy = BulkTensorCopy::of(row).map(|copy| copy.map(Self::Box));
        let bulk_copy_1d = || BulkCopy1d::of(row).map(|copy| copy.map(Self::BulkCopy1d));
        bulk_tensor_copy.or_else(bulk_copy_1d).unwrap_or_else(|| Copy::of(row).map(Self::Copy))
    }
}

impl InstructionSemantics for Row {
    fn execute(&self, call: &mut InstructionCall<'_>) -> Result<(), LaneFault> {
        let (signature, does) =
            self.read.get_or_init(|| (InstructionSignature::from_instruction(&self.row), Does::of(&self.row)));
        let (operands, results): (Vec<_>, Vec<_>) = (call.operand_types().collect(), call.result_types().collect());
        let checked = signature.check_types(&operands, &results).and_then(|()| signature.check_lanes(call.lanes()));
        checked.map_err(|error| call.invalid_use_fault(&error.to_string()))?;
        call.require_joint_issue(signature.warps.unwrap_or(1));
        if let Completion::Queue(queue) = self.row.completion {
            call.set_completion_queue(queue);
        }
        match does {
            Does::Block(load) => load.execute(call),
            Does::Box(copy) => copy.execute(call),
            Does::Copy(copy) => copy.execute(call),
            Does::BulkCopy1d(copy) => copy.execute(call),
            Does::Transfer(transfer) => transfer.execute(call),
            Does::TensorMove(moves) => moves.execute(call),
            Does::TensorCopy(copy) => copy.execute(call),
            Does::Prefetch(prefetch) => prefetch.execute(call),
            Does::Mma(mma) => mma.execute(call),
            Does::Unknown(message) => Err(call.invalid_use_fault(message)),
        }
    }
}
