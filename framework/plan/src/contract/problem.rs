//! What is asked of a contraction.

use thiserror::Error;

use crate::movement::MovementError;
use tilewright_layout::{LayoutError, LinearLayout, MOST_TENSOR_BITS};
use tilewright_target::ElementType;

use super::scale::Scale;

/// `c + a * b` of one tile, by one block.
#[derive(Debug, Clone, PartialEq)]
pub struct MmaProblem {
    /// M, N and K: `a` is M x K, `b` is K x N, the sums are M x N. Powers of two.
    pub shape: [u64; 3],
    /// The elements of `a`, row-major in memory.
    pub a: ElementType,
    /// The elements of `b`; in memory row-major, but column-major where they are narrower than a byte, so that bytes
    /// hold neighbours along K.
    pub b: ElementType,
    /// The scales of `a` and of `b`, where they have any.
    pub scales: [Option<Scale>; 2],
    /// Whether the memory of `a`, or of `b`, has been shuffled along K as [`super::Contraction::shuffle`] says.
    pub shuffled: [bool; 2],
    /// The elements of the sums, of what they begin with and of the result.
    pub accumulator: ElementType,
    /// Whether sums of integers become the greatest or the least number of their type where they are beyond it, each
    /// time that a unit adds to them; otherwise they wrap.
    pub saturating: bool,
    /// Lanes of a warp.
    pub lanes: u32,
    /// Warps of the block.
    pub warps: u32,
    /// Whether each warp keeps whole rows of the result, since these are a factor of another product.
    pub chained: bool,
    /// Whether the product is one of a chain: its result is a factor of another, or the other way round.
    pub linked: bool,
    /// The layouts in which another product has made `a`, M x K, and `b`, K x N, where one has: registers hold them, and no
    /// memory does.
    pub made: [Option<LinearLayout>; 2],
    /// Elements of K that a lane holds side by side; the cheapest number where absent.
    pub k_width: Option<u64>,
    /// Columns of the result, and of `b`, that a lane holds side by side; as the unit has them where absent.
    pub n_width: Option<u64>,
    /// The layout in which the result is wanted, where there is one.
    pub required: Option<LinearLayout>,
    /// The unit that is to multiply, by the name of its row; the best where absent.
    pub unit: Option<String>,
    /// How lanes and warps are to share the result out; the best where absent.
    pub warp_partition: Option<WarpPartition>,
}

/// How lanes and warps share out the result of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarpPartition {
    /// Whether the unit's first factor is `b`.
    pub swap_ab: bool,
    /// Warps along M and along N.
    pub warps: [u64; 2],
    /// Lanes along M that multiply and add by themselves; of what instructions do their rows say it.
    pub lanes: Option<u64>,
}

impl MmaProblem {
    /// A product without further wishes.
    #[must_use]
    pub fn new(shape: [u64; 3], [a, b, accumulator]: [ElementType; 3], lanes: u32, warps: u32) -> Self {
        let (scales, shuffled) = ([None; 2], [false; 2]);
        let (saturating, chained, linked) = (false, false, false);
        Self {
            shape,
            a,
            b,
            accumulator,
            scales,
            shuffled,
            saturating,
            lanes,
            warps,
            chained,
            linked,
            made: [None, None],
            k_width: None,
            n_width: None,
            required: None,
            unit: None,
            warp_partition: None,
        }
    }

    /// The same with scales of `a` and of `b`.
    #[must_use]
    pub fn with_scales(self, scales: [Option<Scale>; 2]) -> Self {
        Self { scales, ..self }
    }

    /// The elements of both factors.
    pub(super) fn factors(&self) -> [ElementType; 2] {
        [self.a, self.b]
    }

    /// Log2 of M, N and K.
    pub(super) fn bits(&self) -> [u32; 3] {
        self.shape.map(u64::trailing_zeros)
    }

    pub(super) fn check(&self) -> Result<(), ContractError> {
        if let Some(&size) = self.shape.iter().find(|size| !size.is_power_of_two() || **size > MOST) {
            return Err(ContractError::Shape { size });
        }
        let [m, n, k] = self.bits();
        if let Some(&bits) = [m + k, k + n, m + n].iter().find(|bits| **bits > MOST_TENSOR_BITS) {
            return Err(ContractError::Size { bits });
        }
        for (what, number) in [("lanes", self.lanes), ("warps", self.warps)] {
            if !number.is_power_of_two() {
                return Err(ContractError::Threads { what, number });
            }
        }
        self.warp_partition.map_or(Ok(()), |shared| shared.check(self.lanes, self.warps))?;
        for (scale, factor) in self.scales.iter().zip(self.factors()) {
            if let Some(scale) = scale {
                check_scale(*scale, factor)?;
            }
        }
        match [self.k_width, self.n_width].into_iter().flatten().find(|size| !size.is_power_of_two()) {
            Some(size) => Err(ContractError::Shape { size }),
            None => Ok(()),
        }
    }
}

impl WarpPartition {
    fn check(self, lanes: u32, warps: u32) -> Result<(), ContractError> {
        let [m, n] = self.warps;
        let impossible = |reasons: String| Err(ContractError::Impossible { reasons });
        if m.checked_mul(n) != Some(u64::from(warps)) {
            return impossible(format!("{m} warps along M and {n} along N are asked for, and the block has {warps}"));
        }
        match self.lanes {
            Some(_) if self.swap_ab => impossible("plain multiply-adds have no other order of the factors".to_owned()),
            Some(along) if !along.is_power_of_two() || along > u64::from(lanes) => {
                impossible(format!("{along} lanes along M are asked for, and a warp has {lanes}"))
            }
            _ => Ok(()),
        }
    }
}

/// Scales are for floating-point elements of at most eight bits.
fn check_scale(scale: Scale, factor: ElementType) -> Result<(), ContractError> {
    let is_scale = scale.format().is_some_and(|format| !format.is_signed());
    let known = scale.exponents.is_none_or(|[least, greatest]| least <= greatest && least >= -127 && greatest <= 127);
    if !scale.block.is_power_of_two() || scale.block > MOST {
        return Err(ContractError::Shape { size: scale.block });
    }
    if !is_scale || !known || !factor.is_float() || factor.bits() > 8 {
        return Err(ContractError::Scale { scale: scale.number, factor });
    }
    Ok(())
}

/// Sizes beyond this are no tile of a block.
const MOST: u64 = 1 << 16;

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ContractError {
    /// A size that no layout has; the caller's fault.
    #[error(
        "{size} is no size of a tile: layouts are maps of bits, so M, N, K and the width along K are powers of two up to \
         {MOST}; pad the matrices, with zeros along K"
    )]
    Shape {
        /// The size.
        size: u64,
    },
    /// A matrix of a size that nothing plans element by element; the caller's fault.
    #[error(
        "a matrix of 2^{bits} elements; plans are made for at most 2^{MOST_TENSOR_BITS}: give the shape of one tile, which \
         a block multiplies at once"
    )]
    Size {
        /// Log2 of the elements.
        bits: u32,
    },
    /// Scales that factors do not have; the caller's fault.
    #[error(
        "factors of {factor} with scales of {scale}: scales are e8m0 or ue4m3, of exponents from -127 to 127, for \
         floating-point elements of at most eight bits"
    )]
    Scale {
        /// The type of the scales.
        scale: ElementType,
        /// The type of the factor.
        factor: ElementType,
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
