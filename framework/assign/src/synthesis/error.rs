//! Errors of synthesis.

use thiserror::Error;

use crate::AssignmentError;
use crate::layouts::LayoutResolveError;
use tilewright_layout::LayoutError;
use tilewright_plan::memory_synthesis as memory;
use tilewright_plan::mma::MmaError;
use tilewright_plan::movement::MovementError;
use tilewright_tile::TileViolation;

/// The reason why no layouts were found for a program with explicit memory.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SynthesisError {
    /// The program is invalid; its author's fault.
    #[error(transparent)]
    Program(#[from] TileViolation),
    /// Layout assignment failed.
    #[error(transparent)]
    Engine(#[from] AssignmentError),
    /// The target has no instruction for a dot as the program states it.
    #[error("{operation}: {source}")]
    Mma {
        /// Name of the dot's result in the program's text.
        operation: String,
        /// The reason why there is no plan.
        source: MmaError,
    },
    /// No layout of a tensor in shared memory serves all its accesses.
    #[error("tensor {tensor} in shared memory: {source}")]
    Memory {
        /// Name of the tensor in the program's text.
        tensor: String,
        /// The reason, such as the accesses whose required layouts exclude each other.
        source: Box<memory::MemorySynthesisError>,
    },
    /// A copy names an instruction that cannot implement it; its author's fault.
    #[error("`{access}`: the target has no instruction `{row}` for it; expected one of {known}")]
    NoRow {
        /// The copy as text: its result, its name and its operands.
        access: String,
        /// The instruction that the program names.
        row: String,
        /// Names of the instructions that can implement the copy, separated by commas.
        known: String,
    },
    /// A loop requests roles of warps (a producer warp, or warp groups that alternate) that it cannot have; its
    /// author's fault.
    #[error(
        "the loop that fills {tensors}, with `{request}` on `{target}`: {reason}: remove the attribute, or set it to `false`"
    )]
    Request {
        /// The attribute, of this loop or of a loop around it.
        request: &'static str,
        /// Names of the tensors in shared memory that the loop fills, separated by commas.
        tensors: String,
        /// The name of the target.
        target: String,
        /// The reason.
        reason: String,
    },
    /// Warp groups that alternate would wait for each other at a barrier of the loop.
    #[error("warp groups cannot alternate in a loop with another barrier")]
    BarrierInPingPong,
    /// No combination of choices has a solution, for different reasons.
    #[error("no choice has a solution: {}", joined(.errors))]
    NoChoice {
        /// The different reasons, in the order of the search.
        errors: Vec<Self>,
    },
    /// Two operations require different layouts of a tensor, without a conversion between them: a fault of the solver.
    #[error("`{first}` and `{second}` disagree: {source}")]
    Disagree {
        /// The first of the two operations, as text.
        first: String,
        /// The second of the two operations, as text.
        second: String,
        /// The constraint that the two layouts violate.
        source: Box<tilewright_plan::constraint::LayoutConstraintError>,
    },
    /// No combination of tile sizes gives a program; the caller's fault.
    #[error("no combination of tile sizes results in a program: allow at least one")]
    NoSizes,
    /// The performance model has no prediction.
    #[error(transparent)]
    Model(#[from] super::model::ModelError),
    /// The tensors take more shared memory than a block has.
    #[error(
        "{bytes} bytes of shared memory; a block of `{target}` has {most}: use smaller tiles or fewer stages, or end the \
         uses of one tensor before those of another begin, so that both take the same memory ({tensors})"
    )]
    SharedMemoryExceeded {
        /// The name of the target.
        target: String,
        /// Bytes of shared memory that the tensors need in each block.
        bytes: u64,
        /// Max bytes of shared memory of a block of the target.
        most: u64,
        /// The tensors with the bytes of each, as text, the largest first.
        tensors: String,
    },
    /// The layout that a type names does not resolve.
    #[error(transparent)]
    Type(#[from] LayoutResolveError),
    /// A plan of data movement failed.
    #[error(transparent)]
    Movement(#[from] MovementError),
    /// Two layouts cannot be combined.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

/// Returns the texts of several errors as one.
fn joined(errors: &[SynthesisError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; or: ")
}

/// The different reasons why choices have no solution.
#[derive(Debug, Default)]
pub(super) struct Refusals(Vec<SynthesisError>);

impl Refusals {
    /// Adds a reason. Of choices that do not fit shared memory, only the one of the fewest bytes remains.
    pub(super) fn add(&mut self, error: SynthesisError) {
        let size = |error: &SynthesisError| match error {
            SynthesisError::SharedMemoryExceeded { bytes, .. } => Some(*bytes),
            _ => None,
        };
        match self.0.iter_mut().find(|known| **known == error || size(known).is_some() && size(&error).is_some()) {
            Some(known) if size(&error) < size(known) => *known = error,
            Some(_) => {}
            None => self.0.push(error),
        }
    }

    /// Returns one error with all reasons; `None` if there is none. An invalid program is the only reason.
    pub(super) fn into_error(mut self) -> Option<SynthesisError> {
        let is_invalid = |error: &SynthesisError| matches!(error, SynthesisError::Program(_));
        if let Some(at) = self.0.iter().position(is_invalid) {
            return Some(self.0.swap_remove(at));
        }
        match self.0.len() {
            0 | 1 => self.0.pop(),
            _ => Some(SynthesisError::NoChoice { errors: self.0 }),
        }
    }
}
