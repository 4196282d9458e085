//! `tilewright scan`: the plan of a scan of a tensor, or of a tuple of tensors, along an axis.

use clap::Args;
use serde_json::Value as Json;

use tilewright_plan::movement::{self, ScanDirection, ScanPlan};
use tilewright_verify::kernels::{build_scan_kernel, tuple_add_emitter};

use crate::emit::{AnswerForms, AnswerOptions};
use crate::failure::CommandError;
use crate::stats::PlanStatsTable;
use crate::tensor::TensorArguments;
use crate::{GlobalOptions, input};

/// Options of `tilewright scan`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The distributed layout of the tensor.
    layout: String,
    #[command(flatten)]
    tensor: TensorArguments,
    /// Index of the axis to scan along, from 0.
    #[arg(long, value_name = "NUMBER")]
    axis: usize,
    /// Scan from the end of the axis.
    #[arg(long)]
    reverse: bool,
    #[command(flatten)]
    emission: AnswerOptions,
}

/// Runs `tilewright scan`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::open_session(global)?;
    let (tensor, target) = (&options.tensor, options.tensor.find_target(&session)?);
    let src = tensor.parse_distributed_layout(&session, "LAYOUT", &options.layout)?;
    let (axis, bits) = (tensor.axis(options.axis)?, tensor.parse_tuple_bits()?);
    let direction = scan_direction(options.reverse);
    let plan = &movement::plan_scan(&src, axis, &bits, direction, target)?;
    let kernels = || {
        let elements = tensor.parse_tuple_elements()?;
        Ok(vec![build_scan_kernel(
            (&src, axis),
            &bits,
            (plan, direction),
            tuple_add_emitter(&elements),
            target.into(),
        )?])
    };
    let text = || Ok(format!("{axis}: {}\n{}", meaning(plan), PlanStatsTable::from(&plan.stats).to_text()));
    options.emission.print_answer(
        &session,
        &target.name,
        AnswerForms { kernels: &kernels, json: &|| plan_to_json(plan), text: &text },
    )
}

/// Returns the direction of a scan: backward if `reverse`.
pub fn scan_direction(reverse: bool) -> ScanDirection {
    if reverse { ScanDirection::Reverse } else { ScanDirection::Forward }
}

fn meaning(plan: &ScanPlan) -> &'static str {
    match plan.stats.counts {
        counts if counts.barriers > 0 => {
            "several warps have parts of it: totals or whole lines are moved through shared memory"
        }
        counts if counts.shuffles > 0 => "lanes of each warp have parts of it, and fetch from lower lanes",
        _ => "each lane has all of it: no element leaves its lane",
    }
}

/// Converts the plan of a scan to JSON.
pub fn plan_to_json(plan: &ScanPlan) -> Json {
    PlanStatsTable::from(&plan.stats).to_json()
}
