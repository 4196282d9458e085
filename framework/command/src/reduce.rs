//! `tilewright reduce`: the plan of a reduction of a tensor, or of a tuple of tensors, along an axis.

use clap::Args;
use serde_json::{Value as Json, json};

use tilewright_layout::layout_to_json;
use tilewright_plan::movement::{self, ReductionPlan};
use tilewright_verify::kernels::{build_reduction_kernel, tuple_add_emitter};

use crate::alternatives::{self, AlternativeLine};
use crate::emit::{AnswerForms, AnswerOptions};
use crate::failure::CommandError;
use crate::stats::PlanStatsTable;
use crate::tensor::TensorArguments;
use crate::{GlobalOptions, input};

/// Options of `tilewright reduce`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The distributed layout of the tensor.
    layout: String,
    #[command(flatten)]
    tensor: TensorArguments,
    /// Index of the axis to reduce, from 0.
    #[arg(long, value_name = "NUMBER")]
    axis: usize,
    /// Show the other candidates, and the reason for the choice.
    #[arg(long, conflicts_with_all = ["json", "emit"])]
    explain: bool,
    #[command(flatten)]
    emission: AnswerOptions,
}

/// Runs `tilewright reduce`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::open_session(global)?;
    let (tensor, target) = (&options.tensor, options.tensor.find_target(&session)?);
    let src = tensor.parse_distributed_layout(&session, "LAYOUT", &options.layout)?;
    let (axis, bits) = (tensor.axis(options.axis)?, tensor.parse_tuple_bits()?);
    let plan = &movement::plan_reduction(&src, axis, &bits, target)?;
    let text = || {
        let mut text = format!("{axis}: {}\n{}", meaning(plan), PlanStatsTable::from(&plan.stats).to_text());
        if options.explain {
            let all = movement::reduction_candidates(&src, axis, &bits, target)?;
            text += &alternatives::format_candidate_table(all.iter().map(to_line), &[], &target.name);
        }
        Ok(text + &format!("\nthe result's layout, in every lane that had an element:\n{}\n", plan.result))
    };
    let kernels = || {
        let elements = tensor.parse_tuple_elements()?;
        Ok(vec![build_reduction_kernel((&src, axis), &bits, plan, tuple_add_emitter(&elements), target.into())?])
    };
    options.emission.print_answer(
        &session,
        &target.name,
        AnswerForms { kernels: &kernels, json: &|| plan_to_json(plan), text: &text },
    )
}

fn meaning(plan: &ReductionPlan) -> &'static str {
    match plan.stats.counts {
        _ if plan.stats.bound.wavefronts_stored > 0 => {
            "several warps have parts of it: their partial results are converted and combined"
        }
        counts if counts.barriers > 0 => {
            "lanes of each warp have parts of it, combine them by shuffles, and load the results from shared memory"
        }
        counts if counts.shuffles > 0 => "lanes of each warp have parts of it, and combine them by shuffles",
        _ => "each lane has all of it: no element leaves its lane",
    }
}

fn to_line(plan: &ReductionPlan) -> AlternativeLine<'_> {
    let broadcast = if plan.broadcasts_results() { ", then broadcast" } else { "" };
    let name =
        format!("{} lane bits halve, {} load parts{broadcast}", plan.halving_lane_bits(), plan.loading_lane_bits());
    AlternativeLine::new(name, &plan.stats)
}

/// Converts the plan of a reduction to JSON. The result's axes are those of its own tensor, from `dim0` on.
pub fn plan_to_json(plan: &ReductionPlan) -> Json {
    let mut answer = PlanStatsTable::from(&plan.stats).to_json();
    answer["layout"] = json!(layout_to_json(&plan.result.renumber_axes()));
    answer
}
