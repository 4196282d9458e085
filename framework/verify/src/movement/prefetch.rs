//! Test cases of tiles that are prefetched and then loaded.

use std::collections::BTreeSet;

use tilewright_kernel::Counts;
use tilewright_plan::movement::{CountLowerBounds, PlanContext, PrefetchPlan};

use super::elements::{element, little_endian};
use crate::CheckFailure;
use crate::expected_counts::{ExpectedCounts, PlannedSectorCount};
use crate::kernels::{PrefetchDistance, build_prefetch_kernel};
use crate::test_case::{BufferLegend, TestCase, changed, input};

/// Creates a test of a copy of a matrix tile by tile, each prefetched some iterations earlier. It compares every byte
/// and the number of a warp's prefetches, and checks that each sector of the matrix was prefetched. Padding between
/// rows is not copied.
///
/// # Errors
/// [`CheckFailure::Movement`] if the tiles cannot be loaded by this number of lanes, or if the pitch is no power of
/// two.
pub fn build_prefetch_case<'a>(
    prefetch: &PrefetchPlan,
    lanes: u32,
    distance: PrefetchDistance,
    context: impl Into<PlanContext<'a>>,
) -> Result<TestCase, CheckFailure> {
    let context = context.into();
    let problem = prefetch.to_spec();
    let (bits, pitch, [rows, columns]) = (problem.element_bits, problem.pitch, problem.matrix);
    let bytes = u64::from(bits / 8);
    let kernel = build_prefetch_kernel(prefetch, lanes, distance, context)?;
    let matrix = little_endian((0..rows * pitch).map(|index| element(index, bits)), bytes as usize);
    let copied = |index| if index % pitch < columns { element(index, bits) } else { 0 };
    let after = little_endian((0..rows * pitch).map(copied), bytes as usize);
    let legend = BufferLegend::of_elements(bits, move |index| {
        (format!("row {}, column {} of the copy", index / pitch, index % pitch), index)
    });
    let copy = changed("copy", bits, vec![0; matrix.len()], after, legend);
    let tiles = rows.div_ceil(problem.tile[0]) + u64::from(distance.tiles);
    let sector_bytes = u64::from(context.target.global.transaction_bytes.max(1));
    let of_row = |row: u64| {
        let begin = row * pitch * bytes;
        begin / sector_bytes..(begin + columns * bytes).div_ceil(sector_bytes)
    };
    let all: BTreeSet<u64> = (0..rows).flat_map(of_row).collect();
    let sectors = PlannedSectorCount {
        accesses: "prefetches",
        planned: all.len() as u64,
        executed: |sectors| sectors.prefetched,
    };
    let planned = Counts { prefetches: prefetch.counts.prefetches * tiles, ..Counts::default() };
    let counts = ExpectedCounts::all(planned, CountLowerBounds::default())
        .comparing(|counts| Counts { prefetches: counts.prefetches, ..Counts::default() })
        .with_sectors([Some(sectors), None]);
    Ok(TestCase::of_buffers(kernel, 1, vec![input(0, matrix), copy]).with_counts(counts))
}
