//! Checks of bulk copy instructions: run across the borders of a tensor, and compiled.

use tilewright_kernel::Module;
use tilewright_target::Instruction;
use tilewright_verify::kernels::{BulkCopyExtent, build_bulk_copy_kernel};
use tilewright_verify::{CheckFailure, TestCase, build_bulk_copy_1d_case};

use super::super::artifact;
use super::super::bulk::{self, BULK_COPY_BYTES, box_test_cases, bulk_copy_of, check_box_cases};
use super::super::executed::not_built;
use crate::{Context, EvidenceLevel, Verdict};

/// Checks on the emulator that the instruction copies every byte to its destination.
pub(super) fn emulated(context: &Context, row: &Instruction) -> Result<(), CheckFailure> {
    let target = context.target().description();
    match bulk_copy_of(row) {
        Some((Some(map), _)) => check_box_cases(row, &map, target),
        _ => bulk::emulated(build_bulk_copy_1d_case(row, BULK_COPY_BYTES, target.lanes.default, None)?, row, target),
    }
}

/// Builds the kernels that check the instruction on a device, with inputs and expected outputs.
pub(super) fn test_cases(context: &Context, row: &Instruction) -> Result<Vec<TestCase>, Verdict> {
    match bulk_copy_of(row) {
        Some((Some(map), _)) => box_test_cases(context, row, &map),
        _ => {
            let lanes = context.target().description().lanes.default;
            build_bulk_copy_1d_case(row, BULK_COPY_BYTES, lanes, None).map(|case| vec![case]).map_err(not_built)
        }
    }
}

/// Compiles a kernel that issues the instruction once, and checks the code.
pub(super) fn compiled(context: &Context, row: &Instruction) -> Verdict {
    let lanes = context.target().description().lanes.default;
    let map = bulk_copy_of(row).and_then(|(map, _)| map);
    let bulk = map.as_ref().map_or(BulkCopyExtent::Copy1d(BULK_COPY_BYTES), BulkCopyExtent::Box);
    match build_bulk_copy_kernel(row, lanes, bulk, None) {
        Ok(kernel) => artifact::check_compilation(context, &Module { kernels: vec![kernel] }),
        Err(wrong) => Verdict::fail(EvidenceLevel::Layout, wrong.to_string()),
    }
}
