//! Group `gather` of the suite: gathers along an axis, by shuffles if the axis lies within a warp, and through shared
//! memory. Each position must get the element that its index selects, and the executed operations must equal the plan's
//! counts.

use std::fmt;

use tilewright_layout::LinearLayout;
use tilewright_plan::movement;
use tilewright_plan::movement::{GatherPlan, RejectedCandidate};
use tilewright_verify::{TestCase, build_gather_case};

use super::along::AxisOperationCase;
use super::corpus::{LayoutCorpus, Sampler};
use super::emulated::{merge_verdicts, planning_verdict, run_on_emulator};
use super::executed::{device_case, not_built};
use super::{CaseTensorSpec, NamedLayout};
use crate::{Case, CaseGroup, Context, EvidenceLevel, Verdict};

/// The group `gather` of the conformance suite: cases on gathers along an axis.
#[derive(Debug, Clone, Copy)]
pub struct Gathers;

/// Size of the result along the axis, for cases whose result has another size than the source.
const INDEX_COUNT: u64 = 32;

/// Max price of a gather that is run, in shared-memory wavefronts of a warp ([`GatherPlan::expected_price`]). Cases
/// above it are skipped, since they take too long.
const MAX_PRICE: f64 = 8192.0;

/// A gather. Case names spell it `blocked-rows-by-blocked-cols/axis1/f16/64x128/w4`, with `axis1-to-32` if the result
/// has 32 positions along the axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatherAlong {
    /// The tensor to gather from, and its axis.
    pub along: AxisOperationCase,
    /// The layout of the indices and the result.
    pub indices: NamedLayout,
    /// Size of the result along the axis; `None` for the source's size.
    pub index_count: Option<u64>,
}

impl fmt::Display for GatherAlong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AxisOperationCase { source, axis, tensor, .. } = &self.along;
        let index_count = self.index_count.map(|index_count| format!("-to-{index_count}")).unwrap_or_default();
        write!(f, "{}-by-{}/axis{axis}{index_count}/{tensor}", source.name, self.indices.name)
    }
}

impl CaseGroup for Gathers {
    fn name(&self) -> &'static str {
        "gather"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let case = |gather: GatherAlong| {
            Case::new(format!("gather/{gather}"), move |context| {
                merge_verdicts(
                    list_gather_case_plans(context, &gather)
                        .and_then(|(layouts, plans)| check(context, &gather, &layouts, &plans)),
                )
            })
        };
        let on_device = |gather: GatherAlong| {
            device_case(format!("gather/device/{gather}"), move |context| test_cases(context, &gather))
        };
        let all = all(context);
        let chosen = all.iter().filter(|gather| context.tested_device().is_some() && gather.along.is_worth_compiling());
        let chosen: Vec<_> = chosen.cloned().map(on_device).collect();
        all.into_iter().map(case).chain(chosen).collect()
    }
}

/// Returns the best plan if it is small enough to be run, otherwise a verdict that skips the case.
fn small(plans: &[GatherPlan]) -> Result<&GatherPlan, Verdict> {
    let too_large = || Verdict::skip(format!("the best plan takes more than {MAX_PRICE} slots; not run"));
    plans.first().filter(|plan| plan.expected_price() <= MAX_PRICE).ok_or_else(too_large)
}

/// Builds the kernel of the best plan, with its input and its expected output.
fn test_cases(context: &Context, gather: &GatherAlong) -> Result<Vec<TestCase>, Verdict> {
    let ((source, indices), plans) = list_gather_case_plans(context, gather)?;
    let (bits, of) = (gather.along.tensor.setting.element.bits(), ([&source, &indices], gather.along.dim()));
    let target = context.target().description();
    build_gather_case(of, bits, small(&plans)?, target).map(|case| vec![case]).map_err(not_built)
}

/// Returns the gathers that are checked for a target: from each layout along each axis, by indices in the same layout
/// and in other layouts in rotation. The result has as many positions along the axis as the source, or 32.
#[must_use]
pub fn all(context: &Context) -> Vec<GatherAlong> {
    let (mut all, mut sampler) = (Vec::new(), Sampler::new(context));
    for corpus in LayoutCorpus::all(context) {
        let names = corpus.distributed();
        for (source, axis) in names.iter().flat_map(|name| (0..3).map(move |axis| (name, axis))) {
            let fits = |shape: &[u64]| shape.len() > axis;
            let partners =
                names.iter().filter(|&name| name != source && corpus.has_common_shape(&[source, name], fits));
            let others = sampler.some_of(1, partners.collect());
            for indices in others.into_iter().chain([source]) {
                for index_count in sampler.some_of(1, vec![None, Some(INDEX_COUNT)]) {
                    for (tensor, ends) in corpus.select_tensors(&mut sampler, 1, &[source, indices], fits) {
                        let (source, indices) = (ends[0].clone(), ends[1].clone());
                        let along = AxisOperationCase { source, axis, others: Vec::new(), tensor };
                        all.push(GatherAlong { along, indices, index_count });
                    }
                }
            }
        }
    }
    all
}

/// The layouts of the source and of the indices.
type Layouts = (LinearLayout, LinearLayout);

/// Returns the layouts of a gather's source and indices, and all possible plans, the best first.
///
/// # Errors
/// The verdict of the case if a layout cannot be built, or the gather has no plan.
pub fn list_gather_case_plans(context: &Context, gather: &GatherAlong) -> Result<(Layouts, Vec<GatherPlan>), Verdict> {
    let along = &gather.along;
    let source = along.layout(context)?;
    let mut expected: CaseTensorSpec = along.tensor.clone();
    expected.shape[along.axis] = gather.index_count.unwrap_or(expected.shape[along.axis]);
    let indices = gather.indices.distributed(context, &expected)?;
    let (bits, target) = (along.tensor.setting.element.bits(), context.target().description());
    let (plans, rejected) =
        movement::gather_candidates(&source, &indices, along.dim(), bits, target).map_err(planning_verdict)?;
    if plans.is_empty() {
        return Err(Verdict::unsupported(RejectedCandidate::list_reasons(&rejected)));
    }
    Ok(((source, indices), plans))
}

/// Runs the plans on the emulator and compares their cycles: the plan that is chosen must take the fewest.
///
/// # Errors
/// The verdict of the case if the check fails.
pub fn check(
    context: &Context,
    gather: &GatherAlong,
    (source, indices): &Layouts,
    plans: &[GatherPlan],
) -> Result<Verdict, Verdict> {
    let (along, target) = (&gather.along, context.target().description());
    let bits = along.tensor.setting.element.bits();
    let chosen = movement::plan_gather(source, indices, along.dim(), bits, target).map_err(planning_verdict)?;
    let fewest = plans.iter().map(|plan| plan.expected_cycles).fold(f64::INFINITY, f64::min);
    if chosen.expected_cycles > fewest {
        let detail =
            format!("{} was chosen at {:.0} cycles, {fewest:.0} are enough", chosen.path, chosen.expected_cycles);
        return Err(Verdict::fail(EvidenceLevel::Layout, detail));
    }
    let mut small = plans.iter().filter(|plan| plan.expected_price() <= MAX_PRICE).peekable();
    if small.peek().is_none() {
        return Ok(Verdict::skip(format!("the smallest plan takes more than {MAX_PRICE} slots; not run")));
    }
    for plan in small {
        run_on_emulator(build_gather_case(([source, indices], along.dim()), bits, plan, target), target)
            .map_err(|verdict| Verdict { detail: format!("path {}: {}", plan.path, verdict.detail), ..verdict })?;
    }
    Ok(Verdict::pass(EvidenceLevel::Emulated))
}
