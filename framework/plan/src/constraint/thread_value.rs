//! Distributed layouts as CuTe's thread-value layouts, and back.

use super::Unsatisfied;
use tilewright_layout::cute::{CuteError, IntTuple, ThreadValue, of_tensor, to_distributed};
use tilewright_layout::{Layout, LinearLayout};

/// A distributed layout as a thread-value layout over its tile.
///
/// # Errors
/// [`Unsatisfied::Cute`]: two places hold one element but for bases that are zero, or only a swizzle makes the layout.
pub fn thread_value(layout: &LinearLayout) -> Result<ThreadValue, Unsatisfied> {
    let composed = of_tensor(&Layout::Distributed(layout.clone()))?;
    if !composed.swizzles().is_empty() {
        let reason = "threads are swizzled, which shapes and strides do not say".to_owned();
        let mode = tilewright_layout::cute::CuteMode { shape: composed.layout().size(), stride: 1 };
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

/// The distributed layout of a thread-value layout, of warps of so many lanes.
///
/// # Errors
/// [`Unsatisfied::Cute`]: sizes that are no powers of two, or sums that carry.
pub fn of_thread_value(layout: &ThreadValue, lanes: u64) -> Result<LinearLayout, Unsatisfied> {
    let shape: Vec<u64> = layout.tile().leaves().into_iter().copied().collect();
    Ok(to_distributed(&layout.composed()?, &shape, lanes)?)
}
