//! Test cases of pipelined copies from global to shared memory.

use crate::kernels::{CopyPipelineConfig, build_pointer_copy_pipeline_kernel};
use tilewright_kernel::Counts;
use tilewright_layout::{Dim, MemoryLayout};
use tilewright_lower::registers::row_major_index;
use tilewright_plan::movement::{AsyncCopyPlan, CountLowerBounds, PlanContext};

use super::elements::{element, little_endian, tensor};
use super::memory::memory_elements;
use crate::CheckFailure;
use crate::expected_counts::{ExpectedCounts, PlannedSectorCount};
use crate::test_case::{TestCase, input};

/// Creates a test of pipelined copies of row-major tensors to shared memory. It compares every element of each tensor,
/// the executed counts of all copies, and the touched sectors. Shared loads and barriers are not compared, since the
/// kernel's code that reads shared memory out adds to both.
///
/// # Errors
/// [`CheckFailure::Movement`] if no element has this width, or if the pipeline has fewer tensors than buffers, or no
/// buffer.
pub fn build_async_copy_case<'a>(
    copy: &AsyncCopyPlan,
    memory: &MemoryLayout,
    element_bits: u32,
    stages: CopyPipelineConfig,
    context: impl Into<PlanContext<'a>>,
) -> Result<TestCase, CheckFailure> {
    let kernel = build_pointer_copy_pipeline_kernel(copy, memory, element_bits, stages)?;
    let bytes = (element_bits / 8) as usize;
    let (size, offsets) = (1u64 << copy.layout.outs().total_bits(), 1u64 << memory.linear.in_bits(Dim::OFFSET));
    let tensors = u64::from(stages.tensors);
    let content = little_endian((0..size * tensors).map(|index| element(index, element_bits)), bytes);
    let linear = memory.linear.clone();
    let index = move |offset_index: u64| {
        let (tensor, offset) = (offset_index / offsets, offset_index % offsets);
        tensor * size + row_major_index(&linear, linear.apply_packed(offset))
    };
    let shared_contents =
        (0..offsets * tensors).map(&index).map(|index| element(index, element_bits)).collect::<Vec<_>>();
    let left = tensor(element_bits, shared_contents.into_iter(), move |offset_index| {
        (format!("offset {} of tensor {}", offset_index % offsets, offset_index / offsets), index(offset_index))
    });
    let sector_bytes = u64::from(context.into().target.global.transaction_bytes.max(1));
    let sectors = PlannedSectorCount {
        accesses: "copies, and loads of the offsets",
        planned: tensors * (copy.transactions + contents_sectors(copy, offsets, sector_bytes)),
        executed: |sectors| sectors.loaded,
    };
    // If a tensor's size is no multiple of a sector, adjacent tensors share a sector.
    let is_exact = (size * bytes as u64).is_multiple_of(sector_bytes);
    let planned = (0..tensors).fold(Counts::default(), |sum, _| sum.add_counts(copy.counts));
    let counts = ExpectedCounts::all(planned, CountLowerBounds::default())
        .comparing(|counts| Counts { shared_loads: 0, wavefronts_loaded: 0, barriers: 0, ..counts })
        .with_sectors([is_exact.then_some(sectors), None]);
    let buffers = vec![input(0, content), input(1, memory_elements(memory, bytes)), left];
    Ok(TestCase::of_buffers(kernel, 1, buffers).with_counts(counts))
}

/// Returns the number of sectors that the loads of all physical offsets touch: in each iteration, each warp reads one
/// 32-bit word per lane, up to `offsets` words.
fn contents_sectors(copy: &AsyncCopyPlan, offsets: u64, sector_bytes: u64) -> u64 {
    let (lanes, warps) = (1u64 << copy.layout.in_bits(Dim::LANE), 1u64 << copy.layout.in_bits(Dim::WARP));
    let starts = (0..offsets.div_ceil(lanes * warps) * warps).map(|offset_index| offset_index * lanes);
    let words = starts.filter(|&start| start < offsets).map(|start| (4 * start, 4 * (start + lanes).min(offsets)));
    words.map(|(start, end)| end.div_ceil(sector_bytes) - start / sector_bytes).sum()
}
