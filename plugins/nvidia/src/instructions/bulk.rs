//! Bulk copies: boxes of a tensor whose map the host has encoded, and spans of bytes. One lane issues them; those to
//! shared memory complete on an mbarrier, those from there on the queue of bulk groups.

use tilewright_target::{
    Completion, Instruction, InstructionKind, Operand, Queue, Semantics, TensorCopyLayout, TensorCopyOperand,
};

use super::swizzle;

const SOURCE: &str = "PTX ISA, cp.async.bulk and cp.async.bulk.tensor; CUDA Driver API, cuTensorMapEncodeTiled";

/// With which the names of these rows begin; a name is the mnemonic.
pub(crate) const MNEMONIC: &str = "cp.async.bulk";

/// Elements of a box along an axis at most: `boxDim` of cuTensorMapEncodeTiled.
const LARGEST_BOX: u32 = 256;

/// Addresses, strides and sizes are multiples of so many bytes.
const GRAIN: u32 = 16;

/// The rows of a compute capability: those from 9.0 on have them.
pub(super) fn rows(capability: u32) -> Vec<Instruction> {
    if capability < 90 {
        return Vec::new();
    }
    let boxes = (1..=5).flat_map(|rank| [box_to_shared(rank), box_from_shared(rank)]);
    boxes.chain([span_to_shared(), span_from_shared()]).collect()
}

fn row(form: &str, operands: Vec<Operand>, completion: Completion) -> Instruction {
    Instruction {
        name: format!("{MNEMONIC}.{form}"),
        kind: InstructionKind::AsyncCopy,
        operands,
        cycles: None,
        semantics: Semantics::Move,
        completion,
        numerics: None,
        source: SOURCE.to_owned(),
    }
}

fn box_to_shared(rank: u32) -> Instruction {
    let operands = [Operand::Box(box_operand(rank)), Operand::TensorMap].into_iter();
    let operands = operands.chain(coordinates(rank)).chain([Operand::Mbarrier]).collect();
    let form = format!("tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes");
    row(&form, operands, Completion::Mbarrier)
}

fn box_from_shared(rank: u32) -> Instruction {
    let operands = [Operand::TensorMap].into_iter().chain(coordinates(rank));
    let operands = operands.chain([Operand::Box(box_operand(rank))]).collect();
    let form = format!("tensor.{rank}d.global.shared::cta.tile.bulk_group");
    row(&form, operands, Completion::Queue(Queue::Bulk))
}

fn span_to_shared() -> Instruction {
    let operands = vec![
        Operand::SharedSpan { alignment: GRAIN },
        Operand::GlobalSpan { alignment: GRAIN },
        Operand::SpanBytes { grain: GRAIN },
        Operand::Mbarrier,
    ];
    row("shared::cluster.global.mbarrier::complete_tx::bytes", operands, Completion::Mbarrier)
}

fn span_from_shared() -> Instruction {
    let operands = vec![
        Operand::GlobalSpan { alignment: GRAIN },
        Operand::SharedSpan { alignment: GRAIN },
        Operand::SpanBytes { grain: GRAIN },
    ];
    row("global.shared::cta.bulk_group", operands, Completion::Queue(Queue::Bulk))
}

fn coordinates(rank: u32) -> impl Iterator<Item = Operand> {
    (0..rank).map(|_| Operand::Coordinate)
}

/// Swizzled rows are as wide as their swizzle. (Narrower ones exist, with gaps behind them.)
fn box_operand(rank: u32) -> TensorCopyOperand {
    let arrangement = |width: u32| TensorCopyLayout {
        name: swizzle::name(width),
        mode: mode(width),
        mix: swizzle::mix(width),
        row_bytes: (width > 0).then_some(width),
        alignment: swizzle::repeat(width),
    };
    TensorCopyOperand {
        rank,
        most: LARGEST_BOX,
        row_grain: GRAIN,
        global_alignment: GRAIN,
        arrangements: swizzle::WIDTHS.into_iter().map(arrangement).collect(),
    }
}

/// `CUtensorMapSwizzle`.
fn mode(width: u32) -> u32 {
    match width {
        32 => 1,
        64 => 2,
        128 => 3,
        _ => 0,
    }
}
