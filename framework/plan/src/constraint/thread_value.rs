//! Converts distributed layouts to CuTe's thread-value layouts, and back.

use super::LayoutConstraintError;
use tilewright_layout::cute::{CuteError, IntTuple, ThreadValue, from_tensor_layout, to_distributed};
use tilewright_layout::{Layout, LinearLayout};

/// Returns the thread-value layout (CuTe) of a distributed layout, over the layout's tile.
///
/// # Errors
/// [`LayoutConstraintError::Cute`] if several positions hold the same element other than by zero bases, or if the
/// layout needs a swizzle.
pub fn to_thread_value(layout: &LinearLayout) -> Result<ThreadValue, LayoutConstraintError> {
    let composed = from_tensor_layout(&Layout::Distributed(layout.clone()))?;
    if !composed.swizzles().is_empty() {
        let reason = "threads are swizzled, which shapes and strides cannot express".to_owned();
        let mode = tilewright_layout::cute::CuteLeaf { shape: composed.layout().size(), stride: 1 };
        return Err(CuteError::NotLinear {
            mode: composed.to_string(),
            shape: mode.shape,
            stride: mode.stride,
            reason,
        }
        .into());
    }
    let tile = IntTuple::flat(layout.outs().iter().map(|(_, bits)| 1u64 << bits));
    Ok(ThreadValue::new(&tile, composed.layout().clone())?)
}

/// Returns the distributed layout of a thread-value layout (CuTe), for `lanes` lanes of a warp.
///
/// # Errors
/// [`LayoutConstraintError::Cute`] if a size is not a power of two, or if a sum of strides carries.
pub fn from_thread_value(layout: &ThreadValue, lanes: u64) -> Result<LinearLayout, LayoutConstraintError> {
    let shape: Vec<u64> = layout.tile().leaves().into_iter().copied().collect();
    Ok(to_distributed(&layout.composed()?, &shape, lanes)?)
}
