//! `tilewright reduce`: how a tensor, or a tuple of tensors, is reduced along an axis.

use std::io::Write;

use clap::Args;
use serde_json::{Value as Json, json};

use tilewright::PipelineError;
use tilewright_layout::layout_to_json;
use tilewright_plan::movement;
use tilewright_plan::movement::{Reduction, slots};
use tilewright_verify::kernels::reduction_kernel;

use crate::emit::{Emission, emit};
use crate::failure::Failure;
use crate::figures::Figures;
use crate::tensor::Tensor;
use crate::ways::{self, Way};
use crate::{Global, input};

/// What to reduce.
#[derive(Debug, Args)]
pub struct Options {
    /// The distributed layout of the tensor.
    layout: String,
    #[command(flatten)]
    tensor: Tensor,
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
pub fn run(global: &Global, options: &Options) -> Result<(), Failure> {
    let session = input::session(global)?;
    let (tensor, target) = (&options.tensor, options.tensor.target(&session)?);
    let src = tensor.distributed(&session, "LAYOUT", &options.layout)?;
    let (axis, bits) = (tensor.axis(options.axis)?, tensor.tuple_bits()?);
    let movement = |error| Failure::from(PipelineError::Movement(error));
    let plan = &movement::reduce(&src, axis, &bits, target).map_err(movement)?;
    if let Some((form, code)) = options.emission.wanted() {
        let kernel = reduction_kernel(&src, &bits, plan).map_err(movement)?;
        return emit(&session, &target.name, vec![kernel], form, &code);
    }
    let mut out = std::io::stdout().lock();
    if options.emission.json {
        writeln!(out, "{}", answer(plan))?;
        return Ok(());
    }
    write!(out, "{}: {}\n{}", axis, meaning(plan), figures(plan).text())?;
    if options.explain {
        let all = movement::reductions(&src, axis, &bits, target).map_err(movement)?;
        let all: Vec<Way> = all.iter().map(way).collect();
        write!(out, "{}", ways::table(&all, &[], &target.name))?;
    }
    writeln!(out, "\nthe result's layout, in every lane that held a part:\n{}", plan.result)?;
    Ok(())
}

fn meaning(plan: &Reduction) -> &'static str {
    match plan.figures.counts {
        counts if counts.barriers > 0 => "warps hold parts of it: what is left of each is moved to all that want it",
        counts if counts.exchanges > 0 => "lanes of each warp hold parts of it, and combine by exchange",
        _ => "each lane holds all of it: no element leaves its lane",
    }
}

fn way(plan: &Reduction) -> Way {
    let trips = if plan.hands_out() { ", handed out" } else { "" };
    Way {
        name: format!("{} lane bits halve, {} read parts{trips}", plan.halving_lanes(), plan.reading_lanes()),
        slots: slots(&plan.figures.counts),
        cycles: plan.figures.cost,
        counts: plan.figures.counts,
        shared_bytes: plan.figures.shared_bytes,
    }
}

fn figures(plan: &Reduction) -> Figures<'_> {
    Figures::from(&plan.figures)
}

/// The plan as programs read it.
pub fn answer(plan: &Reduction) -> Json {
    let mut answer = figures(plan).json();
    answer["layout"] = json!(layout_to_json(&plan.result));
    answer
}
