//! `linear`: a distributed layout given by its bases, resized where the tensor has another shape.

use crate::f2::Columns;
use crate::layout::{Dim, FamilyError, FamilySpec, LayoutError, LinearLayout, Space};

use super::cluster::{no_larger_than, no_smaller_than, tensor_dims};

pub(super) fn resolve(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let read = spec.parameters();
    let bases = [
        (Dim::REGISTER, read.bases_or_none(&["reg_bases", "register"])?),
        (Dim::LANE, read.bases_or_none(&["lane_bases", "lane"])?),
        (Dim::WARP, read.bases_or_none(&["warp_bases", "warp"])?),
        (Dim::BLOCK, read.bases_or_none(&["block_bases", "block"])?),
    ];
    let own_shape = read.optional(&["shape"]).map(|_| read.powers(&["shape"], shape.len())).transpose()?;
    read.finish()?;
    let dims = tensor_dims(shape.len());
    let layout = match own_shape {
        Some(own) => {
            let outs: Vec<_> = dims.iter().copied().zip(own).collect();
            LinearLayout::from_bases(&bases, &outs)
        }
        None => LinearLayout::from_bases_inferred(&bases, &dims),
    };
    let failed = |error: LayoutError| FamilyError::of_layout(&spec.name, &error);
    let layout = layout.and_then(LinearLayout::require_surjective).map_err(failed)?;
    resized(&layout, shape).map_err(failed)
}

/// Repeats over the axes in the order in which registers first move along them, then cuts.
fn resized(layout: &LinearLayout, shape: &[u64]) -> Result<LinearLayout, LayoutError> {
    let dims = tensor_dims(shape.len());
    let mut order: Vec<Dim> = Vec::new();
    for basis in layout.bases_of(Dim::REGISTER) {
        let moved = dims.iter().zip(basis).filter(|&(_, by)| by != 0).map(|(&dim, _)| dim);
        order.extend(moved.filter(|dim| !order.contains(dim)).collect::<Vec<_>>());
    }
    order.extend(dims.iter().rev().filter(|dim| !order.contains(dim)).copied().collect::<Vec<_>>());
    let repeated = no_smaller_than(&layout.transpose_outs(&order)?, shape, Dim::REGISTER)?;
    let cut = no_larger_than(&repeated, shape)?;
    without_cut_registers(&repeated, &cut)?.transpose_outs(&dims)
}

/// `cut` without the registers that moved in `whole` and move no more; those that never moved stay.
fn without_cut_registers(whole: &LinearLayout, cut: &LinearLayout) -> Result<LinearLayout, LayoutError> {
    let mut ins = Space::default();
    let mut columns = Columns::new();
    for dim in cut.ins().dims() {
        let pairs = whole.columns_of(dim).iter().zip(cut.columns_of(dim));
        let kept = pairs.filter(|&(&before, &after)| dim != Dim::REGISTER || before == 0 || after != 0);
        let before = columns.len();
        columns.extend(kept.map(|(_, &after)| after));
        ins.push(dim, (columns.len() - before) as u32)?;
    }
    LinearLayout::from_columns(ins, cut.outs().clone(), &columns)
}
