//! Builds layouts from the columns of each input dim.

use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};

/// Builds a layout from its input dims. Each dim has a list of columns: for each of its bits, lowest first, the packed
/// coordinate that the bit adds.
pub(crate) fn of_dims<C: AsRef<[u64]>>(dims: &[(Dim, C)], outs: &Space) -> Result<LinearLayout, LayoutError> {
    let (mut ins, mut columns) = (Space::default(), Vec::new());
    for (dim, own) in dims {
        ins.push(*dim, own.as_ref().len() as u32)?;
        columns.extend_from_slice(own.as_ref());
    }
    LinearLayout::from_columns(ins, outs.clone(), &columns)
}

/// Builds the distributed layout of one block from the columns of its register, lane and warp bits: for each bit,
/// lowest first, the packed coordinate that the bit adds.
pub(crate) fn distributed([registers, lanes, warps]: [&[u64]; 3], outs: &Space) -> Result<LinearLayout, LayoutError> {
    of_dims(&[(Dim::REGISTER, registers), (Dim::LANE, lanes), (Dim::WARP, warps), (Dim::BLOCK, &[])], outs)
}

/// Builds the memory layout of one block from the columns of its offset bits: for each bit, lowest first, the packed
/// coordinate that the bit adds.
pub(crate) fn in_memory(offsets: &[u64], outs: &Space) -> Result<LinearLayout, LayoutError> {
    of_dims(&[(Dim::OFFSET, offsets), (Dim::BLOCK, &[])], outs)
}

/// Returns the packed coordinate of each bit of an output dim, lowest bit first. A packed coordinate joins the
/// coordinates of all output dims in one integer.
pub(crate) fn units(outs: &Space, dim: Dim) -> impl Iterator<Item = u64> + Clone + use<> {
    let shift = outs.shift_of(dim).unwrap_or(0);
    (0..outs.bits_of(dim)).map(move |bit| 1u64 << (shift + bit))
}
