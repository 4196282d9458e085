//! Rows that copy in bulk: run over the borders of a tensor, and as code.

use tilewright_kernel::Module;
use tilewright_target::Instruction;
use tilewright_verify::kernels::{Bulk, bulk_kernel};
use tilewright_verify::{Disproof, Trial, prove_span_copy, span_copy_trial};

use super::super::artifact;
use super::super::bulk::{SPAN_BYTES, box_trials, everywhere, shown};
use super::super::executed::no_trials;
use crate::{Context, Level, Verdict};

/// Every byte is brought to its place.
pub(super) fn prove(context: &Context, row: &Instruction) -> Result<(), Disproof> {
    let target = context.target().description();
    match shown(row) {
        Some((Some(map), _)) => everywhere(row, &map, target),
        _ => prove_span_copy(row, SPAN_BYTES, None, target).map(drop),
    }
}

/// The same to be run on a device.
pub(super) fn trials(context: &Context, row: &Instruction) -> Result<Vec<Trial>, Verdict> {
    match shown(row) {
        Some((Some(map), _)) => box_trials(context, row, &map),
        _ => {
            let lanes = context.target().description().lanes.default;
            span_copy_trial(row, SPAN_BYTES, lanes).map(|trial| vec![trial]).map_err(no_trials)
        }
    }
}

/// Compiles a kernel that issues it once.
pub(super) fn compiled(context: &Context, row: &Instruction) -> Verdict {
    let lanes = context.target().description().lanes.default;
    let map = shown(row).and_then(|(map, _)| map);
    let bulk = map.as_ref().map_or(Bulk::Span(SPAN_BYTES), Bulk::Box);
    match bulk_kernel("issue", row, lanes, bulk, None) {
        Ok(kernel) => artifact::compiled(context, &Module { kernels: vec![kernel] }),
        Err(wrong) => Verdict::fail(Level::Layout, wrong),
    }
}
