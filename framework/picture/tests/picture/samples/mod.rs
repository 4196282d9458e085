//! Sample layouts that the tests draw, defined by their bases.

#![allow(dead_code, reason = "each test program uses its own part of this")]

use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{Dim, FamilyProviders, FamilySpec, Layout, LinearLayout};
use tilewright_picture::{Grid, PanelContent, Picture};

/// Returns a blocked layout whose last axis is the fastest.
pub fn blocked(shape: &[u64], size: &[i64], lanes: &[i64], warps: &[i64]) -> Layout {
    let order: Vec<i64> = (0..shape.len() as i64).rev().collect();
    let spec = FamilySpec::new("blocked")
        .with_parameter("size_per_thread", size)
        .with_parameter("threads_per_warp", lanes)
        .with_parameter("warps_per_cta", warps)
        .with_parameter("order", order.as_slice());
    resolved(&spec, shape)
}

/// Returns a layout of 8x16 elements over one warp of 32 lanes: pairs of elements along the rows, eight lanes per row.
pub fn small() -> Layout {
    blocked(&[8, 16], &[1, 2], &[4, 8], &[1, 1])
}

pub fn resolved(spec: &FamilySpec, shape: &[u64]) -> Layout {
    FamilyProviders::new(vec![&NeutralFamilies]).layout(spec, shape).expect("a neutral layout")
}

/// Returns the layout of the accumulator of a 16x8 MMA tile, column by column: four lanes per row, eight rows of lanes;
/// a lane has two elements of a row, in both halves of the rows.
pub fn accumulator() -> Layout {
    let bases = [
        (Dim::REGISTER, vec![vec![0, 1], vec![8, 0]]),
        (Dim::LANE, vec![vec![0, 2], vec![0, 4], vec![1, 0], vec![2, 0], vec![4, 0]]),
    ];
    Layout::Distributed(linear(&bases, &[16, 8]))
}

/// Returns the layout with the given basis vectors for a tensor shape.
pub fn linear(bases: &[(Dim, Vec<Vec<u64>>)], shape: &[u64]) -> LinearLayout {
    let outs: Vec<_> = shape.iter().enumerate().map(|(axis, &size)| (Dim::tensor(axis), size)).collect();
    LinearLayout::from_bases(bases, &outs).expect("a layout")
}

pub fn swizzled(shape: &[u64], vec: i64, per_phase: i64, max_phase: i64) -> Layout {
    let spec = FamilySpec::new("swizzled_shared")
        .with_parameter("vec", vec)
        .with_parameter("per_phase", per_phase)
        .with_parameter("max_phase", max_phase)
        .with_parameter("order", [1i64, 0]);
    resolved(&spec, shape)
}

/// Returns a row-major memory layout without swizzle, with `padding` elements after every `interval` elements.
pub fn padded(shape: &[u64], interval: i64, padding: i64) -> Layout {
    let spec = FamilySpec::new("padded_shared")
        .with_parameter("interval_padding_pairs", [[interval, padding]])
        .with_parameter("order", [1i64, 0]);
    resolved(&spec, shape)
}

/// Returns the grids of a picture with the titles of their panels.
pub fn grids(picture: &Picture) -> Vec<(&str, &Grid)> {
    let panels = picture.panels().filter_map(|panel| match &panel.content {
        PanelContent::Grid(grid) => Some((panel.title.as_str(), grid)),
        _ => None,
    });
    panels.collect()
}

/// Returns the only grid of a picture whose title starts with `title`.
pub fn grid<'a>(picture: &'a Picture, title: &str) -> &'a Grid {
    let found: Vec<_> = grids(picture).into_iter().filter(|(name, _)| name.starts_with(title)).collect();
    assert_eq!(found.len(), 1, "{title}: {:?}", grids(picture).iter().map(|g| g.0).collect::<Vec<_>>());
    found[0].1
}
