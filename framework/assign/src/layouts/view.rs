//! How the layout of one end of an operation follows from that of another.
//!
//! Every shape operation is a map of elements, so that each position of the result has the element of one position of
//! the operand in the same lane: nothing moves (seed 000, appendix, Theorem 9.3). A [`View`] is such a map on
//! layouts. Where a view takes elements away, registers that held nothing else go too.

use tilewright_layout::f2::Subspace;
use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};

use super::coordinates::{mapped, of_row_major, row_major};

/// From the layout of a tensor to that of another one which has its elements at the same positions. Axes are those of the
/// tensor that the view begins with.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LayoutTransfer {
    /// The same tensor.
    Same,
    /// The elements in row-major order with other sizes.
    Reshaped(Vec<u64>),
    /// Axis `number` of the result is this one.
    Permuted(Vec<usize>),
    /// Without an axis, of which only the first position counts.
    Without(usize),
    /// With a new axis of one position.
    With(usize),
    /// With these axes cut to one position.
    Cut(Vec<usize>),
    /// A last axis of two, whose positions are the values of a new, lowest register bit.
    Paired,
    /// Half of a tensor whose last axis of two is the values of a register bit; where it is those of another bit, the half
    /// of the nearest layout in which it is.
    Unpaired,
    /// Twice as long along an axis, the upper half being the values of a new, highest register bit.
    Stacked(usize),
    /// Twice as long along an axis, twice as many warps, the upper half of which have the upper half of it.
    Warped(usize),
    /// One for each two neighbours along an axis.
    Halved(usize),
    /// Two neighbours along an axis for each one, being the values of a new, lowest register bit.
    Doubled(usize),
}

impl LayoutTransfer {
    /// The layout of the other tensor.
    ///
    /// # Errors
    /// [`LayoutError`] where the view is not of tensors of this shape.
    pub fn of(&self, layout: &LinearLayout) -> Result<LinearLayout, LayoutError> {
        let shape = shape_of(layout);
        let rank = shape.len();
        match self {
            Self::Same => Ok(layout.clone()),
            Self::Reshaped(to) => mapped(layout, to, |place| of_row_major(to, row_major(&shape, place))),
            Self::Permuted(order) => {
                let to: Vec<u64> = order.iter().map(|&axis| shape.get(axis).copied().unwrap_or(1)).collect();
                mapped(layout, &to, |place| order.iter().map(|&axis| place.get(axis).copied().unwrap_or(0)).collect())
            }
            Self::Without(axis) => {
                let to = without(&shape, *axis);
                mapped(layout, &to, |place| without(place, *axis)).map(least_registers)?
            }
            Self::With(axis) => {
                let at = (*axis).min(rank);
                let inserted = |values: &[u64], new| [&values[..at], &[new], &values[at..]].concat();
                mapped(layout, &inserted(&shape, 1), |place| inserted(place, 0))
            }
            Self::Cut(axes) => {
                let cut = |values: &[u64], to: u64| -> Vec<u64> {
                    values.iter().enumerate().map(|(axis, &at)| if axes.contains(&axis) { to } else { at }).collect()
                };
                mapped(layout, &cut(&shape, 1), |place| cut(place, 0)).map(least_registers)?
            }
            Self::Paired => {
                let pairs = mapped(layout, &[&shape[..], &[2]].concat(), |place| [place, &[0]].concat())?;
                with_register(&pairs, 0, rank, 1)
            }
            Self::Unpaired => unpaired(layout, rank.saturating_sub(1)),
            Self::Stacked(axis) => {
                let stacked = mapped(layout, &longer(&shape, *axis)?, <[u64]>::to_vec)?;
                with_register(&stacked, layout.in_bits(Dim::REGISTER) as usize, *axis, shape[*axis])
            }
            Self::Warped(axis) => {
                let wide = mapped(layout, &longer(&shape, *axis)?, <[u64]>::to_vec)?;
                let upper = wide.outs().pack(&[(Dim::tensor(*axis), shape[*axis])])?;
                with_columns(&wide, Dim::WARP, &[wide.columns_of(Dim::WARP), &[upper]].concat())
            }
            Self::Halved(axis) => {
                let halved = |values: &[u64]| -> Vec<u64> {
                    values.iter().enumerate().map(|(number, &at)| if number == *axis { at / 2 } else { at }).collect()
                };
                let to: Vec<u64> = halved(&shape).into_iter().map(|size| size.max(1)).collect();
                mapped(layout, &to, halved).map(least_registers)?
            }
            Self::Doubled(axis) => {
                let doubled = mapped(layout, &longer(&shape, *axis)?, |place| {
                    place.iter().enumerate().map(|(number, &at)| if number == *axis { 2 * at } else { at }).collect()
                })?;
                with_register(&doubled, 0, *axis, 1)
            }
        }
    }
}

/// A shape that is twice as long along an axis.
fn longer(shape: &[u64], axis: usize) -> Result<Vec<u64>, LayoutError> {
    let mut longer = shape.to_vec();
    *longer.get_mut(axis).ok_or(LayoutError::NoSuchDim { dim: Dim::tensor(axis) })? *= 2;
    Ok(longer)
}

/// The sizes of the tensor that a layout is of.
#[must_use]
pub fn shape_of(layout: &LinearLayout) -> Vec<u64> {
    layout.outs().iter().map(|(_, bits)| 1 << bits).collect()
}

/// A layout in the form in which types say it: register, lane, warp, block, and the axes in order.
///
/// # Errors
/// [`LayoutError`] where it has other dims.
pub fn in_order(layout: &LinearLayout) -> Result<LinearLayout, LayoutError> {
    let axes: Vec<Dim> = (0..layout.outs().len()).map(Dim::tensor).collect();
    let layout = layout.transpose_outs(&axes)?;
    let mut ins = Space::default();
    let mut columns = Vec::new();
    for dim in [Dim::REGISTER, Dim::LANE, Dim::WARP, Dim::BLOCK] {
        ins.push(dim, layout.in_bits(dim))?;
        columns.extend_from_slice(layout.columns_of(dim));
    }
    LinearLayout::from_columns(ins, layout.outs().clone(), &columns)
}

fn without(values: &[u64], axis: usize) -> Vec<u64> {
    values.iter().enumerate().filter(|(number, _)| *number != axis).map(|(_, &at)| at).collect()
}

/// Without register bits that say nothing which those before them do not.
fn least_registers(layout: LinearLayout) -> Result<LinearLayout, LayoutError> {
    let mut span = Subspace::default();
    let registers: Vec<u64> =
        layout.columns_of(Dim::REGISTER).iter().copied().filter(|&column| span.insert(column)).collect();
    with_registers(&layout, &registers)
}

/// The same with other registers.
fn with_registers(layout: &LinearLayout, registers: &[u64]) -> Result<LinearLayout, LayoutError> {
    with_columns(layout, Dim::REGISTER, registers)
}

/// The same with other columns of one dim.
fn with_columns(layout: &LinearLayout, of: Dim, instead: &[u64]) -> Result<LinearLayout, LayoutError> {
    let mut ins = Space::default();
    let mut columns = Vec::new();
    for (dim, bits) in layout.ins().iter() {
        let own = if dim == of { instead } else { layout.columns_of(dim) };
        ins.push(dim, if dim == of { instead.len() as u32 } else { bits })?;
        columns.extend_from_slice(own);
    }
    LinearLayout::from_columns(ins, layout.outs().clone(), &columns)
}

/// One more register bit, at a place among them, that moves along an axis.
fn with_register(layout: &LinearLayout, place: usize, axis: usize, by: u64) -> Result<LinearLayout, LayoutError> {
    let mut registers = layout.columns_of(Dim::REGISTER).to_vec();
    registers.insert(place.min(registers.len()), layout.outs().pack(&[(Dim::tensor(axis), by)])?);
    with_registers(layout, &registers)
}

/// The halves of pairs: without the register bit that tells them apart. Where lanes or warps tell them apart, the lowest
/// register bit takes the place of theirs, which is what a conversion exchanges at least cost.
fn unpaired(layout: &LinearLayout, axis: usize) -> Result<LinearLayout, LayoutError> {
    let moves = |&column: &u64| layout.outs().coordinate(column, Dim::tensor(axis)) != 0;
    let mut registers = layout.columns_of(Dim::REGISTER).to_vec();
    let told = registers.iter().position(moves).map(|place| registers.remove(place));
    let instead = if told.is_some() || registers.is_empty() { 0 } else { registers.remove(0) };
    let told = match told.or_else(|| layout.columns().iter().copied().find(|column| moves(column))) {
        Some(told) => told,
        None => return Err(LayoutError::NotSurjective { rank: layout.rank(), bits: layout.outs().bits() }),
    };
    let rest = with_registers(layout, &registers)?;
    // Columns that also tell the halves apart are counted from the one that went.
    let mut found = false;
    let columns: Vec<u64> = rest
        .columns()
        .iter()
        .enumerate()
        .map(|(place, &column)| match () {
            () if !moves(&column) => column,
            () if place >= registers.len() && instead != 0 && !found && column == told => {
                found = true;
                instead
            }
            () => column ^ told,
        })
        .collect();
    let rest = LinearLayout::from_columns(rest.ins().clone(), rest.outs().clone(), &columns)?;
    let shape = shape_of(layout);
    mapped(&rest, &without(&shape, axis), |place| without(place, axis))?.require_surjective()
}
