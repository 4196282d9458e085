//! `tilewright dot`: the plan of a matrix multiply on a target, and its code.

use clap::Args;
use serde_json::{Value as Json, json};

use tilewright_layout::{LinearLayout, layout_to_json};
use tilewright_plan::mma::{self, BlockScale, MmaCandidate, MmaPlan, MmaProblem};
use tilewright_plan::movement::{PlanContext, RejectedCandidate};
use tilewright_target::ElementType;
use tilewright_verify::kernels::build_mma_kernel;

use crate::emit::{AnswerForms, AnswerOptions};
use crate::failure::CommandError;
use crate::text_table::new_table;
use crate::{GlobalOptions, input};

/// Options of `tilewright dot`: the dot, and the form of the answer.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Name of the target, e.g. `h100`.
    #[arg(long, value_name = "NAME")]
    target: String,
    /// Number of rows of the result.
    #[arg(long)]
    m: u64,
    /// Number of columns of the result.
    #[arg(long)]
    n: u64,
    /// Number of columns of operand A, and of rows of operand B.
    #[arg(long)]
    k: u64,
    /// The type of operand A: f16, bf16, e4m3, e2m1, s8, u8, s4, ...
    #[arg(long, value_name = "TYPE")]
    a: String,
    /// The type of operand B.
    #[arg(long, value_name = "TYPE")]
    b: String,
    /// The type of the accumulator and of the result.
    #[arg(long, value_name = "TYPE")]
    acc: String,
    /// The type of the scales of operand A, if any: e8m0, one for 32 elements of K, or ue4m3, one for 16.
    #[arg(long, value_name = "TYPE")]
    scale_a: Option<String>,
    /// The type of the scales of operand B.
    #[arg(long, value_name = "TYPE")]
    scale_b: Option<String>,
    /// Elements of K that share a scale, if not 32 (e8m0) or 16 (ue4m3).
    #[arg(long, value_name = "COUNT")]
    scale_block: Option<u64>,
    /// Log2 of the least and the greatest scale, if known: operands may then be multiplied as f16.
    #[arg(long, value_names = ["LEAST", "GREATEST"], num_args = 2, allow_negative_numbers = true)]
    scale_exponents: Option<Vec<i32>>,
    /// Operands whose memory is permuted along K, as the plan prints: a, b.
    #[arg(long = "k-permuted", alias = "shuffled", value_name = "OPERAND", value_delimiter = ',', value_parser = ["a", "b"])]
    k_permuted: Vec<String>,
    /// Number of warps of the block.
    #[arg(long, default_value_t = 4)]
    warps: u32,
    /// Number of lanes of a warp. Default: the target's.
    #[arg(long)]
    lanes: Option<u32>,
    /// Number of 32-bit registers of a lane that the kernel is compiled for. Default: the fewest that suffice.
    #[arg(long)]
    registers: Option<u32>,
    /// Number of consecutive elements along K in one lane. Default: the cheapest number.
    #[arg(long)]
    k_width: Option<u64>,
    /// Keep whole rows of the result in one warp, for a second dot that takes the result as operand.
    #[arg(long)]
    chained: bool,
    /// Saturate integer accumulators if the instruction can; they wrap otherwise.
    #[arg(long)]
    saturating: bool,
    /// Show the other candidates, and the rejected instructions with the reason.
    #[arg(long, conflicts_with_all = ["json", "emit"])]
    explain: bool,
    #[command(flatten)]
    emission: AnswerOptions,
}

/// Runs `tilewright dot`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::open_session(global)?;
    let target = session.catalogue().get(&options.target)?;
    let served = session.target_if_served(&target.name)?;
    let context =
        PlanContext::new(target).with_instructions(served.as_ref().map_or(&[], |target| target.instructions()));
    let types =
        [element_type("--a", &options.a)?, element_type("--b", &options.b)?, element_type("--acc", &options.acc)?];
    let lanes = options.lanes.unwrap_or(target.lanes.default);
    let mut request = MmaProblem::new([options.m, options.n, options.k], types, lanes, options.warps);
    request.scales = [scale("--scale-a", &options.scale_a, options)?, scale("--scale-b", &options.scale_b, options)?];
    request.k_permuted = ["a", "b"].map(|operand| options.k_permuted.iter().any(|named| named == operand));
    (request.chained, request.k_width) = (options.chained, options.k_width);
    (request.saturating, request.registers) = (options.saturating, options.registers);
    let plan = &mma::plan_mma(&request, context)?;
    let text = || {
        let mut text = explained(plan, context)?;
        if options.explain {
            let (candidates, rejected) = mma::mma_candidates(&request, context)?;
            text += &candidates_table(&candidates, &rejected);
        }
        Ok(text)
    };
    let kernels = || Ok(vec![build_mma_kernel(plan, false, context)?]);
    options.emission.print_answer(
        &session,
        &target.name,
        AnswerForms { kernels: &kernels, json: &|| answer(plan), text: &text },
    )
}

fn element_type(option: &str, text: &str) -> Result<ElementType, CommandError> {
    ElementType::from_name(text).filter(|element_type| !is_scale(*element_type)).ok_or_else(|| {
        let known = "f64, f32, f16, bf16, e4m3, e5m2, fp8_fnuz, bf8_fnuz, e2m3, e3m2, e2m1, s2 to s64 (or i8 to i64), \
                     u1 to u64";
        CommandError::Input(format!("{option}: `{text}` is not an element type of a dot; known are {known}"))
    })
}

/// Whether an element type is a type of scales, which have no sign.
fn is_scale(element_type: ElementType) -> bool {
    matches!(element_type, ElementType::Float(format) if !format.is_signed())
}

fn scale(option: &str, text: &Option<String>, options: &Options) -> Result<Option<BlockScale>, CommandError> {
    let Some(text) = text else { return Ok(None) };
    let unknown = || CommandError::Input(format!("{option}: `{text}` is not a type of scales; known are e8m0, ue4m3"));
    let mut scale = BlockScale::from_name(text).ok_or_else(unknown)?;
    scale.block = options.scale_block.unwrap_or(scale.block);
    if let Some(&[least, greatest]) = options.scale_exponents.as_deref() {
        scale.exponents = Some([least, greatest]);
    }
    Ok(Some(scale))
}

fn answer(plan: &MmaPlan) -> Json {
    let (cost, layout) = (plan.cost, |layout: &LinearLayout| layout_to_json(layout));
    json!({
        "unit": plan.atom_name(), "transposed": plan.is_transposed(), "warps": plan.warp_partition(), "chunk": plan.chunk_elements(),
        "k_width": plan.k_width(), "issues": cost.issues, "registers": cost.registers, "cycles": cost.cycles(),
        "issue_cycles": cost.issue_cycles, "slot_cycles": cost.slot_cycles, "traffic_cycles": cost.traffic_cycles,
        "cast_cycles": cost.cast_cycles,
        "a": layout(&plan.a), "b": layout(&plan.b), "c": layout(&plan.c),
        "scale_a": plan.scales[0].as_ref().map(layout), "scale_b": plan.scales[1].as_ref().map(layout),
    })
}

/// Describes a plan as text.
fn explained(plan: &MmaPlan, context: PlanContext<'_>) -> Result<String, CommandError> {
    let (cost, [m, n], request) = (plan.cost, plan.warp_partition(), &plan.problem);
    let turned = if plan.is_transposed() { ", as C^T = B^T A^T" } else { "" };
    let mut text = format!("by {}{turned}\n", plan.atom_name());
    text += &format!(
        "warps {m} x {n}; {} of K per step, {} of them contiguous in a lane\n",
        plan.chunk_elements(),
        plan.k_width()
    );
    text += &format!(
        "{} issues of each warp; {:.0} cycles of the block: {:.0} issuing, {:.0} in issue slots, {:.0} for the operands, \
         {:.0} casting\n",
        cost.issues,
        cost.cycles(),
        cost.issue_cycles,
        cost.slot_cycles,
        cost.traffic_cycles,
        cost.cast_cycles
    );
    let mode =
        if plan.register_mode() > 0 { format!(", compiled for {}", plan.register_mode()) } else { String::new() };
    text += &format!("{} registers of 32 bits a lane{mode}\n", cost.registers);
    let ([of_a, of_b], [scale_a, scale_b]) = (plan.plan_operand_loads(context)?, plan.plan_scale_loads(context)?);
    let narrow = [request.a, request.b].map(|element_type| element_type.bits() < 8);
    let operand_loads = [
        ("a", narrow[0], Some(of_a)),
        ("b", narrow[1], Some(of_b)),
        ("scale_a", false, scale_a),
        ("scale_b", false, scale_b),
    ];
    for (name, in_bytes, operand_load) in operand_loads {
        let Some(operand_load) = operand_load else { continue };
        let then = match (&operand_load.conversion, &operand_load.store) {
            (Some(conversion), _) => format!("then converted, path {}", conversion.path),
            (None, Some(store)) => format!("then stored to {} bytes of shared memory", store.bytes),
            (None, None) => "directly into its layout".to_owned(),
        };
        let loads = match &operand_load.blocks {
            Some(blocks) => format!("{} loads by {}", blocks.accesses, blocks.instruction),
            None => {
                let what = if in_bytes { "bytes" } else { "elements" };
                format!("{} loads of {} {what}", operand_load.access.accesses, operand_load.access.vector_elements)
            }
        };
        text += &format!("{name}: {loads} a warp from global memory, {then}\n");
    }
    if request.k_permuted.contains(&true) {
        let order = plan.k_permutation()?;
        text += &format!("\nK permutation of memory, from position in memory to position in the matrix: {order}\n");
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

/// Returns the table of candidates, the cheapest first, and the rejected instructions.
fn candidates_table(candidates: &[MmaCandidate], rejected: &[RejectedCandidate<String>]) -> String {
    let header =
        ["unit", "", "warps", "chunk", "cycles", "issuing", "slots", "operands", "casting", "issues", "registers"];
    let mut table = new_table(header, 3..header.len());
    for MmaCandidate { atom, transposed, warps, chunk, cost } in candidates {
        let cycles = [cost.cycles(), cost.issue_cycles, cost.slot_cycles, cost.traffic_cycles, cost.cast_cycles];
        let mut row = vec![atom.clone(), if *transposed { "transposed" } else { "" }.to_owned()];
        row.extend([format!("{}x{}", warps[0], warps[1]), chunk.to_string()]);
        row.extend(cycles.map(|cycles| format!("{cycles:.0}")));
        row.extend([cost.issues.to_string(), cost.registers.to_string()]);
        table.add_row(row);
    }
    let mut text = format!(
        "\ncandidates, by cycles of the block, then by issues, then by registers of a lane:\n{}\n",
        table.trim_fmt()
    );
    for RejectedCandidate { candidate, reason } in rejected {
        text += &format!("rejected: {candidate}: {reason}\n");
    }
    text
}
