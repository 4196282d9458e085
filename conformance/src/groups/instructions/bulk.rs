//! Rows that copy in bulk: run over the borders of a tensor, and as code.

use tilewright_kernel::Module;
use tilewright_target::Instruction;
use tilewright_verify::kernels::{Bulk, bulk_kernel};
use tilewright_verify::{CheckFailure, TestCase, span_copy_case};

use super::super::artifact;
use super::super::bulk::{self, SPAN_BYTES, box_test_cases, everywhere, shown};
use super::super::executed::not_built;
use crate::{Context, Level, Verdict};

/// Every byte is brought to its place.
pub(super) fn emulated(context: &Context, row: &Instruction) -> Result<(), CheckFailure> {
    let target = context.target().description();
    match shown(row) {
        Some((Some(map), _)) => everywhere(row, &map, target),
        _ => bulk::emulated(span_copy_case(row, SPAN_BYTES, target.lanes.default, None)?, row, target),
    }
}

/// The same to be run on a device.
pub(super) fn test_cases(context: &Context, row: &Instruction) -> Result<Vec<TestCase>, Verdict> {
    match shown(row) {
        Some((Some(map), _)) => box_test_cases(context, row, &map),
        _ => {
            let lanes = context.target().description().lanes.default;
            span_copy_case(row, SPAN_BYTES, lanes, None).map(|case| vec![case]).map_err(not_built)
        }
    }
}

/// Compiles a kernel that issues it once.
pub(super) fn compiled(context: &Context, row: &Instruction) -> Verdict {
    let lanes = context.target().description().lanes.default;
    let map = shown(row).and_then(|(map, _)| map);
    let bulk = map.as_ref().map_or(Bulk::Span(SPAN_BYTES), Bulk::Box);
    match bulk_kernel(row, lanes, bulk, None) {
        Ok(kernel) => artifact::compiled(context, &Module { kernels: vec![kernel] }),
        Err(wrong) => Verdict::fail(Level::Layout, wrong),
    }
}
