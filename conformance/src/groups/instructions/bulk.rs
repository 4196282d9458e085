//! Rows that copy in bulk: run over the borders of a tensor, and as code.

use tilewright::kernel::Module;
use tilewright::lower::{Bulk, bulk_kernel};
use tilewright::pipeline::{Disproof, prove_span_copy};
use tilewright::target::Instruction;

use super::super::artifact;
use super::super::bulk::{SPAN_BYTES, everywhere, shown};
use crate::{Context, Level, Verdict};

/// Every byte is brought to its place.
pub(super) fn prove(context: &Context, row: &Instruction) -> Result<(), Disproof> {
    let target = context.target().description();
    match shown(row) {
        Some((Some(map), _)) => everywhere(row, &map, target),
        _ => prove_span_copy(row, SPAN_BYTES, None, target).map(drop),
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
