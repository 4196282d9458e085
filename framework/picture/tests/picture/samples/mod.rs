//! Layouts that the tests draw, by their definitions.

#![allow(dead_code, reason = "each test program uses its own part of this")]

use tilewright_layout::families::Neutral;
use tilewright_layout::{Dim, FamilySet, FamilySpec, Layout, LinearLayout};
use tilewright_picture::{Content, Grid, Picture};

/// A blocked layout, the last axis fastest.
pub fn blocked(shape: &[u64], size: &[i64], lanes: &[i64], warps: &[i64]) -> Layout {
    let order: Vec<i64> = (0..shape.len() as i64).rev().collect();
    let spec = FamilySpec::new("blocked")
        .with("size_per_thread", size)
        .with("threads_per_warp", lanes)
        .with("warps_per_cta", warps)
        .with("order", order.as_slice());
    resolved(&spec, shape)
}

/// One warp of 32 lanes over 8x16: pairs along the rows, eight lanes along a row.
pub fn small() -> Layout {
    blocked(&[8, 16], &[1, 2], &[4, 8], &[1, 1])
}

pub fn resolved(spec: &FamilySpec, shape: &[u64]) -> Layout {
    FamilySet::new(vec![&Neutral]).layout(spec, shape).expect("a neutral layout")
}

/// The accumulator of a 16x8 tile of a matrix instruction, by its columns: four lanes along a row,
/// eight rows of lanes, two elements of a row and two halves of the rows to a lane.
pub fn accumulator() -> Layout {
    let bases = [
        (Dim::REGISTER, vec![vec![0, 1], vec![8, 0]]),
        (Dim::LANE, vec![vec![0, 2], vec![0, 4], vec![1, 0], vec![2, 0], vec![4, 0]]),
    ];
    Layout::Distributed(linear(&bases, &[16, 8]))
}

/// The layout of the given bases onto a tensor of a shape.
pub fn linear(bases: &[(Dim, Vec<Vec<u64>>)], shape: &[u64]) -> LinearLayout {
    let outs: Vec<_> = shape.iter().enumerate().map(|(axis, &size)| (Dim::tensor(axis), size)).collect();
    LinearLayout::from_bases(bases, &outs).expect("a layout")
}

pub fn swizzled(shape: &[u64], vec: i64, per_phase: i64, max_phase: i64) -> Layout {
    let spec = FamilySpec::new("swizzled_shared")
        .with("vec", vec)
        .with("per_phase", per_phase)
        .with("max_phase", max_phase)
        .with("order", [1i64, 0]);
    resolved(&spec, shape)
}

/// Rows without swizzle, `padding` elements left out after every `interval`.
pub fn padded(shape: &[u64], interval: i64, padding: i64) -> Layout {
    let spec =
        FamilySpec::new("padded_shared").with("interval_padding_pairs", [[interval, padding]]).with("order", [1i64, 0]);
    resolved(&spec, shape)
}

/// The grids of a picture with their panels' titles.
pub fn grids(picture: &Picture) -> Vec<(&str, &Grid)> {
    let panels = picture.panels().filter_map(|panel| match &panel.content {
        Content::Grid(grid) => Some((panel.title.as_str(), grid)),
        _ => None,
    });
    panels.collect()
}

/// The only grid whose title starts so.
pub fn grid<'a>(picture: &'a Picture, title: &str) -> &'a Grid {
    let found: Vec<_> = grids(picture).into_iter().filter(|(name, _)| name.starts_with(title)).collect();
    assert_eq!(found.len(), 1, "{title}: {:?}", grids(picture).iter().map(|g| g.0).collect::<Vec<_>>());
    found[0].1
}
