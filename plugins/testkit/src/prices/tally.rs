//! What a warp does, counted the same way for a plan and for what the Triton compiler emits, and its
//! price; see the module above.

use crate::prelude::*;
use serde_json::Value;

/// The names of what is counted, in the order of [`Tally::counts`].
pub const COUNTED: [&str; 5] = ["exchanges", "shared", "alu", "block barriers", "warp barriers"];

/// What a warp does, counted the same way on both sides.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    exchanges: f64,
    /// Wavefronts of shared memory, both ways.
    wavefronts: f64,
    /// Byte permutes and selects.
    alu: f64,
    block_barriers: f64,
    warp_barriers: f64,
}

/// What the price of one thing is multiplied by, in the order of [`COUNTED`].
pub const FROZEN: [f64; 5] = [1.0, 1.0, 0.25, 10.0, 1.0];

impl Tally {
    pub fn counts(self) -> [f64; 5] {
        [self.exchanges, self.wavefronts, self.alu, self.block_barriers, self.warp_barriers]
    }

    pub fn price(self, prices: [f64; 5]) -> f64 {
        self.counts().iter().zip(prices).map(|(count, price)| count * price).sum()
    }

    pub fn of_plan(counts: &Counts) -> Self {
        Self {
            exchanges: counts.exchanges as f64,
            wavefronts: (counts.wavefronts_stored + counts.wavefronts_loaded) as f64,
            alu: (counts.permutes + counts.selects) as f64,
            block_barriers: counts.barriers as f64,
            warp_barriers: counts.warp_barriers as f64,
        }
    }

    /// What Triton emits, an access taking `least` wavefronts at least. Counts that a row leaves out are
    /// zero.
    pub fn of_triton(row: &Value, lanes: u64, least: u64) -> Self {
        let counts = |name: &str| row["counts"].get(name).map_or(0.0, number);
        let side =
            |accesses: &str, bits: &str| (counts(accesses) * least as f64).max(counts(bits) * lanes as f64 / 1024.0);
        let ops = row["ops"].as_object().into_iter().flatten();
        let in_warp = row["ops"].get("bar.warp.sync").map_or(0.0, number);
        // `ldmatrix.sync.aligned.m8n8.x4.shared.b16`: the number behind `.x` is that of the matrices.
        let matrices = |name: &str| name.split('.').find_map(|part| part.strip_prefix('x')?.parse::<f64>().ok());
        let by_matrix = ops.filter_map(|(name, count)| Some(matrices(name)? * number(count)));
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

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a count")
}
