//! Compares plans against what the Triton compiler emits for the same conversions (version 3.9.0), by a price
//! that no target's cost table can bend; `docs/conversions.md` has the outcome.
//!
//! The price is in wavefront slots of a warp: an exchange 1, a shared access its wavefronts, a byte
//! permute or a select 1/4, a barrier of the block 10, of a warp 1. Triton's shared accesses are taken
//! to be free of conflicts: one wavefront for every 1024 bits that a warp moves, at least one each; its
//! matrix accesses take one wavefront a matrix. A plan may cost no more than that, and may not be worse
//! in every count.
//!
//! One thing that formula leaves out: where lanes are served in several phases, each access takes a
//! wavefront for each, however narrow it is. Rows in which a plan costs more than the formula, but no
//! more than Triton's accesses in phases, are shown and not held against the plan.

pub mod tally;

use crate::prelude::*;
use serde_json::Value;
use tally::{COUNTED, FROZEN, Tally};
use tilewright_layout::layout_from_json;
use tilewright_plan::movement;

const CONVERSIONS: &str = include_str!("../../data/conversions.jsonl");
/// The product of this repository by which each of Triton's targets is judged.
const TARGETS: &str = include_str!("../../data/conversion_targets.json");

pub struct Compared {
    pub id: String,
    target: String,
    pub bits: u32,
    pub src: LinearLayout,
    pub dst: LinearLayout,
    pub plan: Plan,
    paths: [String; 2],
    ours: Tally,
    tritons: Tally,
    /// Triton's where an access takes a wavefront for each phase of the target, as it must.
    tritons_in_phases: Tally,
}

fn targets() -> BTreeMap<String, TargetDescription> {
    let files: BTreeMap<String, String> = serde_json::from_str(TARGETS).expect("names of files by target");
    let described = |file: String| described(file.trim_end_matches(".toml"));
    files.into_iter().map(|(name, file)| (name, described(file))).collect()
}

fn compared(row: &Value, target: &TargetDescription, instructions: &[Instruction]) -> Compared {
    let text = |name: &str| row[name].as_str().expect("text").to_owned();
    let layout = |side: &str| layout_from_json(&row[side]["layout"]).expect("a layout");
    let bits = row["element_bits"].as_u64().expect("a width") as u32;
    let (src, dst) = (layout("src"), layout("dst"));
    let context = PlanContext::of(target).with_instructions(instructions);
    let plan = movement::convert(&src, &dst, bits, context).expect("a plan");
    let lanes = u64::from(target.lanes.default);
    Compared {
        id: text("id"),
        target: text("target"),
        bits,
        paths: [plan.path.to_string(), text("path")],
        ours: Tally::of_plan(&plan.stats.counts),
        tritons: Tally::of_triton(row, lanes, 1),
        tritons_in_phases: Tally::of_triton(row, lanes, phases(target)),
        src,
        dst,
        plan,
    }
}

/// Groups of lanes that are served one after the other, whatever the width of an access.
fn phases(target: &TargetDescription) -> u64 {
    let row = target.bank_row(Direction::Load, 32).expect("accesses of 32 bits");
    u64::from(target.lanes.default) >> row.phase.len()
}

impl Compared {
    /// Whether the plan costs more, or is better in no count and worse in one.
    fn is_worse_than(&self, tritons: Tally) -> bool {
        let mut pairs = self.ours.counts().into_iter().zip(tritons.counts());
        let dominated = pairs.clone().all(|(ours, tritons)| ours >= tritons) && pairs.any(|(ours, t)| ours > t);
        dominated || self.ours.price(FROZEN) > tritons.price(FROZEN)
    }

    fn shown(&self) -> String {
        let Self { id, bits, paths: [path, triton], ours, tritons, .. } = self;
        let counts =
            |tally: &Tally| COUNTED.iter().zip(tally.counts()).map(|(_, n)| format!("{n:>6}")).collect::<String>();
        format!(
            "{id:38} {bits:2} {path:>8} {:>8.2} {}  | {triton:>8} {:>8.2} {}",
            ours.price(FROZEN),
            counts(ours),
            tritons.price(FROZEN),
            counts(tritons)
        )
    }
}

/// The rows of all targets that are described, planned with the instructions that `table` has for a
/// target; none where it says so.
pub fn all_rows(answers: Answers, table: impl Fn(&TargetDescription) -> Option<Vec<Instruction>>) -> Vec<Compared> {
    let tables: BTreeMap<String, (TargetDescription, Vec<Instruction>)> = targets()
        .into_iter()
        .filter_map(|(name, target)| table(&target).map(|instructions| (name, (target, instructions))))
        .collect();
    let rows = answers.rows(CONVERSIONS, "oracle/conversions.jsonl");
    let known = rows.iter().filter_map(|row| Some((row, tables.get(row["target"].as_str()?)?)));
    known.map(|(row, (target, instructions))| compared(row, target, instructions)).collect()
}

/// Shows how the plans compare; gives the rows in which they cost more.
pub fn worse(rows: &[Compared]) -> BTreeSet<&str> {
    summary(rows);
    let above: Vec<_> = rows.iter().filter(|row| row.is_worse_than(row.tritons)).collect();
    println!("\n{} of {} rows above the formula's price (ours | Triton's):", above.len(), rows.len());
    above.iter().for_each(|row| println!("{}", row.shown()));
    let worse = rows.iter().filter(|row| row.is_worse_than(row.tritons_in_phases));
    worse.map(|row| row.id.as_str()).collect()
}

/// How many rows of each target and of each way of Triton's are better and equal, and by how much.
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
        let flips = [0.5, 2.0].map(|factor| {
            let mut prices = FROZEN;
            prices[at] *= factor;
            let above = |prices| rows.iter().filter(|row| row.ours.price(prices) > row.tritons.price(prices)).count();
            above(prices)
        });
        println!("{counted:15} halved {:>4}, doubled {:>4}", flips[0], flips[1]);
    }
}
