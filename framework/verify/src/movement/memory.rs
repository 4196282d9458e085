//! Test cases of accesses of shared and of global memory.

use crate::kernels::{build_global_copy_kernel, build_shared_load_kernel, build_shared_store_kernel};
use tilewright_kernel::Counts;
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_lower::registers::row_major_index;
use tilewright_plan::movement::{GlobalAccessPlan, SharedAccessPlan};

use super::elements::{element, little_endian, registers, tensor};
use crate::CheckFailure;
use crate::expected_counts::{ExpectedCounts, PlannedSectorCount};
use crate::test_case::{TestCase, input};

/// Creates a test of a store to shared memory: every offset must hold the element of its layout, and every count must
/// equal the plan's, except those of reading memory out.
///
/// # Errors
/// [`CheckFailure::Movement`] if no element has this width.
pub fn build_shared_store_case(
    layout: &LinearLayout,
    memory: &MemoryLayout,
    element_bits: u32,
    access: &SharedAccessPlan,
) -> Result<TestCase, CheckFailure> {
    let kernel = build_shared_store_kernel(layout, memory, element_bits, access)?;
    let bytes = (element_bits / 8) as usize;
    let stored = (0..1u64 << layout.outs().total_bits()).map(|index| element(index, element_bits));
    let linear = memory.linear.clone();
    let shared_contents = by_offset(memory).map(|index| element(index, element_bits));
    let left = tensor(element_bits, shared_contents, move |offset| {
        (format!("offset {offset}"), row_major_index(&linear, linear.apply_packed(offset)))
    });
    let buffers = vec![input(0, little_endian(stored, bytes)), input(1, memory_elements(memory, bytes)), left];
    let counts = ExpectedCounts::all(access.stats.counts, access.stats.bound);
    let written = |counts| Counts { shared_loads: 0, wavefronts_loaded: 0, barriers: 0, ..counts };
    Ok(TestCase::of_buffers(kernel, 1, buffers).with_counts(counts.comparing(written)))
}

/// Creates a test of a load from shared memory: every register must hold the element of its layout, and every count
/// must equal the plan's, except those of filling memory.
///
/// # Errors
/// [`CheckFailure::Movement`] if no element has this width.
pub fn build_shared_load_case(
    layout: &LinearLayout,
    memory: &MemoryLayout,
    element_bits: u32,
    access: &SharedAccessPlan,
) -> Result<TestCase, CheckFailure> {
    let kernel = build_shared_load_kernel(layout, memory, element_bits, access)?;
    let bytes = (element_bits / 8) as usize;
    let shared_contents = little_endian(by_offset(memory).map(|index| element(index, element_bits)), bytes);
    let elements: Vec<_> = (0..1u64 << layout.outs().total_bits()).map(|index| element(index, element_bits)).collect();
    let buffers = vec![
        input(0, shared_contents),
        input(1, memory_elements(memory, bytes)),
        registers(0, layout, element_bits, &elements),
    ];
    let counts = ExpectedCounts::all(access.stats.counts, access.stats.bound);
    let read = |counts| Counts { shared_stores: 0, wavefronts_stored: 0, barriers: 0, ..counts };
    Ok(TestCase::of_buffers(kernel, 1, buffers).with_counts(counts.comparing(read)))
}

/// Creates a test of a copy of a row-major tensor through registers, which compares every element, and the sectors that
/// each access touches.
///
/// # Errors
/// [`CheckFailure::Movement`] if no element has this width.
pub fn build_global_copy_case(
    layout: &LinearLayout,
    element_bits: u32,
    load: &GlobalAccessPlan,
    store: &GlobalAccessPlan,
) -> Result<TestCase, CheckFailure> {
    let kernel = build_global_copy_kernel(layout, element_bits, load, store)?;
    let elements = || (0..1u64 << layout.outs().total_bits()).map(|index| element(index, element_bits));
    let left = tensor(element_bits, elements(), |index| (format!("element {index} of the copy"), index));
    let buffers = vec![input(0, little_endian(elements(), (element_bits / 8) as usize)), left];
    Ok(TestCase::of_buffers(kernel, 1, buffers).with_counts(planned_sectors([load, store])))
}

/// Expects that the loads `load` and the stores `store` touch as many sectors as planned.
pub(super) fn planned_sectors([load, store]: [&GlobalAccessPlan; 2]) -> ExpectedCounts {
    ExpectedCounts::of_sectors([
        Some(PlannedSectorCount { accesses: "loads", planned: load.transactions, executed: |sectors| sectors.loaded }),
        Some(PlannedSectorCount {
            accesses: "stores",
            planned: store.transactions,
            executed: |sectors| sectors.stored,
        }),
    ])
}

/// Returns the row-major index of the element at each linear offset of a memory layout.
fn by_offset(memory: &MemoryLayout) -> impl Iterator<Item = u64> + '_ {
    (0..1u64 << memory.linear.in_bits(Dim::OFFSET))
        .map(|offset| row_major_index(&memory.linear, memory.linear.apply_packed(offset)))
}

/// Returns the physical offset in bytes of each linear offset of a memory layout, for elements of `bytes` bytes,
/// encoded as `i32`.
pub(super) fn memory_elements(memory: &MemoryLayout, bytes: usize) -> Vec<u8> {
    let offsets = 0..1u64 << memory.linear.in_bits(Dim::OFFSET);
    little_endian(offsets.map(|offset| memory.physical_offset(offset) * bytes as u64), 4)
}
