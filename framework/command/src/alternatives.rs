//! The table of the candidates for a plan, with the reason why each was chosen or not.

use tilewright_plan::movement::{ConversionKind, PlanStats, Rejected, price};

use crate::text_table;

/// A candidate plan, as a line of the table.
#[derive(Debug, Clone)]
pub struct AlternativeLine<'a> {
    /// The candidate's name.
    pub name: String,
    /// The candidate's price: shared-memory wavefronts and shuffles of a warp, with other operations as fractions or
    /// multiples.
    pub price: f64,
    /// The candidate's operation counts for a warp, and its cost in cycles for the block.
    pub stats: &'a PlanStats,
}

impl<'a> AlternativeLine<'a> {
    /// Creates the line of a candidate and computes the candidate's price from its counts.
    pub fn new(name: String, stats: &'a PlanStats) -> Self {
        Self { name, price: price(&stats.counts), stats }
    }
}

const HEADER: [&str; 11] =
    ["plan", "slots", "cycles", "shuffles", "selects", "permutes", "stored", "loaded", "barriers", "bytes", ""];

/// Returns the table of the candidates: the chosen one first, the others by price with the reason against them, then
/// the rejected ones.
pub fn table<'a>(
    alternatives: impl Iterator<Item = AlternativeLine<'a>>,
    rejected: &[Rejected<ConversionKind>],
    target: &str,
) -> String {
    let alternatives: Vec<_> = alternatives.collect();
    let mut table = text_table::table(HEADER, 1..10);
    for (index, alternative) in alternatives.iter().enumerate() {
        let counts = alternative.stats.counts;
        let numbers = [
            counts.shuffles,
            counts.selects,
            counts.permutes,
            counts.wavefronts_stored,
            counts.wavefronts_loaded,
            counts.barriers + counts.cluster_barriers + counts.warp_barriers,
            alternative.stats.shared_bytes,
        ];
        let mut row =
            vec![alternative.name.clone(), rounded(alternative.price), format!("{:.0}", alternative.stats.cost)];
        row.extend(numbers.map(|number| number.to_string()));
        row.push(verdict(index, &alternatives));
        table.add_row(row);
    }
    for alternative in rejected {
        let mut row = vec![alternative.candidate.to_string()];
        row.extend(std::iter::repeat_n("-".to_owned(), 9));
        row.push(format!("rejected: {}", alternative.reason));
        table.add_row(row);
    }
    format!(
        "\ncandidates, by wavefront slots of a warp, then by cycles of the block on {target}:\n\
         (a slot is a shuffle or a wavefront; a select or byte permute is a quarter, a block barrier ten)\n{}\n",
        table.trim_fmt()
    )
}

/// Returns the reason why the candidate at `index` is chosen or not.
fn verdict(index: usize, alternatives: &[AlternativeLine<'_>]) -> String {
    let (alternative, chosen) = (&alternatives[index], &alternatives[0]);
    if index == 0 {
        return match &alternatives[1..] {
            [] => "chosen: the only candidate".to_owned(),
            others if others.iter().all(|other| other.price > alternative.price) => {
                "chosen: the fewest slots".to_owned()
            }
            others if others.iter().all(|other| other.price >= alternative.price) => {
                "chosen: the best candidate with the fewest slots".to_owned()
            }
            _ => "chosen: few slots and few shared-memory accesses".to_owned(),
        };
    }
    let accesses = |alternative: &AlternativeLine<'_>| {
        (alternative.stats.counts.shared_stores + alternative.stats.counts.shared_loads) as f64
    };
    let cycles = |alternative: &AlternativeLine<'_>| alternative.stats.cost.round();
    let mut differences = Vec::new();
    for (what, candidate_value, best) in [
        ("slots", alternative.price, chosen.price),
        ("accesses", accesses(alternative), accesses(chosen)),
        ("cycles", cycles(alternative), cycles(chosen)),
    ] {
        // More slots need no further reason.
        if candidate_value != best && (differences.is_empty() || alternative.price <= chosen.price) {
            differences.push(format!(
                "{} {what} {}",
                rounded((candidate_value - best).abs()),
                if candidate_value > best { "more" } else { "fewer" }
            ));
        }
    }
    if alternative.price == chosen.price {
        differences.insert(0, "as many slots".to_owned());
    }
    differences.join(", ")
}

/// Formats a price rounded to hundredths; a price may be an expected value, which is no integer.
fn rounded(price: f64) -> String {
    let hundredths = (price * 100.0).round() / 100.0;
    format!("{hundredths}")
}
