//! Movements from registers to registers on a device: what they leave is compared, nothing is counted.

use crate::layout::{Dim, LinearLayout};
use crate::movement::{Gather, Plan, Reduction, Scan, ScanDirection};
use crate::vendor::{Device, Target};

use super::registers::{show_conversion, show_gather, show_reduction, show_scan};
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
    let mut machine = Machine { target, device };
    show_conversion(src, dst, element_bits, plan, &mut |kernel, inputs, outputs, blocks| {
        machine.run(kernel, inputs, outputs, blocks)
    })
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
    let mut machine = Machine { target, device };
    show_reduction(src, axis, element_bits, reduction, &mut |kernel, inputs, outputs, blocks| {
        machine.run(kernel, inputs, outputs, blocks)
    })
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
    let mut machine = Machine { target, device };
    show_scan(src, axis, element_bits, direction, scan, &mut |kernel, inputs, outputs, blocks| {
        machine.run(kernel, inputs, outputs, blocks)
    })
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
    let mut machine = Machine { target, device };
    show_gather(src, indices, axis, element_bits, gather, &mut |kernel, inputs, outputs, blocks| {
        machine.run(kernel, inputs, outputs, blocks)
    })
}
