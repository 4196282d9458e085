//! Tiling of a memory layout by boxes: the memory layout is divided from the left by the box, and the quotient has the
//! origins of the boxes.

use tilewright_layout::{Dim, LinearLayout, Space};
use tilewright_target::{TensorCopyLayout, TensorCopyOperand};

/// A memory layout divided into boxes.
#[derive(Debug, Clone)]
pub(super) struct Tiling {
    /// The axes of a box, the fastest first, with log2 of the box's sizes.
    pub(super) axes: Vec<(Dim, u32)>,
    /// For each bit of the box index, the distance in memory that it adds, in elements, and the origin in the tensor,
    /// packed as the layout's output.
    pub(super) box_starts: Vec<(u64, u64)>,
}

/// Divides a part of the memory layout into boxes with the layout `box_layout`; the part has the sizes of `part`, and
/// begins at multiples of them. Elements are contiguous along `first` in global memory. The error gives the reason why
/// no boxes fill the part.
pub(super) fn tiling(
    memory: &LinearLayout,
    part: &Space,
    first: Dim,
    element_bytes: u64,
    operand: &TensorCopyOperand,
    box_layout: &TensorCopyLayout,
) -> Result<Tiling, String> {
    let columns = undo_swizzle(memory, element_bytes, box_layout);
    let mut axes: Vec<(Dim, u32)> = Vec::new();
    let mut within = 0;
    for &column in &columns {
        let step = step(memory, column).filter(|&(dim, by)| by >> part.bits_of(dim) == 0);
        if !grows(&mut axes, step, first, element_bytes, operand, box_layout) {
            break;
        }
        within += 1;
    }
    let row_bytes = axes.first().map_or(0, |&(_, bits)| element_bytes << bits);
    if !row_bytes.is_multiple_of(operand.row_granularity.into()) || row_bytes == 0 {
        let granularity = operand.row_granularity;
        return Err(format!(
            "{row_bytes} bytes of a row are contiguous as in global memory, not a multiple of {granularity}"
        ));
    }
    if let Some(expected) = box_layout.row_bytes.filter(|&expected| u64::from(expected) != row_bytes) {
        return Err(format!("rows of {row_bytes} bytes; they have {expected}"));
    }
    let rest = &columns[within..];
    let low = |&(dim, bits): &(Dim, u32), column: u64| memory.outs().coordinate(column, dim) & ((1 << bits) - 1) != 0;
    if rest.iter().any(|&column| axes.iter().any(|axis| low(axis, column))) {
        return Err("the element after a box must be in the box".to_owned());
    }
    let bytes = element_bytes << within;
    if !rest.is_empty() && !bytes.is_multiple_of(box_layout.alignment.into()) {
        let alignment = box_layout.alignment;
        return Err(format!("boxes of {bytes} bytes are not aligned to {alignment}"));
    }
    let distances = (within..).map(|bit| 1 << bit);
    let box_starts = distances.zip(rest.iter().copied()).filter_map(|start| match position(memory, part, start.1) {
        Position::Inside => Some(Ok(start)),
        Position::Outside => None,
        Position::Across => Some(Err("boxes cross the bounds of the part".to_owned())),
    });
    Ok(Tiling { axes, box_starts: box_starts.collect::<Result<_, String>>()? })
}

/// The position of an element of memory relative to a part that begins at the first element.
enum Position {
    Inside,
    /// At multiples of the sizes of the part.
    Outside,
    Across,
}

fn position(memory: &LinearLayout, part: &Space, column: u64) -> Position {
    let coordinates = || memory.outs().dims().map(|dim| (memory.outs().coordinate(column, dim), part.bits_of(dim)));
    if coordinates().all(|(at, bits)| at >> bits == 0) {
        return Position::Inside;
    }
    match coordinates().all(|(at, bits)| at.trailing_zeros() >= bits) {
        true => Position::Outside,
        false => Position::Across,
    }
}

/// Returns the element of each offset bit before the XOR swizzle of `box_layout` was applied to the memory layout; the
/// swizzle is its own inverse.
fn undo_swizzle(memory: &LinearLayout, element_bytes: u64, box_layout: &TensorCopyLayout) -> Vec<u64> {
    let columns = memory.columns_of(Dim::OFFSET);
    let at = |bit: usize| {
        let offset = box_layout.swizzle.apply(element_bytes << bit) / element_bytes;
        let set = columns.iter().enumerate().filter(|(bit, _)| offset >> bit & 1 == 1);
        set.fold(0, |sum, (_, column)| sum ^ column)
    };
    (0..columns.len()).map(at).collect()
}

/// Returns the axis along which a column of the layout moves, and the distance in elements; `None` if it moves along no
/// axis or along several.
fn step(memory: &LinearLayout, column: u64) -> Option<(Dim, u64)> {
    let moved = memory.outs().iter().map(|(dim, _)| (dim, memory.outs().coordinate(column, dim)));
    let mut moved = moved.filter(|&(_, by)| by != 0);
    let only = moved.next();
    only.filter(|_| moved.next().is_none())
}

/// Extends the box `axes` by the step of the next offset bit: doubles its size along the axis on which the step moves.
/// Returns false and leaves the box unchanged if the step does not continue the box, or if the instruction cannot copy
/// such a box.
fn grows(
    axes: &mut Vec<(Dim, u32)>,
    step: Option<(Dim, u64)>,
    first: Dim,
    element_bytes: u64,
    operand: &TensorCopyOperand,
    box_layout: &TensorCopyLayout,
) -> bool {
    let Some((dim, by)) = step else { return false };
    let is_first = axes.len() <= 1 && dim == first;
    match axes.last_mut() {
        Some((last, bits)) if *last == dim => {
            let size = 2u64 << *bits;
            let row = box_layout.row_bytes.filter(|_| is_first).map_or(u64::MAX, u64::from);
            let fits = by == size / 2 && size <= u64::from(operand.most) && size * element_bytes <= row;
            if fits {
                *bits += 1;
            }
            fits
        }
        last => {
            let begins = last.is_some() || dim == first;
            let fits = begins && by == 1 && !axes.iter().any(|(known, _)| *known == dim);
            if fits {
                axes.push((dim, 1));
            }
            fits
        }
    }
}
