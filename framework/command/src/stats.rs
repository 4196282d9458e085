//! The operation counts and costs of a plan with their lower bounds, as text and as JSON.

use comfy_table::Table;
use serde_json::{Value as Json, json};

use tilewright_kernel::Counts;
use tilewright_plan::movement::{CountLowerBounds, PlanStats, price_counts_in_wavefronts};

use crate::text_table::new_table;

/// The operation counts and costs of a plan, to be printed.
#[derive(Debug, Clone, Copy)]
pub struct PlanStatsTable<'a> {
    /// Counts of the operations that a warp executes.
    pub counts: Counts,
    /// The plan's cost: predicted cycles of a block.
    pub cost: f64,
    /// Shared memory that the plan needs, in bytes of the block.
    pub shared_bytes: u64,
    /// The lower bound of the operation counts over all plans; `None` if unknown.
    bound: Option<CountLowerBounds>,
    /// The reason why the operation counts exceed the lower bound; `None` if they do not.
    above_bound: Option<&'a str>,
}

impl<'a> From<&'a PlanStats> for PlanStatsTable<'a> {
    fn from(plan: &'a PlanStats) -> Self {
        let &PlanStats { counts, cost, shared_bytes, bound, ref above_bound, .. } = plan;
        Self { counts, cost, shared_bytes, bound: Some(bound), above_bound: above_bound.as_deref() }
    }
}

impl PlanStatsTable<'_> {
    /// Creates the table of a plan without a known lower bound.
    pub fn new(counts: Counts, cost: f64, shared_bytes: u64) -> Self {
        Self { counts, cost, shared_bytes, bound: None, above_bound: None }
    }

    /// Returns text: the cycles, the counts with their bounds, and the reason if the counts are above the bounds.
    pub fn to_text(self) -> String {
        let mut text =
            format!("predicted {:.0} cycles of a block, {} bytes of shared memory\n", self.cost, self.shared_bytes);
        let table = self.table();
        if table.row_count() > 0 {
            text += &format!("\n{}\n", table.trim_fmt());
        }
        if let Some(reason) = self.above_bound {
            text += &format!("\nabove the bound: {reason}\n");
        }
        text
    }

    fn table(&self) -> Table {
        let counts = self.counts;
        let bound = |of: fn(CountLowerBounds) -> u64| self.bound.map(of);
        let rows = [
            ("shuffles", counts.shuffles, bound(|bound| bound.shuffles)),
            ("selects", counts.selects, None),
            ("byte permutes", counts.permutes, None),
            ("shared stores", counts.shared_stores, None),
            ("shared loads", counts.shared_loads, None),
            ("matrix stores", counts.matrix_stores, None),
            ("matrix loads", counts.matrix_loads, None),
            ("asynchronous copies", counts.asynchronous_copies, None),
            ("wavefronts stored", counts.wavefronts_stored, bound(|bound| bound.wavefronts_stored)),
            ("wavefronts loaded", counts.wavefronts_loaded, bound(|bound| bound.wavefronts_loaded)),
            ("warp barriers", counts.warp_barriers, None),
            ("block barriers", counts.barriers, None),
            ("cluster barriers", counts.cluster_barriers, None),
        ];
        let mut table = new_table(["per warp", "plan", if self.bound.is_some() { "bound" } else { "" }], 0..0);
        for (name, count, bound) in rows {
            if count > 0 || bound.is_some_and(|bound| bound > 0) {
                let bound = bound.map_or_else(String::new, |bound| bound.to_string());
                table.add_row([name.to_owned(), count.to_string(), bound]);
            }
        }
        table
    }

    /// Returns the counts, their bounds, the price (as `slots`) and the cost (in cycles of a block) as JSON.
    pub fn to_json(self) -> Json {
        let counts = self.counts;
        let mut answer = json!({
            "exchanges": counts.shuffles,
            "shared_stores": counts.shared_stores,
            "shared_loads": counts.shared_loads,
            "matrix_stores": counts.matrix_stores,
            "matrix_loads": counts.matrix_loads,
            "asynchronous_copies": counts.asynchronous_copies,
            "wavefronts_stored": counts.wavefronts_stored,
            "wavefronts_loaded": counts.wavefronts_loaded,
            "barriers": counts.barriers,
            "cluster_barriers": counts.cluster_barriers,
            "warp_barriers": counts.warp_barriers,
            "permutes": counts.permutes,
            "selects": counts.selects,
            "shared_bytes": self.shared_bytes,
            "slots": price_counts_in_wavefronts(&counts),
            "cost": self.cost,
        });
        if let Some(bound) = self.bound {
            answer["bound"] = json!(bound);
        }
        answer
    }
}
