//! `tilewright gather`: the plan of a gather along an axis by run-time indices.

use clap::Args;
use serde_json::{Value as Json, json};

use tilewright_plan::movement::{self, GatherPlan};
use tilewright_verify::kernels::gather_kernel;

use crate::alternatives::{self, AlternativeLine};
use crate::emit::{Answer, Emission};
use crate::failure::CommandError;
use crate::stats::PlanStatsTable;
use crate::tensor::TensorArguments;
use crate::{GlobalOptions, input};

/// Options of `tilewright gather`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The distributed layout of the tensor.
    layout: String,
    /// The distributed layout of the indices, and of the result.
    indices: String,
    #[command(flatten)]
    tensor: TensorArguments,
    /// The shape of the indices, if it is not the tensor's; it may differ along the gathered axis only.
    #[arg(long, value_name = "SHAPE")]
    index_shape: Option<String>,
    /// Index of the axis along which the indices select elements, from 0.
    #[arg(long, value_name = "NUMBER")]
    axis: usize,
    /// Show the other candidate, and the reason for the choice.
    #[arg(long, conflicts_with_all = ["json", "emit"])]
    explain: bool,
    #[command(flatten)]
    emission: Emission,
}

/// Runs `tilewright gather`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::session(global)?;
    let (tensor, target) = (&options.tensor, options.tensor.target(&session)?);
    let src = tensor.distributed(&session, "LAYOUT", &options.layout)?;
    let shape = options.index_shape.as_ref().unwrap_or(&tensor.shape);
    let indices = tensor.distributed_of(&session, "INDICES", &options.indices, shape)?;
    let (axis, bits) = (tensor.axis(options.axis)?, tensor.element_bits()?);
    let plan = &movement::plan_gather(&src, &indices, axis, bits, target)?;
    let text = || {
        let mut text = format!("path {}\n{}", plan.path, stats(plan).text());
        if plan.expected_wavefronts > plan.stats.counts.wavefronts_loaded as f64 {
            let mean = plan.expected_wavefronts;
            text += &format!("\nwavefronts loaded are at least these; the mean over random indices is {mean:.1}\n");
        }
        if options.explain {
            let (open, rejected) = movement::gather_candidates(&src, &indices, axis, bits, target)?;
            text += &alternatives::table(open.iter().map(to_line), &rejected, &target.name);
        }
        Ok(text)
    };
    let kernels = || Ok(vec![gather_kernel(([&src, &indices], axis), bits, plan, target.into())?]);
    options.emission.answer(&session, &target.name, Answer { kernels: &kernels, json: &|| answer(plan), text: &text })
}

fn to_line(plan: &GatherPlan) -> AlternativeLine<'_> {
    AlternativeLine { cycles: plan.expected_cycles, ..AlternativeLine::new(plan.path.to_string(), &plan.stats) }
}

fn stats(plan: &GatherPlan) -> PlanStatsTable<'_> {
    PlanStatsTable::new(plan.stats.counts, plan.stats.cost, plan.stats.shared_bytes)
}

/// Converts the plan of a gather to JSON.
pub fn answer(plan: &GatherPlan) -> Json {
    let mut answer = stats(plan).json();
    answer["path"] = json!(plan.path);
    answer["expected_wavefronts"] = json!(plan.expected_wavefronts);
    answer["expected_slots"] = json!(plan.expected_price());
    answer
}
