//! Tiles that are loaded by blocks of a matrix.

use crate::kernels::block_load_kernel;
use tilewright_emulator::Report;
use tilewright_kernel::Kernel;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{BlockLoads, BlockSource, Means};
use tilewright_plugin::{Device, Target};

use super::execute::{element, little_endian, run_on, word};
use super::{Disproof, Machine};

/// A tile that is loaded by blocks.
#[derive(Debug, Clone, Copy)]
pub struct BlockTile<'a> {
    /// The layout of the tile.
    pub layout: &'a LinearLayout,
    /// The matrix.
    pub source: BlockSource,
    /// Bits of an element.
    pub element_bits: u32,
    /// Row and column of the matrix (dim0, dim1) at which the tile begins.
    pub begin: [i32; 2],
}

impl BlockTile<'_> {
    fn bytes(&self) -> usize {
        (self.element_bits / 8) as usize
    }

    fn matrix(&self) -> Vec<u8> {
        let elements = self.source.pitch * self.source.shape[1 - self.source.minor];
        little_endian((0..elements).map(|index| element(index, self.element_bits)), self.bytes())
    }

    fn tile_bytes(&self) -> usize {
        self.bytes() << self.layout.outs().bits()
    }

    fn kernel(&self, loads: &BlockLoads, means: Means<'_>) -> Result<Kernel, Disproof> {
        let kernel = block_load_kernel("block_load", (self.layout, loads), self.begin, self.element_bits, means)?;
        tilewright_kernel::verify_instructions(&kernel, means.instructions)?;
        Ok(kernel)
    }

    /// That a tile, row-major, has the matrix' elements, and zeros beyond it.
    fn compare(&self, tile: &[u8]) -> Result<(), Disproof> {
        let columns = 1i64 << self.layout.out_bits(Dim::tensor(1));
        for (index, found) in (0..).zip(tile.chunks_exact(self.bytes())) {
            let at = [index / columns + i64::from(self.begin[0]), index % columns + i64::from(self.begin[1])];
            let inside = at.iter().zip(self.source.shape).all(|(at, size)| (0..size as i64).contains(at));
            let minor = self.source.minor;
            let expected = match inside {
                true => element(at[1 - minor] as u64 * self.source.pitch + at[minor] as u64, self.element_bits),
                false => 0,
            };
            let found = word(found);
            if found != expected {
                let place = format!("row {}, column {} of the matrix", at[0], at[1]);
                return Err(Disproof::WrongElement { place, found, element: index as u64, expected });
            }
        }
        Ok(())
    }
}

/// Loads a tile on the emulator; compares every element, and where the tile is at the begin of the matrix the units of
/// memory that were touched.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_block_loads<'a>(
    tile: &BlockTile<'_>,
    loads: &BlockLoads,
    means: impl Into<Means<'a>>,
) -> Result<Report, Disproof> {
    let means = means.into();
    let kernel = tile.kernel(loads, means)?;
    let (report, left) = run_on(kernel, &[tile.matrix(), vec![0xff; tile.tile_bytes()]], 1, means)?;
    tile.compare(&left[1])?;
    let (planned, executed) = (loads.transactions, report.transactions_loaded);
    match tile.begin != [0, 0] || planned == executed {
        true => Ok(report),
        false => Err(Disproof::Transactions { what: "loads", planned, executed }),
    }
}

/// The same on a device of the target, without the counts.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_block_loads_on(
    device: &mut dyn Device,
    target: &dyn Target,
    tile: &BlockTile<'_>,
    loads: &BlockLoads,
) -> Result<(), Disproof> {
    let means = Means::of(target.description()).with_instructions(target.instructions());
    let kernel = tile.kernel(loads, means)?;
    let found = Machine::new(target, device).run_on(kernel, &[tile.matrix(), vec![0xff; tile.tile_bytes()]], 1)?;
    tile.compare(&found[1])
}
