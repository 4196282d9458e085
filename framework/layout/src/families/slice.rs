//! `slice`: a distributed layout with one axis taken out (seed 000, Proposition 4.8).

use crate::{Dim, Families, FamilyError, FamilySpec, Layout, LayoutError, LinearLayout, Numbers};

use super::tile::tensor_space;

pub(super) fn resolve(spec: &FamilySpec, shape: &[u64], all: &dyn Families) -> Result<Layout, FamilyError> {
    let read = spec.parameters();
    let axis = read.number(&["dim"])?;
    let parent = read.parent()?;
    read.finish()?;
    let rank = shape.len();
    let axis = usize::try_from(axis)
        .ok()
        .filter(|&axis| axis <= rank)
        .ok_or_else(|| read.wrong("dim", &format!("{axis} is no axis of the parent, which has axes 0 to {rank}")))?;
    let mut whole = Numbers::from_slice(shape);
    whole.insert(axis, 1);
    let mut layout = all.resolve(parent, &whole, all)?;
    let Layout::Distributed(sliced) = &mut layout else {
        return Err(read.wrong("parent", "is no distributed layout"));
    };
    take_axis_out(sliced, &whole, shape).map_err(|error| FamilyError::of_layout(&spec.name, &error))?;
    Ok(layout)
}

/// Makes the parent's layout of `whole`, which has one more axis than `shape`, of one position, the
/// slice's: the columns stay, the later axes move down by one.
fn take_axis_out(layout: &mut LinearLayout, whole: &[u64], shape: &[u64]) -> Result<(), LayoutError> {
    let expected = tensor_space(whole)?;
    if layout.outs != expected {
        return Err(LayoutError::DimsDiffer { left: format!("{:?}", layout.outs), right: format!("{expected:?}") });
    }
    layout.outs = tensor_space(shape)?;
    layout.drop_zero_bases(Dim::REGISTER);
    Ok(())
}
