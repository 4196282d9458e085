//! Operation counts of a warp, in the same form for plans and for Triton's code, and their price; see the parent
//! module.

use crate::prelude::*;
use serde_json::Value;

/// The names of the operation counts, in the order of [`Tally::counts`].
pub const COUNTED: [&str; 5] = ["shuffles", "shared", "alu", "block barriers", "warp barriers"];

/// Operation counts of a warp, in the same form for plans and for Triton's code.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    shuffles: f64,
    /// Shared-memory wavefronts of loads and stores.
    wavefronts: f64,
    /// Number of byte permutes and selects.
    alu: f64,
    block_barriers: f64,
    warp_barriers: f64,
}

/// The price of one of each count, in the order of [`COUNTED`].
pub const FROZEN: [f64; 5] = [1.0, 1.0, 0.25, 10.0, 1.0];

impl Tally {
    pub fn counts(self) -> [f64; 5] {
        [self.shuffles, self.wavefronts, self.alu, self.block_barriers, self.warp_barriers]
    }

    pub fn price(self, prices: [f64; 5]) -> f64 {
        self.counts().iter().zip(prices).map(|(count, price)| count * price).sum()
    }

    pub fn of_plan(counts: &Counts) -> Self {
        Self {
            shuffles: counts.shuffles as f64,
            wavefronts: (counts.wavefronts_stored + counts.wavefronts_loaded) as f64,
            alu: (counts.permutes + counts.selects) as f64,
            block_barriers: counts.barriers as f64,
            warp_barriers: counts.warp_barriers as f64,
        }
    }

    /// Reads the counts of Triton's code, with at least `least` wavefronts for each access. Counts that a row lacks are
    /// zero.
    pub fn of_triton(row: &Value, lanes: u64, least: u64) -> Self {
        let counts = |name: &str| row["counts"].get(name).map_or(0.0, number);
        let side =
            |accesses: &str, bits: &str| (counts(accesses) * least as f64).max(counts(bits) * lanes as f64 / 1024.0);
        let ops = row["ops"].as_object().into_iter().flatten();
        let in_warp = row["ops"].get("bar.warp.sync").map_or(0.0, number);
        // `ldmatrix.sync.aligned.m8n8.x4.shared.b16`: the number after `.x` is the number of matrices.
        let matrices = |name: &str| name.split('.').find_map(|field| field.strip_prefix('x')?.parse::<f64>().ok());
        let by_matrix = ops.filter_map(|(name, count)| Some(matrices(name)? * number(count)));
        Self {
            shuffles: counts("shuffles"),
            wavefronts: side("shared_stores", "shared_store_bits")
                + side("shared_loads", "shared_load_bits")
                + by_matrix.sum::<f64>(),
            alu: counts("permutes") + counts("selects"),
            block_barriers: counts("barriers") - in_warp,
            warp_barriers: in_warp,
        }
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a count")
}
