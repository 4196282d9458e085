//! `slice`: a distributed layout with one axis removed (Linear Layouts paper, Proposition 4.8).

use crate::{Dim, Families, FamilyError, FamilySpec, IntVec, Layout, LayoutError, LinearLayout};

use super::tile::tensor_space;

pub(super) fn resolve(spec: &FamilySpec, shape: &[u64], all: &dyn Families) -> Result<Layout, FamilyError> {
    let read = spec.parameter_reader();
    let axis = read.number(&["dim"])?;
    let parent = read.parent()?;
    read.check_all_read()?;
    let rank = shape.len();
    let axis = usize::try_from(axis).ok().filter(|&axis| axis <= rank).ok_or_else(|| {
        read.invalid_value_error("dim", &format!("{axis} is not an axis of the parent, which has axes 0 to {rank}"))
    })?;
    let mut parent_shape = IntVec::from_slice(shape);
    parent_shape.insert(axis, 1);
    let mut layout = all.resolve(parent, &parent_shape, all)?;
    let Layout::Distributed(sliced) = &mut layout else {
        return Err(read.invalid_value_error("parent", "is not a distributed layout"));
    };
    take_axis_out(sliced, &parent_shape, shape).map_err(|error| FamilyError::from_layout_error(&spec.name, &error))?;
    Ok(layout)
}

/// Turns the parent's layout into the slice's. `parent_shape` has one more axis than `shape`, of size one. Zero
/// register bases are dropped, the other bases stay, and later axes move down by one.
fn take_axis_out(layout: &mut LinearLayout, parent_shape: &[u64], shape: &[u64]) -> Result<(), LayoutError> {
    let expected = tensor_space(parent_shape)?;
    if layout.outs != expected {
        return Err(LayoutError::DimsDiffer { left: format!("{:?}", layout.outs), right: format!("{expected:?}") });
    }
    layout.outs = tensor_space(shape)?;
    layout.drop_zero_bases(Dim::REGISTER);
    Ok(())
}
