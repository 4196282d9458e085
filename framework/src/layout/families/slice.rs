//! `slice`: a distributed layout with one axis taken out (seed 000, Proposition 4.8).

use crate::layout::{Dim, Families, FamilyError, FamilySpec, Layout, LinearLayout};

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
    let mut whole = shape.to_vec();
    whole.insert(axis, 1);
    let Layout::Distributed(parent) = all.resolve(parent, &whole, all)? else {
        return Err(read.wrong("parent", "is no distributed layout"));
    };
    let failed = |error| FamilyError::of_layout(&spec.name, &error);
    let ins: Vec<_> = parent.ins().dims().collect();
    let outs: Vec<_> = (0..=rank).filter(|&a| a != axis).map(Dim::tensor).collect();
    let mut sliced = parent.sublayout(&ins, &outs).map_err(failed)?;
    for later in axis..rank {
        sliced = sliced.rename_out(Dim::tensor(later + 1), Dim::tensor(later)).map_err(failed)?;
    }
    Ok(sliced.remove_zero_bases(Dim::REGISTER))
}
