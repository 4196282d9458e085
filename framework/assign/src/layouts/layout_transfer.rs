//! Layout transfers: functions from the layout of one value of an operation to the layout of another value.
//!
//! A shape operation maps elements to new coordinates without moving data: each position of the result has the element
//! of a position of the operand in the same lane (Linear Layouts paper, appendix, Theorem 9.3). A [`LayoutTransfer`]
//! applies this map to layouts. If it removes elements, registers that only replicate others are removed as well.

use tilewright_layout::f2::Subspace;
use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};

use super::coordinates::{coordinates_from_row_major, map_coordinates, row_major_index};

/// A map from the layout of one tensor to the layout of another tensor whose elements are in the same registers and
/// threads. Axes are numbered as in the source tensor.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LayoutTransfer {
    /// The identity: both tensors have the same layout.
    Same,
    /// Reshapes to this shape; elements keep their row-major order.
    Reshaped(Vec<u64>),
    /// Permutes axes: axis `i` of the result is axis `self[i]` of the source.
    Permuted(Vec<usize>),
    /// Removes an axis, keeping only coordinate 0 along it.
    RemoveAxis(usize),
    /// Inserts an axis of size 1.
    InsertAxis(usize),
    /// Reduces the sizes of these axes to 1.
    ReduceToOne(Vec<usize>),
    /// Appends an axis of size 2; a new lowest register bit is the index along it (`tt.join`).
    Paired,
    /// Takes one half of a tensor along its last axis, which has size 2 (`tt.split`). The register bit that is the
    /// index along this axis is removed. If a lane or warp bit is the index instead, the lowest register bit takes its
    /// place in the result.
    Unpaired,
    /// Doubles the size of an axis; a new highest register bit selects the upper half.
    Stacked(usize),
    /// Doubles the size of an axis and the number of warps; the upper half of the warps holds the upper half of the
    /// axis.
    DoubledOverWarps(usize),
    /// Merges every two neighbours along an axis into one element, such as two 4-bit elements into a byte.
    Halved(usize),
    /// Splits each element along an axis into two neighbours, such as a byte into two 4-bit elements; a new lowest
    /// register bit selects the neighbour.
    Doubled(usize),
}

impl LayoutTransfer {
    /// Applies the map to the layout of the source tensor; returns the layout of the result.
    ///
    /// # Errors
    /// [`LayoutError`] if the transfer does not apply to the layout's shape, e.g. because an axis does not exist.
    pub fn apply(&self, layout: &LinearLayout) -> Result<LinearLayout, LayoutError> {
        let shape = tensor_shape_from_layout(layout);
        let rank = shape.len();
        match self {
            Self::Same => Ok(layout.clone()),
            Self::Reshaped(to) => {
                map_coordinates(layout, to, |source| coordinates_from_row_major(to, row_major_index(&shape, source)))
            }
            Self::Permuted(order) => {
                let to: Vec<u64> = order.iter().map(|&axis| shape.get(axis).copied().unwrap_or(1)).collect();
                map_coordinates(layout, &to, |source| {
                    order.iter().map(|&axis| source.get(axis).copied().unwrap_or(0)).collect()
                })
            }
            Self::RemoveAxis(axis) => {
                let to = without(&shape, *axis);
                map_coordinates(layout, &to, |source| without(source, *axis)).map(remove_replicated_registers)?
            }
            Self::InsertAxis(axis) => {
                let at = (*axis).min(rank);
                let inserted = |values: &[u64], new| [&values[..at], &[new], &values[at..]].concat();
                map_coordinates(layout, &inserted(&shape, 1), |source| inserted(source, 0))
            }
            Self::ReduceToOne(axes) => {
                let cut = |values: &[u64], to: u64| -> Vec<u64> {
                    values.iter().enumerate().map(|(axis, &at)| if axes.contains(&axis) { to } else { at }).collect()
                };
                map_coordinates(layout, &cut(&shape, 1), |source| cut(source, 0)).map(remove_replicated_registers)?
            }
            Self::Paired => {
                let pairs = map_coordinates(layout, &[&shape[..], &[2]].concat(), |source| [source, &[0]].concat())?;
                with_register(&pairs, 0, rank, 1)
            }
            Self::Unpaired => unpaired(layout, rank.saturating_sub(1)),
            Self::Stacked(axis) => {
                let stacked = map_coordinates(layout, &longer(&shape, *axis)?, <[u64]>::to_vec)?;
                with_register(&stacked, layout.in_bits(Dim::REGISTER) as usize, *axis, shape[*axis])
            }
            Self::DoubledOverWarps(axis) => {
                let wide = map_coordinates(layout, &longer(&shape, *axis)?, <[u64]>::to_vec)?;
                let upper = wide.outs().pack(&[(Dim::tensor(*axis), shape[*axis])])?;
                with_columns(&wide, Dim::WARP, &[wide.columns_of(Dim::WARP), &[upper]].concat())
            }
            Self::Halved(axis) => {
                let halved = |values: &[u64]| -> Vec<u64> {
                    values.iter().enumerate().map(|(index, &at)| if index == *axis { at / 2 } else { at }).collect()
                };
                let to: Vec<u64> = halved(&shape).into_iter().map(|size| size.max(1)).collect();
                map_coordinates(layout, &to, halved).map(remove_replicated_registers)?
            }
            Self::Doubled(axis) => {
                let doubled = map_coordinates(layout, &longer(&shape, *axis)?, |source| {
                    source.iter().enumerate().map(|(index, &at)| if index == *axis { 2 * at } else { at }).collect()
                })?;
                with_register(&doubled, 0, *axis, 1)
            }
        }
    }
}

/// Returns a shape with the size of an axis doubled.
fn longer(shape: &[u64], axis: usize) -> Result<Vec<u64>, LayoutError> {
    let mut longer = shape.to_vec();
    *longer.get_mut(axis).ok_or(LayoutError::NoSuchDim { dim: Dim::tensor(axis) })? *= 2;
    Ok(longer)
}

/// Returns the shape of the tensor that a layout covers.
#[must_use]
pub fn tensor_shape_from_layout(layout: &LinearLayout) -> Vec<u64> {
    layout.outs().iter().map(|(_, bits)| 1 << bits).collect()
}

/// Puts the dims of a layout into the order that types use: register, lane, warp, block, and the tensor axes.
///
/// # Errors
/// [`LayoutError::NoSuchDim`] if the layout has bases of another input dim; another [`LayoutError`] if an output dim is
/// not a tensor axis.
pub fn to_canonical_dim_order(layout: &LinearLayout) -> Result<LinearLayout, LayoutError> {
    const DIMS: [Dim; 4] = [Dim::REGISTER, Dim::LANE, Dim::WARP, Dim::BLOCK];
    if let Some((dim, _)) = layout.ins().iter().find(|(dim, bits)| *bits > 0 && !DIMS.contains(dim)) {
        return Err(LayoutError::NoSuchDim { dim });
    }
    let axes: Vec<Dim> = (0..layout.outs().len()).map(Dim::tensor).collect();
    let layout = layout.transpose_outs(&axes)?;
    let mut ins = Space::default();
    let mut columns = Vec::new();
    for dim in DIMS {
        ins.push(dim, layout.in_bits(dim))?;
        columns.extend_from_slice(layout.columns_of(dim));
    }
    LinearLayout::from_columns(ins, layout.outs().clone(), &columns)
}

fn without(values: &[u64], axis: usize) -> Vec<u64> {
    values.iter().enumerate().filter(|(index, _)| *index != axis).map(|(_, &at)| at).collect()
}

/// Removes register bases that are linear combinations of earlier ones: their registers only hold replicas.
fn remove_replicated_registers(layout: LinearLayout) -> Result<LinearLayout, LayoutError> {
    let mut span = Subspace::default();
    let registers: Vec<u64> =
        layout.columns_of(Dim::REGISTER).iter().copied().filter(|&column| span.insert(column)).collect();
    with_registers(&layout, &registers)
}

/// Returns `layout` with its register bases replaced by `registers`, which are packed coordinates.
fn with_registers(layout: &LinearLayout, registers: &[u64]) -> Result<LinearLayout, LayoutError> {
    with_columns(layout, Dim::REGISTER, registers)
}

/// Returns the layout with the bases of the input dim `of` replaced by `instead`, as packed coordinates.
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

/// Inserts a register basis that advances by `by` along an axis, as the bit with the index `source` of the register
/// index.
fn with_register(layout: &LinearLayout, source: usize, axis: usize, by: u64) -> Result<LinearLayout, LayoutError> {
    let mut registers = layout.columns_of(Dim::REGISTER).to_vec();
    registers.insert(source.min(registers.len()), layout.outs().pack(&[(Dim::tensor(axis), by)])?);
    with_registers(layout, &registers)
}

/// Removes an axis of size two, together with the register bit that is the index along it. If the index is in lane or
/// warp bits, the lowest register bit takes the place of such a bit, because the conversion that this implies needs the
/// fewest shuffles.
fn unpaired(layout: &LinearLayout, axis: usize) -> Result<LinearLayout, LayoutError> {
    let moves = |&column: &u64| layout.outs().coordinate(column, Dim::tensor(axis)) != 0;
    let mut registers = layout.columns_of(Dim::REGISTER).to_vec();
    let pair_column = registers.iter().position(moves).map(|source| registers.remove(source));
    let instead = if pair_column.is_some() || registers.is_empty() { 0 } else { registers.remove(0) };
    let pair_column = match pair_column.or_else(|| layout.columns().iter().copied().find(|column| moves(column))) {
        Some(pair_column) => pair_column,
        None => return Err(LayoutError::NotSurjective { rank: layout.rank(), bits: layout.outs().total_bits() }),
    };
    let rest = with_registers(layout, &registers)?;
    // Add the removed basis to each other basis that moves along the removed axis too, so that the sum does not.
    let mut found = false;
    let columns: Vec<u64> = rest
        .columns()
        .iter()
        .enumerate()
        .map(|(source, &column)| match () {
            () if !moves(&column) => column,
            () if source >= registers.len() && instead != 0 && !found && column == pair_column => {
                found = true;
                instead
            }
            () => column ^ pair_column,
        })
        .collect();
    let rest = LinearLayout::from_columns(rest.ins().clone(), rest.outs().clone(), &columns)?;
    let shape = tensor_shape_from_layout(layout);
    map_coordinates(&rest, &without(&shape, axis), |source| without(source, axis))?.require_surjective()
}
