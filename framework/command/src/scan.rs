//! `tilewright scan`: the plan of a scan of a tensor, or of a tuple of tensors, along an axis.

use clap::Args;
use serde_json::Value as Json;

use tilewright_plan::movement::{self, ScanDirection, ScanPlan};
use tilewright_verify::kernels::{add_as, scan_kernel};

use crate::emit::{Answer, Emission};
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
    emission: Emission,
}

/// Runs `tilewright scan`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::session(global)?;
    let (tensor, target) = (&options.tensor, options.tensor.target(&session)?);
    let src = tensor.distributed(&session, "LAYOUT", &options.layout)?;
    let (axis, bits) = (tensor.axis(options.axis)?, tensor.tuple_bits()?);
    let direction = direction(options.reverse);
    let plan = &movement::plan_scan(&src, axis, &bits, direction, target)?;
    let kernels = || {
        let elements = tensor.tuple_elements()?;
        Ok(vec![scan_kernel((&src, axis), &bits, (plan, direction), add_as(&elements), target.into())?])
    };
    let text = || Ok(format!("{axis}: {}\n{}", meaning(plan), PlanStatsTable::from(&plan.stats).text()));
    options.emission.answer(&session, &target.name, Answer { kernels: &kernels, json: &|| answer(plan), text: &text })
}

/// Returns the direction of a scan: backward if `reverse`.
pub fn direction(reverse: bool) -> ScanDirection {
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
pub fn answer(plan: &ScanPlan) -> Json {
    PlanStatsTable::from(&plan.stats).json()
}
