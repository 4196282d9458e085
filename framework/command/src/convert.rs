//! `tilewright convert`: the plan of a conversion, its counts, its bound, its swizzle.

use std::io::Write;

use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use serde_json::{Value as Json, json};

use tilewright::layout::LinearLayout;
use tilewright::movement::{self, Means, Path, Plan, Rejected, Swizzle, slots};
use tilewright::pipeline::{PipelineError, Session};
use tilewright::target::TargetDescription;

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
    /// Bytes of shared memory that the conversion may use: where that is too little for the tensor, it
    /// goes in several rounds. All that the target has where not given.
    #[arg(long, value_name = "BYTES")]
    max_scratch: Option<u64>,
    /// Show the other ways that were weighed, and why the plan won.
    #[arg(long, conflicts_with = "json")]
    explain: bool,
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
    let served = session.served(&target.name)?;
    let means = Means::of(target).with_instructions(served.as_ref().map_or(&[], |target| target.instructions()));
    let means = options.max_scratch.map_or(means, |bytes| means.with_scratch(bytes));
    let plan = movement::convert(&question.src, &question.dst, question.element_bits, means).map_err(movement)?;
    let mut out = std::io::stdout().lock();
    if options.json {
        writeln!(out, "{}", answer(&plan))?;
        return Ok(());
    }
    write!(out, "{}", explained(&plan, &question.src))?;
    if options.explain {
        let weighed =
            movement::candidates(&question.src, &question.dst, question.element_bits, means).map_err(movement)?;
        write!(out, "{}", ways(&plan, &weighed.0, &weighed.1, target))?;
    }
    Ok(())
}

/// The ways that were weighed, the best first, with what each takes of a warp and why it lost.
fn ways(plan: &Plan, candidates: &[Plan], closed: &[Rejected], target: &TargetDescription) -> String {
    let mut candidates: Vec<&Plan> = candidates.iter().collect();
    candidates.sort_by(|a, b| a.compare(b));
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "way",
        "slots",
        "cycles",
        "exchanges",
        "selects",
        "permutes",
        "stored",
        "loaded",
        "barriers",
        "bytes",
        "",
    ]);
    for column in table.column_iter_mut().skip(1).take(9) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for candidate in &candidates {
        let counts = candidate.counts;
        let numbers = [
            counts.exchanges,
            counts.selects,
            counts.permutes,
            counts.wavefronts_stored,
            counts.wavefronts_loaded,
            counts.barriers + counts.cluster_barriers + counts.warp_barriers,
            candidate.shared_bytes,
        ];
        let mut row = vec![candidate.path.to_string(), format!("{}", slots(&counts)), format!("{:.0}", candidate.cost)];
        row.extend(numbers.map(|number| number.to_string()));
        row.push(verdict(plan, candidate, &candidates));
        table.add_row(row);
    }
    for way in closed.iter().filter(|way| candidates.iter().all(|plan| plan.path != way.path)) {
        let mut row = vec![way.path.to_string()];
        row.extend(std::iter::repeat_n("-".to_owned(), 9));
        row.push(format!("closed: {}", way.reason));
        table.add_row(row);
    }
    format!(
        "\nways weighed, in wavefront slots of a warp, then in cycles of the block on {}:\n{}\n",
        target.name,
        table.trim_fmt()
    )
}

/// Why a candidate is chosen or not.
fn verdict(plan: &Plan, candidate: &Plan, candidates: &[&Plan]) -> String {
    let others = || candidates.iter().filter(|other| other.path != candidate.path);
    let (own, best) = (slots(&candidate.counts), slots(&plan.counts));
    if candidate.path == plan.path {
        return match others().filter(|other| slots(&other.counts) == own).count() {
            _ if others().next().is_none() => "chosen: the only way".to_owned(),
            0 => "chosen: the fewest slots".to_owned(),
            _ => "chosen: of the fewest slots the fewest cycles".to_owned(),
        };
    }
    match own - best {
        0.0 => format!("as many slots, {:.0} cycles more", candidate.cost - plan.cost),
        more => format!("{more} slots more"),
    }
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
        ("cluster barriers", counts.cluster_barriers, None),
    ];
    for (name, count, bound) in rows {
        if count > 0 || bound.is_some_and(|bound| bound > 0) {
            let bound = bound.map_or_else(String::new, |bound| bound.to_string());
            table.add_row([name.to_owned(), count.to_string(), bound]);
        }
    }
    let mut text = format!("path {}: {}\n", plan.path, meaning(plan.path));
    text += &format!(
        "price {} wavefront slots a warp, cost {:.0} cycles of the block, {} bytes of shared memory\n",
        slots(&counts),
        plan.cost,
        plan.shared_bytes
    );
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
        Path::Cluster => "elements are stored to shared memory and loaded from that of the cluster's blocks",
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
        "cluster_barriers": counts.cluster_barriers,
        "warp_barriers": counts.warp_barriers,
        "permutes": counts.permutes,
        "selects": counts.selects,
        "shared_bytes": plan.shared_bytes,
        "slots": slots(&counts),
        "cost": plan.cost,
        "bound": plan.bound,
    })
}
