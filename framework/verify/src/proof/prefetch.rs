//! Tiles that are prefetched and then loaded.

use crate::kernels::{Ahead, prefetched_kernel};
use tilewright_emulator::Report;
use tilewright_plan::movement::{Means, Prefetch};

use super::Disproof;
use super::execute::{element, little_endian, run_on};

/// Copies a matrix tile by tile on the emulator, each prefetched some tiles before; compares every byte, how often a
/// warp prefetched, and that each unit of the matrix' memory was prefetched.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_prefetched<'a>(
    prefetch: &Prefetch,
    lanes: u32,
    ahead: Ahead,
    means: impl Into<Means<'a>>,
) -> Result<Report, Disproof> {
    let means = means.into();
    let question = prefetch.question();
    let bytes = (question.element_bits / 8) as usize;
    let elements = question.matrix[0] * question.pitch;
    let matrix = little_endian((0..elements).map(|index| element(index, question.element_bits)), bytes);
    let kernel = prefetched_kernel("prefetched", prefetch, lanes, ahead, means)?;
    tilewright_kernel::verify_instructions(&kernel, means.instructions)?;
    let (report, left) = run_on(kernel, &[matrix.clone(), vec![0; matrix.len()]], 1, means)?;
    let found = left[1].chunks_exact(bytes).zip(matrix.chunks_exact(bytes)).enumerate();
    for (index, (found, expected)) in found {
        // What lies between two rows is not copied.
        let (row, column) = (index as u64 / question.pitch, index as u64 % question.pitch);
        if column < question.matrix[1] && found != expected {
            let [found, expected] = [found, expected].map(super::word);
            let place = format!("row {row}, column {column} of the copy");
            return Err(Disproof::WrongElement { place, found, element: index as u64, expected });
        }
    }
    let tiles = question.matrix[0].div_ceil(question.tile[0]) + u64::from(ahead.tiles);
    let planned = prefetch.counts.prefetches * tiles;
    if report.counts.prefetches != planned {
        let planned = Box::new(tilewright_kernel::Counts { prefetches: planned, ..report.counts });
        return Err(Disproof::Counts { planned, executed: Box::new(report.counts) });
    }
    let unit = u64::from(means.target.global.transaction_bytes.max(1));
    let of_row = |row: u64| {
        let begin = row * question.pitch * bytes as u64;
        begin / unit..(begin + question.matrix[1] * bytes as u64).div_ceil(unit)
    };
    let all: std::collections::BTreeSet<u64> = (0..question.matrix[0]).flat_map(of_row).collect();
    let (planned, executed) = (all.len() as u64, report.units_prefetched);
    match planned == executed {
        true => Ok(report),
        false => Err(Disproof::Transactions { what: "prefetches", planned, executed }),
    }
}
