//! Compares plans of layout conversions with the code of the Triton compiler (version 3.9.0) for the same conversions:
//! by predicted time, and by a price that does not depend on cost tables. `docs/conversions.md` has the results.
//!
//! The price of one warp's code: a shuffle costs 1, a shared access its wavefronts, a byte permute or select 1/4, a
//! block barrier 10, a warp barrier 1. Triton's shared accesses are assumed to be free of bank conflicts: one wavefront
//! for every 1024 bits that a warp moves, at least one each; its matrix accesses take one wavefront for each matrix.
//! Plans with a higher price are only reported. Plans are chosen by time, so no plan may take more predicted cycles
//! than Triton's code.
//!
//! On targets that serve a warp in several phases (groups of lanes, one after the other), each access takes at least
//! one wavefront for each phase, even if it is narrow. The cycles of Triton's code take this into account.

pub mod tally;

use crate::prelude::*;
use serde_json::Value;
use tally::{COUNTED, OPERATION_PRICES, Tally, work_of_triton};
use tilewright_layout::layout_from_json;
use tilewright_plan::movement;

const CONVERSIONS: &str = include_str!("../../data/conversions.jsonl");
/// JSON object that maps Triton's names of targets to names of this repository's target files.
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
    /// Predicted cycles of the plan, and of Triton's code. Each access of Triton's takes at least one wavefront for
    /// each phase of the target. The dependent chain in Triton's code is unknown; it is assumed to have one operation
    /// of each kind in the code, and a select before and after a shuffle. If the machine code of Triton's is known, both
    /// pay for the byte permutes that pack narrow elements into words, or unpack them.
    cycles: [f64; 2],
    /// Whether Triton's code uses only loads and stores of consecutive bytes, shuffles and selects.
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
    let packing = |permutes: u64| movement::predict_cycles(&Counts { permutes, ..Counts::default() }, warps, 0, target);
    let [own_packing, triton_packing] = match row["sass_ops"].as_object() {
        Some(ops) => [plan.stats.permutes, ops.get("PRMT").and_then(Value::as_u64).unwrap_or(0)].map(packing),
        None => [0.0; 2],
    };
    Compared {
        id: text("id"),
        target: text("target"),
        bits,
        paths: [plan.path.to_string(), text("path")],
        ours: Tally::of_plan(&plan.stats.counts),
        tritons: Tally::of_triton(row, lanes, 1),
        cycles: [plan.stats.cost + own_packing, triton_cycles + triton_packing],
        is_plain: is_plain(row),
        src,
        dst,
        plan,
    }
}

/// Whether no operation of Triton's code moves matrix tiles, two words at once from distant addresses, or words by a
/// lane swap.
fn is_plain(row: &Value) -> bool {
    const SPECIAL: [&str; 5] = ["ldmatrix", "stmatrix", "ds_read2", "ds_write2", "v_permlane"];
    let mut names = row["ops"].as_object().into_iter().flat_map(|ops| ops.keys());
    !names.any(|name| SPECIAL.iter().any(|special| name.starts_with(special)) || name.contains("_tr_"))
}

/// Returns the number of phases of a 32-bit load: groups of lanes that are served one after the other, even for narrow
/// accesses.
fn phases(target: &TargetDescription) -> u64 {
    let row = target.find_bank_row(Direction::Load, 32).expect("accesses of 32 bits");
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
            ours.price(OPERATION_PRICES),
            counts(ours),
            self.cycles[1],
            tritons.price(OPERATION_PRICES),
            counts(tritons)
        )
    }
}

/// Plans the known conversions of all targets, with the instructions that `table` returns, and compares the plans with
/// Triton's code. Targets for which `table` returns `None` are skipped.
pub fn all_rows(answers: Answers, table: impl Fn(&TargetDescription) -> Option<Vec<Instruction>>) -> Vec<Compared> {
    let tables: BTreeMap<String, (TargetDescription, Vec<Instruction>)> = targets()
        .into_iter()
        .filter_map(|(name, target)| table(&target).map(|instructions| (name, (target, instructions))))
        .collect();
    let rows = answers.rows(CONVERSIONS, "oracle/conversions.jsonl");
    let known = rows.iter().filter_map(|row| Some((row, tables.get(row["target"].as_str()?)?)));
    known.map(|(row, (target, instructions))| compared(row, target, instructions)).collect()
}

/// Prints the comparison. Returns the ids of the conversions whose plan takes more predicted cycles than Triton's code.
pub fn slower(rows: &[Compared]) -> BTreeSet<&str> {
    summary(rows);
    let above =
        |row: &&Compared| row.ours.price(OPERATION_PRICES) > row.tritons.price(OPERATION_PRICES) || row.is_slower();
    let above: Vec<_> = rows.iter().filter(above).collect();
    println!("\n{} of {} rows of a higher price or time (cycles, price; ours | Triton's):", above.len(), rows.len());
    above.iter().for_each(|row| println!("{}", row.shown()));
    rows.iter().filter(|row| row.is_slower()).map(|row| row.id.as_str()).collect()
}

/// Keeps only the conversions for which Triton's code consists of plain loads, stores, shuffles and selects.
pub fn filter_plain_rows(rows: Vec<Compared>) -> Vec<Compared> {
    rows.into_iter().filter(|row| row.is_plain).collect()
}

/// Prints, for each target and each kind of Triton's conversions, the numbers of cheaper, equal and dearer plans, and
/// the total prices.
fn summary(rows: &[Compared]) {
    let mut kinds: BTreeMap<(&str, &str), [f64; 5]> = BTreeMap::new();
    for row in rows {
        let (ours, tritons) = (row.ours.price(OPERATION_PRICES), row.tritons.price(OPERATION_PRICES));
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
            let mut prices = OPERATION_PRICES;
            prices[at] *= scale;
            let above = |prices| rows.iter().filter(|row| row.ours.price(prices) > row.tritons.price(prices)).count();
            above(prices)
        });
        println!("{counted:15} halved {:>4}, doubled {:>4}", flips[0], flips[1]);
    }
}
