//! `tilewright dot`: how a target multiplies two matrices, and the code.

use clap::Args;
use serde_json::{Value as Json, json};

use tilewright_layout::{LinearLayout, layout_to_json};
use tilewright_plan::contract::{self, Contraction, MmaCandidate, MmaProblem, Scale};
use tilewright_plan::movement::{PlanContext, Rejected};
use tilewright_target::ElementType;
use tilewright_verify::kernels::mma_kernel;

use crate::emit::{Answer, Emission};
use crate::failure::CommandError;
use crate::text_table::table;
use crate::{GlobalOptions, input};

/// Which product, and what to say of it.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The target.
    #[arg(long, value_name = "NAME")]
    target: String,
    /// Rows of the result.
    #[arg(long)]
    m: u64,
    /// Columns of the result.
    #[arg(long)]
    n: u64,
    /// Columns of the first factor, rows of the second.
    #[arg(long)]
    k: u64,
    /// The type of the first factor: f16, bf16, e4m3, e2m1, s8, u8, s4, ...
    #[arg(long, value_name = "TYPE")]
    a: String,
    /// The type of the second factor.
    #[arg(long, value_name = "TYPE")]
    b: String,
    /// The type of the sums and of the result.
    #[arg(long, value_name = "TYPE")]
    acc: String,
    /// The type of the first factor's scales, where it has any: e8m0, one for 32 elements of K, or ue4m3, one for 16.
    #[arg(long, value_name = "TYPE")]
    scale_a: Option<String>,
    /// The type of the second factor's scales.
    #[arg(long, value_name = "TYPE")]
    scale_b: Option<String>,
    /// Elements of K that share a scale, where not as many as usual.
    #[arg(long, value_name = "COUNT")]
    scale_block: Option<u64>,
    /// Log2 of the least and the greatest scale, where they are known: factors may then be multiplied as f16.
    #[arg(long, value_names = ["LEAST", "GREATEST"], num_args = 2, allow_negative_numbers = true)]
    scale_exponents: Option<Vec<i32>>,
    /// Factors whose memory is shuffled along K as the plan says: a, b.
    #[arg(long, value_name = "FACTOR", value_delimiter = ',', value_parser = ["a", "b"])]
    shuffled: Vec<String>,
    /// Warps of the block.
    #[arg(long, default_value_t = 4)]
    warps: u32,
    /// Lanes of a warp; the target's default where not given.
    #[arg(long)]
    lanes: Option<u32>,
    /// Elements of K that a lane holds side by side; the cheapest number where not given.
    #[arg(long)]
    k_width: Option<u64>,
    /// Keep whole rows of the result in one warp, for a product that follows.
    #[arg(long)]
    chained: bool,
    /// Sums of integers saturate where a unit does that; they wrap otherwise.
    #[arg(long)]
    saturating: bool,
    /// Show the other ways that were weighed, and why units are closed.
    #[arg(long, conflicts_with_all = ["json", "emit"])]
    explain: bool,
    #[command(flatten)]
    emission: Emission,
}

/// Runs the command.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::session(global)?;
    let target = session.catalogue().get(&options.target)?;
    let served = session.served(&target.name)?;
    let context =
        PlanContext::of(target).with_instructions(served.as_ref().map_or(&[], |target| target.instructions()));
    let types = [number("--a", &options.a)?, number("--b", &options.b)?, number("--acc", &options.acc)?];
    let lanes = options.lanes.unwrap_or(target.lanes.default);
    let mut request = MmaProblem::new([options.m, options.n, options.k], types, lanes, options.warps);
    request.scales = [scale("--scale-a", &options.scale_a, options)?, scale("--scale-b", &options.scale_b, options)?];
    request.shuffled = ["a", "b"].map(|factor| options.shuffled.iter().any(|named| named == factor));
    (request.chained, request.k_width) = (options.chained, options.k_width);
    request.saturating = options.saturating;
    let plan = &contract::plan(&request, context)?;
    let text = || {
        let mut text = explained(plan, context)?;
        if options.explain {
            let (candidates, rejected) = contract::candidates(&request, context)?;
            text += &ways(&candidates, &rejected);
        }
        Ok(text)
    };
    let kernels = || Ok(vec![mma_kernel(plan, false, context)?]);
    options.emission.answer(&session, &target.name, Answer { kernels: &kernels, json: &|| answer(plan), text: &text })
}

fn number(option: &str, text: &str) -> Result<ElementType, CommandError> {
    ElementType::named(text).filter(|number| !is_scale(*number)).ok_or_else(|| {
        let known = "f64, f32, f16, bf16, e4m3, e5m2, fp8_fnuz, bf8_fnuz, e2m3, e3m2, e2m1, s2 to s64 (or i8 to i64), \
                     u1 to u64";
        CommandError::Input(format!("{option}: `{text}` is no element type of a dot; known are {known}"))
    })
}

/// Scales alone have no sign.
fn is_scale(number: ElementType) -> bool {
    matches!(number, ElementType::Float(format) if !format.is_signed())
}

fn scale(option: &str, text: &Option<String>, options: &Options) -> Result<Option<Scale>, CommandError> {
    let Some(text) = text else { return Ok(None) };
    let unknown = || CommandError::Input(format!("{option}: `{text}` is no type of scales; known are e8m0, ue4m3"));
    let mut scale = Scale::named(text).ok_or_else(unknown)?;
    scale.block = options.scale_block.unwrap_or(scale.block);
    if let Some(&[least, greatest]) = options.scale_exponents.as_deref() {
        scale.exponents = Some([least, greatest]);
    }
    Ok(Some(scale))
}

fn answer(plan: &Contraction) -> Json {
    let (cost, layout) = (plan.cost, |layout: &LinearLayout| layout_to_json(layout));
    json!({
        "unit": plan.unit_name(), "transposed": plan.is_transposed(), "warps": plan.warps(), "chunk": plan.chunk(),
        "k_width": plan.k_width(), "issues": cost.issues, "registers": cost.registers, "cycles": cost.cycles(),
        "issue_cycles": cost.issue_cycles, "traffic_cycles": cost.traffic_cycles, "cast_cycles": cost.cast_cycles,
        "a": layout(&plan.a), "b": layout(&plan.b), "c": layout(&plan.c),
        "scale_a": plan.scales[0].as_ref().map(layout), "scale_b": plan.scales[1].as_ref().map(layout),
    })
}

/// The plan as people read it.
fn explained(plan: &Contraction, context: PlanContext<'_>) -> Result<String, CommandError> {
    let (cost, [m, n], request) = (plan.cost, plan.warps(), &plan.problem);
    let turned = if plan.is_transposed() { ", as C^T = B^T A^T" } else { "" };
    let mut text = format!("by {}{turned}\n", plan.unit_name());
    text += &format!(
        "warps {m} x {n}; {} of K at a time, of which a lane holds {} side by side\n",
        plan.chunk(),
        plan.k_width()
    );
    text += &format!(
        "{} issues of each warp; {:.0} cycles of the block: {:.0} issuing, {:.0} for the factors, {:.0} casting\n",
        cost.issues,
        cost.cycles(),
        cost.issue_cycles,
        cost.traffic_cycles,
        cost.cast_cycles
    );
    text += &format!("{} registers of 32 bits a lane\n", cost.registers);
    let ([of_a, of_b], [scale_a, scale_b]) = (plan.operand_loads(context)?, plan.scale_loads(context)?);
    let narrow = [request.a, request.b].map(|number| number.bits() < 8);
    let ways = [
        ("a", narrow[0], Some(of_a)),
        ("b", narrow[1], Some(of_b)),
        ("scale_a", false, scale_a),
        ("scale_b", false, scale_b),
    ];
    for (name, in_bytes, operand_load) in ways {
        let Some(operand_load) = operand_load else { continue };
        let way = match (&operand_load.conversion, &operand_load.store) {
            (Some(conversion), _) => format!("then converted, path {}", conversion.path),
            (None, Some(store)) => format!("then stored to {} bytes of shared memory", store.bytes),
            (None, None) => "straight".to_owned(),
        };
        let loads = match &operand_load.blocks {
            Some(blocks) => format!("{} loads by {}", blocks.accesses, blocks.instruction),
            None => {
                let what = if in_bytes { "bytes" } else { "elements" };
                format!("{} loads of {} {what}", operand_load.access.accesses, operand_load.access.vector_elements)
            }
        };
        text += &format!("{name}: {loads} a warp from global memory, {way}\n");
    }
    if request.shuffled.contains(&true) {
        let order = plan.shuffle()?;
        text += &format!("\nshuffled memory along K, from place in memory to place in the matrix: {order}\n");
    }
    for (name, layout) in [("a", &plan.a), ("b", &plan.b), ("c", &plan.c)] {
        text += &format!("\n{name}: {layout}\n");
    }
    for (name, layout) in ["scale_a", "scale_b"].into_iter().zip(&plan.scales) {
        if let Some(layout) = layout {
            text += &format!("\n{name}: {layout}\n");
        }
    }
    Ok(text)
}

/// The ways that were weighed, the best first, and why others are closed.
fn ways(candidates: &[MmaCandidate], rejected: &[Rejected<String>]) -> String {
    let header = ["unit", "", "warps", "chunk", "cycles", "issuing", "factors", "casting", "issues", "registers"];
    let mut table = table(header, 3..header.len());
    for MmaCandidate { unit, transposed, warps, chunk, cost } in candidates {
        let cycles = [cost.cycles(), cost.issue_cycles, cost.traffic_cycles, cost.cast_cycles];
        let mut row = vec![unit.clone(), if *transposed { "transposed" } else { "" }.to_owned()];
        row.extend([format!("{}x{}", warps[0], warps[1]), chunk.to_string()]);
        row.extend(cycles.map(|cycles| format!("{cycles:.0}")));
        row.extend([cost.issues.to_string(), cost.registers.to_string()]);
        table.add_row(row);
    }
    let mut text = format!(
        "\nways weighed, in cycles of the block, then in issues, then in registers of a lane:\n{}\n",
        table.trim_fmt()
    );
    for Rejected { candidate, reason } in rejected {
        text += &format!("closed: {candidate}: {reason}\n");
    }
    text
}
