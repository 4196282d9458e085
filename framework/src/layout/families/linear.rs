//! `linear`: a distributed layout given by its bases.

use crate::layout::{Dim, FamilyError, FamilySpec, LayoutError, LinearLayout};

use super::cluster::{no_larger_than, no_smaller_than, tensor_dims};

pub(super) fn resolve(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let read = spec.parameters();
    let bases = [
        (Dim::REGISTER, read.bases_or_none(&["reg_bases", "register"])?),
        (Dim::LANE, read.bases_or_none(&["lane_bases", "lane"])?),
        (Dim::WARP, read.bases_or_none(&["warp_bases", "warp"])?),
        (Dim::BLOCK, read.bases_or_none(&["block_bases", "block"])?),
    ];
    let own_shape = read.optional(&["shape"]).map(|_| read.numbers(&["shape"])).transpose()?;
    read.finish()?;
    let dims = tensor_dims(shape.len());
    if own_shape.as_ref().is_some_and(|own| own.len() != shape.len()) {
        return Err(read.wrong("shape", &format!("has not {} axes", shape.len())));
    }
    let layout = match own_shape {
        Some(own) => {
            let outs: Vec<_> = dims.iter().copied().zip(own).collect();
            LinearLayout::from_bases(&bases, &outs)
        }
        None => LinearLayout::from_bases_inferred(&bases, &dims),
    };
    let failed = |error: LayoutError| FamilyError::of_layout(&spec.name, &error);
    let layout = layout.and_then(LinearLayout::require_surjective).map_err(failed)?;
    let resized = no_smaller_than(&layout, shape, Dim::REGISTER).and_then(|l| no_larger_than(&l, shape));
    resized.map_err(failed)
}
