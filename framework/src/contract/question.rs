//! What is asked of a contraction.

use thiserror::Error;

use crate::layout::{LayoutError, LinearLayout};
use crate::movement::MovementError;
use crate::target::Number;

/// `c + a * b` of one tile, by one block.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// M, N and K: `a` is M x K, `b` is K x N, the sums are M x N. Powers of two.
    pub shape: [u64; 3],
    /// The elements of `a`.
    pub a: Number,
    /// The elements of `b`.
    pub b: Number,
    /// The elements of the sums, of what they begin with and of the result.
    pub accumulator: Number,
    /// Lanes of a warp.
    pub lanes: u32,
    /// Warps of the block.
    pub warps: u32,
    /// Whether each warp keeps whole rows of the result, since these are a factor of another product.
    pub chained: bool,
    /// Elements of K that a lane holds side by side; the cheapest number where absent.
    pub k_width: Option<u64>,
    /// The layout in which the result is wanted, where there is one.
    pub wanted: Option<LinearLayout>,
}

impl Question {
    /// A product without further wishes.
    #[must_use]
    pub fn new(shape: [u64; 3], [a, b, accumulator]: [Number; 3], lanes: u32, warps: u32) -> Self {
        Self { shape, a, b, accumulator, lanes, warps, chained: false, k_width: None, wanted: None }
    }

    /// Log2 of M, N and K.
    pub(super) fn bits(&self) -> [u32; 3] {
        self.shape.map(u64::trailing_zeros)
    }

    pub(super) fn check(&self) -> Result<(), ContractError> {
        if let Some(&size) = self.shape.iter().find(|size| !size.is_power_of_two() || **size > MOST) {
            return Err(ContractError::Shape { size });
        }
        for (what, number) in [("lanes", self.lanes), ("warps", self.warps)] {
            if !number.is_power_of_two() {
                return Err(ContractError::Threads { what, number });
            }
        }
        match self.k_width {
            Some(size) if !size.is_power_of_two() => Err(ContractError::Shape { size }),
            _ => Ok(()),
        }
    }
}

/// Sizes beyond this are no tile of a block.
const MOST: u64 = 1 << 16;

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ContractError {
    /// A size that no layout has; the caller's fault.
    #[error("{size} is no size of a tile: M, N, K and the width along K are powers of two up to {MOST}")]
    Shape {
        /// The size.
        size: u64,
    },
    /// A number of threads that no layout has; the caller's fault.
    #[error("{number} {what}: expected a power of two")]
    Threads {
        /// Lanes or warps.
        what: &'static str,
        /// How many.
        number: u32,
    },
    /// No unit of the target can do it.
    #[error("no way to multiply: {reasons}")]
    Impossible {
        /// Why each unit cannot.
        reasons: String,
    },
    /// The operands cannot be moved.
    #[error(transparent)]
    Movement(#[from] MovementError),
    /// Layouts do not fit each other; a row of the instruction table that contradicts itself.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}
