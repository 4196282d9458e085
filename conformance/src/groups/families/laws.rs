//! Laws (properties) that every layout of a family must obey, checked on every sample layout.

use std::collections::BTreeSet;

use tilewright_layout::{
    Dim, FamilyParameterValue, FamilySpec, Layout, LinearLayout, SampleLayout, layout_from_json, layout_to_json,
    parse_family_spec,
};

use super::super::law::{LawResult, law_failure, require, resolve};
use super::definition::{is_distributed, of_shape};
use super::notation;
use crate::{Context, Verdict};

/// Shape of the tensor for the laws that need only one shape.
const SHAPE: [u64; 2] = [128, 64];

/// Checks that a spec (family and parameters) is parsed from JSON and from text as the same spec, and that the layout
/// is parsed from its own JSON unchanged.
pub(super) fn round_trip(context: &Context, sample: &SampleLayout) -> LawResult {
    let layout = resolve(context, &sample.spec, &SHAPE)?;
    for text in [notation::json(&sample.spec), notation::attribute(&sample.spec)] {
        let read = parse_family_spec(&text).map_err(|error| law_failure(format!("{text}: {error}")))?;
        require(read == sample.spec, || format!("{text} reads back as {read:?}"))?;
        require(resolve(context, &read, &SHAPE)? == layout, || format!("{text} names another layout"))?;
    }
    let json = layout_to_json(layout.linear());
    let read = layout_from_json(&json).map_err(|error| law_failure(format!("{json}: {error}")))?;
    require(read == *layout.linear(), || format!("{json} reads back as\n{read}"))
}

/// Checks that the layout's bases, as parameters of the family that takes bases, give the same layout.
pub(super) fn spelled_out(context: &Context, sample: &SampleLayout) -> LawResult {
    let layout = resolve(context, &sample.spec, &SHAPE)?;
    let (family, parameters): (_, &[(&str, Dim)]) = match &layout {
        Layout::Distributed(linear) => (
            if linear.is_distributed() { "linear" } else { "generic_linear" },
            &[
                ("reg_bases", Dim::REGISTER),
                ("lane_bases", Dim::LANE),
                ("warp_bases", Dim::WARP),
                ("block_bases", Dim::BLOCK),
            ],
        ),
        Layout::Memory(_) => ("shared_linear", &[("offset_bases", Dim::OFFSET), ("block_bases", Dim::BLOCK)]),
        Layout::TensorMemory(_) => return Err(Verdict::unsupported("no family takes the bases of tensor memory")),
    };
    let with = |spec: FamilySpec, &(name, dim): &(&str, Dim)| spec.with_parameter(name, bases(layout.linear(), dim));
    let mut spec = parameters.iter().fold(FamilySpec::new(family), with);
    if let Layout::Distributed(_) = &layout {
        spec = spec.with_parameter("shape", SHAPE.map(|size| size as i64));
    }
    let named = resolve(context, &spec, &SHAPE)?;
    require(named.linear() == layout.linear(), || {
        format!("its bases name\n{}\nnot\n{}", named.linear(), layout.linear())
    })
}

fn bases(layout: &LinearLayout, dim: Dim) -> FamilyParameterValue {
    let basis = |basis: Vec<u64>| {
        FamilyParameterValue::List(basis.into_iter().map(|c| FamilyParameterValue::Int(c as i64)).collect())
    };
    FamilyParameterValue::List(layout.bases_of(dim).into_iter().map(basis).collect())
}

/// Pairs of a tensor shape and a larger one: doubled along either axis or many times larger.
const GROWTHS: [([u64; 2], [u64; 2]); 5] = [
    ([16, 16], [128, 128]),
    ([16, 16], [32, 16]),
    ([16, 16], [16, 32]),
    ([128, 64], [256, 64]),
    ([128, 64], [128, 128]),
];

/// Checks that on a larger tensor a distributed layout repeats the same tile: modulo the small shape, lanes and warps
/// hold the same coordinates, and registers reach the same ones.
pub(super) fn growth(context: &Context, sample: &SampleLayout) -> LawResult {
    let mut refused = None;
    let mut shown = false;
    for (small, large) in GROWTHS {
        let both = [small, large].map(|shape| resolve(context, &sample.spec, &shape));
        let [Ok(less), Ok(more)] = both else {
            refused = both.into_iter().find_map(Result::err).filter(|verdict| verdict.status.is_failure()).or(refused);
            continue;
        };
        grows(less.linear(), more.linear(), small).map_err(|verdict| {
            let detail = format!("from {small:?} to {large:?}: {}", verdict.detail);
            verdict.with_detail(detail)
        })?;
        shown = true;
    }
    match refused {
        Some(verdict) => Err(verdict),
        None if shown => Ok(()),
        None => Err(Verdict::unsupported(format!("none of the tensors of {GROWTHS:?} is one of the family's"))),
    }
}

fn grows(less: &LinearLayout, more: &LinearLayout, small: [u64; 2]) -> LawResult {
    let cut = |basis: Vec<u64>| -> Vec<u64> { basis.iter().zip(small).map(|(&c, size)| c & (size - 1)).collect() };
    for dim in [Dim::LANE, Dim::WARP] {
        let within: Vec<_> = more.bases_of(dim).into_iter().map(cut).collect();
        let found = less.bases_of(dim);
        require(within == found, || format!("bases of {dim} are {found:?}, of the large tensor {within:?}"))?;
    }
    let reached = |layout: &LinearLayout| -> BTreeSet<Vec<u64>> {
        let within = layout.bases_of(Dim::REGISTER).into_iter().map(cut);
        within.filter(|basis| basis.iter().any(|&c| c != 0)).collect()
    };
    let (found, within) = (reached(less), reached(more));
    require(found == within, || format!("registers reach {found:?}, of the large tensor {within:?}"))
}

/// Checks that a slice layout holds, at each lane and warp, the coordinates of its parent without the removed axis.
pub(super) fn slices(context: &Context, sample: &SampleLayout) -> LawResult {
    const EXTENT: u64 = 64;
    for axis in [0, 1] {
        let spec = FamilySpec::new("slice").with_parameter("dim", axis as i64).with_parent(sample.spec.clone());
        let mut parent_shape = [EXTENT, EXTENT];
        parent_shape[axis] = 1;
        let parent = resolve(context, &sample.spec, &parent_shape)?;
        let slice = resolve(context, &spec, &[EXTENT])?;
        of_shape(slice.linear(), &[EXTENT])?;
        is_distributed(slice.linear())?;
        let left = |dim| -> Vec<u64> { parent.linear().bases_of(dim).iter().map(|basis| basis[1 - axis]).collect() };
        let sample_layout = |dim| -> Vec<u64> { slice.linear().bases_of(dim).into_iter().flatten().collect() };
        for dim in [Dim::LANE, Dim::WARP] {
            require(sample_layout(dim) == left(dim), || {
                format!("axis {axis}: {dim} has {:?}, the parent {:?}", sample_layout(dim), left(dim))
            })?;
        }
        let reached = |bases: Vec<u64>| bases.into_iter().filter(|&c| c != 0).collect::<BTreeSet<_>>();
        let (found, expected) = (reached(sample_layout(Dim::REGISTER)), reached(left(Dim::REGISTER)));
        require(found == expected, || format!("axis {axis}: registers reach {found:?}, the parent's {expected:?}"))?;
    }
    Ok(())
}
