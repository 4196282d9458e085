//! `tilewright convert`: the plan of a conversion, its counts, its bound, its swizzle.

use std::io::Write;

use clap::Args;
use comfy_table::{Table, presets};
use serde_json::{Value as Json, json};

use tilewright::layout::LinearLayout;
use tilewright::movement::{self, Path, Plan, Swizzle};
use tilewright::pipeline::{PipelineError, Session};

use crate::failure::Failure;
use crate::{Global, input};

/// Which conversion.
#[derive(Debug, Args)]
pub struct Conversion {
    /// The layout that there is.
    pub src: String,
    /// The layout that is wanted.
    pub dst: String,
    /// The tensor's shape, as 128x64.
    #[arg(long, value_name = "SHAPE")]
    pub shape: String,
    /// The element type: f16, i8, ... or a width in bits.
    #[arg(long, value_name = "TYPE")]
    pub element: String,
    /// The target.
    #[arg(long, value_name = "NAME")]
    pub target: String,
}

/// A conversion that has been read.
pub struct Question {
    /// The layout that there is.
    pub src: LinearLayout,
    /// The layout that is wanted.
    pub dst: LinearLayout,
    /// Width of an element.
    pub element_bits: u32,
}

impl Conversion {
    /// Reads the layouts.
    pub fn question(&self, session: &Session) -> Result<Question, Failure> {
        session.catalogue().get(&self.target)?;
        let shape = input::shape(&self.shape)?;
        let layout = |name, text| input::distributed(session, name, text, Some(&self.target), &shape);
        Ok(Question {
            src: layout("SRC", &self.src)?,
            dst: layout("DST", &self.dst)?,
            element_bits: input::element_bits(&self.element)?,
        })
    }
}

/// What to explain.
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    conversion: Conversion,
    /// Print the plan as JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(global: &Global, options: &Options) -> Result<(), Failure> {
    let session = input::session(global)?;
    let question = options.conversion.question(&session)?;
    let target = session.catalogue().get(&options.conversion.target)?;
    let movement = |error| Failure::from(PipelineError::Movement(error));
    let plan = movement::convert(&question.src, &question.dst, question.element_bits, target).map_err(movement)?;
    let mut out = std::io::stdout().lock();
    if options.json {
        writeln!(out, "{}", answer(&plan))?;
        return Ok(());
    }
    let (candidates, closed) =
        movement::candidates(&question.src, &question.dst, question.element_bits, target).map_err(movement)?;
    write!(out, "{}", explained(&plan, &question.src))?;
    writeln!(out, "\nways weighed, in cycles of the block on {}:", target.name)?;
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    for candidate in &candidates {
        let chosen = if candidate.path == plan.path { "chosen" } else { "" };
        table.add_row([candidate.path.to_string(), format!("{:.0}", candidate.cost), chosen.to_owned()]);
    }
    for closed in &closed {
        table.add_row([closed.path.to_string(), "-".to_owned(), format!("closed: {}", closed.reason)]);
    }
    writeln!(out, "{}", table.trim_fmt())?;
    Ok(())
}

/// The plan as people read it.
fn explained(plan: &Plan, src: &LinearLayout) -> String {
    let counts = plan.counts;
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["per warp", "plan", "bound"]);
    let rows = [
        ("exchanges", counts.exchanges, Some(plan.bound.exchanges)),
        ("selects", counts.selects, None),
        ("byte permutes", counts.permutes, None),
        ("shared stores", counts.shared_stores, None),
        ("shared loads", counts.shared_loads, None),
        ("matrix stores", counts.matrix_stores, None),
        ("matrix loads", counts.matrix_loads, None),
        ("wavefronts stored", counts.wavefronts_stored, Some(plan.bound.wavefronts_stored)),
        ("wavefronts loaded", counts.wavefronts_loaded, Some(plan.bound.wavefronts_loaded)),
        ("warp barriers", counts.warp_barriers, None),
        ("block barriers", counts.barriers, None),
    ];
    for (name, count, bound) in rows {
        if count > 0 || bound.is_some_and(|bound| bound > 0) {
            let bound = bound.map_or_else(String::new, |bound| bound.to_string());
            table.add_row([name.to_owned(), count.to_string(), bound]);
        }
    }
    let mut text = format!("path {}: {}\n", plan.path, meaning(plan.path));
    text += &format!("cost {:.0} cycles of the block, {} bytes of shared memory\n", plan.cost, plan.shared_bytes);
    if table.row_count() > 0 {
        text += &format!("\n{}\n", table.trim_fmt());
    }
    if let Some(reason) = &plan.above_bound {
        text += &format!("\nabove the bound: {reason}\n");
    }
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
        Path::Mixed => "some bits move by exchange, some through shared memory",
    }
}

/// The scratch layout: the element of each bit of the offset.
fn drawn(swizzle: &Swizzle, src: &LinearLayout) -> String {
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
    let counts = plan.counts;
    json!({
        "path": plan.path,
        "exchanges": counts.exchanges,
        "shared_stores": counts.shared_stores,
        "shared_loads": counts.shared_loads,
        "matrix_stores": counts.matrix_stores,
        "matrix_loads": counts.matrix_loads,
        "wavefronts_stored": counts.wavefronts_stored,
        "wavefronts_loaded": counts.wavefronts_loaded,
        "barriers": counts.barriers,
        "warp_barriers": counts.warp_barriers,
        "permutes": counts.permutes,
        "selects": counts.selects,
        "shared_bytes": plan.shared_bytes,
        "cost": plan.cost,
        "bound": plan.bound,
    })
}
