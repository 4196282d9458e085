//! Copies from global to shared memory, in stages.

use crate::kernels::{Stages, pointer_copy_kernel};
use tilewright_kernel::Counts;
use tilewright_layout::{Dim, MemoryLayout};
use tilewright_lower::registers::row_major;
use tilewright_plan::movement::{Bound, PlanContext, SharedCopy};

use super::elements::{element, little_endian, tensor};
use super::memory::places;
use crate::CheckFailure;
use crate::expected_counts::{ExpectedCounts, PlannedSectors};
use crate::test_case::{TestCase, input};

/// Copies of row-major tensors to shared memory in stages: every element of each; and for each tensor what was executed
/// and the sectors that were touched. Reading memory out adds loads and barriers, and loads of the places.
///
/// # Errors
/// [`CheckFailure::Movement`]: the plan is not for this memory.
pub fn shared_copy_case<'a>(
    copy: &SharedCopy,
    memory: &MemoryLayout,
    element_bits: u32,
    stages: Stages,
    context: impl Into<PlanContext<'a>>,
) -> Result<TestCase, CheckFailure> {
    let kernel = pointer_copy_kernel(copy, memory, element_bits, stages)?;
    let bytes = (element_bits / 8) as usize;
    let (size, offsets) = (1u64 << copy.layout.outs().bits(), 1u64 << memory.linear.in_bits(Dim::OFFSET));
    let tensors = u64::from(stages.tensors);
    let content = little_endian((0..size * tensors).map(|index| element(index, element_bits)), bytes);
    let linear = memory.linear.clone();
    let index = move |number: u64| {
        let (tensor, offset) = (number / offsets, number % offsets);
        tensor * size + row_major(&linear, linear.apply_packed(offset))
    };
    let held = (0..offsets * tensors).map(&index).map(|index| element(index, element_bits)).collect::<Vec<_>>();
    let left = tensor(element_bits, held.into_iter(), move |number| {
        (format!("offset {} of tensor {}", number % offsets, number / offsets), index(number))
    });
    let unit = u64::from(context.into().target.global.transaction_bytes.max(1));
    let sectors = PlannedSectors {
        accesses: "copies, and loads of the places",
        planned: tensors * (copy.transactions + place_units(copy, offsets, unit)),
        executed: |sectors| sectors.loaded,
    };
    // Of tensors that are no whole sectors each, one shares its last with the next.
    let is_exact = (size * bytes as u64).is_multiple_of(unit);
    let planned = (0..tensors).fold(Counts::default(), |sum, _| sum.plus(copy.counts));
    let counts = ExpectedCounts::all(planned, Bound::default())
        .comparing(|counts| Counts { shared_loads: 0, wavefronts_loaded: 0, barriers: 0, ..counts })
        .with_sectors([is_exact.then_some(sectors), None]);
    let buffers = vec![input(0, content), input(1, places(memory, bytes)), left];
    Ok(TestCase::of_buffers(kernel, 1, buffers).with_counts(counts))
}

/// Units of memory that the loads of all places touch: each warp of each turn reads as many words as it has lanes, as
/// far as there are places.
fn place_units(copy: &SharedCopy, offsets: u64, unit: u64) -> u64 {
    let (lanes, warps) = (1u64 << copy.layout.in_bits(Dim::LANE), 1u64 << copy.layout.in_bits(Dim::WARP));
    let starts = (0..offsets.div_ceil(lanes * warps) * warps).map(|number| number * lanes);
    let words = starts.filter(|&start| start < offsets).map(|start| (4 * start, 4 * (start + lanes).min(offsets)));
    words.map(|(start, end)| end.div_ceil(unit) - start / unit).sum()
}
