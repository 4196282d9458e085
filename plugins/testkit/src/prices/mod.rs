//! Compares plans of layout conversions with the code of the Triton compiler (version 3.9.0) for the same conversions,
//! by a price that is independent of cost tables; `docs/conversions.md` has the results.
//!
//! The price counts wavefronts and shuffles of a warp: a shuffle is 1, a shared access its wavefronts, a byte permute
//! or a select 1/4, a block barrier 10, a warp barrier 1. Triton's shared accesses are assumed free of conflicts: one
//! wavefront for every 1024 bits that a warp moves, at least one each; its matrix accesses take one wavefront for each
//! matrix. A plan may not have a higher price than Triton's code, and may not be worse in every count.
//!
//! There is one exception: on targets that serve a warp in several phases (groups of lanes), each access takes at least
//! a wavefront for each phase, however narrow it is. Plans with a higher price than the formula gives, but not above
//! Triton's accesses counted in phases, are reported but accepted.

pub mod tally;

use crate::prelude::*;
use serde_json::Value;
use tally::{COUNTED, FROZEN, Tally};
use tilewright_layout::layout_from_json;
use tilewright_plan::movement;

const CONVERSIONS: &str = include_str!("../../data/conversions.jsonl");
/// JSON: the target of this repository for each of Triton's targets.
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
    /// The counts of Triton's code, with at least one wavefront per access for each phase of the target.
    tritons_in_phases: Tally,
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

/// Returns the number of phases: groups of lanes that are served one after the other, whatever the width of an access.
fn phases(target: &TargetDescription) -> u64 {
    let row = target.bank_row(Direction::Load, 32).expect("accesses of 32 bits");
    u64::from(target.lanes.default) >> row.phase.len()
}

impl Compared {
    /// Whether the plan has a higher price than Triton's code, or is better in no count and worse in one.
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

/// Prints the comparison; returns the ids of the conversions whose plans have a higher price than Triton's code.
pub fn worse(rows: &[Compared]) -> BTreeSet<&str> {
    summary(rows);
    let above: Vec<_> = rows.iter().filter(|row| row.is_worse_than(row.tritons)).collect();
    println!("\n{} of {} rows above the formula's price (ours | Triton's):", above.len(), rows.len());
    above.iter().for_each(|row| println!("{}", row.shown()));
    let worse = rows.iter().filter(|row| row.is_worse_than(row.tritons_in_phases));
    worse.map(|row| row.id.as_str()).collect()
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
