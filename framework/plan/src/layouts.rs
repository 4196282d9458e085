//! Layouts from the columns of each of their input dims.

use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};

/// The layout of these input dims, each with its columns.
pub(crate) fn of_dims<C: AsRef<[u64]>>(dims: &[(Dim, C)], outs: &Space) -> Result<LinearLayout, LayoutError> {
    let (mut ins, mut columns) = (Space::default(), Vec::new());
    for (dim, own) in dims {
        ins.push(*dim, own.as_ref().len() as u32)?;
        columns.extend_from_slice(own.as_ref());
    }
    LinearLayout::from_columns(ins, outs.clone(), &columns)
}

/// The distributed layout of one block with these columns of registers, lanes and warps.
pub(crate) fn distributed([registers, lanes, warps]: [&[u64]; 3], outs: &Space) -> Result<LinearLayout, LayoutError> {
    of_dims(&[(Dim::REGISTER, registers), (Dim::LANE, lanes), (Dim::WARP, warps), (Dim::BLOCK, &[])], outs)
}

/// The memory layout of one block with these columns of offsets.
pub(crate) fn in_memory(offsets: &[u64], outs: &Space) -> Result<LinearLayout, LayoutError> {
    of_dims(&[(Dim::OFFSET, offsets), (Dim::BLOCK, &[])], outs)
}

/// The packed coordinates of the bits of an out dim, the lowest first.
pub(crate) fn units(outs: &Space, dim: Dim) -> impl Iterator<Item = u64> + Clone + use<> {
    let shift = outs.shift_of(dim).unwrap_or(0);
    (0..outs.bits_of(dim)).map(move |bit| 1u64 << (shift + bit))
}
