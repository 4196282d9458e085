//! Checks of what plans are asked for.

use tilewright_kernel::Element;
use tilewright_layout::{Dim, LayoutError, LinearLayout, MOST_TENSOR_BITS};
use tilewright_target::TargetDescription;

use super::MovementError;
use super::error::MOST_REGISTER_BITS;

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
pub(crate) fn check_size(side: &'static str, layout: &LinearLayout) -> Result<(), MovementError> {
    let (registers, elements) = (layout.in_bits(Dim::REGISTER), layout.outs().bits());
    if registers > MOST_REGISTER_BITS {
        return Err(MovementError::Registers { side, bits: registers });
    }
    if elements > MOST_TENSOR_BITS {
        return Err(MovementError::Size { bits: elements });
    }
    Ok(())
}

/// The element of so many bits, of whole bytes.
pub(super) fn check_element(bits: u32) -> Result<Element, MovementError> {
    Element::integer(bits).filter(|element| element.bits() >= 8).ok_or(MovementError::ElementBits(bits))
}

/// Whether two layouts are for as many lanes, warps and blocks.
pub(super) fn check_hardware(src: &LinearLayout, dst: &LinearLayout) -> Result<(), MovementError> {
    for dim in [Dim::LANE, Dim::WARP, Dim::BLOCK] {
        let (src, dst) = (src.in_bits(dim), dst.in_bits(dim));
        if src != dst {
            return Err(MovementError::Hardware { dim, src, dst });
        }
    }
    Ok(())
}

/// The layout of a tuple of tensors that are combined along an axis.
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
