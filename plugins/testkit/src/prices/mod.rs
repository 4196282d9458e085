//! Compares plans of layout conversions with the code of the Triton compiler (version 3.9.0) for the same conversions.
//! They are compared by predicted time, and by a price that is independent of cost tables; `docs/conversions.md` has
//! the results.
//!
//! The price counts wavefronts and shuffles of a warp: a shuffle is 1, a shared access its wavefronts, a byte permute
//! or a select 1/4, a block barrier 10, a warp barrier 1. Triton's shared accesses are assumed free of conflicts: one
//! wavefront for every 1024 bits that a warp moves, at least one each; its matrix accesses take one wavefront for each
//! matrix. Plans with a higher price are reported; plans are chosen by time, so no plan may take more predicted cycles
//! than Triton's code.
//!
//! On targets that serve a warp in several phases (groups of lanes), each access takes at least a wavefront for each
//! phase, however narrow it is. The cycles of Triton's accesses are those of accesses counted in phases.

pub mod tally;

use crate::prelude::*;
use serde_json::Value;
use tally::{COUNTED, FROZEN, Tally, work_of_triton};
use tilewright_layout::layout_from_json;
use tilewright_plan::movement;

const CONVERSIONS: &str = include_str!("../../data/conversions.jsonl");
/// A JSON object with the name of this repository's target file for each of Triton's targets.
const TARGETS: &str = include_str!("../../data/conversion_targets.json");

pub struct Compared {
    pub id: String,
    target: String,
    pub bits: u32,
    pub src: LinearLayout,
    pub dst: LinearLayout,
    pub plan: ConversionPlan,
    paths: [String; 2],
    ours: Tally,
    tritons: Tally,
    /// Predicted cycles of the plan, and of Triton's code. Triton's accesses take at least one wavefront for each phase
    /// of the target. The dependent chain of Triton's code is unknown: it has at least one operation of each kind in
    /// the code, and two selects, one before a shuffle and one after it.
    cycles: [f64; 2],
    /// Whether Triton's code has only loads and stores of consecutive bytes, shuffles and selects.
    is_plain: bool,
}

fn targets() -> BTreeMap<String, TargetDescription> {
    let files: BTreeMap<String, String> = serde_json::from_str(TARGETS).expect("names of files by target");
    let target_description = |file: String| target_description(file.trim_end_matches(".toml"));
    files.into_iter().map(|(name, file)| (name, target_description(file))).collect()
}

fn compared(row: &Value, target: &TargetDescription, instructions: &[Instruction]) -> Compared {
    let text = |name: &str| row[name].as_str().expect("text").to_owned();
    let layout = |side: &str| layout_from_json(&row[side]["layout"]).expect("a layout");
    let bits = row["element_bits"].as_u64().expect("a width") as u32;
    let (src, dst) = (layout("src"), layout("dst"));
    let context = PlanContext::new(target).with_instructions(instructions);
    let plan = movement::plan_conversion(&src, &dst, bits, context).expect("a plan");
    let (lanes, warps) = (u64::from(target.lanes.default), 1 << src.in_bits(Dim::WARP));
    let triton_cycles = work_of_triton(row, lanes, phases(target)).block_cycles(warps, target);
    Compared {
        id: text("id"),
        target: text("target"),
        bits,
        paths: [plan.path.to_string(), text("path")],
        ours: Tally::of_plan(&plan.stats.counts),
        tritons: Tally::of_triton(row, lanes, 1),
        cycles: [plan.stats.cost, triton_cycles],
        is_plain: is_plain(row),
        src,
        dst,
        plan,
    }
}

/// Whether no operation of Triton's code moves a matrix, two distant words, or words between lanes by a swap.
fn is_plain(row: &Value) -> bool {
    const SPECIAL: [&str; 5] = ["ldmatrix", "stmatrix", "ds_read2", "ds_write2", "v_permlane"];
    let mut names = row["ops"].as_object().into_iter().flat_map(|ops| ops.keys());
    !names.any(|name| SPECIAL.iter().any(|special| name.starts_with(special)) || name.contains("_tr_"))
}

/// Returns the number of phases: groups of lanes that are served one after the other, whatever the width of an access.
fn phases(target: &TargetDescription) -> u64 {
    let row = target.bank_row(Direction::Load, 32).expect("accesses of 32 bits");
    u64::from(target.lanes.default) >> row.phase.len()
}

impl Compared {
    /// Whether the plan takes more predicted cycles than Triton's code.
    fn is_slower(&self) -> bool {
        self.cycles[0] > self.cycles[1]
    }

    fn shown(&self) -> String {
        let Self { id, bits, paths: [path, triton], ours, tritons, .. } = self;
        let counts =
            |tally: &Tally| COUNTED.iter().zip(tally.counts()).map(|(_, n)| format!("{n:>6}")).collect::<String>();
        format!(
            "{id:38} {bits:2} {path:>8} {:>7.1} {:>8.2} {}  | {triton:>8} {:>7.1} {:>8.2} {}",
            self.cycles[0],
            ours.price(FROZEN),
            counts(ours),
            self.cycles[1],
            tritons.price(FROZEN),
            counts(tritons)
        )
    }
}

/// Compares the known conversions of all targets, planned with the instructions that `table` returns; targets without a
/// table are skipped.
pub fn all_rows(answers: Answers, table: impl Fn(&TargetDescription) -> Option<Vec<Instruction>>) -> Vec<Compared> {
    let tables: BTreeMap<String, (TargetDescription, Vec<Instruction>)> = targets()
        .into_iter()
        .filter_map(|(name, target)| table(&target).map(|instructions| (name, (target, instructions))))
        .collect();
    let rows = answers.rows(CONVERSIONS, "oracle/conversions.jsonl");
    let known = rows.iter().filter_map(|row| Some((row, tables.get(row["target"].as_str()?)?)));
    known.map(|(row, (target, instructions))| compared(row, target, instructions)).collect()
}

/// Prints the comparison; returns the ids of the conversions whose plans take more predicted cycles than Triton's code.
pub fn slower(rows: &[Compared]) -> BTreeSet<&str> {
    summary(rows);
    let above = |row: &&Compared| row.ours.price(FROZEN) > row.tritons.price(FROZEN) || row.is_slower();
    let above: Vec<_> = rows.iter().filter(above).collect();
    println!("\n{} of {} rows of a higher price or time (cycles, price; ours | Triton's):", above.len(), rows.len());
    above.iter().for_each(|row| println!("{}", row.shown()));
    rows.iter().filter(|row| row.is_slower()).map(|row| row.id.as_str()).collect()
}

/// Keeps the conversions for which Triton's code has no instruction but loads, stores, shuffles and selects.
pub fn plain(rows: Vec<Compared>) -> Vec<Compared> {
    rows.into_iter().filter(|row| row.is_plain).collect()
}

/// Prints the numbers of better and equal plans by target and by Triton's kind of conversion, with the differences.
fn summary(rows: &[Compared]) {
    let mut kinds: BTreeMap<(&str, &str), [f64; 5]> = BTreeMap::new();
    for row in rows {
        let (ours, tritons) = (row.ours.price(FROZEN), row.tritons.price(FROZEN));
        let accumulator = kinds.entry((&row.target, &row.paths[1])).or_default();
        let one = [ours < tritons, ours == tritons, ours > tritons].map(|holds| f64::from(u8::from(holds)));
        for (sum, value) in accumulator.iter_mut().zip([one[0], one[1], one[2], ours, tritons]) {
            *sum += value;
        }
    }
    println!(
        "{:12} {:10} {:>6} {:>6} {:>6} {:>9} {:>9}",
        "target", "Triton's", "better", "equal", "above", "ours", "Triton's"
    );
    for ((target, path), [better, equal, above, ours, tritons]) in kinds {
        println!("{target:12} {path:10} {better:>6} {equal:>6} {above:>6} {ours:>9.0} {tritons:>9.0}");
    }
    println!("\nrows above the formula's price when one price is halved or doubled:");
    for (at, counted) in COUNTED.iter().enumerate() {
        let flips = [0.5, 2.0].map(|scale| {
            let mut prices = FROZEN;
            prices[at] *= scale;
            let above = |prices| rows.iter().filter(|row| row.ours.price(prices) > row.tritons.price(prices)).count();
            above(prices)
        });
        println!("{counted:15} halved {:>4}, doubled {:>4}", flips[0], flips[1]);
    }
}
