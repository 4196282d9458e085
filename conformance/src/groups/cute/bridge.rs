//! Checks the conversion of a linear layout to CuTe notation (swizzles over a CuTe layout), to text, and back.

use tilewright_layout::cute::{ComposedLayout, to_linear_modes};
use tilewright_layout::{Dim, SampleLayout};

use super::super::law::{LawResult, law_failure, require};
use super::super::walk::element_table;
use super::composed;
use crate::Context;

/// Checks that a sample layout in CuTe notation holds the same element at each position, parses from its text, and
/// converts back to the same linear layout.
pub(super) fn there_and_back(context: &Context, sample: &SampleLayout) -> LawResult {
    let (linear, composed) = composed(context, sample)?;
    for (position, element) in element_table(&linear).map_err(law_failure)?.into_iter().enumerate() {
        let value = composed.at(position as u64);
        require(value == Ok(element), || {
            format!("`{composed}` has {value:?} at {position}, where the layout has {element}\n{linear}")
        })?;
    }
    let text = composed.to_string();
    let read: ComposedLayout = text.parse().map_err(|error| law_failure(format!("`{text}`: {error}")))?;
    require(read == composed, || format!("`{text}` reads back as `{read}`"))?;
    let ins: Vec<_> = linear.ins().dims().collect();
    let outs: Vec<(Dim, u64)> = linear.outs().iter().map(|(dim, bits)| (dim, 1 << bits)).collect();
    let back = to_linear_modes(&composed, &ins, &outs).map_err(|error| law_failure(format!("`{text}`: {error}")))?;
    require(back == linear, || format!("`{text}` comes back as\n{back}\nnot\n{linear}"))
}
