//! Search over tile sizes: compares programs of different sizes by predicted time.

use super::{SynthesisError, SynthesisOptions, SynthesizedProgram, synthesize};
use crate::LaunchConfig;
use tilewright_tile::TileModule;

/// A program with given tile sizes.
#[derive(Debug, Clone)]
pub struct TiledProgram {
    /// The module of the program.
    pub module: TileModule,
    /// Number of blocks of the program's launch; larger tiles need fewer blocks.
    pub blocks: u64,
}

/// The fastest program among those of different tile sizes, and the extent of the search.
#[derive(Debug, Clone)]
pub struct TileSizeSearchResult {
    /// The tile sizes of the fastest program, one for each parameter of the search, in order.
    pub sizes: Vec<u64>,
    /// The fastest program after synthesis.
    pub found: SynthesizedProgram,
    /// Number of programs for which layouts were solved.
    pub solved: usize,
    /// The combinations of tile sizes for which no layouts were found, each with the reason.
    pub unsatisfied: Vec<(Vec<u64>, SynthesisError)>,
    /// Number of programs that were not tried, because the search had already tried its max number of programs.
    pub beyond_limit: usize,
    /// The tile sizes of each program for which layouts were found, with the predicted cycles of a launch.
    pub predicted: Vec<(Vec<u64>, f64)>,
}

/// Synthesizes the program that `make` returns for each combination of tile sizes, at most `most` programs, and keeps
/// the one with the fewest predicted cycles. `make` returns `None` for sizes that give no program. The result is
/// deterministic; of equally fast programs the first wins.
///
/// # Errors
/// [`SynthesisError`] of the first program if no program has a solution; [`SynthesisError::NoSizes`] if `make` returns
/// no program.
pub fn search_tile_sizes(
    parameters: &[&[u64]],
    make: &mut dyn FnMut(&[u64]) -> Option<TiledProgram>,
    config: &LaunchConfig<'_>,
    (options, most): (SynthesisOptions, usize),
) -> Result<TileSizeSearchResult, SynthesisError> {
    let (mut solved, mut left_out, mut unsatisfied) = (0, 0, Vec::new());
    let mut best: Option<(Vec<u64>, SynthesizedProgram)> = None;
    let mut predicted = Vec::new();
    for index in 0..parameters.iter().map(|sizes| sizes.len()).product::<usize>() {
        let mut rest = index;
        let mut sizes = Vec::with_capacity(parameters.len());
        for all in parameters.iter().rev() {
            sizes.push(all[rest % all.len()]);
            rest /= all.len();
        }
        sizes.reverse();
        let Some(program) = make(&sizes) else { continue };
        if solved + unsatisfied.len() >= most {
            left_out += 1;
            continue;
        }
        match synthesize(&program.module, config, SynthesisOptions { blocks: Some(program.blocks), ..options }) {
            Ok(found) => {
                solved += 1;
                predicted.push((sizes.clone(), found.derivation.prediction.cycles));
                let cycles = |found: &SynthesizedProgram| found.derivation.prediction.cycles;
                if best.as_ref().is_none_or(|(_, best)| cycles(&found) < cycles(best)) {
                    best = Some((sizes, found));
                }
            }
            Err(error) => unsatisfied.push((sizes, error)),
        }
    }
    match best {
        Some((sizes, found)) => {
            Ok(TileSizeSearchResult { sizes, found, solved, unsatisfied, beyond_limit: left_out, predicted })
        }
        None => Err(unsatisfied.into_iter().next().map_or(SynthesisError::NoSizes, |(_, error)| error)),
    }
}
