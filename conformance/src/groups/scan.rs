//! Group `scan` of the suite: scans of every layout along each of its axes, from either end. Every register must get
//! the prefix result of a sequential scan, and the executed operations must equal the plan's counts.

use std::fmt;

use tilewright_layout::LinearLayout;
use tilewright_plan::movement;
use tilewright_plan::movement::{ScanDirection, ScanPlan};
use tilewright_verify::{TestCase, build_scan_case};

use super::along::AxisOperationCase;
use super::emulated::{bound_verdict, merge_verdicts, planning_verdict, run_on_emulator};
use super::executed::{device_case, not_built};
use crate::{Case, CaseGroup, Context, Verdict};

/// The group `scan` of the conformance suite: cases on scans along an axis.
#[derive(Debug, Clone, Copy)]
pub struct Scans;

/// The tuples of tensors to scan. Each lists the element types of its further tensors, as distances from the first
/// tensor's type in the list of element types. Single tensors are added; pairs of one width are maps that are composed,
/// so that the order matters; triples have mixed widths.
const TUPLES: [&[usize]; 3] = [&[], &[0], &[1, 2]];

/// A scan. Case names spell it `up/blocked-rows/axis1/f16/64x128/w4`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanAlong {
    /// The direction of the scan: from the first element or from the last.
    pub direction: ScanDirection,
    /// The scanned tensor (or tuple of tensors) and its axis.
    pub along: AxisOperationCase,
}

impl fmt::Display for ScanAlong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = match self.direction {
            ScanDirection::Forward => "up",
            ScanDirection::Reverse => "down",
        };
        write!(f, "{direction}/{}", self.along)
    }
}

impl CaseGroup for Scans {
    fn name(&self) -> &'static str {
        "scan"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let case = |scan: ScanAlong| {
            Case::new(format!("scan/{scan}"), move |context| {
                merge_verdicts(plan(context, &scan).and_then(|(layout, plan)| check(context, &scan, &layout, &plan)))
            })
        };
        let on_device =
            |scan: ScanAlong| device_case(format!("scan/device/{scan}"), move |context| test_cases(context, &scan));
        let all = all(context);
        let chosen = all.iter().filter(|scan| context.tested_device().is_some() && scan.along.is_worth_compiling());
        let chosen: Vec<_> = chosen.cloned().map(on_device).collect();
        all.into_iter().map(case).chain(chosen).collect()
    }
}

/// Builds the kernel of the plan, with its input and its expected output.
fn test_cases(context: &Context, scan: &ScanAlong) -> Result<Vec<TestCase>, Verdict> {
    let (layout, plan) = plan(context, scan)?;
    let (along, target) = (&scan.along, context.target().description());
    let case = build_scan_case((&layout, along.dim()), &along.element_bits(), (&plan, scan.direction), target);
    case.map(|case| vec![case]).map_err(not_built)
}

/// Returns the scans that are checked for a target, in alternating directions; a thorough run checks both.
#[must_use]
pub fn all(context: &Context) -> Vec<ScanAlong> {
    let directions = [ScanDirection::Forward, ScanDirection::Reverse];
    let both = |(at, along): (usize, AxisOperationCase)| {
        let ends = context.select_variants(at, 1, directions.to_vec(), |_| true).into_iter();
        ends.map(move |direction| ScanAlong { direction, along: along.clone() })
    };
    AxisOperationCase::all(context, 1, &TUPLES).into_iter().enumerate().flat_map(both).collect()
}

/// Builds the layout of the tensors and plans the scan.
///
/// # Errors
/// The verdict of the case if the layout cannot be built, or the scan has no plan.
pub fn plan(context: &Context, scan: &ScanAlong) -> Result<(LinearLayout, ScanPlan), Verdict> {
    let (along, target) = (&scan.along, context.target().description());
    let layout = along.layout(context)?;
    let plan = movement::plan_scan(&layout, along.dim(), &along.element_bits(), scan.direction, target);
    Ok((layout, plan.map_err(planning_verdict)?))
}

/// Runs the plan on the emulator and checks the results and the operations.
///
/// # Errors
/// The verdict of the case if the check fails.
pub fn check(context: &Context, scan: &ScanAlong, layout: &LinearLayout, plan: &ScanPlan) -> Result<Verdict, Verdict> {
    let (along, target) = (&scan.along, context.target().description());
    run_on_emulator(
        build_scan_case((layout, along.dim()), &along.element_bits(), (plan, scan.direction), target),
        target,
    )?;
    Ok(bound_verdict(plan.stats.above_bound.as_deref()))
}
