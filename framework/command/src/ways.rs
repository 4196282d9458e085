//! The ways that were weighed, and why one won.

use tilewright_plan::movement::{Path, PlanStats, Rejected, slots};

use crate::text_table;

/// A way to do what was asked.
#[derive(Debug, Clone)]
pub struct AlternativeLine<'a> {
    /// What it is called.
    pub name: String,
    /// Its price in wavefront slots of a warp.
    pub slots: f64,
    /// Its counts for a warp, and its cost for the block.
    pub stats: &'a PlanStats,
}

impl<'a> AlternativeLine<'a> {
    /// A way whose price is that of its counts.
    pub fn new(name: String, stats: &'a PlanStats) -> Self {
        Self { name, slots: slots(&stats.counts), stats }
    }
}

const HEADER: [&str; 11] =
    ["way", "slots", "cycles", "exchanges", "selects", "permutes", "stored", "loaded", "barriers", "bytes", ""];

/// The ways, the chosen one first and the others in the order of their price, with what each takes of a
/// warp and why it lost; then those that are closed.
pub fn table<'a>(ways: impl Iterator<Item = AlternativeLine<'a>>, rejected: &[Rejected<Path>], target: &str) -> String {
    let ways: Vec<_> = ways.collect();
    let mut table = text_table::table(HEADER, 1..10);
    for (place, way) in ways.iter().enumerate() {
        let counts = way.stats.counts;
        let numbers = [
            counts.exchanges,
            counts.selects,
            counts.permutes,
            counts.wavefronts_stored,
            counts.wavefronts_loaded,
            counts.barriers + counts.cluster_barriers + counts.warp_barriers,
            way.stats.shared_bytes,
        ];
        let mut row = vec![way.name.clone(), rounded(way.slots), format!("{:.0}", way.stats.cost)];
        row.extend(numbers.map(|number| number.to_string()));
        row.push(verdict(place, &ways));
        table.add_row(row);
    }
    for way in rejected {
        let mut row = vec![way.candidate.to_string()];
        row.extend(std::iter::repeat_n("-".to_owned(), 9));
        row.push(format!("closed: {}", way.reason));
        table.add_row(row);
    }
    format!(
        "\nways weighed, in wavefront slots of a warp, then in cycles of the block on {target}:\n\
         (a slot is an exchange or a wavefront; a select or byte permute is a quarter, a block barrier ten)\n{}\n",
        table.trim_fmt()
    )
}

/// Why a way is chosen or not.
fn verdict(place: usize, ways: &[AlternativeLine<'_>]) -> String {
    let (way, chosen) = (&ways[place], &ways[0]);
    if place == 0 {
        return match &ways[1..] {
            [] => "chosen: the only way".to_owned(),
            others if others.iter().all(|other| other.slots > way.slots) => "chosen: the fewest slots".to_owned(),
            others if others.iter().all(|other| other.slots >= way.slots) => {
                "chosen: of the fewest slots the best".to_owned()
            }
            _ => "chosen: few slots by few accesses of shared memory".to_owned(),
        };
    }
    let accesses = |way: &AlternativeLine<'_>| (way.stats.counts.shared_stores + way.stats.counts.shared_loads) as f64;
    let cycles = |way: &AlternativeLine<'_>| way.stats.cost.round();
    let mut said = Vec::new();
    for (what, own, best) in [
        ("slots", way.slots, chosen.slots),
        ("accesses", accesses(way), accesses(chosen)),
        ("cycles", cycles(way), cycles(chosen)),
    ] {
        // What costs more slots needs no further reason.
        if own != best && (said.is_empty() || way.slots <= chosen.slots) {
            said.push(format!("{} {what} {}", rounded((own - best).abs()), if own > best { "more" } else { "fewer" }));
        }
    }
    if way.slots == chosen.slots {
        said.insert(0, "as many slots".to_owned());
    }
    said.join(", ")
}

/// Slots without a tail of decimals: expected ones are means.
fn rounded(slots: f64) -> String {
    let hundredths = (slots * 100.0).round() / 100.0;
    format!("{hundredths}")
}
