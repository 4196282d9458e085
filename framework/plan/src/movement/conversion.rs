//! The question: two layouts of one tensor, checked and in the form that the planners use.

use thiserror::Error;

use tilewright_kernel::Element;
use tilewright_layout::f2::{Columns, Solver};
use tilewright_layout::{Dim, LayoutError, LinearLayout, MOST_TENSOR_BITS};
use tilewright_target::TargetDescription;

/// Log2 of the registers of a lane in plans, which list them one by one. More than any target has.
const MOST_REGISTER_BITS: u32 = 16;

/// Why no plan is made. Except for [`MovementError::Impossible`] always the caller's fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MovementError {
    /// The algebra says no.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A layout has a dim that no distributed layout has.
    #[error("{side} layout has the dim {dim}; a distributed layout has register, lane, warp and block")]
    NotDistributed {
        /// `source` or `destination`.
        side: &'static str,
        /// The dim.
        dim: Dim,
    },
    /// The two layouts are not for the same hardware.
    #[error("the source has 2^{src} positions along {dim}, the destination 2^{dst}")]
    Hardware {
        /// The dim.
        dim: Dim,
        /// Log2 of its size in the source.
        src: u32,
        /// Log2 of its size in the destination.
        dst: u32,
    },
    /// The target has no warps of this size.
    #[error("target {target} has no warps of {lanes} lanes; it has {choices:?}")]
    Lanes {
        /// The target.
        target: String,
        /// Lanes of the layouts.
        lanes: u64,
        /// Lanes that the target offers.
        choices: Vec<u32>,
    },
    /// The target has no blocks of this size.
    #[error("target {target} has blocks of at most {limit} lanes, the layouts want {lanes}")]
    Block {
        /// The target.
        target: String,
        /// Lanes of a block in the layouts.
        lanes: u64,
        /// What the target allows.
        limit: u32,
    },
    /// A lane would hold more than any does.
    #[error("a lane holds 2^{bits} elements of the {side}; plans are made for at most 2^{MOST_REGISTER_BITS}")]
    Registers {
        /// `source`, `destination` or `tensor`.
        side: &'static str,
        /// Log2 of the elements.
        bits: u32,
    },
    /// Nothing plans tensors of this size element by element.
    #[error(
        "a tensor of 2^{bits} elements; plans are made for tensors of at most 2^{MOST_TENSOR_BITS}: give the shape of \
         one tile, which a block holds at once"
    )]
    Size {
        /// Log2 of the elements.
        bits: u32,
    },
    /// No element has this width.
    #[error("elements of {0} bits cannot be moved: 8, 16, 32 and 64 can")]
    ElementBits(u32),
    /// A basis moves along the axis of a reduction and along others at once.
    #[error(
        "basis {bit} of {dim} moves along {axis} and along other axes at once: convert to a layout whose bases move along one axis each"
    )]
    MixedAxis {
        /// The in dim.
        dim: Dim,
        /// Which basis of it.
        bit: u32,
        /// The axis.
        axis: Dim,
    },
    /// The memory does not hold what the registers want, in the same block.
    #[error("the memory layout does not hold the registers' elements in their own block: {reason}")]
    Memory {
        /// What the algebra says.
        reason: String,
    },
    /// A tuple without tensors.
    #[error("there are no tensors to reduce: give the width of at least one")]
    NoTensors,
    /// No way leads from one layout to the other.
    #[error("no way to convert: {reasons}")]
    Impossible {
        /// Why each way is closed.
        reasons: String,
    },
}

/// One side: the columns of a distributed layout over a tensor's packed coordinates.
#[derive(Debug, Clone)]
pub struct Side {
    /// Columns of the register bits.
    pub(super) registers: Columns,
    /// Columns of the lane bits, then of the warp bits.
    pub(super) threads: Columns,
    /// Columns of the block bits.
    pub(super) blocks: Columns,
}

/// A conversion between two distributed layouts of one tensor.
#[derive(Debug, Clone)]
pub struct Conversion {
    pub(super) src: Side,
    pub(super) dst: Side,
    pub(super) element: Element,
    pub(super) lane_bits: u32,
    pub(super) warp_bits: u32,
    /// For every bit of a destination position (registers, then threads) the source position
    /// that holds the same element, the nearest copy.
    pub(super) origin: Option<Origin>,
}

/// Where elements come from, within one block. Positions are pairs of register and thread.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    /// Images of the destination's register bits.
    pub(super) of_registers: Vec<Position>,
    /// Images of the destination's thread bits.
    pub(super) of_threads: Vec<Position>,
}

/// A place in a block: a register of a thread, a thread being a lane of a warp.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) register: u64,
    pub(super) thread: u64,
}

impl Conversion {
    /// Checks the question.
    ///
    /// # Errors
    /// [`MovementError`].
    pub fn new(
        src: &LinearLayout,
        dst: &LinearLayout,
        element_bits: u32,
        target: &TargetDescription,
    ) -> Result<Self, MovementError> {
        let element = Element::integer(element_bits).filter(|element| element.bits() >= 8);
        let element = element.ok_or(MovementError::ElementBits(element_bits))?;
        for dim in [Dim::LANE, Dim::WARP, Dim::BLOCK] {
            let (src, dst) = (src.in_bits(dim), dst.in_bits(dim));
            if src != dst {
                return Err(MovementError::Hardware { dim, src, dst });
            }
        }
        let order: Vec<Dim> = src.outs().dims().collect();
        let dst = dst.transpose_outs(&order)?;
        for (dim, left) in src.outs().iter() {
            let right = dst.out_bits(dim);
            if left != right {
                return Err(LayoutError::SizeMismatch { dim, left, right }.into());
            }
        }
        let src = src.clone().require_surjective()?;
        let dst = dst.require_surjective()?;
        let (lane_bits, warp_bits) = (src.in_bits(Dim::LANE), src.in_bits(Dim::WARP));
        check_hardware(lane_bits, warp_bits, target)?;
        let (src, dst) = (side("source", &src)?, side("destination", &dst)?);
        let origin = origin(&src, &dst);
        Ok(Self { src, dst, element, lane_bits, warp_bits, origin })
    }

    /// The same question between other layouts of the same tensor and block.
    pub(super) fn between(&self, src: &Side, dst: &Side) -> Self {
        Self { src: src.clone(), dst: dst.clone(), origin: origin(src, dst), ..*self }
    }

    /// Warps of a block.
    #[must_use]
    pub fn warps(&self) -> u64 {
        1 << self.warp_bits
    }

    /// Width of an element in bytes.
    pub(super) fn element_bytes(&self) -> u64 {
        u64::from(self.element.bits() / 8)
    }

    /// The part of a thread index that is the lane.
    pub(super) fn lane_mask(&self) -> u64 {
        (1 << self.lane_bits) - 1
    }
}

fn check_hardware(lane_bits: u32, warp_bits: u32, target: &TargetDescription) -> Result<(), MovementError> {
    check_block(1u64 << lane_bits, 1u64 << warp_bits, target)
}

/// Whether the target has blocks of so many warps of so many lanes.
///
/// # Errors
/// [`MovementError::Lanes`] or [`MovementError::Block`].
pub fn check_block(lanes: u64, warps: u64, target: &TargetDescription) -> Result<(), MovementError> {
    if !target.lanes.choices.iter().any(|&choice| u64::from(choice) == lanes) {
        let choices = target.lanes.choices.clone();
        return Err(MovementError::Lanes { target: target.name.clone(), lanes, choices });
    }
    let lanes = lanes.saturating_mul(warps);
    if lanes > u64::from(target.limits.lanes_per_block) {
        let limit = target.limits.lanes_per_block;
        return Err(MovementError::Block { target: target.name.clone(), lanes, limit });
    }
    Ok(())
}

/// Whether plans, which list registers and elements one by one, are made for tensors of this layout.
///
/// # Errors
/// [`MovementError::Registers`] or [`MovementError::Size`].
pub fn check_size(side: &'static str, layout: &LinearLayout) -> Result<(), MovementError> {
    let (registers, elements) = (layout.in_bits(Dim::REGISTER), layout.outs().bits());
    if registers > MOST_REGISTER_BITS {
        return Err(MovementError::Registers { side, bits: registers });
    }
    if elements > MOST_TENSOR_BITS {
        return Err(MovementError::Size { bits: elements });
    }
    Ok(())
}

fn side(name: &'static str, layout: &LinearLayout) -> Result<Side, MovementError> {
    let known = [Dim::REGISTER, Dim::LANE, Dim::WARP, Dim::BLOCK];
    if let Some(dim) = layout.ins().dims().find(|dim| !known.contains(dim)) {
        return Err(MovementError::NotDistributed { side: name, dim });
    }
    check_size(name, layout)?;
    let columns = |dim| Columns::from_slice(layout.columns_of(dim));
    let threads = layout.columns_of(Dim::LANE).iter().chain(layout.columns_of(Dim::WARP)).copied().collect();
    Ok(Side { registers: columns(Dim::REGISTER), threads, blocks: columns(Dim::BLOCK) })
}

/// The source of every destination bit, or `None` where elements cross blocks, or where what a block needs of
/// its own depends on the block.
fn origin(src: &Side, dst: &Side) -> Option<Origin> {
    if src.blocks != dst.blocks {
        return None;
    }
    // Registers come first: an element that registers and other threads hold is found in registers.
    let registers = src.registers.len() as u32;
    let columns: Columns = src.registers.iter().chain(&src.threads).copied().collect();
    let solver = Solver::new(&columns);
    let position =
        |solution: u64| Position { register: solution & ((1 << registers) - 1), thread: solution >> registers };
    let source = |column: u64| solver.solve(column).map(position);
    let of_registers = dst.registers.iter().map(|&column| source(column)).collect::<Option<Vec<_>>>()?;
    let mut of_threads = Vec::new();
    for (bit, &column) in dst.threads.iter().enumerate() {
        let own = 1u64 << bit;
        // The same basis on both sides: the element is where it should be.
        let mut found =
            if src.threads[bit] == column { Position { register: 0, thread: own } } else { source(column)? };
        // A source replicated along this bit: the copy in this very thread is the nearest.
        if src.threads[bit] == 0 {
            found.thread |= own;
        }
        of_threads.push(found);
    }
    Some(Origin { of_registers, of_threads })
}

impl Origin {
    /// The source position of a destination position.
    pub(super) fn of(&self, register: u64, thread: u64) -> Position {
        let mut sum = Position::default();
        for (bits, images) in [(register, &self.of_registers), (thread, &self.of_threads)] {
            for (bit, image) in images.iter().enumerate() {
                if bits >> bit & 1 == 1 {
                    sum.register ^= image.register;
                    sum.thread ^= image.thread;
                }
            }
        }
        sum
    }
}
