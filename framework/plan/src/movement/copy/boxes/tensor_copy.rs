//! Plans bulk tensor copies (TMA) between global and shared memory.

use super::tiling::{Tiling, tiling};
use crate::layouts;
use crate::movement::copy::problem::AsyncCopySpec;
use crate::movement::memory::AxisStride;
use crate::movement::{MovementError, PlanContext, Rejected, best_of};
use std::collections::BTreeSet;
use tilewright_kernel::{Counts, Outside, Queue, TensorMap};
use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};
use tilewright_target::{Completion, Direction, Instruction, Operand, TensorCopyLayout, TensorCopyOperand};

/// What an operand of the row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Box,
    Tensor,
    Coordinate,
    Mbarrier,
}

/// A copy by boxes.
#[derive(Debug, Clone)]
pub struct TensorCopy {
    /// What the kernel's map of the tensor must be compiled for.
    pub map: TensorMap,
    /// The tensor's axes in the order of the map.
    pub axes: Vec<Dim>,
    /// What the warp that copies executes: boxes, their bytes, an arrival at the mbarrier.
    pub counts: Counts,
    /// Units of `global.transaction_bytes`.
    pub transactions: u64,
    /// Bytes of which the memory's address must be a multiple.
    pub alignment: u64,
    /// What is written for elements that are not in the tensor, and how boxes lie: the name of the arrangement.
    pub arrangement: String,
    name: String,
    pub(super) roles: Vec<Role>,
    completion: Completion,
    /// For each box its place in shared memory, in bytes, and where it begins along each axis of the map.
    pub(super) boxes: Vec<(u64, Vec<u64>)>,
}

impl TensorCopy {
    /// The row by which it is copied.
    #[must_use]
    pub fn instruction(&self) -> &str {
        &self.name
    }

    /// How many boxes there are.
    #[must_use]
    pub fn boxes(&self) -> usize {
        self.boxes.len()
    }

    /// Bytes of all boxes, which the phase of an mbarrier must expect.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.counts.bulk_bytes
    }

    /// The queue on which it completes, where it does not complete on an mbarrier.
    #[must_use]
    pub fn queue(&self) -> Option<Queue> {
        match self.completion {
            Completion::Queue(queue) => Some(queue),
            _ => None,
        }
    }
}

/// The copy of fewest boxes from shared to global memory; the tensor is in shared memory as the question says.
///
/// # Errors
/// [`MovementError`] where no row copies boxes that fill the memory, with the reasons.
pub fn copy_from_shared<'a>(
    problem: &AsyncCopySpec<'_>,
    context: impl Into<PlanContext<'a>>,
) -> Result<TensorCopy, MovementError> {
    tensor_copies_of(problem, Direction::Load, &context.into())
}

/// The copy of fewest boxes from global memory to the shared memory that the question says.
///
/// # Errors
/// As [`copy_from_shared`].
pub fn plan_tensor_copy<'a>(
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
        let none = "the target's table has no row that copies boxes so";
        let reasons = if rejected.is_empty() { none.to_owned() } else { Rejected::list(&rejected) };
        MovementError::impossible(reasons)
    })
}

/// The copy of fewest boxes by any row, and the rows by which there is none; `direction` is that of the access to shared
/// memory.
pub(crate) fn by_tensor_copies(
    problem: &AsyncCopySpec<'_>,
    direction: Direction,
    context: &PlanContext<'_>,
) -> (Option<TensorCopy>, Vec<Rejected<String>>) {
    let rows = context.instructions.iter().filter_map(|row| Some((row, box_of(row, direction)?)));
    let rows = rows.filter(|(_, operand)| operand.rank as usize == problem.global.axes.len());
    let plans = rows.map(|(row, operand)| (row.name.clone(), fewest(problem, row, operand, context)));
    best_of(plans, TensorCopy::boxes)
}

/// The box of a row that copies one so.
fn box_of(row: &Instruction, direction: Direction) -> Option<&TensorCopyOperand> {
    let goes = match row.completion {
        Completion::Mbarrier => Direction::Store,
        Completion::Queue(_) => Direction::Load,
        Completion::AtOnce => return None,
    };
    let operand = row.operands.iter().find_map(|operand| match operand {
        Operand::Box(operand) => Some(operand),
        _ => None,
    });
    operand.filter(|_| goes == direction)
}

/// Of all arrangements the one of the fewest boxes.
fn fewest(
    problem: &AsyncCopySpec<'_>,
    row: &Instruction,
    operand: &TensorCopyOperand,
    context: &PlanContext<'_>,
) -> Result<TensorCopy, String> {
    if !problem.mapped {
        return Err("the kernel is given no map of the tensor".to_owned());
    }
    let first = first_axis(problem, operand)?;
    let linear = &problem.memory.linear;
    if !problem.memory.padding.is_empty() {
        return Err("padding parts the boxes".to_owned());
    }
    if !linear.is_invertible() || linear.ins().bits() != linear.in_bits(Dim::OFFSET) {
        return Err("several places hold one element, or blocks share the memory".to_owned());
    }
    let (tiling, arrangement) = arranged(linear, first, problem.element_bits, operand)?;
    copy_of(problem, row, &tiling, &operand.arrangements[arrangement], context)
}

/// The arrangement of which the fewest boxes fill a memory.
fn arranged(
    linear: &LinearLayout,
    first: Dim,
    element_bits: u32,
    operand: &TensorCopyOperand,
) -> Result<(Tiling, usize), String> {
    let tilings = operand.arrangements.iter().enumerate().map(|(number, arrangement)| {
        let tiling = tiling(linear, first, u64::from(element_bits / 8), operand, arrangement);
        (&arrangement.name, tiling.map(|tiling| (tiling, number)))
    });
    let (best, rejected) = best_of(tilings, |(tiling, _)| tiling.boxes.len());
    best.ok_or_else(|| Rejected::list(&rejected))
}

/// How many boxes of an operand fill a memory layout, and the index of their arrangement, where elements of a tensor lie
/// together along `first` in global memory.
///
/// # Errors
/// A sentence for each arrangement on why its boxes do not.
pub(crate) fn tensor_copies_in(
    memory: &LinearLayout,
    first: Dim,
    element_bits: u32,
    operand: &TensorCopyOperand,
) -> Result<(u64, usize), String> {
    if element_bits < 8 {
        return Err("boxes are of elements of whole bytes".to_owned());
    }
    arranged(memory, first, element_bits, operand).map(|(tiling, index)| (1 << tiling.boxes.len(), index))
}

/// The memory layout of a tensor that boxes of an arrangement fill: as much along `first` as a row of a box has, then the
/// other axes, the last fastest, then what is left along `first`; at last bits are mixed. None where an element is
/// narrower than a byte or longer than a row.
///
/// # Errors
/// [`LayoutError`]: sizes that are no powers of two.
pub fn boxed(
    arrangement: &TensorCopyLayout,
    shape: &[(Dim, u64)],
    first: Dim,
    element_bits: u32,
) -> Result<Option<LinearLayout>, LayoutError> {
    let outs = Space::of_sizes(shape)?;
    let element = (element_bits / 8).checked_ilog2();
    let row = arrangement.row_bytes.and_then(u32::checked_ilog2);
    let Some(element) = element.filter(|&element| row.is_none_or(|row| row >= element)) else { return Ok(None) };
    let bits_of = |dim: Dim| layouts::units(&outs, dim);
    let in_row = row.map_or(u32::MAX, |row| row - element).min(outs.bits_of(first)) as usize;
    let others = shape.iter().rev().map(|&(dim, _)| dim).filter(|&dim| dim != first).flat_map(bits_of);
    let units: Vec<u64> = bits_of(first).take(in_row).chain(others).chain(bits_of(first).skip(in_row)).collect();
    let at = |bit: usize| {
        let place = arrangement.mix.apply(1 << (bit as u32 + element)) >> element;
        units.iter().enumerate().filter(|(bit, _)| place >> bit & 1 == 1).fold(0, |sum, (_, unit)| sum ^ unit)
    };
    let columns: Vec<u64> = (0..units.len()).map(at).collect();
    layouts::in_memory(&columns, &outs).map(Some)
}

/// The axis along which elements lie together in global memory; what is between others must be multiples.
fn first_axis(problem: &AsyncCopySpec<'_>, operand: &TensorCopyOperand) -> Result<Dim, String> {
    let (grain, bytes) = (u64::from(operand.global_alignment.max(1)), u64::from(problem.element_bits / 8));
    let axes = &problem.global.axes;
    let together = axes.iter().find(|(_, size, stride)| *size > 1 && *stride == AxisStride::Elements(1));
    let &(first, ..) = together.ok_or("along no axis elements lie together in global memory")?;
    let others = axes.iter().filter(|(dim, size, _)| *dim != first && *size > 1);
    let strides = others.map(|&(_, _, stride)| match stride {
        AxisStride::Elements(stride) | AxisStride::MultipleOf(stride) => stride.wrapping_mul(bytes),
    });
    match strides.chain([problem.global.alignment]).find(|stride| !stride.is_multiple_of(grain)) {
        None => Ok(first),
        Some(stride) => {
            Err(format!("the tensor's address or a stride is a multiple of {stride} bytes, not of {grain}"))
        }
    }
}

fn copy_of(
    problem: &AsyncCopySpec<'_>,
    row: &Instruction,
    tiling: &Tiling,
    arrangement: &TensorCopyLayout,
    context: &PlanContext<'_>,
) -> Result<TensorCopy, String> {
    let role = |operand: &Operand| match operand {
        Operand::Box(_) => Some(Role::Box),
        Operand::TensorMap => Some(Role::Tensor),
        Operand::Coordinate => Some(Role::Coordinate),
        Operand::Mbarrier => Some(Role::Mbarrier),
        _ => None,
    };
    let roles: Option<Vec<Role>> = row.operands.iter().map(role).collect();
    let outs = problem.memory.linear.outs();
    // Axes of which a box has one element come last.
    let single = problem.global.axes.iter().map(|&(dim, ..)| (dim, 0));
    let single = single.filter(|(dim, _)| !tiling.axes.iter().any(|(known, _)| known == dim));
    let sizes: Vec<(Dim, u32)> = tiling.axes.iter().copied().chain(single).collect();
    let element_bytes = u64::from(problem.element_bits / 8);
    let boxes = (0..1u64 << tiling.boxes.len()).map(|number| {
        let set = tiling.boxes.iter().enumerate().filter(|(bit, _)| number >> bit & 1 == 1);
        let begin = set.fold(0, |sum, (_, column)| sum ^ column);
        let begins = sizes.iter().map(|&(dim, _)| outs.coordinate(begin, dim)).collect();
        ((number << tiling.box_bits) * element_bytes, begins)
    });
    let boxes: Vec<(u64, Vec<u64>)> = boxes.collect();
    let map = TensorMap {
        element_bits: problem.element_bits,
        box_sizes: sizes.iter().map(|&(_, bits)| 1 << bits).collect(),
        mix: arrangement.mix,
        outside: Outside::Zeros,
    };
    let counts = Counts {
        bulk_copies: boxes.len() as u64,
        bulk_bytes: boxes.len() as u64 * map.box_bytes(),
        mbarrier_arrivals: u64::from(row.completion == Completion::Mbarrier),
        ..Counts::default()
    };
    let unit = u64::from(context.target.global.transaction_bytes.max(1));
    Ok(TensorCopy {
        transactions: boxes.iter().map(|(_, begins)| units(problem, &sizes, begins, unit)).sum(),
        map,
        axes: sizes.iter().map(|&(dim, _)| dim).collect(),
        counts,
        alignment: arrangement.alignment.into(),
        arrangement: arrangement.name.clone(),
        name: row.name.clone(),
        roles: roles.ok_or("it takes more than a box, a tensor and where it begins")?,
        completion: row.completion,
        boxes,
    })
}

/// Units of global memory of one box.
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
