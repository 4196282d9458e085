//! Semantics of instructions from their rows.

use super::block_load::BlockLoad;
use super::boxes::BoxCopy;
use super::copy::Copy;
use super::prefetch::Prefetch;
use super::product::Product;
use super::span::SpanCopy;
use super::tensor_memory::{TensorCopy, TensorMove};
use super::transfer::Transfer;
use crate::fault::LaneFault;
use crate::meaning::{Call, InstructionSemantics, SemanticsTable};
use std::sync::OnceLock;
use tilewright_kernel::InstructionSignature;
use tilewright_target::{Completion, Instruction, InstructionKind, Semantics};

impl SemanticsTable {
    /// The meanings of all rows of a target.
    ///
    /// A row that says too little, such as one of an element type that is not known here, has a
    /// meaning too: the fault [`crate::FaultKind::Instruction`], which says what is missing.
    #[must_use]
    pub fn of_rows(rows: &[Instruction]) -> Self {
        let mut meanings = Self::new();
        for row in rows {
            meanings.insert(&row.name, Row { row: row.clone(), read: OnceLock::new() });
        }
        meanings
    }
}

/// The meaning of one row, which is read when it is first issued.
struct Row {
    row: Instruction,
    read: OnceLock<(InstructionSignature, Does)>,
}

enum Does {
    Block(BlockLoad),
    Box(BoxCopy),
    Copy(Copy),
    Span(SpanCopy),
    Transfer(Transfer),
    TensorMove(TensorMove),
    TensorCopy(TensorCopy),
    Prefetch(Prefetch),
    Product(Box<Product>),
    Unknown(String),
}

impl Does {
    fn of(row: &Instruction) -> Self {
        let found = match row.semantics {
            Semantics::Move if row.kind == InstructionKind::AsyncCopy => Self::copy(row),
            Semantics::Move if row.kind == InstructionKind::TensorMove => Self::tensor_move(row),
            Semantics::Move if row.kind == InstructionKind::GlobalMove => BlockLoad::of(row).map(Self::Block),
            Semantics::Prefetch => Prefetch::of(row).map(Self::Prefetch),
            Semantics::Move => Transfer::of(row).map(Self::Transfer),
            Semantics::Contract | Semantics::ContractSaturating | Semantics::CountDifferent => {
                Product::of(row).map(|product| Self::Product(Box::new(product)))
            }
        };
        found.unwrap_or_else(Self::Unknown)
    }

    /// Between registers and tensor memory, or from shared memory.
    fn tensor_move(row: &Instruction) -> Result<Self, String> {
        match TensorCopy::of(row)? {
            Some(copy) => Ok(Self::TensorCopy(copy)),
            None => TensorMove::of(row).map(Self::TensorMove),
        }
    }

    /// A box, a span, or what each lane has of its own.
    fn copy(row: &Instruction) -> Result<Self, String> {
        let boxes = BoxCopy::of(row).map(|copy| copy.map(Self::Box));
        let span = || SpanCopy::of(row).map(|copy| copy.map(Self::Span));
        boxes.or_else(span).unwrap_or_else(|| Copy::of(row).map(Self::Copy))
    }
}

impl InstructionSemantics for Row {
    fn execute(&self, call: &mut Call<'_>) -> Result<(), LaneFault> {
        let (signature, does) = self.read.get_or_init(|| (InstructionSignature::of(&self.row), Does::of(&self.row)));
        let (operands, results): (Vec<_>, Vec<_>) = (call.operand_types().collect(), call.result_types().collect());
        let checked = signature.check(&operands, &results).and_then(|()| signature.check_lanes(call.lanes()));
        checked.map_err(|message| call.wrong(&message))?;
        call.issued_together_by(signature.warps.unwrap_or(1));
        if let Completion::Queue(queue) = self.row.completion {
            call.completes_on(queue);
        }
        match does {
            Does::Block(load) => load.execute(call),
            Does::Box(copy) => copy.execute(call),
            Does::Copy(copy) => copy.execute(call),
            Does::Span(copy) => copy.execute(call),
            Does::Transfer(transfer) => transfer.execute(call),
            Does::TensorMove(moves) => moves.execute(call),
            Does::TensorCopy(copy) => copy.execute(call),
            Does::Prefetch(prefetch) => prefetch.execute(call),
            Does::Product(product) => product.execute(call),
            Does::Unknown(message) => Err(call.wrong(message)),
        }
    }
}
