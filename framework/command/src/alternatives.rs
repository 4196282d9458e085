//! The table of the candidates for a plan, with the reason why each was chosen or not.

use tilewright_plan::movement::{ConversionKind, PlanStats, RejectedCandidate};

use crate::text_table;

/// A candidate plan, as a line of the table.
#[derive(Debug, Clone)]
pub struct AlternativeLine<'a> {
    /// The candidate's name.
    pub name: String,
    /// The predicted cycles of a block, by which candidates are ordered.
    pub cycles: f64,
    /// The candidate's operation counts for a warp.
    pub stats: &'a PlanStats,
}

impl<'a> AlternativeLine<'a> {
    /// Creates the line of a candidate; its cycles are the cost in `stats`.
    pub fn new(name: String, stats: &'a PlanStats) -> Self {
        Self { name, cycles: stats.cost, stats }
    }

    /// Returns the number of shared-memory accesses that a warp issues in this plan.
    fn accesses(&self) -> u64 {
        let counts = &self.stats.counts;
        counts.shared_stores + counts.shared_loads + counts.matrix_stores + counts.matrix_loads
    }
}

const HEADER: [&str; 11] =
    ["plan", "cycles", "shuffles", "selects", "permutes", "accesses", "stored", "loaded", "barriers", "bytes", ""];

/// Returns the table of candidates: first `alternatives` in their order, the chosen one first, each with the reason why
/// it was chosen or not; then the rejected candidates with their reasons.
pub fn format_candidate_table<'a>(
    alternatives: impl Iterator<Item = AlternativeLine<'a>>,
    rejected: &[RejectedCandidate<ConversionKind>],
    target: &str,
) -> String {
    let alternatives: Vec<_> = alternatives.collect();
    let mut table = text_table::new_table(HEADER, 1..10);
    for (index, alternative) in alternatives.iter().enumerate() {
        let counts = alternative.stats.counts;
        let numbers = [
            counts.shuffles,
            counts.selects,
            counts.permutes,
            alternative.accesses(),
            counts.wavefronts_stored,
            counts.wavefronts_loaded,
            counts.barriers + counts.cluster_barriers + counts.warp_barriers,
            alternative.stats.shared_bytes,
        ];
        let mut row = vec![alternative.name.clone(), format!("{:.0}", alternative.cycles)];
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
    format!("\ncandidates, by predicted cycles of a block on {target}:\n{}\n", table.trim_fmt())
}

/// Returns the reason why the candidate at `index` is chosen or not.
fn verdict(index: usize, alternatives: &[AlternativeLine<'_>]) -> String {
    let (alternative, chosen) = (&alternatives[index], &alternatives[0]);
    match (index, alternatives.len()) {
        (0, 1) => "chosen: the only candidate".to_owned(),
        (0, _) => "chosen: the fewest cycles".to_owned(),
        _ if alternative.cycles > chosen.cycles => {
            format!("{:.3} times the cycles", alternative.cycles / chosen.cycles)
        }
        _ if alternative.accesses() > chosen.accesses() => "as many cycles, more accesses".to_owned(),
        _ => "as many cycles, more bytes".to_owned(),
    }
}
