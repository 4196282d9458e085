//! Movements from registers to registers as trials.

use crate::trial::{Predicted, Trial};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{Gather, Plan, Reduction, Scan, ScanDirection};

use super::Disproof;
use super::registers::{ask_conversion, ask_gather, ask_reduction, ask_scan};

/// The plan's kernel on a tensor of known elements.
///
/// # Errors
/// [`Disproof::Movement`] where the plan is not for these layouts.
pub fn conversion_trial([src, dst]: [&LinearLayout; 2], element_bits: u32, plan: &Plan) -> Result<Trial, Disproof> {
    let predicted =
        Predicted { rounds: 1, counts: Some(plan.counts), cycles: plan.cost, shared_bytes: plan.shared_bytes };
    Ok(ask_conversion(src, dst, element_bits, plan)?.trial(predicted))
}

/// The same of a reduction by adding.
///
/// # Errors
/// As [`conversion_trial`].
pub fn reduction_trial(
    (src, axis): (&LinearLayout, Dim),
    element_bits: &[u32],
    plan: &Reduction,
) -> Result<Trial, Disproof> {
    let predicted =
        Predicted { rounds: 1, counts: Some(plan.counts), cycles: plan.cost, shared_bytes: plan.shared_bytes };
    Ok(ask_reduction(src, axis, element_bits, plan)?.trial(predicted))
}

/// The same of a scan.
///
/// # Errors
/// As [`conversion_trial`].
pub fn scan_trial(
    (src, axis): (&LinearLayout, Dim),
    element_bits: &[u32],
    (plan, direction): (&Scan, ScanDirection),
) -> Result<Trial, Disproof> {
    let predicted =
        Predicted { rounds: 1, counts: Some(plan.counts), cycles: plan.cost, shared_bytes: plan.shared_bytes };
    Ok(ask_scan(src, axis, element_bits, direction, plan)?.trial(predicted))
}

/// The same of a gather by indices in no order, whose wavefronts loaded are more than those that are predicted by what
/// conflicts there are.
///
/// # Errors
/// As [`conversion_trial`].
pub fn gather_trial(
    ([src, indices], axis): ([&LinearLayout; 2], Dim),
    element_bits: u32,
    plan: &Gather,
) -> Result<Trial, Disproof> {
    let predicted =
        Predicted { rounds: 1, counts: Some(plan.counts), cycles: plan.cost, shared_bytes: plan.shared_bytes };
    Ok(ask_gather(src, indices, axis, element_bits, plan)?.trial(predicted))
}
