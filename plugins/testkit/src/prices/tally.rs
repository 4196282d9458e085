//! Operation counts of a warp and their price, in the same form for plans and for Triton's code; see the parent module.

use crate::prelude::*;
use serde_json::Value;
use tilewright_plan::cost::WarpWork;

/// The names of the operation counts, in the order of [`Tally::counts`].
pub const COUNTED: [&str; 5] = ["shuffles", "shared", "alu", "block barriers", "warp barriers"];

/// Operation counts of a warp, in the same form for plans and for Triton's code.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    shuffles: f64,
    /// Number of shared-memory wavefronts of loads and stores together.
    wavefronts: f64,
    /// Number of byte permutes and selects together.
    alu: f64,
    block_barriers: f64,
    warp_barriers: f64,
}

/// The price of one operation of each kind, in the order of [`COUNTED`].
pub const OPERATION_PRICES: [f64; 5] = [1.0, 1.0, 0.25, 10.0, 1.0];

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

    /// Reads the operation counts of Triton's code from `row`, an entry of the comparison's data; missing counts are
    /// zero. `lanes` is the number of lanes of a warp, and `least` the minimum number of wavefronts of each access.
    pub fn of_triton(row: &Value, lanes: u64, least: u64) -> Self {
        let counts = |name: &str| row["counts"].get(name).map_or(0.0, number);
        let side =
            |accesses: &str, bits: &str| (counts(accesses) * least as f64).max(counts(bits) * lanes as f64 / 1024.0);
        let ops = row["ops"].as_object().into_iter().flatten();
        let in_warp = row["ops"].get("bar.warp.sync").map_or(0.0, number);
        // In `ldmatrix.sync.aligned.m8n8.x4.shared.b16`, the number after `.x` is the number of matrices.
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

/// Returns the work of Triton's code for the cost model, with the shortest dependent chain that its operations allow;
/// see [`counts_of_triton`] for the parameters.
pub fn work_of_triton(row: &Value, lanes: u64, least: u64) -> WarpWork {
    let mut work = WarpWork::from_counts(counts_of_triton(row, lanes, least), 1);
    work.chain.selects = work.counts.selects.min(2);
    work
}

/// Reads the counts of Triton's code from `row`, an entry of the comparison's data, in the form of a plan's counts.
/// `lanes` is the number of lanes of a warp, and `least` the minimum number of wavefronts of each access. Accesses are
/// assumed to be free of bank conflicts. A select of 64 bits counts as two.
pub fn counts_of_triton(row: &Value, lanes: u64, least: u64) -> Counts {
    let counts = |name: &str| row["counts"].get(name).map_or(0, |count| number(count) as u64);
    let ops = |prefix: &str| -> Vec<(String, u64)> {
        let all = row["ops"].as_object().into_iter().flatten().filter(|(name, _)| name.starts_with(prefix));
        all.map(|(name, count)| (name.clone(), number(count) as u64)).collect()
    };
    let sum = |prefix: &str| ops(prefix).iter().map(|(_, count)| count).sum::<u64>();
    let matrices = |prefix: &str| {
        let of = |name: &str| name.split('.').find_map(|field| field.strip_prefix('x')?.parse::<u64>().ok());
        ops(prefix).iter().map(|(name, count)| of(name).unwrap_or(1) * count).sum::<u64>()
    };
    let side = |accesses: &str, bits: &str| (counts(accesses) * least).max(counts(bits) * lanes / 1024);
    let (by_constant, swaps, in_warp) = (sum("v_mov_b32_dpp"), sum("v_permlane"), sum("bar.warp.sync"));
    Counts {
        shuffles: counts("shuffles").max(by_constant + swaps),
        shuffles_xor: by_constant,
        swaps,
        shared_stores: counts("shared_stores"),
        shared_loads: counts("shared_loads"),
        matrix_stores: sum("stmatrix"),
        matrix_loads: sum("ldmatrix"),
        wavefronts_stored: side("shared_stores", "shared_store_bits") + matrices("stmatrix"),
        wavefronts_loaded: side("shared_loads", "shared_load_bits") + matrices("ldmatrix"),
        barriers: counts("barriers") - in_warp,
        warp_barriers: in_warp,
        permutes: counts("permutes"),
        selects: counts("selects") + sum("selp.b64"),
        ..Counts::default()
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a count")
}
