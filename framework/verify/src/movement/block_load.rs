//! Test cases of tiles that are loaded by block loads.

use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{Block2dLoadPlan, BlockLoadSource, PlanContext};

use super::elements::{element, little_endian};
use crate::CheckFailure;
use crate::expected_counts::{ExpectedCounts, PlannedSectorCount};
use crate::kernels::build_block_load_kernel;
use crate::test_case::{BufferLegend, TestCase, changed, input};

/// A tile of a matrix that is loaded by block loads.
#[derive(Debug, Clone, Copy)]
pub struct BlockLoadTile<'a> {
    /// Layout of the tile.
    pub layout: &'a LinearLayout,
    /// The matrix in global memory.
    pub source: BlockLoadSource,
    /// Width of an element in bits.
    pub element_bits: u32,
    /// Row and column of the matrix (dim0, dim1) at which the tile starts.
    pub begin: [i32; 2],
}

impl BlockLoadTile<'_> {
    fn bytes(&self) -> usize {
        (self.element_bits / 8) as usize
    }

    fn matrix(&self) -> Vec<u8> {
        let elements = self.source.pitch * self.source.shape[1 - self.source.minor];
        little_endian((0..elements).map(|index| element(index, self.element_bits)), self.bytes())
    }

    /// Returns a function from a row-major index of the tile to (row, column) in the matrix.
    fn coordinates(&self) -> impl Fn(u64) -> [i64; 2] + use<> {
        let (columns, [row, column]) = (1u64 << self.layout.out_bits(Dim::tensor(1)), self.begin.map(i64::from));
        move |index| [row + (index / columns) as i64, column + (index % columns) as i64]
    }

    /// Returns the elements of the tile in row-major order; elements beyond the matrix are zero.
    fn elements(&self) -> impl Iterator<Item = u64> + '_ {
        (0..1u64 << self.layout.outs().total_bits()).map(self.coordinates()).map(|at| {
            let inside = at.iter().zip(self.source.shape).all(|(at, size)| (0..size as i64).contains(at));
            let minor = self.source.minor;
            match inside {
                true => element(at[1 - minor] as u64 * self.source.pitch + at[minor] as u64, self.element_bits),
                false => 0,
            }
        })
    }
}

/// Creates a test of a tile's block loads, which compares every element, and the touched sectors if the tile starts at
/// the matrix' origin.
///
/// # Errors
/// [`CheckFailure::Movement`] if no element has this width, or if the store of the tile cannot be planned.
pub fn build_block_2d_load_case<'a>(
    tile: &BlockLoadTile<'_>,
    loads: &Block2dLoadPlan,
    context: impl Into<PlanContext<'a>>,
) -> Result<TestCase, CheckFailure> {
    let bits = tile.element_bits;
    let kernel = build_block_load_kernel((tile.layout, loads), tile.begin, bits, context.into())?;
    let after = little_endian(tile.elements(), tile.bytes());
    let coordinates = tile.coordinates();
    let legend = BufferLegend::of_elements(bits, move |index| {
        let [row, column] = coordinates(index);
        (format!("row {row}, column {column} of the matrix"), index)
    });
    let left = changed("tile", bits, vec![0xff; after.len()], after, legend);
    let sectors =
        PlannedSectorCount { accesses: "loads", planned: loads.transactions, executed: |sectors| sectors.loaded };
    let case = TestCase::of_buffers(kernel, 1, vec![input(0, tile.matrix()), left]);
    Ok(case.with_counts(ExpectedCounts::of_sectors([(tile.begin == [0, 0]).then_some(sectors), None])))
}
