//! Group `reduce` of the suite: reductions of every layout along each of its axes. Every lane that held a partial
//! result must get the result, no partial result may be stored to shared memory twice, and the executed operations must
//! equal the plan's counts.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement;
use tilewright_plan::movement::ReductionPlan;
use tilewright_verify::{TestCase, build_reduction_case};

use super::along::AxisOperationCase;
use super::emulated::{bound_verdict, merge_verdicts, planning_verdict, run_on_emulator, stores_once};
use super::executed::{device_case, not_built};
use super::law::law_failure;
use super::walk::walk;
use crate::{Case, CaseGroup, Context, Verdict};

/// The group `reduce` of the conformance suite: cases on reductions along an axis.
#[derive(Debug, Clone, Copy)]
pub struct Reductions;

/// The tuples of tensors to reduce: single tensors, and pairs and triples of mixed widths. Each tuple lists the element
/// types of its further tensors, as distances from the first tensor's type in the list of element types.
const TUPLES: [&[usize]; 3] = [&[], &[1], &[2, 3]];

impl CaseGroup for Reductions {
    fn name(&self) -> &'static str {
        "reduce"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let case = |along: AxisOperationCase| {
            Case::new(format!("reduce/{along}"), move |context| {
                merge_verdicts(plan(context, &along).and_then(|(layout, plan)| check(context, &along, &layout, &plan)))
            })
        };
        let on_device = |along: AxisOperationCase| {
            device_case(format!("reduce/device/{along}"), move |context| test_cases(context, &along))
        };
        let all = all(context);
        let chosen = all.iter().filter(|along| context.tested_device().is_some() && along.is_worth_compiling());
        let chosen: Vec<_> = chosen.cloned().map(on_device).collect();
        all.into_iter().map(case).chain(chosen).collect()
    }
}

/// Builds the kernel of the best plan, with its input and its expected output.
fn test_cases(context: &Context, along: &AxisOperationCase) -> Result<Vec<TestCase>, Verdict> {
    let (layout, plan) = plan(context, along)?;
    let case =
        build_reduction_case((&layout, along.dim()), &along.element_bits(), &plan, context.target().description());
    case.map(|case| vec![case]).map_err(not_built)
}

/// Returns the reductions that are checked for a target.
#[must_use]
pub fn all(context: &Context) -> Vec<AxisOperationCase> {
    AxisOperationCase::all(context, 1, &TUPLES)
}

/// Builds the layout of the tensors and plans the reduction.
///
/// # Errors
/// The verdict of the case if the layout cannot be built, or the reduction has no plan.
pub fn plan(context: &Context, along: &AxisOperationCase) -> Result<(LinearLayout, ReductionPlan), Verdict> {
    let layout = along.layout(context)?;
    let plan = movement::plan_reduction(&layout, along.dim(), &along.element_bits(), context.target().description());
    Ok((layout, plan.map_err(planning_verdict)?))
}

/// Runs the plan on the emulator and checks the results and the operations.
///
/// # Errors
/// The verdict of the case if the check fails.
pub fn check(
    context: &Context,
    along: &AxisOperationCase,
    layout: &LinearLayout,
    plan: &ReductionPlan,
) -> Result<Verdict, Verdict> {
    let (target, bits) = (context.target().description(), along.element_bits());
    let report = run_on_emulator(build_reduction_case((layout, along.dim()), &bits, plan, target), target)?;
    let bytes: u64 = bits.iter().map(|&bits| u64::from(bits / 8)).sum();
    let broadcast_elements = if plan.broadcasts_results() { lines(layout, along.dim()) } else { 0 };
    stores_once(&report, bytes * (partial_count(layout, along.dim()).map_err(law_failure)? + broadcast_elements))?;
    Ok(bound_verdict(plan.stats.above_bound.as_deref()))
}

/// Returns the number of distinct partial results of one result: the distinct sets of its elements that warps hold.
/// Since the layout is linear, the number is the same for each result.
fn partial_count(layout: &LinearLayout, axis: Dim) -> Result<u64, String> {
    let mut elements_by_warp: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    walk(layout, |position, element| {
        if layout.outs().unpack(element).all(|(dim, at)| dim == axis || at == 0) {
            let warp = layout.ins().coordinate(position, Dim::WARP);
            elements_by_warp.entry(warp).or_default().insert(layout.outs().coordinate(element, axis));
        }
    })?;
    let different: BTreeSet<_> = elements_by_warp.into_values().collect();
    Ok(different.len() as u64 * lines(layout, axis))
}

/// Returns the number of results of the reduction along `axis`.
fn lines(layout: &LinearLayout, axis: Dim) -> u64 {
    1 << (layout.outs().total_bits() - layout.out_bits(axis))
}
