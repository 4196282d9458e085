//! Copies from global to shared memory, in stages.

use tilewright_emulator::Report;
use tilewright_kernel::Counts;
use tilewright_layout::{Dim, MemoryLayout};
use tilewright_lower::{Stages, row_major, staged_copy_kernel};
use tilewright_plan::movement::{Means, SharedCopy};
use tilewright_target::TargetDescription;

use super::Disproof;
use super::execute::{element, little_endian, run, word};
use super::memory::places;

/// Copies row-major tensors to shared memory on the emulator, in stages, and compares every element of each; and
/// for each tensor what was executed and the units of global memory that were touched.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_shared_copy<'a>(
    copy: &SharedCopy,
    memory: &MemoryLayout,
    element_bits: u32,
    stages: Stages,
    means: impl Into<Means<'a>>,
) -> Result<Report, Disproof> {
    let means = means.into();
    let kernel = staged_copy_kernel("copy", copy, memory, element_bits, stages)?;
    let bytes = (element_bits / 8) as usize;
    let (size, offsets) = (1u64 << copy.layout.outs().bits(), 1u64 << memory.linear.in_bits(Dim::OFFSET));
    let tensors = u64::from(stages.tensors);
    let content = little_endian((0..size * tensors).map(|index| element(index, element_bits)), bytes);
    let found = bytes * (offsets * tensors) as usize;
    let (report, written) = run(kernel, &[content, places(memory, bytes)], &[found], 1, means)?;
    for (number, found) in (0..).zip(written[0].chunks(bytes)) {
        let (tensor, offset) = (number / offsets, number % offsets);
        let index = tensor * size + row_major(&memory.linear, memory.linear.apply_packed(offset));
        let (found, expected) = (word(found), element(index, element_bits));
        if found != expected {
            let place = format!("offset {offset} of tensor {tensor}");
            return Err(Disproof::WrongElement { place, found, element: index, expected });
        }
    }
    compare(copy, tensors, offsets, size * bytes as u64, means.target, report)
}

/// Reading out adds loads and barriers, and loads of the places.
fn compare(
    copy: &SharedCopy,
    tensors: u64,
    offsets: u64,
    tensor_bytes: u64,
    target: &TargetDescription,
    report: Report,
) -> Result<Report, Disproof> {
    let planned = (0..tensors).fold(Counts::default(), |sum, _| sum.plus(copy.counts));
    let executed = Counts { shared_loads: 0, wavefronts_loaded: 0, barriers: 0, ..report.counts };
    if executed != planned {
        return Err(Disproof::Counts { planned: Box::new(planned), executed: Box::new(executed) });
    }
    let unit = u64::from(target.global.transaction_bytes.max(1));
    let planned = tensors * (copy.transactions + place_units(copy, offsets, unit));
    // Of tensors that are no whole units each, one shares its last with the next.
    if tensor_bytes.is_multiple_of(unit) && report.transactions_loaded != planned {
        let executed = report.transactions_loaded;
        return Err(Disproof::Transactions { what: "copies, and loads of the places", planned, executed });
    }
    Ok(report)
}

/// Units of memory that the loads of all places touch: each warp of each turn reads as many words as it has lanes, as
/// far as there are places.
fn place_units(copy: &SharedCopy, offsets: u64, unit: u64) -> u64 {
    let (lanes, warps) = (1u64 << copy.layout.in_bits(Dim::LANE), 1u64 << copy.layout.in_bits(Dim::WARP));
    let starts = (0..offsets.div_ceil(lanes * warps) * warps).map(|number| number * lanes);
    let words = starts.filter(|&start| start < offsets).map(|start| (4 * start, 4 * (start + lanes).min(offsets)));
    words.map(|(start, end)| end.div_ceil(unit) - start / unit).sum()
}
