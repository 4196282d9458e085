//! A linear layout as swizzles over a CuTe layout, as text, and back.

use tilewright_layout::cute::{ComposedLayout, to_linear_modes};
use tilewright_layout::{Dim, Sample};

use super::super::law::{Checked, broken, require};
use super::super::walk::table;
use super::composed;
use crate::Context;

/// In CuTe's notation the layout holds the same element at each position; the notation reads back from
/// its text; and back over the bridge it is the layout that it was.
pub(super) fn there_and_back(context: &Context, sample: &Sample) -> Checked {
    let (linear, composed) = composed(context, sample)?;
    for (position, element) in table(&linear).map_err(broken)?.into_iter().enumerate() {
        let value = composed.at(position as u64);
        require(value == Ok(element), || {
            format!("`{composed}` has {value:?} at {position}, where the layout has {element}\n{linear}")
        })?;
    }
    let text = composed.to_string();
    let read: ComposedLayout = text.parse().map_err(|error| broken(format!("`{text}`: {error}")))?;
    require(read == composed, || format!("`{text}` reads back as `{read}`"))?;
    let ins: Vec<_> = linear.ins().dims().collect();
    let outs: Vec<(Dim, u64)> = linear.outs().iter().map(|(dim, bits)| (dim, 1 << bits)).collect();
    let back = to_linear_modes(&composed, &ins, &outs).map_err(|error| broken(format!("`{text}`: {error}")))?;
    require(back == linear, || format!("`{text}` comes back as\n{back}\nnot\n{linear}"))
}
