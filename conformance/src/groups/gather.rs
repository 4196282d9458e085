//! Group `gather`: elements of lines that indices name, by exchanges where the line lies within a warp and through
//! shared memory; every place holds the element that its index names, and what was executed is what the plan
//! counted.

use std::fmt;

use tilewright_layout::LinearLayout;
use tilewright_plan::movement;
use tilewright_plan::movement::{Gather, Rejected};
use tilewright_verify::{TestCase, gather_case};

use super::along::TensorAxis;
use super::corpus::{LayoutCorpus, Turns};
use super::emulated::{either, executed, refused};
use super::executed::{device_case, not_built};
use super::{CaseTensor, Endpoint};
use crate::{Case, Context, Group, Level, Verdict};

/// The group.
#[derive(Debug, Clone, Copy)]
pub struct Gathers;

/// Indices of so many places along the axis, where not of as many as the source.
const PLACES: u64 = 32;

/// Ways that take more wavefront slots than this are not run.
const MOST_SLOTS: f64 = 8192.0;

/// A gather. Written as in case names: `blocked-rows-by-blocked-cols/axis1/f16/64x128/w4`, and `axis1-to-32` where
/// the result has 32 places along the axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatherAlong {
    /// What is gathered from, along what.
    pub along: TensorAxis,
    /// The layout of the indices, and of the result.
    pub indices: Endpoint,
    /// Places of the result along the axis, where not as many as in the source.
    pub places: Option<u64>,
}

impl fmt::Display for GatherAlong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TensorAxis { source, axis, tensor, .. } = &self.along;
        let places = self.places.map(|places| format!("-to-{places}")).unwrap_or_default();
        write!(f, "{}-by-{}/axis{axis}{places}/{tensor}", source.name, self.indices.name)
    }
}

impl Group for Gathers {
    fn name(&self) -> &'static str {
        "gather"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let case = |gather: GatherAlong| {
            Case::new(format!("gather/{gather}"), move |context| {
                either(plan(context, &gather).and_then(|(layouts, plans)| shown(context, &gather, &layouts, &plans)))
            })
        };
        let on_device = |gather: GatherAlong| {
            device_case(format!("gather/device/{gather}"), move |context| test_cases(context, &gather))
        };
        let all = all(context);
        let chosen = all.iter().filter(|gather| context.devices().is_some() && gather.along.is_worth_compiling());
        let chosen: Vec<_> = chosen.cloned().map(on_device).collect();
        all.into_iter().map(case).chain(chosen).collect()
    }
}

/// The best plan, where it is one to be run.
fn small(plans: &[Gather]) -> Result<&Gather, Verdict> {
    let too_large = || Verdict::skip(format!("the best way takes more than {MOST_SLOTS} slots, which are not run"));
    plans.first().filter(|plan| plan.expected_slots() <= MOST_SLOTS).ok_or_else(too_large)
}

/// The best plan's kernel.
fn test_cases(context: &Context, gather: &GatherAlong) -> Result<Vec<TestCase>, Verdict> {
    let ((source, indices), plans) = plan(context, gather)?;
    let (bits, of) = (gather.along.tensor.setting.element.bits(), ([&source, &indices], gather.along.dim()));
    let target = context.target().description();
    gather_case(of, bits, small(&plans)?, target).map(|case| vec![case]).map_err(not_built)
}

/// The gathers that are shown for a target: from each layout along each axis by indices of the same layout and of
/// others in turn, as many as the source has or fewer.
#[must_use]
pub fn all(context: &Context) -> Vec<GatherAlong> {
    let (mut all, mut turns) = (Vec::new(), Turns::new(context));
    for corpus in LayoutCorpus::all(context) {
        let names = corpus.distributed();
        for (source, axis) in names.iter().flat_map(|name| (0..3).map(move |axis| (name, axis))) {
            let fits = |shape: &[u64]| shape.len() > axis;
            let partners = names.iter().filter(|&name| name != source && corpus.meet(&[source, name], fits));
            let others = turns.some_of(1, partners.collect());
            for indices in others.into_iter().chain([source]) {
                for places in turns.some_of(1, vec![None, Some(PLACES)]) {
                    for (tensor, ends) in corpus.some(&mut turns, 1, &[source, indices], fits) {
                        let (source, indices) = (ends[0].clone(), ends[1].clone());
                        let along = TensorAxis { source, axis, others: Vec::new(), tensor };
                        all.push(GatherAlong { along, indices, places });
                    }
                }
            }
        }
    }
    all
}

/// The layouts of the source and of the indices.
type Layouts = (LinearLayout, LinearLayout);

/// The layouts, and the plans by all ways that are open, the best first.
///
/// # Errors
/// The verdict where there is none.
pub fn plan(context: &Context, gather: &GatherAlong) -> Result<(Layouts, Vec<Gather>), Verdict> {
    let along = &gather.along;
    let source = along.layout(context)?;
    let mut expected: CaseTensor = along.tensor.clone();
    expected.shape[along.axis] = gather.places.unwrap_or(expected.shape[along.axis]);
    let indices = gather.indices.distributed(context, &expected)?;
    let (bits, target) = (along.tensor.setting.element.bits(), context.target().description());
    let (plans, rejected) = movement::gathers(&source, &indices, along.dim(), bits, target).map_err(refused)?;
    if plans.is_empty() {
        return Err(Verdict::unsupported(Rejected::list(&rejected)));
    }
    Ok(((source, indices), plans))
}

/// Runs the plans and compares; the best is the one that is chosen.
///
/// # Errors
/// The verdict where something is wrong.
pub fn shown(
    context: &Context,
    gather: &GatherAlong,
    (source, indices): &Layouts,
    plans: &[Gather],
) -> Result<Verdict, Verdict> {
    let (along, target) = (&gather.along, context.target().description());
    let bits = along.tensor.setting.element.bits();
    let chosen = movement::gather(source, indices, along.dim(), bits, target).map_err(refused)?;
    let least = plans.iter().map(Gather::expected_slots).fold(f64::INFINITY, f64::min);
    if chosen.expected_slots() > least {
        let detail = format!("{} was chosen at {} slots, {least} are enough", chosen.path, chosen.expected_slots());
        return Err(Verdict::fail(Level::Layout, detail));
    }
    let mut small = plans.iter().filter(|plan| plan.expected_slots() <= MOST_SLOTS).peekable();
    if small.peek().is_none() {
        return Ok(Verdict::skip(format!("the best way takes {least} slots; more than {MOST_SLOTS} are not run")));
    }
    for plan in small {
        executed(gather_case(([source, indices], along.dim()), bits, plan, target), target)
            .map_err(|verdict| Verdict { detail: format!("path {}: {}", plan.path, verdict.detail), ..verdict })?;
    }
    Ok(Verdict::pass(Level::Emulated))
}
