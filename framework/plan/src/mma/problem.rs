//! The problem of an MMA: shape, element types, warps and constraints on the plan.

use thiserror::Error;

use crate::movement::MovementError;
use tilewright_layout::{LayoutError, LinearLayout, MAX_TENSOR_BITS};
use tilewright_target::ElementType;

use super::scale::BlockScale;

/// The problem `c + a * b` of one tile in one block. Create it with [`MmaProblem::new`] and add constraints with the
/// `with_` methods. Setters of optional values take the value or an `Option`.
///
/// # Examples
/// ```
/// use tilewright_plan::mma::MmaProblem;
/// use tilewright_target::ElementType;
///
/// let number = |name| ElementType::from_name(name).ok_or("no type");
/// let (f16, f32) = (number("f16")?, number("f32")?);
/// let problem = MmaProblem::new([64, 64, 32], [f16, f16, f32], 32, 4).with_k_width(8).with_chained(true);
/// assert_eq!((problem.k_width, problem.n_width, problem.chained), (Some(8), None, true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct MmaProblem {
    /// The sizes M, N and K, powers of two: `a` is M x K, `b` is K x N, the accumulator is M x N.
    pub shape: [u64; 3],
    /// Element type of `a` in memory, or in the registers of the MMA that produced it.
    pub a: ElementType,
    /// Element type of `b` in memory, or in the registers of the MMA that produced it.
    pub b: ElementType,
    /// For `a` and for `b`: whether adjacent elements in memory are adjacent along K; if not, along M or N. By default
    /// both are row-major, but `b` is column-major if its elements are narrower than a byte, so that the elements of a
    /// byte are adjacent along K.
    pub along_k: [bool; 2],
    /// The scales of `a` and of `b`; `None` for an operand without scales.
    pub scales: [Option<BlockScale>; 2],
    /// For `a` and for `b`: whether the operand is pre-shuffled in memory along K by the permutation
    /// [`super::MmaPlan::k_permutation`].
    pub k_permuted: [bool; 2],
    /// Whether `a` and `b` are in shared memory before the MMA. An atom that reads such an operand there takes no
    /// registers for it; otherwise the operand is stored from registers first.
    pub in_shared: [bool; 2],
    /// Whether an operand that is not in shared memory may be stored there for an atom that reads it there.
    pub stores_operands: bool,
    /// The element type of the accumulator, of its initial value and of the result.
    pub accumulator: ElementType,
    /// Whether an integer accumulator saturates on overflow at each MMA; otherwise it wraps.
    pub saturating: bool,
    /// Number of lanes of a warp.
    pub lanes: u32,
    /// Number of warps of the block.
    pub warps: u32,
    /// Whether each warp holds whole rows of the result, because the result is an operand of another MMA (chained dot).
    pub chained: bool,
    /// Whether the dot belongs to a chain: its result is an operand of another dot, or one of its operands is the
    /// result of another dot.
    pub in_chain: bool,
    /// The register layouts of `a`, M x K, and `b`, K x N, as another MMA produced them; `None` for an operand in
    /// memory.
    pub operand_layouts: [Option<LinearLayout>; 2],
    /// Consecutive elements of K that a lane holds; `None` lets the planner choose the cheapest number.
    pub k_width: Option<u64>,
    /// Consecutive columns of the result, and of `b`, that a lane holds; `None` for the number that the atom has.
    pub n_width: Option<u64>,
    /// Whether the columns of each warp are consecutive; otherwise repetitions of the atom along N alternate between
    /// warps.
    pub contiguous_warp_columns: bool,
    /// The required layout of the result; `None` if any layout will do.
    pub result_layout: Option<LinearLayout>,
    /// Name of the MMA atom: an instruction of the target, or `multiply-adds`; `None` lets the planner choose the best.
    pub atom: Option<String>,
    /// The partition of the result over warps and lanes; `None` lets the planner choose the best.
    pub warp_partition: Option<WarpPartition>,
    /// Number of 32-bit registers of a lane that the kernel is compiled for, on targets with several register modes;
    /// `None` lets the planner choose the smallest that suffices.
    pub registers: Option<u32>,
    /// Whether a plan may need more registers than a lane has, so that the rest is spilled.
    pub may_spill: bool,
}

/// The partition of an MMA's result over warps and lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WarpPartition {
    /// Whether A and B are swapped: the atom's first operand is `b`.
    pub swap_ab: bool,
    /// Number of warps along M and along N.
    pub warps: [u64; 2],
    /// Number of lanes along M of plain multiply-adds; `None` for instructions, which fix their lanes.
    pub lanes: Option<u64>,
}

impl MmaProblem {
    /// Creates a problem without optional constraints.
    #[must_use]
    pub fn new(shape: [u64; 3], [a, b, accumulator]: [ElementType; 3], lanes: u32, warps: u32) -> Self {
        let (scales, k_permuted) = ([None; 2], [false; 2]);
        let (saturating, chained, in_chain) = (false, false, false);
        Self {
            shape,
            a,
            b,
            along_k: [true, b.bits() < 8],
            accumulator,
            scales,
            k_permuted,
            in_shared: [false; 2],
            stores_operands: true,
            saturating,
            lanes,
            warps,
            chained,
            in_chain,
            operand_layouts: [None, None],
            k_width: None,
            n_width: None,
            contiguous_warp_columns: false,
            result_layout: None,
            atom: None,
            warp_partition: None,
            registers: None,
            may_spill: false,
        }
    }

    /// Sets the scales of `a` and of `b`; `None` for an operand without scales.
    #[must_use]
    pub fn with_scales(self, scales: [Option<BlockScale>; 2]) -> Self {
        Self { scales, ..self }
    }

    /// Sets, for `a` and for `b`, whether adjacent elements in memory are adjacent along K; if not, along M or N.
    #[must_use]
    pub fn with_k_contiguous(self, along_k: [bool; 2]) -> Self {
        Self { along_k, ..self }
    }

    /// Sets, for `a` and for `b`, whether the operand is in shared memory before the MMA.
    #[must_use]
    pub fn with_operands_in_shared(self, in_shared: [bool; 2]) -> Self {
        Self { in_shared, ..self }
    }

    /// Sets whether an operand that is not in shared memory may be stored there for an atom that reads it there.
    #[must_use]
    pub fn with_stored_operands(self, stores_operands: bool) -> Self {
        Self { stores_operands, ..self }
    }

    /// Sets, for `a` and for `b`, whether the operand is pre-shuffled in memory along K.
    #[must_use]
    pub fn with_k_permuted(self, k_permuted: [bool; 2]) -> Self {
        Self { k_permuted, ..self }
    }

    /// Sets whether an integer accumulator saturates on overflow; otherwise it wraps.
    #[must_use]
    pub fn with_saturating(self, saturating: bool) -> Self {
        Self { saturating, ..self }
    }

    /// Sets the number of lanes of a warp: a power of two.
    #[must_use]
    pub fn with_lanes(self, lanes: u32) -> Self {
        Self { lanes, ..self }
    }

    /// Sets the number of warps of the block: a power of two.
    #[must_use]
    pub fn with_warps(self, warps: u32) -> Self {
        Self { warps, ..self }
    }

    /// Sets whether each warp must hold whole rows of the result, because the result is an operand of another MMA.
    #[must_use]
    pub fn with_chained(self, chained: bool) -> Self {
        Self { chained, ..self }
    }

    /// Sets whether the dot belongs to a chain: its result is an operand of another dot, or one of its operands is the
    /// result of another dot.
    #[must_use]
    pub fn with_in_chain(self, in_chain: bool) -> Self {
        Self { in_chain, ..self }
    }

    /// Sets the register layouts of operands that another MMA produced, for the plan to convert; `None` for an operand
    /// that the plan loads from memory.
    #[must_use]
    pub fn with_operand_layouts(self, operand_layouts: [Option<LinearLayout>; 2]) -> Self {
        Self { operand_layouts, ..self }
    }

    /// Requires this number of consecutive elements of K in a lane; `None` lets the planner choose.
    #[must_use]
    pub fn with_k_width(self, k_width: impl Into<Option<u64>>) -> Self {
        Self { k_width: k_width.into(), ..self }
    }

    /// Requires this number of consecutive columns of the result in a lane; `None` takes the atom's number.
    #[must_use]
    pub fn with_n_width(self, n_width: impl Into<Option<u64>>) -> Self {
        Self { n_width: n_width.into(), ..self }
    }

    /// Requires that the columns of each warp are consecutive, or lets warps alternate.
    #[must_use]
    pub fn with_contiguous_warp_columns(self, contiguous_warp_columns: bool) -> Self {
        Self { contiguous_warp_columns, ..self }
    }

    /// Requires this layout of the result; `None` if any layout will do.
    #[must_use]
    pub fn with_result_layout(self, required: impl Into<Option<LinearLayout>>) -> Self {
        Self { result_layout: required.into(), ..self }
    }

    /// Requires the MMA atom of this name: an instruction of the table, or plain multiply-adds (`multiply-adds`);
    /// `None` lets the planner choose.
    #[must_use]
    pub fn with_atom(self, atom: impl Into<Option<String>>) -> Self {
        Self { atom: atom.into(), ..self }
    }

    /// Sets the register mode of the kernel: its number of 32-bit registers of a lane; `None` lets the planner choose.
    #[must_use]
    pub fn with_registers(self, registers: impl Into<Option<u32>>) -> Self {
        Self { registers: registers.into(), ..self }
    }

    /// Sets whether a plan may need more registers than a lane has, so that the rest is spilled.
    #[must_use]
    pub fn with_may_spill(self, may_spill: bool) -> Self {
        Self { may_spill, ..self }
    }

    /// Requires this partition of the result over warps and lanes; `None` lets the planner choose.
    #[must_use]
    pub fn with_warp_partition(self, warp_partition: impl Into<Option<WarpPartition>>) -> Self {
        Self { warp_partition: warp_partition.into(), ..self }
    }

    /// Returns the element types of `a` and of `b`.
    pub(super) fn operand_types(&self) -> [ElementType; 2] {
        [self.a, self.b]
    }

    /// Returns log2 of M, N and K.
    pub(super) fn bits(&self) -> [u32; 3] {
        self.shape.map(u64::trailing_zeros)
    }

    pub(super) fn check(&self) -> Result<(), MmaError> {
        if let Some(&size) = self.shape.iter().find(|size| !size.is_power_of_two() || **size > MOST) {
            return Err(MmaError::Shape { size });
        }
        let [m, n, k] = self.bits();
        if let Some(&bits) = [m + k, k + n, m + n].iter().find(|bits| **bits > MAX_TENSOR_BITS) {
            return Err(MmaError::Size { bits });
        }
        for (what, count) in [("lanes", self.lanes), ("warps", self.warps)] {
            if !count.is_power_of_two() {
                return Err(MmaError::Threads { what, count });
            }
        }
        self.warp_partition.map_or(Ok(()), |shared| shared.check(self.lanes, self.warps))?;
        for (scale, operand) in self.scales.iter().zip(self.operand_types()) {
            if let Some(scale) = scale {
                check_scale(*scale, operand)?;
            }
        }
        match [self.k_width, self.n_width].into_iter().flatten().find(|size| !size.is_power_of_two()) {
            Some(size) => Err(MmaError::Shape { size }),
            None => Ok(()),
        }
    }
}

impl WarpPartition {
    fn check(self, lanes: u32, warps: u32) -> Result<(), MmaError> {
        let [m, n] = self.warps;
        let impossible = |reasons: String| Err(MmaError::Impossible { reasons });
        if m.checked_mul(n) != Some(u64::from(warps)) {
            return impossible(format!("{m} warps along M and {n} along N are required, but the block has {warps}"));
        }
        match self.lanes {
            Some(_) if self.swap_ab => impossible("plain multiply-adds cannot swap A and B".to_owned()),
            Some(along) if !along.is_power_of_two() || along > u64::from(lanes) => {
                impossible(format!("{along} lanes along M are required, but a warp has {lanes}"))
            }
            _ => Ok(()),
        }
    }
}

/// Checks that the operand's elements are floating-point numbers of at most eight bits, and that the type, the block
/// and the exponents of its scales are supported.
fn check_scale(scale: BlockScale, operand: ElementType) -> Result<(), MmaError> {
    let is_scale = scale.format().is_some_and(|format| !format.is_signed());
    let known = scale.exponents.is_none_or(|[min, max]| min <= max && min >= -127 && max <= 127);
    if !scale.block.is_power_of_two() || scale.block > MOST {
        return Err(MmaError::Shape { size: scale.block });
    }
    if !is_scale || !known || !operand.is_float() || operand.bits() > 8 {
        return Err(MmaError::Scale { scale: scale.element_type, operand });
    }
    Ok(())
}

/// Max size of M, N, K, or of a block of K that shares a scale, in elements.
const MOST: u64 = 1 << 16;

/// The reason why an MMA problem has no plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MmaError {
    /// M, N, K or a width that is not a power of two, or too large; an error of the caller.
    #[error(
        "{size} is not a tile size: layouts are maps of bits, so M, N, K and the width along K are powers of two up to \
         {MOST}; pad the matrices, with zeros along K"
    )]
    Shape {
        /// The rejected size, in elements.
        size: u64,
    },
    /// A matrix with more elements than a layout is planned for; an error of the caller.
    #[error(
        "a matrix of 2^{bits} elements; plans support at most 2^{MAX_TENSOR_BITS}: pass the shape of the tile of one \
         block"
    )]
    Size {
        /// Log2 of the number of elements of the matrix.
        bits: u32,
    },
    /// Scales that the operand's type does not support; an error of the caller.
    #[error(
        "operands of {operand} with scales of {scale}: scales are e8m0 or ue4m3, of exponents from -127 to 127, for \
         floating-point elements of at most eight bits"
    )]
    Scale {
        /// Element type of the scales.
        scale: ElementType,
        /// Element type of the operand.
        operand: ElementType,
    },
    /// A number of lanes or warps that is not a power of two; an error of the caller.
    #[error("{count} {what}: expected a power of two")]
    Threads {
        /// `lanes` or `warps`.
        what: &'static str,
        /// The rejected number of lanes or warps.
        count: u32,
    },
    /// No atom (instruction of the target, or plain multiply-adds) solves the problem under its constraints, or the
    /// required warp partition does not fit the block.
    #[error("no candidate multiplies: {reasons}")]
    Impossible {
        /// The reasons: for each rejected atom, why it is impossible, or why the constraint cannot hold.
        reasons: String,
    },
    /// An atom whose plans all need more registers in a lane than it has; [`MmaError::Impossible`] lists it as a reason.
    #[error("a lane would need {needed} registers of {limit}")]
    Registers {
        /// The fewest 32-bit registers of a lane that a plan needs.
        needed: u64,
        /// The number of 32-bit registers that a lane has.
        limit: u64,
    },
    /// No plan moves an operand or the result to its layout.
    #[error(transparent)]
    Movement(#[from] MovementError),
    /// Layouts that cannot be composed, because an instruction's operands contradict each other.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}
