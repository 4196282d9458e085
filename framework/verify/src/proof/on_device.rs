//! Movements from registers to registers on a device: what they leave is compared, and what was executed with what the
//! plan counted, where the device counts.

use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{Gather, Plan, Reduction, Scan, ScanDirection};
use tilewright_plugin::{Device, Target};

use super::registers::{ask_conversion, ask_gather, ask_reduction, ask_scan};
use super::{Disproof, Machine};

/// Compiles the plan's kernel, runs it on a device of the target and compares every register.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_conversion_on(
    device: &mut dyn Device,
    target: &dyn Target,
    [src, dst]: [&LinearLayout; 2],
    element_bits: u32,
    plan: &Plan,
) -> Result<(), Disproof> {
    let mut machine = Machine::new(target, device);
    ask_conversion(src, dst, element_bits, plan)?
        .show(&mut |kernel, inputs, outputs, blocks| machine.run(kernel, inputs, outputs, blocks))?;
    machine.compare_counts(&plan.counts, false)
}

/// The same of a reduction by adding.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_reduction_on(
    device: &mut dyn Device,
    target: &dyn Target,
    (src, axis): (&LinearLayout, Dim),
    element_bits: &[u32],
    reduction: &Reduction,
) -> Result<(), Disproof> {
    let mut machine = Machine::new(target, device);
    ask_reduction(src, axis, element_bits, reduction)?
        .show(&mut |kernel, inputs, outputs, blocks| machine.run(kernel, inputs, outputs, blocks))?;
    machine.compare_counts(&reduction.counts, false)
}

/// The same of a scan.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_scan_on(
    device: &mut dyn Device,
    target: &dyn Target,
    (src, axis): (&LinearLayout, Dim),
    element_bits: &[u32],
    (scan, direction): (&Scan, ScanDirection),
) -> Result<(), Disproof> {
    let mut machine = Machine::new(target, device);
    ask_scan(src, axis, element_bits, direction, scan)?
        .show(&mut |kernel, inputs, outputs, blocks| machine.run(kernel, inputs, outputs, blocks))?;
    machine.compare_counts(&scan.counts, false)
}

/// The same of a gather.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_gather_on(
    device: &mut dyn Device,
    target: &dyn Target,
    ([src, indices], axis): ([&LinearLayout; 2], Dim),
    element_bits: u32,
    gather: &Gather,
) -> Result<(), Disproof> {
    let mut machine = Machine::new(target, device);
    ask_gather(src, indices, axis, element_bits, gather)?
        .show(&mut |kernel, inputs, outputs, blocks| machine.run(kernel, inputs, outputs, blocks))?;
    machine.compare_counts(&gather.counts, true)
}
