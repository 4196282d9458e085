//! Sizes of tiles as one more choice: programs that differ in them, of which the model says the best.

use super::{Options, SynthesisError, Synthesized, synthesize};
use crate::LaunchConfig;
use tilewright_tile::TileModule;

/// A program with tiles of certain sizes.
#[derive(Debug, Clone)]
pub struct TiledProgram {
    /// The program.
    pub module: TileModule,
    /// The blocks of its launch: larger tiles take fewer.
    pub blocks: u64,
}

/// The best program, and how many were looked at.
#[derive(Debug, Clone)]
pub struct Tiled {
    /// The sizes, in the order of the parameters.
    pub sizes: Vec<u64>,
    /// The program with these sizes.
    pub found: Synthesized,
    /// Programs that were solved.
    pub solved: usize,
    /// Programs that have no solution, each with the reason.
    pub unsatisfied: Vec<(Vec<u64>, SynthesisError)>,
    /// Sizes that were not looked at, since others had used up what may be.
    pub left_out: usize,
    /// What the model predicts of each that was solved, in cycles.
    pub predicted: Vec<(Vec<u64>, f64)>,
}

/// Solves the program that `make` gives for each choice of one size for each parameter, at most `most` of them, the first sizes
/// first, and keeps the one that the model predicts to take the least. `make` says no to sizes that make no program. The
/// same question has the same answer: of equals the first.
///
/// # Errors
/// [`SynthesisError`] of the first program where none has a solution; [`SynthesisError::NoSizes`] where there is no program.
pub fn synthesize_tiled(
    parameters: &[&[u64]],
    make: &mut dyn FnMut(&[u64]) -> Option<TiledProgram>,
    machine: &LaunchConfig<'_>,
    (options, most): (Options, usize),
) -> Result<Tiled, SynthesisError> {
    let (mut solved, mut left_out, mut unsatisfied) = (0, 0, Vec::new());
    let mut best: Option<(Vec<u64>, Synthesized)> = None;
    let mut predicted = Vec::new();
    for number in 0..parameters.iter().map(|sizes| sizes.len()).product::<usize>() {
        let mut rest = number;
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
        match synthesize(&program.module, machine, Options { blocks: Some(program.blocks), ..options }) {
            Ok(found) => {
                solved += 1;
                predicted.push((sizes.clone(), found.derivation.prediction.cycles));
                let cycles = |found: &Synthesized| found.derivation.prediction.cycles;
                if best.as_ref().is_none_or(|(_, best)| cycles(&found) < cycles(best)) {
                    best = Some((sizes, found));
                }
            }
            Err(error) => unsatisfied.push((sizes, error)),
        }
    }
    match best {
        Some((sizes, found)) => Ok(Tiled { sizes, found, solved, unsatisfied, left_out, predicted }),
        None => Err(unsatisfied.into_iter().next().map_or(SynthesisError::NoSizes, |(_, error)| error)),
    }
}
