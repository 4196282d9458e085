//! `slice`: a distributed layout with one axis taken out (seed 000, Proposition 4.8).

use crate::layout::{Dim, Families, FamilyError, FamilySpec, Layout, LayoutError, LinearLayout, Numbers};

use super::cluster::tensor_space;

pub(super) fn resolve(spec: &FamilySpec, shape: &[u64], all: &dyn Families) -> Result<LinearLayout, FamilyError> {
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
    let Layout::Distributed(parent) = all.resolve(parent, &whole, all)? else {
        return Err(read.wrong("parent", "is no distributed layout"));
    };
    without_axis(parent, &whole, shape).map_err(|error| FamilyError::of_layout(&spec.name, &error))
}

/// The parent's layout of `whole`, which has one more axis than `shape`, of one position:
/// the columns are the slice's, the later axes moving down by one.
fn without_axis(parent: LinearLayout, whole: &[u64], shape: &[u64]) -> Result<LinearLayout, LayoutError> {
    let expected = tensor_space(whole)?;
    if parent.outs != expected {
        return Err(LayoutError::DimsDiffer { left: format!("{:?}", parent.outs), right: format!("{expected:?}") });
    }
    let sliced = LinearLayout { outs: tensor_space(shape)?, ..parent };
    Ok(sliced.without_zero_bases(Dim::REGISTER))
}
