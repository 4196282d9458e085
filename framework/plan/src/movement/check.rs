//! Checks of the inputs of planners.

use tilewright_kernel::Element;
use tilewright_layout::{Dim, LayoutError, LinearLayout, MAX_TENSOR_BITS};
use tilewright_target::TargetDescription;

use super::MovementError;
use super::error::MOST_REGISTER_BITS;

/// Checks that the target supports blocks of `warps` warps of `lanes` lanes.
///
/// # Errors
/// [`MovementError::Lanes`] if the target has no warps of this size; [`MovementError::Block`] if the block has more
/// threads than the target allows.
pub fn check_block_fits_target(lanes: u64, warps: u64, target: &TargetDescription) -> Result<(), MovementError> {
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

/// Checks that a layout, named `side` in errors, has few enough registers and elements for planners, which enumerate
/// them.
///
/// # Errors
/// [`MovementError::Registers`] if a lane has more than 2^16 registers; [`MovementError::Size`] if the tensor has more
/// elements than layouts are planned for.
pub(crate) fn check_size(side: &'static str, layout: &LinearLayout) -> Result<(), MovementError> {
    let (registers, elements) = (layout.in_bits(Dim::REGISTER), layout.outs().total_bits());
    if registers > MOST_REGISTER_BITS {
        return Err(MovementError::Registers { side, bits: registers });
    }
    if elements > MAX_TENSOR_BITS {
        return Err(MovementError::Size { bits: elements });
    }
    Ok(())
}

/// Returns the integer element type of `bits` bits, which must be at least 8.
pub(super) fn check_element(bits: u32) -> Result<Element, MovementError> {
    Element::integer_of_width(bits).filter(|element| element.bits() >= 8).ok_or(MovementError::ElementBits(bits))
}

/// Checks that two layouts have the same numbers of lanes, warps and blocks.
pub(super) fn check_hardware(src: &LinearLayout, dst: &LinearLayout) -> Result<(), MovementError> {
    for dim in [Dim::LANE, Dim::WARP, Dim::BLOCK] {
        let (src, dst) = (src.in_bits(dim), dst.in_bits(dim));
        if src != dst {
            return Err(MovementError::Hardware { dim, src, dst });
        }
    }
    Ok(())
}

/// Checks a tuple of tensors that are combined along `axis`: all have the layout `src`, and `element_bits` has the
/// element width of each in bits. Returns the layout with all hardware dims (register, lane, warp, block).
pub(super) fn check_tuple(src: &LinearLayout, axis: Dim, element_bits: &[u32]) -> Result<LinearLayout, MovementError> {
    if !src.outs().contains(axis) {
        return Err(LayoutError::NoSuchDim { dim: axis }.into());
    }
    if element_bits.is_empty() {
        return Err(MovementError::NoTensors);
    }
    check_size("tensor", src)?;
    Ok(src.clone().require_surjective()?)
}
