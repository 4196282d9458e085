//! `tilewright gather`: how elements are gathered along an axis, by indices that are known at run time.

use clap::Args;
use serde_json::{Value as Json, json};

use tilewright_plan::movement::{self, Gather};
use tilewright_verify::kernels::gather_kernel;

use crate::emit::{Answer, Emission};
use crate::failure::CommandError;
use crate::stats::PlanNumbers;
use crate::tensor::TensorArguments;
use crate::ways::{self, AlternativeLine};
use crate::{GlobalOptions, input};

/// What to gather.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The distributed layout of the tensor.
    layout: String,
    /// The distributed layout of the indices, and of the result.
    indices: String,
    #[command(flatten)]
    tensor: TensorArguments,
    /// The shape of the indices where it is not the tensor's; only along the axis it may differ.
    #[arg(long, value_name = "SHAPE")]
    index_shape: Option<String>,
    /// The axis along which the indices count.
    #[arg(long, value_name = "NUMBER")]
    axis: usize,
    /// Show the other way, and why the plan won.
    #[arg(long, conflicts_with_all = ["json", "emit"])]
    explain: bool,
    #[command(flatten)]
    emission: Emission,
}

/// Runs the command.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::session(global)?;
    let (tensor, target) = (&options.tensor, options.tensor.target(&session)?);
    let src = tensor.distributed(&session, "LAYOUT", &options.layout)?;
    let shape = options.index_shape.as_ref().unwrap_or(&tensor.shape);
    let indices = tensor.distributed_of(&session, "INDICES", &options.indices, shape)?;
    let (axis, bits) = (tensor.axis(options.axis)?, tensor.element_bits()?);
    let plan = &movement::gather(&src, &indices, axis, bits, target)?;
    let text = || {
        let mut text = format!("path {}\n{}", plan.path, stats(plan).text());
        if plan.expected_wavefronts > 0.0 {
            let mean = plan.expected_wavefronts;
            text +=
                &format!("\nwavefronts loaded are at least these; over indices drawn evenly the mean is {mean:.1}\n");
        }
        if options.explain {
            let (open, rejected) = movement::gathers(&src, &indices, axis, bits, target)?;
            text += &ways::table(open.iter().map(way), &rejected, &target.name);
        }
        Ok(text)
    };
    let kernels = || Ok(vec![gather_kernel(([&src, &indices], axis), bits, plan, target.into())?]);
    options.emission.answer(&session, &target.name, Answer { kernels: &kernels, json: &|| answer(plan), text: &text })
}

fn way(plan: &Gather) -> AlternativeLine<'_> {
    AlternativeLine { slots: plan.expected_slots(), ..AlternativeLine::new(plan.path.to_string(), &plan.stats) }
}

fn stats(plan: &Gather) -> PlanNumbers<'_> {
    PlanNumbers::new(plan.stats.counts, plan.stats.cost, plan.stats.shared_bytes)
}

/// The plan as programs read it.
pub fn answer(plan: &Gather) -> Json {
    let mut answer = stats(plan).json();
    answer["path"] = json!(plan.path);
    answer["expected_wavefronts"] = json!(plan.expected_wavefronts);
    answer["expected_slots"] = json!(plan.expected_slots());
    answer
}
