//! `tilewright gather`: the plan of a gather along an axis by run-time indices.

use clap::Args;
use serde_json::{Value as Json, json};

use tilewright_plan::movement::{self, GatherPlan};
use tilewright_verify::kernels::build_gather_kernel;

use crate::alternatives::{self, AlternativeLine};
use crate::emit::{AnswerForms, AnswerOptions};
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
    emission: AnswerOptions,
}

/// Runs `tilewright gather`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::open_session(global)?;
    let (tensor, target) = (&options.tensor, options.tensor.find_target(&session)?);
    let src = tensor.parse_distributed_layout(&session, "LAYOUT", &options.layout)?;
    let shape = options.index_shape.as_ref().unwrap_or(&tensor.shape);
    let indices = tensor.parse_distributed_layout_of_shape(&session, "INDICES", &options.indices, shape)?;
    let (axis, bits) = (tensor.axis(options.axis)?, tensor.parse_element_bits()?);
    let plan = &movement::plan_gather(&src, &indices, axis, bits, target)?;
    let text = || {
        let mut text = format!("path {}\n{}", plan.path, stats(plan).to_text());
        if plan.expected_wavefronts > plan.stats.counts.wavefronts_loaded as f64 {
            let mean = plan.expected_wavefronts;
            text += &format!("\nwavefronts loaded are at least these; the mean over random indices is {mean:.1}\n");
        }
        if options.explain {
            let (open, rejected) = movement::gather_candidates(&src, &indices, axis, bits, target)?;
            text += &alternatives::format_candidate_table(open.iter().map(to_line), &rejected, &target.name);
        }
        Ok(text)
    };
    let kernels = || Ok(vec![build_gather_kernel(([&src, &indices], axis), bits, plan, target.into())?]);
    options.emission.print_answer(
        &session,
        &target.name,
        AnswerForms { kernels: &kernels, json: &|| plan_to_json(plan), text: &text },
    )
}

fn to_line(plan: &GatherPlan) -> AlternativeLine<'_> {
    AlternativeLine { cycles: plan.expected_cycles, ..AlternativeLine::new(plan.path.to_string(), &plan.stats) }
}

fn stats(plan: &GatherPlan) -> PlanStatsTable<'_> {
    PlanStatsTable::new(plan.stats.counts, plan.stats.cost, plan.stats.shared_bytes)
}

/// Converts the plan of a gather to JSON.
pub fn plan_to_json(plan: &GatherPlan) -> Json {
    let mut answer = stats(plan).to_json();
    answer["path"] = json!(plan.path);
    answer["expected_wavefronts"] = json!(plan.expected_wavefronts);
    answer["expected_slots"] = json!(plan.expected_price());
    answer
}
