//! Plans bulk tensor copies (TMA) between global and shared memory.

use super::tiling::{Tiling, tiling};
use crate::layouts;
use crate::movement::copy::problem::AsyncCopySpec;
use crate::movement::memory::AxisStride;
use crate::movement::{MovementError, PlanContext, RejectedCandidate, best_of};
use std::collections::BTreeSet;
use tilewright_kernel::{Counts, OutOfBoundsFill, Queue, TensorMap};
use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};
use tilewright_target::{
    Completion, Direction, ElementType, Instruction, InstructionOperand, Semantics, TensorCopyLayout, TensorCopyOperand,
};

/// The role of an operand of a bulk tensor copy instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Box,
    Tensor,
    Coordinate,
    Mbarrier,
}

/// A plan of a bulk tensor copy (TMA): a tensor map, and the boxes that fill the shared memory.
#[derive(Debug, Clone)]
pub struct TensorCopy {
    /// The tensor map that the host must pass to the kernel.
    pub map: TensorMap,
    /// The axes of the tensor in the order of the tensor map, the fastest first.
    pub axes: Vec<Dim>,
    /// Counts of the operations that the copying warp executes: the copies of boxes with their bytes, and one arrival
    /// at the mbarrier if the copy completes there.
    pub counts: Counts,
    /// Number of global-memory transactions of all boxes, each of `global.transaction_bytes`.
    pub transactions: u64,
    /// Required alignment in bytes of the shared memory, at which the first box starts.
    pub alignment: u64,
    /// Name of the layout of a box in shared memory (its XOR swizzle), as the target's table has it.
    pub box_layout: String,
    name: String,
    pub(super) roles: Vec<Role>,
    completion: Completion,
    /// For each box, its offset in shared memory in bytes, and its origin along each axis of the tensor map.
    pub(super) box_starts: Vec<(u64, Vec<u64>)>,
}

impl TensorCopy {
    /// Returns the name of the copy instruction.
    #[must_use]
    pub fn instruction(&self) -> &str {
        &self.name
    }

    /// Returns the number of boxes that the plan copies, each with one instruction.
    #[must_use]
    pub fn box_count(&self) -> usize {
        self.box_starts.len()
    }

    /// Returns the number of bytes of all boxes: the transaction count that the mbarrier must expect.
    #[must_use]
    pub fn total_box_bytes(&self) -> u64 {
        self.counts.bulk_bytes
    }

    /// Returns the queue (PTX: bulk async group) that a wait must drain to complete the copy; `None` if it completes on
    /// an mbarrier.
    #[must_use]
    pub fn completion_queue(&self) -> Option<Queue> {
        match self.completion {
            Completion::Queue(queue) => Some(queue),
            _ => None,
        }
    }
}

/// Plans the copy of fewest boxes from shared memory in the requested layout to global memory; the bulk reduction if the
/// problem has one.
///
/// # Errors
/// [`MovementError`] with the reasons if no instruction copies boxes that fill the memory.
///
/// # Examples
/// ```
/// use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
/// use tilewright_plan::movement::{AsyncCopySpec, GlobalTensor, plan_tensor_copy_to_global};
/// # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/src/test_targets/small.toml"));
/// # let target = tilewright_target::TargetDescription::from_toml("small.toml", text)?;
/// // A target without bulk tensor copies rejects the request.
/// let memory = MemoryLayout::from_linear(LinearLayout::identity(64, Dim::OFFSET, Dim::tensor(0))?);
/// let global = GlobalTensor::row_major(&[64], 16);
/// let request = AsyncCopySpec::new(&global, &memory, 32, 8, 1).with_tensor_map(true);
/// assert!(plan_tensor_copy_to_global(&request, &target).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan_tensor_copy_to_global<'a>(
    problem: &AsyncCopySpec<'_>,
    context: impl Into<PlanContext<'a>>,
) -> Result<TensorCopy, MovementError> {
    tensor_copies_of(problem, Direction::Load, &context.into())
}

/// Plans the copy of fewest boxes from global memory to shared memory in the requested layout.
///
/// # Errors
/// As [`plan_tensor_copy_to_global`].
pub fn plan_tensor_copy_to_shared<'a>(
    problem: &AsyncCopySpec<'_>,
    context: impl Into<PlanContext<'a>>,
) -> Result<TensorCopy, MovementError> {
    tensor_copies_of(problem, Direction::Store, &context.into())
}

fn tensor_copies_of(
    problem: &AsyncCopySpec<'_>,
    direction: Direction,
    context: &PlanContext<'_>,
) -> Result<TensorCopy, MovementError> {
    let (best, rejected) = by_tensor_copies(problem, direction, context);
    best.ok_or_else(|| {
        let none = "the target has no bulk tensor copy in this direction";
        let reasons = if rejected.is_empty() { none.to_owned() } else { RejectedCandidate::list_reasons(&rejected) };
        MovementError::impossible(reasons)
    })
}

/// Plans the copy with the fewest boxes by any bulk-tensor-copy instruction of the table; `None` if no instruction
/// fits, or a bulk reduction if the problem has one. Also returns the rejected instructions, each with the reason. `direction` is the direction of the access to
/// shared memory: a store for a copy to shared memory.
pub(crate) fn by_tensor_copies(
    problem: &AsyncCopySpec<'_>,
    direction: Direction,
    context: &PlanContext<'_>,
) -> (Option<TensorCopy>, Vec<RejectedCandidate<String>>) {
    let semantics = problem.reduction.map_or(Semantics::Move, |reduction| Semantics::Reduce(reduction.operation));
    let is_of = |row: &&Instruction| row.semantics == semantics && shared_direction(row) == Some(direction);
    let rows = context.instructions.iter().filter(is_of).filter_map(|row| Some((row, row.tensor_copy_operand()?)));
    let rows = rows.filter(|(_, operand)| operand.rank as usize == problem.global.axes.len());
    let plans = rows.map(|(row, operand)| (row.name.clone(), fewest(problem, row, operand, context)));
    best_of(plans, TensorCopy::box_count)
}

/// Returns the direction in which an asynchronous copy accesses shared memory; `None` for other instructions.
fn shared_direction(row: &Instruction) -> Option<Direction> {
    match row.completion {
        Completion::Mbarrier => Some(Direction::Store),
        Completion::Queue(_) => Some(Direction::Load),
        Completion::Immediate => None,
    }
}

/// Plans the copy by the instruction `row` with the canonical layout that needs fewest boxes.
fn fewest(
    problem: &AsyncCopySpec<'_>,
    row: &Instruction,
    operand: &TensorCopyOperand,
    context: &PlanContext<'_>,
) -> Result<TensorCopy, String> {
    if !problem.has_tensor_map {
        return Err("the kernel has no tensor map".to_owned());
    }
    let first = first_axis(problem, operand)?;
    let linear = &problem.memory.linear;
    if !problem.memory.padding.is_empty() {
        return Err("padding splits the boxes".to_owned());
    }
    if !linear.is_invertible() || linear.ins().total_bits() != linear.in_bits(Dim::OFFSET) {
        return Err("several offsets have one element, or blocks share the memory".to_owned());
    }
    let is_combined = |element: ElementType| operand.elements.iter().any(|name| Some(&**name) == element.name());
    if problem.reduction.is_some_and(|reduction| !is_combined(reduction.element)) {
        return Err("it combines no elements of this type".to_owned());
    }
    let part = problem.part.as_ref().map_or_else(|| Ok(linear.outs().clone()), |part| part.space(linear));
    let part = part.map_err(|error| error.to_string())?;
    let (tiling, box_layout) = find_best_tiling(linear, &part, first, problem.element_bits, operand)?;
    copy_of(problem, row, &tiling, &operand.layouts[box_layout], context)
}

/// Returns the tiling of a part of the memory by the box layout that needs the fewest boxes, and the index of this box
/// layout in the operand.
fn find_best_tiling(
    linear: &LinearLayout,
    part: &Space,
    first: Dim,
    element_bits: u32,
    operand: &TensorCopyOperand,
) -> Result<(Tiling, usize), String> {
    let tilings = operand.layouts.iter().enumerate().map(|(position, box_layout)| {
        let tiling = tiling(linear, part, first, u64::from(element_bits / 8), operand, box_layout);
        (&box_layout.name, tiling.map(|tiling| (tiling, position)))
    });
    let (best, rejected) = best_of(tilings, |(tiling, _)| tiling.box_starts.len());
    best.ok_or_else(|| RejectedCandidate::list_reasons(&rejected))
}

/// Returns the fewest boxes that fill a part of the memory layout `memory`, and the index of their canonical layout in
/// `operand`. The part has the sizes of `part`, and begins at multiples of them; `None` for all of the memory. In global
/// memory, elements of the tensor are contiguous along `first`.
///
/// # Errors
/// The reasons as text, one for each canonical layout, if the boxes of none fill the part; or a text if elements are
/// narrower than a byte.
pub(crate) fn min_box_count(
    memory: &LinearLayout,
    part: Option<&Space>,
    first: Dim,
    element_bits: u32,
    operand: &TensorCopyOperand,
) -> Result<(u64, usize), String> {
    if element_bits < 8 {
        return Err("boxes need elements of whole bytes".to_owned());
    }
    let found = find_best_tiling(memory, part.unwrap_or(memory.outs()), first, element_bits, operand);
    found.map(|(tiling, index)| (1 << tiling.box_starts.len(), index))
}

/// Builds the memory layout that boxes with the layout `box_layout` fill for a tensor of this shape. Its offsets
/// follow: one row of a box along `first`, then the other axes, the last one fastest, then the rest along `first`; then
/// the XOR swizzle. `None` if an element is narrower than a byte or wider than a row of a box.
///
/// # Errors
/// [`LayoutError`] if a size in `shape` is not a power of two.
pub fn build_tensor_copy_memory_layout(
    box_layout: &TensorCopyLayout,
    shape: &[(Dim, u64)],
    first: Dim,
    element_bits: u32,
) -> Result<Option<LinearLayout>, LayoutError> {
    let outs = Space::from_sizes(shape)?;
    let element = (element_bits / 8).checked_ilog2();
    let row = box_layout.row_bytes.and_then(u32::checked_ilog2);
    let Some(element) = element.filter(|&element| row.is_none_or(|row| row >= element)) else { return Ok(None) };
    let bits_of = |dim: Dim| layouts::units(&outs, dim);
    let in_row = row.map_or(u32::MAX, |row| row - element).min(outs.bits_of(first)) as usize;
    let others = shape.iter().rev().map(|&(dim, _)| dim).filter(|&dim| dim != first).flat_map(bits_of);
    let units: Vec<u64> = bits_of(first).take(in_row).chain(others).chain(bits_of(first).skip(in_row)).collect();
    let at = |bit: usize| {
        let offset = box_layout.swizzle.apply(1 << (bit as u32 + element)) >> element;
        units.iter().enumerate().filter(|(bit, _)| offset >> bit & 1 == 1).fold(0, |sum, (_, unit)| sum ^ unit)
    };
    let columns: Vec<u64> = (0..units.len()).map(at).collect();
    layouts::in_memory(&columns, &outs).map(Some)
}

/// Returns the axis along which elements are contiguous in global memory. An error if there is none, or if the tensor's
/// address or another stride is no multiple of the alignment that the instruction requires.
fn first_axis(problem: &AsyncCopySpec<'_>, operand: &TensorCopyOperand) -> Result<Dim, String> {
    let (required_alignment, bytes) = (u64::from(operand.global_alignment.max(1)), u64::from(problem.element_bits / 8));
    let axes = &problem.global.axes;
    let together = axes.iter().find(|(_, size, stride)| *size > 1 && *stride == AxisStride::Elements(1));
    let &(first, ..) = together.ok_or("no axis is contiguous in global memory")?;
    let others = axes.iter().filter(|(dim, size, _)| *dim != first && *size > 1);
    let strides = others.map(|&(_, _, stride)| match stride {
        AxisStride::Elements(stride) | AxisStride::MultipleOf(stride) => stride.wrapping_mul(bytes),
    });
    match strides.chain([problem.global.alignment]).find(|stride| !stride.is_multiple_of(required_alignment)) {
        None => Ok(first),
        Some(stride) => Err(format!(
            "the tensor's address or a stride is a multiple of {stride} bytes, not of {required_alignment}"
        )),
    }
}

fn copy_of(
    problem: &AsyncCopySpec<'_>,
    row: &Instruction,
    tiling: &Tiling,
    box_layout: &TensorCopyLayout,
    context: &PlanContext<'_>,
) -> Result<TensorCopy, String> {
    let role = |operand: &InstructionOperand| match operand {
        InstructionOperand::Box(_) => Some(Role::Box),
        InstructionOperand::TensorMap => Some(Role::Tensor),
        InstructionOperand::Coordinate => Some(Role::Coordinate),
        InstructionOperand::Mbarrier => Some(Role::Mbarrier),
        _ => None,
    };
    let roles: Option<Vec<Role>> = row.operands.iter().map(role).collect();
    let outs = problem.memory.linear.outs();
    // Axes along which a box has one element come last in the tensor map.
    let single = problem.global.axes.iter().map(|&(dim, ..)| (dim, 0));
    let single = single.filter(|(dim, _)| !tiling.axes.iter().any(|(known, _)| known == dim));
    let sizes: Vec<(Dim, u32)> = tiling.axes.iter().copied().chain(single).collect();
    let element_bytes = u64::from(problem.element_bits / 8);
    let first_offset = problem.part.as_ref().map_or(Ok(0), |part| part.offset(&problem.memory.linear));
    let first_offset = first_offset.map_err(|error| error.to_string())?;
    let box_starts = (0..1u64 << tiling.box_starts.len()).map(|position| {
        let set = tiling.box_starts.iter().enumerate().filter(|(bit, _)| position >> bit & 1 == 1);
        let (offset, begin) =
            set.fold((first_offset, 0), |(offset, begin), (_, (by, column))| (offset + by, begin ^ column));
        let begins = sizes.iter().map(|&(dim, _)| outs.coordinate(begin, dim)).collect();
        (offset * element_bytes, begins)
    });
    let box_starts: Vec<(u64, Vec<u64>)> = box_starts.collect();
    let map = TensorMap {
        element_bits: problem.element_bits,
        element: problem.reduction.and_then(|reduction| reduction.element.name()).map(str::to_owned),
        box_sizes: sizes.iter().map(|&(_, bits)| 1 << bits).collect(),
        swizzle: box_layout.swizzle,
        outside: OutOfBoundsFill::Zeros,
    };
    let counts = Counts {
        bulk_copies: box_starts.len() as u64,
        bulk_bytes: box_starts.len() as u64 * map.box_bytes(),
        mbarrier_arrivals: u64::from(row.completion == Completion::Mbarrier),
        ..Counts::default()
    };
    let unit = u64::from(context.target.global.transaction_bytes.max(1));
    Ok(TensorCopy {
        transactions: box_starts.iter().map(|(_, begins)| units(problem, &sizes, begins, unit)).sum(),
        map,
        axes: sizes.iter().map(|&(dim, _)| dim).collect(),
        counts,
        alignment: box_layout.alignment.into(),
        box_layout: box_layout.name.clone(),
        name: row.name.clone(),
        roles: roles.ok_or("it has operands other than a box, a tensor map and coordinates")?,
        completion: row.completion,
        box_starts,
    })
}

/// Returns the number of global-memory transactions, each of `unit` bytes, that the copy of one box touches. `sizes`
/// are the axes of the tensor map with log2 of the box's sizes, `begins` is the box's origin.
fn units(problem: &AsyncCopySpec<'_>, sizes: &[(Dim, u32)], begins: &[u64], unit: u64) -> u64 {
    let bytes = u64::from(problem.element_bits / 8);
    let Some((&(_, row_bits), rows)) = sizes.split_first() else { return 0 };
    let mut touched = BTreeSet::new();
    for row in 0..1u64 << rows.iter().map(|&(_, bits)| bits).sum::<u32>() {
        let mut rest = row << row_bits;
        let at = sizes.iter().zip(begins).map(|(&(dim, bits), begin)| {
            let own = rest & ((1 << bits) - 1);
            rest >>= bits;
            (dim, begin + own)
        });
        let first = problem.global.address(&at.collect::<Vec<_>>(), bytes);
        touched.extend(first / unit..first.wrapping_add(bytes << row_bits).div_ceil(unit));
    }
    touched.len() as u64
}
