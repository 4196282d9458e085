//! Plans against what the Triton compiler emits for the same conversions (version 3.9.0), by a price
//! that no target's cost table can bend.
//!
//! The price is in wavefront slots of a warp: an exchange 1, a shared access its wavefronts, a byte
//! permute or a select 1/4, a barrier of the block 10, of a warp 1. Triton's shared accesses are taken
//! to be free of conflicts: one wavefront for every 1024 bits that a warp moves, at least one each; its
//! matrix accesses take one wavefront a matrix. A plan may cost no more, and may not be worse in every
//! count.

mod known_answers;

use std::collections::BTreeMap;
use std::path::Path;

use known_answers::sample_and_full;
use serde_json::Value;
use tilewright::kernel::Counts;
use tilewright::layout::layout_from_json;
use tilewright::movement;
use tilewright::target::TargetDescription;

const CONVERSIONS: &str = include_str!("data/conversions.jsonl");
/// The product of this repository by which each of Triton's targets is judged.
const TARGETS: &str = include_str!("data/conversion_targets.json");

/// The names of what is counted, in the order of [`Tally::counts`].
const COUNTED: [&str; 5] = ["exchanges", "shared", "alu", "block barriers", "warp barriers"];

/// What a warp does, counted the same way on both sides.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    exchanges: f64,
    /// Wavefronts of shared memory, both ways.
    wavefronts: f64,
    /// Byte permutes and selects.
    alu: f64,
    block_barriers: f64,
    warp_barriers: f64,
}

/// What the price of one thing is multiplied by, in the order of [`COUNTED`].
const FROZEN: [f64; 5] = [1.0, 1.0, 0.25, 10.0, 1.0];

impl Tally {
    fn counts(self) -> [f64; 5] {
        [self.exchanges, self.wavefronts, self.alu, self.block_barriers, self.warp_barriers]
    }

    fn price(self, prices: [f64; 5]) -> f64 {
        self.counts().iter().zip(prices).map(|(count, price)| count * price).sum()
    }

    fn of_plan(counts: &Counts) -> Self {
        Self {
            exchanges: counts.exchanges as f64,
            wavefronts: (counts.wavefronts_stored + counts.wavefronts_loaded) as f64,
            alu: (counts.permutes + counts.selects) as f64,
            block_barriers: counts.barriers as f64,
            warp_barriers: counts.warp_barriers as f64,
        }
    }

    fn of_triton(row: &Value, lanes: u64) -> Self {
        let counts = |name: &str| row["counts"][name].as_f64().expect("a count");
        let side = |accesses: &str, bits: &str| counts(accesses).max(counts(bits) * lanes as f64 / 1024.0);
        let ops = row["ops"].as_object().expect("ops");
        let number = |value: &Value| value.as_f64().expect("a count");
        // `ldmatrix.sync.aligned.m8n8.x4.shared.b16`: the number behind `.x` is that of the matrices.
        let matrices = |name: &str| name.split('.').find_map(|part| part.strip_prefix('x')?.parse::<f64>().ok());
        let by_matrix = ops.iter().filter_map(|(name, count)| Some(matrices(name)? * number(count)));
        let in_warp = ops.get("bar.warp.sync").map_or(0.0, number);
        Self {
            exchanges: counts("shuffles"),
            wavefronts: side("shared_stores", "shared_store_bits")
                + side("shared_loads", "shared_load_bits")
                + by_matrix.sum::<f64>(),
            alu: counts("permutes") + counts("selects"),
            block_barriers: counts("barriers") - in_warp,
            warp_barriers: in_warp,
        }
    }
}

struct Compared {
    id: String,
    target: String,
    family: String,
    bits: u32,
    paths: [String; 2],
    ours: Tally,
    tritons: Tally,
}

fn targets() -> BTreeMap<String, TargetDescription> {
    let files: BTreeMap<String, String> = serde_json::from_str(TARGETS).expect("names of files by target");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../targets");
    let read = |(name, file): (String, String)| {
        let text = std::fs::read_to_string(folder.join(&file)).expect("the target's file");
        (name, TargetDescription::from_toml(&file, &text).expect("a sound target"))
    };
    files.into_iter().map(read).collect()
}

fn compared(row: &Value, targets: &BTreeMap<String, TargetDescription>) -> Compared {
    let text = |name: &str| row[name].as_str().expect("text").to_owned();
    let target = &targets[&text("target")];
    let layout = |side: &str| layout_from_json(&row[side]["layout"]).expect("a layout");
    let bits = row["element_bits"].as_u64().expect("a width") as u32;
    let plan = movement::convert(&layout("src"), &layout("dst"), bits, target).expect("a plan");
    Compared {
        id: text("id"),
        target: text("target"),
        family: text("family"),
        bits,
        paths: [plan.path.to_string(), text("path")],
        ours: Tally::of_plan(&plan.counts),
        tritons: Tally::of_triton(row, u64::from(target.lanes.default)),
    }
}

impl Compared {
    fn is_worse(&self) -> bool {
        self.ours.price(FROZEN) > self.tritons.price(FROZEN) + 1e-9
    }

    /// Not better in any count and worse in one.
    fn is_dominated(&self) -> bool {
        let (ours, tritons) = (self.ours.counts(), self.tritons.counts());
        let mut pairs = ours.iter().zip(&tritons);
        pairs.clone().all(|(ours, tritons)| ours >= tritons) && pairs.any(|(ours, tritons)| ours > tritons)
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

#[test]
fn no_plan_costs_more_than_what_triton_emits() {
    let targets = targets();
    let rows: Vec<_> =
        sample_and_full(CONVERSIONS, "oracle/conversions.jsonl").iter().map(|row| compared(row, &targets)).collect();
    let worse: Vec<_> = rows.iter().filter(|row| row.is_worse() || row.is_dominated()).collect();
    for row in &worse {
        println!("{}", row.shown());
    }
    let mut kinds: BTreeMap<(String, String, String), usize> = BTreeMap::new();
    for row in &worse {
        *kinds.entry((row.target.clone(), row.paths.join(" for "), row.family.clone())).or_default() += 1;
    }
    for (kind, count) in kinds {
        println!("{kind:?} {count}");
    }
    let total = |side: fn(&Compared) -> Tally| rows.iter().map(|row| side(row).price(FROZEN)).sum::<f64>();
    println!("{} rows, total {} against {}", rows.len(), total(|row| row.ours), total(|row| row.tritons));
    assert!(worse.is_empty(), "{} of {} rows are worse", worse.len(), rows.len());
}
