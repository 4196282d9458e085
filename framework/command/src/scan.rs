//! `tilewright scan`: how a tensor, or a tuple of tensors, is scanned along an axis.

use clap::Args;
use serde_json::Value as Json;

use tilewright_plan::movement::{self, Scan, ScanDirection};
use tilewright_verify::kernels::{add, scan_kernel};

use crate::emit::{Answer, Emission};
use crate::failure::CommandError;
use crate::stats::PlanNumbers;
use crate::tensor::TensorArguments;
use crate::{GlobalOptions, input};

/// What to scan.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The distributed layout of the tensor.
    layout: String,
    #[command(flatten)]
    tensor: TensorArguments,
    /// The axis.
    #[arg(long, value_name = "NUMBER")]
    axis: usize,
    /// Begin at the axis's end.
    #[arg(long)]
    reverse: bool,
    #[command(flatten)]
    emission: Emission,
}

/// Runs the command.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::session(global)?;
    let (tensor, target) = (&options.tensor, options.tensor.target(&session)?);
    let src = tensor.distributed(&session, "LAYOUT", &options.layout)?;
    let (axis, bits) = (tensor.axis(options.axis)?, tensor.tuple_bits()?);
    let direction = direction(options.reverse);
    let plan = &movement::scan(&src, axis, &bits, direction, target)?;
    let kernels = || Ok(vec![scan_kernel((&src, axis), &bits, (plan, direction), add, target.into())?]);
    let text = || Ok(format!("{axis}: {}\n{}", meaning(plan), PlanNumbers::from(&plan.stats).text()));
    options.emission.answer(&session, &target.name, Answer { kernels: &kernels, json: &|| answer(plan), text: &text })
}

/// From which end.
pub fn direction(reverse: bool) -> ScanDirection {
    if reverse { ScanDirection::Down } else { ScanDirection::Up }
}

fn meaning(plan: &Scan) -> &'static str {
    match plan.stats.counts {
        counts if counts.barriers > 0 => "warps hold parts of it: totals, or whole lines, go through shared memory",
        counts if counts.exchanges > 0 => "lanes of each warp hold parts of it, and fetch from lanes before them",
        _ => "each lane holds all of it: no element leaves its lane",
    }
}

/// The plan as programs read it.
pub fn answer(plan: &Scan) -> Json {
    PlanNumbers::from(&plan.stats).json()
}
