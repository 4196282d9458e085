//! Group `scan`: every layout is scanned along each of its axes, from either end; every register holds what one
//! element after the other adds up to, and what was executed is what the plan counted.

use std::fmt;

use tilewright_layout::LinearLayout;
use tilewright_plan::movement;
use tilewright_plan::movement::{Scan, ScanDirection};
use tilewright_verify::{TestCase, scan_case};

use super::along::TensorAxis;
use super::emulated::{at_bound, either, executed, refused};
use super::executed::{device_case, not_built};
use crate::{Case, Context, Group, Verdict};

/// The group.
#[derive(Debug, Clone, Copy)]
pub struct Scans;

/// Tensors alone are added up; pairs of one width are maps that are composed, whose order matters; triples have
/// mixed widths.
const TUPLES: [&[usize]; 3] = [&[], &[0], &[1, 2]];

/// A scan. Written as in case names: `up/blocked-rows/axis1/f16/64x128/w4`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanAlong {
    /// From which end.
    pub direction: ScanDirection,
    /// What, along what.
    pub along: TensorAxis,
}

impl fmt::Display for ScanAlong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = match self.direction {
            ScanDirection::Up => "up",
            ScanDirection::Down => "down",
        };
        write!(f, "{direction}/{}", self.along)
    }
}

impl Group for Scans {
    fn name(&self) -> &'static str {
        "scan"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let case = |scan: ScanAlong| {
            Case::new(format!("scan/{scan}"), move |context| {
                either(plan(context, &scan).and_then(|(layout, plan)| shown(context, &scan, &layout, &plan)))
            })
        };
        let on_device =
            |scan: ScanAlong| device_case(format!("scan/device/{scan}"), move |context| test_cases(context, &scan));
        let all = all(context);
        let chosen = all.iter().filter(|scan| context.devices().is_some() && scan.along.is_worth_compiling());
        let chosen: Vec<_> = chosen.cloned().map(on_device).collect();
        all.into_iter().map(case).chain(chosen).collect()
    }
}

/// The plan's kernel.
fn test_cases(context: &Context, scan: &ScanAlong) -> Result<Vec<TestCase>, Verdict> {
    let (layout, plan) = plan(context, scan)?;
    let (along, target) = (&scan.along, context.target().description());
    let case = scan_case((&layout, along.dim()), &along.element_bits(), (&plan, scan.direction), target);
    case.map(|case| vec![case]).map_err(not_built)
}

/// The scans that are shown for a target: from both ends by turns, everything from both where it is thorough.
#[must_use]
pub fn all(context: &Context) -> Vec<ScanAlong> {
    let ways = [ScanDirection::Up, ScanDirection::Down];
    let both = |(at, along): (usize, TensorAxis)| {
        let ends = context.some_of(at, 1, ways.to_vec(), |_| true).into_iter();
        ends.map(move |direction| ScanAlong { direction, along: along.clone() })
    };
    TensorAxis::all(context, 1, &TUPLES).into_iter().enumerate().flat_map(both).collect()
}

/// The layout, and the plan for it.
///
/// # Errors
/// The verdict where there is none.
pub fn plan(context: &Context, scan: &ScanAlong) -> Result<(LinearLayout, Scan), Verdict> {
    let (along, target) = (&scan.along, context.target().description());
    let layout = along.layout(context)?;
    let plan = movement::scan(&layout, along.dim(), &along.element_bits(), scan.direction, target);
    Ok((layout, plan.map_err(refused)?))
}

/// Runs the plan and compares.
///
/// # Errors
/// The verdict where something is wrong.
pub fn shown(context: &Context, scan: &ScanAlong, layout: &LinearLayout, plan: &Scan) -> Result<Verdict, Verdict> {
    let (along, target) = (&scan.along, context.target().description());
    executed(scan_case((layout, along.dim()), &along.element_bits(), (plan, scan.direction), target), target)?;
    Ok(at_bound(plan.stats.above_bound.as_deref()))
}
