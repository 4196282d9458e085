//! The ways that were weighed, and why one won.

use comfy_table::{CellAlignment, Table, presets};

use tilewright_kernel::Counts;
use tilewright_plan::movement::{Path, Rejected};

/// A way to do what was asked.
#[derive(Debug, Clone)]
pub struct Way {
    /// What it is called.
    pub name: String,
    /// Its price in wavefront slots of a warp.
    pub slots: f64,
    /// Cycles of the block by the target's table.
    pub cycles: f64,
    /// What a warp executes.
    pub counts: Counts,
    /// Shared memory of the block in bytes.
    pub shared_bytes: u64,
}

/// The ways, the chosen one first and the others in the order of their price, with what each takes of a
/// warp and why it lost; then those that are closed.
pub fn table(ways: &[Way], closed: &[Rejected<Path>], target: &str) -> String {
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
    for (place, way) in ways.iter().enumerate() {
        let counts = way.counts;
        let numbers = [
            counts.exchanges,
            counts.selects,
            counts.permutes,
            counts.wavefronts_stored,
            counts.wavefronts_loaded,
            counts.barriers + counts.cluster_barriers + counts.warp_barriers,
            way.shared_bytes,
        ];
        let mut row = vec![way.name.clone(), rounded(way.slots), format!("{:.0}", way.cycles)];
        row.extend(numbers.map(|number| number.to_string()));
        row.push(verdict(place, ways));
        table.add_row(row);
    }
    for way in closed {
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
fn verdict(place: usize, ways: &[Way]) -> String {
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
    let accesses = |way: &Way| (way.counts.shared_stores + way.counts.shared_loads) as f64;
    let mut said = Vec::new();
    for (what, own, best) in [
        ("slots", way.slots, chosen.slots),
        ("accesses", accesses(way), accesses(chosen)),
        ("cycles", way.cycles.round(), chosen.cycles.round()),
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
