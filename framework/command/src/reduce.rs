//! `tilewright reduce`: how a tensor, or a tuple of tensors, is reduced along an axis.

use clap::Args;
use serde_json::{Value as Json, json};

use tilewright_layout::layout_to_json;
use tilewright_plan::movement::{self, Reduction};
use tilewright_verify::kernels::reduction_kernel;

use crate::emit::{Answer, Emission};
use crate::failure::CommandError;
use crate::stats::PlanNumbers;
use crate::tensor::TensorArguments;
use crate::ways::{self, AlternativeLine};
use crate::{GlobalOptions, input};

/// What to reduce.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The distributed layout of the tensor.
    layout: String,
    #[command(flatten)]
    tensor: TensorArguments,
    /// The axis that goes.
    #[arg(long, value_name = "NUMBER")]
    axis: usize,
    /// Show the other ways that were weighed, and why the plan won.
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
    let (axis, bits) = (tensor.axis(options.axis)?, tensor.tuple_bits()?);
    let plan = &movement::reduce(&src, axis, &bits, target)?;
    let text = || {
        let mut text = format!("{axis}: {}\n{}", meaning(plan), PlanNumbers::from(&plan.stats).text());
        if options.explain {
            let all = movement::reductions(&src, axis, &bits, target)?;
            text += &ways::table(all.iter().map(way), &[], &target.name);
        }
        Ok(text + &format!("\nthe result's layout, in every lane that held a part:\n{}\n", plan.result))
    };
    let kernels = || Ok(vec![reduction_kernel((&src, axis), &bits, plan, target.into())?]);
    options.emission.answer(&session, &target.name, Answer { kernels: &kernels, json: &|| answer(plan), text: &text })
}

fn meaning(plan: &Reduction) -> &'static str {
    match plan.stats.counts {
        counts if counts.barriers > 0 => "warps hold parts of it: what is left of each is moved to all that want it",
        counts if counts.exchanges > 0 => "lanes of each warp hold parts of it, and combine by exchange",
        _ => "each lane holds all of it: no element leaves its lane",
    }
}

fn way(plan: &Reduction) -> AlternativeLine<'_> {
    let trips = if plan.hands_out() { ", handed out" } else { "" };
    let name = format!("{} lane bits halve, {} read parts{trips}", plan.halving_lanes(), plan.reading_lanes());
    AlternativeLine::new(name, &plan.stats)
}

/// The plan as programs read it.
pub fn answer(plan: &Reduction) -> Json {
    let mut answer = PlanNumbers::from(&plan.stats).json();
    answer["layout"] = json!(layout_to_json(&plan.result));
    answer
}
