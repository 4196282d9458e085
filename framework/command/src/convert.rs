//! `tilewright convert`: the plan of a conversion, its counts, its bound, its swizzle.

use clap::Args;
use serde_json::{Value as Json, json};

use tilewright::Session;
use tilewright_layout::LinearLayout;
use tilewright_lower::conversion_kernel;
use tilewright_picture::view::{self, ConversionView};
use tilewright_plan::movement::{self, Path, Plan, PlanContext, Rejected, ScratchLayout};
use tilewright_target::{InstructionKind, TargetDescription};

use crate::draw::{Destination, repeated};
use crate::emit::{Answer, CodeForm, Emission};
use crate::failure::CommandError;
use crate::stats::PlanNumbers;
use crate::tensor::TensorArguments;
use crate::ways::{self, AlternativeLine};
use crate::{GlobalOptions, input};

/// Which conversion.
#[derive(Debug, Args)]
pub struct ConversionOptions {
    /// The layout that there is.
    pub src: String,
    /// The layout that is wanted.
    pub dst: String,
    #[command(flatten)]
    pub tensor: TensorArguments,
}

/// A conversion that has been read.
pub struct ConversionRequest {
    /// The layout that there is.
    pub src: LinearLayout,
    /// The layout that is wanted.
    pub dst: LinearLayout,
    /// Width of an element.
    pub element_bits: u32,
}

impl ConversionOptions {
    /// Reads the layouts.
    pub fn request(&self, session: &Session) -> Result<ConversionRequest, CommandError> {
        self.tensor.target(session)?;
        Ok(ConversionRequest {
            src: self.tensor.distributed(session, "SRC", &self.src)?,
            dst: self.tensor.distributed(session, "DST", &self.dst)?,
            element_bits: self.tensor.element_bits()?,
        })
    }
}

/// What to explain.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    conversion: ConversionOptions,
    /// Bytes of shared memory that the conversion may use: where that is too little for the tensor, it
    /// goes in several rounds. All that the target has where not given.
    #[arg(long, value_name = "BYTES")]
    max_scratch: Option<u64>,
    /// Show the other ways that were weighed, and why the plan won.
    #[arg(long, conflicts_with = "json")]
    explain: bool,
    /// Draw how the elements move: who holds them before and after, the rounds of exchange, the banks of
    /// shared memory; to the terminal, or to the file of -o.
    #[arg(long, conflicts_with = "json")]
    draw: bool,
    #[command(flatten)]
    destination: Destination,
    /// Print the plan as JSON.
    #[arg(long)]
    json: bool,
    /// Write code for a kernel around the plan, in this form, instead of its figures; to the file of -o.
    #[arg(long, value_enum, value_name = "FORM", conflicts_with_all = ["json", "draw", "explain"])]
    emit: Option<CodeForm>,
}

/// Runs the command.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    if !options.draw && options.emit.is_none() && !options.destination.is_everything_to_terminal() {
        return Err(CommandError::Input("-o, --rows and --columns are for pictures: add --draw".to_owned()));
    }
    let session = input::session(global)?;
    let request = options.conversion.request(&session)?;
    let target = options.conversion.tensor.target(&session)?;
    let instructions = session.instructions_of(&target.name, &[InstructionKind::SharedMove])?;
    let context = PlanContext::of(target).with_instructions(&instructions);
    let context = options.max_scratch.map_or(context, |bytes| context.with_scratch(bytes));
    let ConversionRequest { src, dst, element_bits } = &request;
    let plan = &movement::convert(src, dst, *element_bits, context)?;
    let text = || {
        let shown = options.explain || !options.draw;
        let mut text = if shown { explained(plan, src) } else { String::new() };
        if options.explain {
            let (open, rejected) = movement::candidates(src, dst, *element_bits, context)?;
            text += &weighed(plan, open, &rejected, &target.name);
        }
        Ok(text)
    };
    let kernels = || Ok(vec![conversion_kernel("convert", [src, dst], *element_bits, plan, context)?]);
    let output = options.destination.output().map(ToOwned::to_owned);
    let emission = Emission { json: options.json, emit: options.emit, output };
    emission.answer(&session, &target.name, Answer { kernels: &kernels, json: &|| answer(plan), text: &text })?;
    match options.draw {
        true => draw(&options.conversion, &request, plan, target, &options.destination),
        false => Ok(()),
    }
}

/// Draws a plan.
pub fn draw(
    requested: &ConversionOptions,
    request: &ConversionRequest,
    plan: &Plan,
    target: &TargetDescription,
    destination: &Destination,
) -> Result<(), CommandError> {
    let view = ConversionView {
        name: &format!("conversion of {} {}", requested.tensor.shape, requested.tensor.element),
        src: &request.src,
        dst: &request.dst,
        element_bits: request.element_bits,
        target,
        plan,
    };
    let mut picture = view::conversion(&view)?;
    let texts = [repeated("from", &requested.src), repeated("to", &requested.dst)];
    picture.caption.splice(0..0, texts.concat());
    destination.draw(picture)
}

/// The ways that were weighed, the plan's first. On a path that is open, why others of it are closed says
/// nothing.
fn weighed(plan: &Plan, open: Vec<Plan>, rejected: &[Rejected<Path>], target: &str) -> String {
    let mut open = open;
    open.sort_by(Plan::compare);
    open.sort_by_key(|way| way.path != plan.path);
    let rejected: Vec<_> =
        rejected.iter().filter(|way| open.iter().all(|plan| plan.path != way.candidate)).cloned().collect();
    ways::table(open.iter().map(|plan| AlternativeLine::new(plan.path.to_string(), &plan.stats)), &rejected, target)
}

/// The plan as people read it.
fn explained(plan: &Plan, src: &LinearLayout) -> String {
    let mut text = format!("path {}: {}\n{}", plan.path, meaning(plan.path), PlanNumbers::from(&plan.stats).text());
    if let Some(swizzle) = plan.swizzle() {
        text += &format!("\n{}", drawn(swizzle, src));
    }
    text
}

fn meaning(path: Path) -> &'static str {
    match path {
        Path::None => "the layouts hold every element in the same place",
        Path::Register => "no element leaves its lane",
        Path::Shuffle => "lanes of a warp exchange what they hold",
        Path::Shared => "elements are stored to shared memory and loaded from it",
        Path::Cluster => "elements are stored to shared memory and loaded from that of the cluster's blocks",
        Path::Mixed => "some bits move by exchange, some through shared memory",
    }
}

/// The scratch layout: the element of each bit of the offset.
fn drawn(swizzle: &ScratchLayout, src: &LinearLayout) -> String {
    let mut text = "scratch memory, the element that each bit of the offset stands for:\n".to_owned();
    let banks_end = swizzle.vector_bits + swizzle.bank_bits;
    for (bit, &column) in (0u32..).zip(&swizzle.columns) {
        let part = match bit {
            _ if bit < swizzle.vector_bits => "vector",
            _ if bit < banks_end => "bank",
            _ => "segment",
        };
        let coordinates: Vec<_> = src.outs().unpack(column).map(|(_, c)| c.to_string()).collect();
        text += &format!("  offset {:>6}  {part:<7}  ({})\n", 1u64 << bit, coordinates.join(", "));
    }
    text
}

/// The plan as programs read it.
pub fn answer(plan: &Plan) -> Json {
    let mut answer = PlanNumbers::from(&plan.stats).json();
    answer["path"] = json!(plan.path);
    answer
}
