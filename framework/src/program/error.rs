//! Errors of compiling tile programs.

use thiserror::Error;

use tilewright_assign::AssignmentError;
use tilewright_assign::synthesis::SynthesisError;
use tilewright_kernel::VerifyError;
use tilewright_layout::text::TextError;
use tilewright_lower::{LowerError, LowerErrorReason};
use tilewright_plan::mma::MmaError;
use tilewright_plan::movement::MovementError;

/// The reason why a program has no kernel.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The text does not parse, violates a rule, or uses unknown operations; its author's fault.
    #[error(transparent)]
    Text(#[from] TextError),
    /// Tile sizes cannot be chosen: an error of the text, or of the sizes that the caller names.
    #[error("sizes: {0}")]
    Sizes(String),
    /// The entry function is missing; the caller's fault.
    #[error("{0}")]
    Entry(String),
    /// Layout assignment failed.
    #[error("layouts: {0}")]
    Layouts(#[from] AssignmentError),
    /// Synthesis found no layouts for a program with explicit memory (`tw` operations that state where tiles lie).
    #[error("synthesis: {0}")]
    Synthesis(#[from] SynthesisError),
    /// An operation cannot be lowered.
    #[error("lowering: {}{source}", location.as_ref().map(|location| format!("{}:{}: ", location.line, location.column)).unwrap_or_default())]
    Lower {
        /// The position of the operation in the text; `None` if it is not known.
        location: Option<TextError>,
        /// The error of the lowering.
        source: Box<LowerError>,
    },
    /// The kernel is invalid: a fault of this framework.
    #[error("the lowered kernel is invalid: {0}")]
    Kernel(#[from] VerifyError),
}

impl ProgramError {
    /// Makes the error of synthesis; if the program is invalid, with the position in the text.
    pub(super) fn synthesis(error: SynthesisError, text: &str) -> Self {
        match error {
            SynthesisError::Program(violation) => Self::Text(violation.to_text_error(text)),
            error => Self::Synthesis(error),
        }
    }

    pub(super) fn lowered(source: LowerError, text: &str) -> Self {
        let location = source.at.map(|at| TextError::new(text, at as usize, source.to_string()));
        Self::Lower { location, source: Box::new(source) }
    }

    /// Whether the program is valid but the target lacks an instruction, or enough of a resource.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        match self {
            Self::Layouts(AssignmentError::Mma { source, .. }) => is_unsupported_mma(source),
            Self::Layouts(AssignmentError::Movement(source)) => is_impossible_movement(source),
            Self::Synthesis(source) => is_unsupported_choice(source),
            Self::Lower { source, .. } => match &*source.reason {
                LowerErrorReason::Unsupported(_) | LowerErrorReason::TooLarge { .. } => true,
                LowerErrorReason::Mma(source) => is_unsupported_mma(source),
                LowerErrorReason::Movement(source) => is_impossible_movement(source),
                _ => false,
            },
            _ => false,
        }
    }

    /// Returns the position of the error in the program's text; `None` if it is not known.
    #[must_use]
    pub fn location(&self) -> Option<&TextError> {
        match self {
            Self::Text(location) => Some(location),
            Self::Lower { location, .. } => location.as_ref(),
            _ => None,
        }
    }
}

fn is_unsupported_choice(error: &SynthesisError) -> bool {
    match error {
        SynthesisError::Mma { source, .. } | SynthesisError::Engine(AssignmentError::Mma { source, .. }) => {
            is_unsupported_mma(source)
        }
        SynthesisError::SharedMemoryExceeded { .. } => true,
        SynthesisError::NoChoice { errors } => errors.iter().all(is_unsupported_choice),
        _ => false,
    }
}

fn is_impossible_movement(error: &MovementError) -> bool {
    matches!(error, MovementError::Impossible { .. })
}

fn is_unsupported_mma(error: &MmaError) -> bool {
    match error {
        MmaError::Movement(source) => is_impossible_movement(source),
        MmaError::Impossible { .. } | MmaError::Registers { .. } => true,
        _ => false,
    }
}
