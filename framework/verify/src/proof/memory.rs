//! Accesses of shared and of global memory.

use tilewright_emulator::Report;
use tilewright_kernel::Counts;
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_lower::{copy_kernel, load_kernel, row_major, store_kernel};
use tilewright_plan::movement::{GlobalAccess, Means, SharedAccess};
use tilewright_target::TargetDescription;

use super::Disproof;
use super::execute::{compare_counts, compare_registers, element, little_endian, run, word};

/// Runs stores to shared memory on the emulator and compares what memory holds, and every count; the
/// instructions of `means` mean what their rows say.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_store<'a>(
    registers: &LinearLayout,
    memory: &MemoryLayout,
    element_bits: u32,
    access: &SharedAccess,
    means: impl Into<Means<'a>>,
) -> Result<Report, Disproof> {
    let kernel = store_kernel("store", registers, memory, element_bits, access)?;
    let tensor = (0..1u64 << registers.outs().bits()).map(|index| element(index, element_bits));
    let offsets = 1u64 << memory.linear.in_bits(Dim::OFFSET);
    let bytes = (element_bits / 8) as usize;
    let buffers = [little_endian(tensor, bytes), places(memory, bytes)];
    let (report, written) = run(kernel, &buffers, &[bytes * offsets as usize], 1, means.into())?;
    for (offset, found) in (0..offsets).zip(written[0].chunks(bytes)) {
        let index = row_major(&memory.linear, memory.linear.apply_packed(offset));
        let (found, expected) = (word(found), element(index, element_bits));
        if found != expected {
            let place = format!("offset {offset}");
            return Err(Disproof::WrongElement { place, found, element: index, expected });
        }
    }
    let executed = Counts { shared_loads: 0, wavefronts_loaded: 0, barriers: 0, ..report.counts };
    compare_counts(&access.counts, &access.bound, &executed)?;
    Ok(report)
}

/// Runs loads from shared memory on the emulator and compares every register, and every count; the
/// instructions of `means` mean what their rows say.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_load<'a>(
    registers: &LinearLayout,
    memory: &MemoryLayout,
    element_bits: u32,
    access: &SharedAccess,
    means: impl Into<Means<'a>>,
) -> Result<Report, Disproof> {
    let kernel = load_kernel("load", registers, memory, element_bits, access)?;
    let bytes = (element_bits / 8) as usize;
    let by_offset = (0..1u64 << memory.linear.in_bits(Dim::OFFSET))
        .map(|offset| element(row_major(&memory.linear, memory.linear.apply_packed(offset)), element_bits));
    let buffers = [little_endian(by_offset, bytes), places(memory, bytes)];
    let (report, written) = run(kernel, &buffers, &[bytes << registers.ins().bits()], 1, means.into())?;
    compare_registers(registers, element_bits, &written[0], |index| element(index, element_bits))?;
    let executed = Counts { shared_stores: 0, wavefronts_stored: 0, barriers: 0, ..report.counts };
    compare_counts(&access.counts, &access.bound, &executed)?;
    Ok(report)
}

/// Copies a row-major tensor through registers on the emulator and compares every element, and how
/// many units of memory each access takes.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_copy(
    registers: &LinearLayout,
    element_bits: u32,
    load: &GlobalAccess,
    store: &GlobalAccess,
    target: &TargetDescription,
) -> Result<Report, Disproof> {
    let kernel = copy_kernel("copy", registers, element_bits, load, store)?;
    let bytes = (element_bits / 8) as usize;
    let elements = || (0..1u64 << registers.outs().bits()).map(|index| element(index, element_bits));
    let (report, written) =
        run(kernel, &[little_endian(elements(), bytes)], &[bytes << registers.outs().bits()], 1, target.into())?;
    for (index, (found, expected)) in (0..).zip(written[0].chunks(bytes).zip(elements())) {
        if word(found) != expected {
            let place = format!("element {index} of the copy");
            return Err(Disproof::WrongElement { place, found: word(found), element: index, expected });
        }
    }
    compare_transactions([load, store], &report)?;
    Ok(report)
}

/// Compares the units of global memory that a load and a store touched with those that they were planned
/// with.
pub(super) fn compare_transactions([load, store]: [&GlobalAccess; 2], report: &Report) -> Result<(), Disproof> {
    let transactions = [(load, report.transactions_loaded, "loads"), (store, report.transactions_stored, "stores")];
    match transactions.into_iter().find(|(access, executed, _)| *executed != access.transactions) {
        None => Ok(()),
        Some((access, executed, what)) => Err(Disproof::Transactions { what, planned: access.transactions, executed }),
    }
}

/// For each linear offset the physical one in bytes, as `i32`.
pub(super) fn places(memory: &MemoryLayout, bytes: usize) -> Vec<u8> {
    let offsets = 0..1u64 << memory.linear.in_bits(Dim::OFFSET);
    little_endian(offsets.map(|offset| memory.physical_offset(offset) * bytes as u64), 4)
}
