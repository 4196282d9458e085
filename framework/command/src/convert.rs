//! `tilewright convert`: plans a layout conversion and shows its operation counts, lower bound and scratch layout.

use clap::Args;
use serde_json::{Value as Json, json};

use tilewright::Session;
use tilewright_layout::LinearLayout;
use tilewright_lower::build_conversion_kernel;
use tilewright_picture::view::{self, ConversionPictureSpec};
use tilewright_plan::movement::{self, ConversionKind, ConversionPlan, PlanContext, RejectedCandidate, ScratchLayout};
use tilewright_target::{InstructionKind, TargetDescription};

use crate::alternatives::{self, AlternativeLine};
use crate::draw::destination::PictureDestination;
use crate::draw::request::caption_lines;
use crate::emit::{AnswerForms, AnswerOptions, CodeForm};
use crate::failure::CommandError;
use crate::stats::PlanStatsTable;
use crate::tensor::TensorArguments;
use crate::{GlobalOptions, input};

/// Arguments that name the two layouts of a conversion, its tensor and its target.
#[derive(Debug, Args)]
pub struct ConversionOptions {
    /// The layout of the tensor before the conversion.
    pub src: String,
    /// The layout of the tensor after the conversion.
    pub dst: String,
    #[command(flatten)]
    pub tensor: TensorArguments,
}

/// A conversion whose layouts have been parsed.
pub struct ConversionRequest {
    /// The layout of the tensor before the conversion.
    pub src: LinearLayout,
    /// The layout of the tensor after the conversion.
    pub dst: LinearLayout,
    /// Width of an element in bits.
    pub element_bits: u32,
}

impl ConversionOptions {
    /// Parses the arguments.
    pub fn parse_request(&self, session: &Session) -> Result<ConversionRequest, CommandError> {
        self.tensor.find_target(session)?;
        Ok(ConversionRequest {
            src: self.tensor.parse_distributed_layout(session, "SRC", &self.src)?,
            dst: self.tensor.parse_distributed_layout(session, "DST", &self.dst)?,
            element_bits: self.tensor.parse_element_bits()?,
        })
    }
}

/// Options of `tilewright convert`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    conversion: ConversionOptions,
    /// Max bytes of shared memory; a conversion that needs more is split into several rounds. Default: all that the
    /// target has.
    #[arg(long, value_name = "BYTES")]
    max_scratch: Option<u64>,
    /// Show the other candidates, and the reason for the choice.
    #[arg(long, conflicts_with = "json")]
    explain: bool,
    /// Draw how the elements move: their lanes and registers before and after, the rounds of shuffles, the banks of
    /// shared memory. To the terminal, or to the file of -o.
    #[arg(long, conflicts_with = "json")]
    draw: bool,
    #[command(flatten)]
    destination: PictureDestination,
    /// Print the plan as JSON.
    #[arg(long)]
    json: bool,
    /// Write code for a kernel around the plan, in this form, instead of the plan's statistics; to the file of -o.
    #[arg(long, value_enum, value_name = "FORM", conflicts_with_all = ["json", "draw", "explain"])]
    emit: Option<CodeForm>,
}

/// Runs `tilewright convert`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    if !options.draw && options.emit.is_none() && !options.destination.is_default() {
        return Err(CommandError::Input("-o, --rows and --columns are for pictures: add --draw".to_owned()));
    }
    let session = input::open_session(global)?;
    let request = options.conversion.parse_request(&session)?;
    let target = options.conversion.tensor.find_target(&session)?;
    let instructions = session.instructions_of(&target.name, &[InstructionKind::SharedMove])?;
    let context = PlanContext::new(target).with_instructions(&instructions);
    let context = options.max_scratch.map_or(context, |bytes| context.with_scratch_bytes(bytes));
    let ConversionRequest { src, dst, element_bits } = &request;
    let plan = &movement::plan_conversion(src, dst, *element_bits, context)?;
    let text = || {
        let shown = options.explain || !options.draw;
        let mut text = if shown { explained(plan, src) } else { String::new() };
        if options.explain {
            let (open, rejected) = movement::conversion_candidates(src, dst, *element_bits, context)?;
            text += &weighed(plan, open, &rejected, &target.name);
        }
        Ok(text)
    };
    let kernels = || Ok(vec![build_conversion_kernel("convert", [src, dst], *element_bits, plan, context)?]);
    let output = options.destination.output().map(ToOwned::to_owned);
    let emission = AnswerOptions { json: options.json, emit: options.emit, output };
    emission.print_answer(
        &session,
        &target.name,
        AnswerForms { kernels: &kernels, json: &|| plan_to_json(plan), text: &text },
    )?;
    match options.draw {
        true => draw_plan(&options.conversion, &request, plan, target, &options.destination),
        false => Ok(()),
    }
}

/// Draws a conversion plan.
pub fn draw_plan(
    requested: &ConversionOptions,
    request: &ConversionRequest,
    plan: &ConversionPlan,
    target: &TargetDescription,
    destination: &PictureDestination,
) -> Result<(), CommandError> {
    let name = format!("conversion of {} {}", requested.tensor.shape, requested.tensor.element);
    let view = ConversionPictureSpec::new(&name, [&request.src, &request.dst], request.element_bits, target, plan);
    let mut picture = view::draw_conversion(&view)?;
    let texts = [caption_lines("from", &requested.src), caption_lines("to", &requested.dst)];
    picture.caption.splice(0..0, texts.concat());
    destination.draw(picture)
}

/// Returns the table of candidate plans, those of the chosen plan's kind first, then the others by cost. A rejection is
/// omitted if a candidate of the same kind has a plan.
fn weighed(
    plan: &ConversionPlan,
    open: Vec<ConversionPlan>,
    rejected: &[RejectedCandidate<ConversionKind>],
    target: &str,
) -> String {
    let mut open = open;
    open.sort_by(ConversionPlan::compare_cost);
    open.sort_by_key(|alternative| alternative.path != plan.path);
    let rejected: Vec<_> = rejected
        .iter()
        .filter(|alternative| open.iter().all(|plan| plan.path != alternative.candidate))
        .cloned()
        .collect();
    alternatives::format_candidate_table(
        open.iter().map(|plan| AlternativeLine::new(plan.path.to_string(), &plan.stats)),
        &rejected,
        target,
    )
}

/// Describes a conversion plan as text.
fn explained(plan: &ConversionPlan, src: &LinearLayout) -> String {
    let mut text =
        format!("path {}: {}\n{}", plan.path, meaning(plan.path), PlanStatsTable::from(&plan.stats).to_text());
    if let Some(swizzle) = plan.scratch_layout() {
        text += &format!("\n{}", drawn(swizzle, src));
    }
    text
}

fn meaning(path: ConversionKind) -> &'static str {
    match path {
        ConversionKind::None => "every element has the same position in both layouts",
        ConversionKind::Register => "no element leaves its lane",
        ConversionKind::Shuffle => "shuffles between the lanes of a warp",
        ConversionKind::Shared => "elements are stored to shared memory and loaded from it",
        ConversionKind::Cluster => {
            "elements are stored to shared memory and loaded from the memories of the cluster's blocks"
        }
        ConversionKind::Mixed => "some bits move by shuffles, some through shared memory",
    }
}

/// Draws a scratch layout in shared memory: the tensor element that each bit of the offset selects.
fn drawn(swizzle: &ScratchLayout, src: &LinearLayout) -> String {
    let mut text = "scratch memory, the element of each offset bit:\n".to_owned();
    let banks_end = swizzle.vector_bits + swizzle.bank_bits;
    for (bit, &column) in (0u32..).zip(&swizzle.columns) {
        let bit_kind = match bit {
            _ if bit < swizzle.vector_bits => "vector",
            _ if bit < banks_end => "bank",
            _ => "segment",
        };
        let coordinates: Vec<_> = src.outs().unpack(column).map(|(_, c)| c.to_string()).collect();
        text += &format!("  offset {:>6}  {bit_kind:<7}  ({})\n", 1u64 << bit, coordinates.join(", "));
    }
    text
}

/// Converts a conversion plan to JSON.
pub fn plan_to_json(plan: &ConversionPlan) -> Json {
    let mut answer = PlanStatsTable::from(&plan.stats).to_json();
    answer["path"] = json!(plan.path);
    answer
}
