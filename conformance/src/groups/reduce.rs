//! Group `reduce`: every layout is reduced along each of its axes; every lane that held a part holds the result, no
//! part is stored to shared memory twice, and what was executed is what the plan counted.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement;
use tilewright_plan::movement::Reduction;
use tilewright_verify::{TestCase, reduction_case};

use super::along::TensorAxis;
use super::emulated::{at_bound, either, executed, refused, stores_once};
use super::executed::{device_case, not_built};
use super::law::broken;
use super::walk::walk;
use crate::{Case, Context, Group, Verdict};

/// The group.
#[derive(Debug, Clone, Copy)]
pub struct Reductions;

/// Tensors alone, pairs and triples of mixed widths.
const TUPLES: [&[usize]; 3] = [&[], &[1], &[2, 3]];

impl Group for Reductions {
    fn name(&self) -> &'static str {
        "reduce"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let case = |along: TensorAxis| {
            Case::new(format!("reduce/{along}"), move |context| {
                either(plan(context, &along).and_then(|(layout, plan)| shown(context, &along, &layout, &plan)))
            })
        };
        let on_device = |along: TensorAxis| {
            device_case(format!("reduce/device/{along}"), move |context| test_cases(context, &along))
        };
        let all = all(context);
        let chosen = all.iter().filter(|along| context.devices().is_some() && along.is_worth_compiling());
        let chosen: Vec<_> = chosen.cloned().map(on_device).collect();
        all.into_iter().map(case).chain(chosen).collect()
    }
}

/// The plan's kernel.
fn test_cases(context: &Context, along: &TensorAxis) -> Result<Vec<TestCase>, Verdict> {
    let (layout, plan) = plan(context, along)?;
    let case = reduction_case((&layout, along.dim()), &along.element_bits(), &plan, context.target().description());
    case.map(|case| vec![case]).map_err(not_built)
}

/// The reductions that are shown for a target.
#[must_use]
pub fn all(context: &Context) -> Vec<TensorAxis> {
    TensorAxis::all(context, 1, &TUPLES)
}

/// The layout, and the plan for it.
///
/// # Errors
/// The verdict where there is none.
pub fn plan(context: &Context, along: &TensorAxis) -> Result<(LinearLayout, Reduction), Verdict> {
    let layout = along.layout(context)?;
    let plan = movement::reduce(&layout, along.dim(), &along.element_bits(), context.target().description());
    Ok((layout, plan.map_err(refused)?))
}

/// Runs the plan and compares.
///
/// # Errors
/// The verdict where something is wrong.
pub fn shown(
    context: &Context,
    along: &TensorAxis,
    layout: &LinearLayout,
    plan: &Reduction,
) -> Result<Verdict, Verdict> {
    let (target, bits) = (context.target().description(), along.element_bits());
    let report = executed(reduction_case((layout, along.dim()), &bits, plan, target), target)?;
    let bytes: u64 = bits.iter().map(|&bits| u64::from(bits / 8)).sum();
    let handed_out = if plan.hands_out() { lines(layout, along.dim()) } else { 0 };
    stores_once(&report, bytes * (parts(layout, along.dim()).map_err(broken)? + handed_out))?;
    Ok(at_bound(plan.stats.above_bound.as_deref()))
}

/// How many partial results differ: for each result, the different sets of elements that a warp holds of it. As the
/// layout is linear, they are as many for each result, and those of the first are counted.
fn parts(layout: &LinearLayout, axis: Dim) -> Result<u64, String> {
    let mut held: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    walk(layout, |position, element| {
        if layout.outs().unpack(element).all(|(dim, at)| dim == axis || at == 0) {
            let warp = layout.ins().coordinate(position, Dim::WARP);
            held.entry(warp).or_default().insert(layout.outs().coordinate(element, axis));
        }
    })?;
    let different: BTreeSet<_> = held.into_values().collect();
    Ok(different.len() as u64 * lines(layout, axis))
}

/// How many results there are.
fn lines(layout: &LinearLayout, axis: Dim) -> u64 {
    1 << (layout.outs().bits() - layout.out_bits(axis))
}
