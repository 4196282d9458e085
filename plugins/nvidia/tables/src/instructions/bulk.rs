//! Bulk copies (`cp.async.bulk`): bulk tensor copies (TMA) of boxes through a tensor map that the host encodes, and 1-D
//! bulk copies; bulk reductions, which combine elements with those in global memory. One lane issues a copy. A copy to shared memory completes on an mbarrier, a copy from shared memory in
//! a bulk group.

use tilewright_target::{
    Completion, Instruction, InstructionKind, InstructionOperand, MemoryReduction, Queue, Semantics, TensorCopyLayout,
    TensorCopyOperand,
};

use super::swizzle;

const SOURCE: &str = "PTX ISA, cp.async.bulk, cp.async.bulk.tensor and cp.reduce.async.bulk.tensor; CUDA Driver API, cuTensorMapEncodeTiled";

/// Prefix of the names of bulk copies; such a name is the mnemonic.
pub const MNEMONIC: &str = "cp.async.bulk";

/// Prefix of the names of bulk reductions; such a name is the mnemonic.
pub const REDUCTION: &str = "cp.reduce.async.bulk";

/// Maximum elements of a box along one axis, the limit of `boxDim` of `cuTensorMapEncodeTiled`.
const LARGEST_BOX: u32 = 256;

/// Alignment in bytes that addresses, strides and sizes of bulk copies need.
const BULK_ALIGNMENT: u32 = 16;

/// Returns the bulk copies that `capability` (compute capability times ten) offers; none before 90.
pub(super) fn rows(capability: u32) -> Vec<Instruction> {
    if capability < 90 {
        return Vec::new();
    }
    let tensor_copies = (1..=5).flat_map(|rank| [box_to_shared(rank), box_from_shared(rank)]);
    let reductions = (1..=5).flat_map(|rank| MemoryReduction::ALL.iter().map(move |&one| box_reduction(rank, one)));
    tensor_copies.chain(reductions).chain([bulk_copy_1d_to_shared(), bulk_copy_1d_from_shared()]).collect()
}

fn row(form: &str, operands: Vec<InstructionOperand>, completion: Completion) -> Instruction {
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
    let operands = [InstructionOperand::Box(box_operand(rank)), InstructionOperand::TensorMap].into_iter();
    let operands = operands.chain(coordinates(rank)).chain([InstructionOperand::Mbarrier]).collect();
    let form = format!("tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes");
    row(&form, operands, Completion::Mbarrier)
}

fn box_from_shared(rank: u32) -> Instruction {
    let operands = [InstructionOperand::TensorMap].into_iter().chain(coordinates(rank));
    let operands = operands.chain([InstructionOperand::Box(box_operand(rank))]).collect();
    let form = format!("tensor.{rank}d.global.shared::cta.tile.bulk_group");
    row(&form, operands, Completion::Queue(Queue::Bulk))
}

fn box_reduction(rank: u32, reduction: MemoryReduction) -> Instruction {
    let elements = reduced_elements(reduction).iter().map(|&name| name.to_owned()).collect();
    let operand = TensorCopyOperand { elements, ..box_operand(rank) };
    let operands = [InstructionOperand::TensorMap].into_iter().chain(coordinates(rank));
    let operands = operands.chain([InstructionOperand::Box(operand)]).collect();
    let form = format!("tensor.{rank}d.global.shared::cta.{}.tile.bulk_group", reduction.name());
    Instruction {
        name: format!("{REDUCTION}.{form}"),
        semantics: Semantics::Reduce(reduction),
        ..row(&form, operands, Completion::Queue(Queue::Bulk))
    }
}

/// Returns the element types that a bulk reduction combines: those of PTX's `cp.reduce.async.bulk` in global memory that
/// Triton 3.9 also takes.
fn reduced_elements(reduction: MemoryReduction) -> &'static [&'static str] {
    match reduction {
        MemoryReduction::Add => &["u32", "s32", "u64", "f16", "bf16", "f32"],
        MemoryReduction::Min | MemoryReduction::Max => &["u32", "s32", "u64", "s64", "f16", "bf16"],
        MemoryReduction::And | MemoryReduction::Or | MemoryReduction::Xor => &["u32", "s32", "u64", "s64"],
    }
}

fn bulk_copy_1d_to_shared() -> Instruction {
    let operands = vec![
        InstructionOperand::SharedBulk { alignment: BULK_ALIGNMENT },
        InstructionOperand::GlobalBulk { alignment: BULK_ALIGNMENT },
        InstructionOperand::BulkBytes { granularity: BULK_ALIGNMENT },
        InstructionOperand::Mbarrier,
    ];
    row("shared::cluster.global.mbarrier::complete_tx::bytes", operands, Completion::Mbarrier)
}

fn bulk_copy_1d_from_shared() -> Instruction {
    let operands = vec![
        InstructionOperand::GlobalBulk { alignment: BULK_ALIGNMENT },
        InstructionOperand::SharedBulk { alignment: BULK_ALIGNMENT },
        InstructionOperand::BulkBytes { granularity: BULK_ALIGNMENT },
    ];
    row("global.shared::cta.bulk_group", operands, Completion::Queue(Queue::Bulk))
}

fn coordinates(rank: u32) -> impl Iterator<Item = InstructionOperand> {
    (0..rank).map(|_| InstructionOperand::Coordinate)
}

/// Returns the operand that describes a tensor copy's box, for a tensor of `rank` axes. A swizzled box has rows as wide
/// as the swizzle; narrower rows, which leave gaps, are not listed.
fn box_operand(rank: u32) -> TensorCopyOperand {
    let box_layout = |width: u32| TensorCopyLayout {
        name: swizzle::name(width),
        mode: mode(width),
        swizzle: swizzle::swizzle(width),
        row_bytes: (width > 0).then_some(width),
        alignment: swizzle::repeat(width),
    };
    TensorCopyOperand {
        rank,
        most: LARGEST_BOX,
        row_granularity: BULK_ALIGNMENT,
        elements: Vec::new(),
        global_alignment: BULK_ALIGNMENT,
        layouts: swizzle::WIDTHS.into_iter().map(box_layout).collect(),
    }
}

/// Returns the `CUtensorMapSwizzle` of a swizzle width in bytes.
fn mode(width: u32) -> u32 {
    match width {
        32 => 1,
        64 => 2,
        128 => 3,
        _ => 0,
    }
}
