//! Why a program gives no kernel.

use thiserror::Error;

use tilewright_assign::EngineError;
use tilewright_assign::synthesis::SynthesisError;
use tilewright_kernel::VerifyError;
use tilewright_layout::text::TextError;
use tilewright_lower::{LowerError, Reason};
use tilewright_plan::contract::ContractError;
use tilewright_plan::movement::MovementError;

/// Why a program gives no kernel.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The text is no program, breaks a rule, or has words that mean nothing here; its author's fault.
    #[error(transparent)]
    Text(#[from] TextError),
    /// Sizes of tiles that cannot be chosen: the text's fault, or the caller's, who names others.
    #[error("sizes: {0}")]
    Sizes(String),
    /// The function to begin with is not there; the caller's fault.
    #[error("{0}")]
    Entry(String),
    /// Its tensors get no layouts.
    #[error("layouts: {0}")]
    Layouts(#[from] EngineError),
    /// No layouts satisfy a program that says where tiles lie.
    #[error("synthesis: {0}")]
    Synthesis(#[from] SynthesisError),
    /// An operation cannot be lowered.
    #[error("lowering: {}{source}", place.as_ref().map(|place| format!("{}:{}: ", place.line, place.column)).unwrap_or_default())]
    Lower {
        /// Where the operation stands, where it was read.
        place: Option<TextError>,
        /// What cannot be done.
        source: Box<LowerError>,
    },
    /// The kernel breaks a rule: a fault of this framework.
    #[error("the lowered kernel is invalid: {0}")]
    Kernel(#[from] VerifyError),
}

impl ProgramError {
    /// What is wrong with the program itself is told at its place in the text.
    pub(super) fn synthesis(error: SynthesisError, text: &str) -> Self {
        match error {
            SynthesisError::Program(violation) => Self::Text(violation.in_text(text)),
            error => Self::Synthesis(error),
        }
    }

    pub(super) fn lowered(source: LowerError, text: &str) -> Self {
        let place = source.at.map(|at| TextError::new(text, at as usize, source.to_string()));
        Self::Lower { place, source: Box::new(source) }
    }

    /// Whether nothing is wrong with the program, but the target has no way to do it, or too little of something.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        match self {
            Self::Layouts(EngineError::Product { source, .. }) => contract(source),
            Self::Layouts(EngineError::Movement(source)) => movement(source),
            Self::Synthesis(SynthesisError::Product { source, .. }) => contract(source),
            Self::Synthesis(SynthesisError::Engine(EngineError::Product { source, .. })) => contract(source),
            Self::Synthesis(SynthesisError::Room { .. }) => true,
            Self::Lower { source, .. } => match &*source.reason {
                Reason::Unsupported(_) | Reason::TooLarge { .. } => true,
                Reason::Contract(source) => contract(source),
                Reason::Movement(source) => movement(source),
                _ => false,
            },
            _ => false,
        }
    }

    /// Where in the text it is wrong, where that is known.
    #[must_use]
    pub fn place(&self) -> Option<&TextError> {
        match self {
            Self::Text(place) => Some(place),
            Self::Lower { place, .. } => place.as_ref(),
            _ => None,
        }
    }
}

fn movement(error: &MovementError) -> bool {
    matches!(error, MovementError::Impossible { .. })
}

fn contract(error: &ContractError) -> bool {
    match error {
        ContractError::Movement(source) => movement(source),
        ContractError::Impossible { .. } => true,
        _ => false,
    }
}
