//! Whether boxes of a tensor fill a memory layout: the box is what is left of it by division, the rest says where the other
//! boxes begin.

use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{TensorCopyLayout, TensorCopyOperand};

/// A memory layout as boxes.
#[derive(Debug, Clone)]
pub(super) struct Tiling {
    /// The axes of the box, the first the fastest, and the logarithms of its sizes.
    pub(super) axes: Vec<(Dim, u32)>,
    /// Bits of the offset within a box, in elements.
    pub(super) box_bits: u32,
    /// For each bit of a box's number where the box begins in the tensor, packed as the layout's outs.
    pub(super) boxes: Vec<u64>,
}

/// The boxes of an arrangement that fill the memory, whose elements along `first` lie together in global memory.
pub(super) fn tiling(
    memory: &LinearLayout,
    first: Dim,
    element_bytes: u64,
    operand: &TensorCopyOperand,
    arrangement: &TensorCopyLayout,
) -> Result<Tiling, String> {
    let columns = unmixed(memory, element_bytes, arrangement);
    let mut axes: Vec<(Dim, u32)> = Vec::new();
    let mut within = 0;
    for &column in &columns {
        if !grows(&mut axes, step(memory, column), first, element_bytes, operand, arrangement) {
            break;
        }
        within += 1;
    }
    let row_bytes = axes.first().map_or(0, |&(_, bits)| element_bytes << bits);
    if !row_bytes.is_multiple_of(operand.row_grain.into()) || row_bytes == 0 {
        let grain = operand.row_grain;
        return Err(format!(
            "{row_bytes} bytes of a row follow each other as in global memory, not a multiple of {grain}"
        ));
    }
    if let Some(expected) = arrangement.row_bytes.filter(|&expected| u64::from(expected) != row_bytes) {
        return Err(format!("rows of {row_bytes} bytes; they have {expected}"));
    }
    let boxes = columns[within..].to_vec();
    let low = |&(dim, bits): &(Dim, u32), column: u64| memory.outs().coordinate(column, dim) & ((1 << bits) - 1) != 0;
    if boxes.iter().any(|&column| axes.iter().any(|axis| low(axis, column))) {
        return Err("what lies behind a box belongs into it".to_owned());
    }
    let bytes = element_bytes << within;
    if !boxes.is_empty() && !bytes.is_multiple_of(arrangement.alignment.into()) {
        let alignment = arrangement.alignment;
        return Err(format!("boxes of {bytes} bytes follow each other, not at multiples of {alignment}"));
    }
    Ok(Tiling { axes, box_bits: within as u32, boxes })
}

/// The layout's columns before bits of the address are mixed. Mixing twice does nothing.
fn unmixed(memory: &LinearLayout, element_bytes: u64, arrangement: &TensorCopyLayout) -> Vec<u64> {
    let columns = memory.columns_of(Dim::OFFSET);
    let at = |bit: usize| {
        let place = arrangement.mix.apply(element_bytes << bit) / element_bytes;
        let set = columns.iter().enumerate().filter(|(bit, _)| place >> bit & 1 == 1);
        set.fold(0, |sum, (_, column)| sum ^ column)
    };
    (0..columns.len()).map(at).collect()
}

/// The axis along which a column goes, and how far; none where it goes along several or nowhere.
fn step(memory: &LinearLayout, column: u64) -> Option<(Dim, u64)> {
    let moved = memory.outs().iter().map(|(dim, _)| (dim, memory.outs().coordinate(column, dim)));
    let mut moved = moved.filter(|&(_, by)| by != 0);
    let only = moved.next();
    only.filter(|_| moved.next().is_none())
}

/// Doubles the box by a step, where that makes a box that is copied.
fn grows(
    axes: &mut Vec<(Dim, u32)>,
    step: Option<(Dim, u64)>,
    first: Dim,
    element_bytes: u64,
    operand: &TensorCopyOperand,
    arrangement: &TensorCopyLayout,
) -> bool {
    let Some((dim, by)) = step else { return false };
    let is_first = axes.len() <= 1 && dim == first;
    match axes.last_mut() {
        Some((last, bits)) if *last == dim => {
            let size = 2u64 << *bits;
            let row = arrangement.row_bytes.filter(|_| is_first).map_or(u64::MAX, u64::from);
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
