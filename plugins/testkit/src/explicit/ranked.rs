//! Checks the cost model of synthesis against executed counts of pairs of variants. If no count is higher for one
//! variant than for the other, and a count of accesses, barriers or shuffles is lower, the model must predict less time
//! for it.

use std::fmt::Write;

use super::{case, synthesize_and_emulate};
use crate::prelude::*;
use tilewright_assign::synthesis::SynthesisOptions;
use tilewright_verify::case::ProgramCase;

/// A variant of a program: the counts of a whole launch, and its predicted time in arbitrary units.
pub struct Variant {
    pub name: String,
    /// Shared-memory wavefronts, accesses of shared memory, barriers and shuffles: each is the maximum over the warps
    /// of a block, times the number of blocks. Then the number of global-memory sectors of the launch.
    moved: [u64; 5],
    /// Number of operations that all warps of the launch execute together.
    steps: u64,
    /// Shared memory of a block in bytes.
    shared_bytes: u64,
    /// Number of blocks that are resident on a compute unit.
    resident: u64,
    /// Whether a loop prefetches.
    is_pipelined: bool,
    predicted: f64,
}

impl Variant {
    pub fn of(target: &dyn Target, name: String, case: &ProgramCase, text: &str, options: SynthesisOptions) -> Self {
        let solved = synthesize_and_emulate(target, case, text, options);
        let (counts, report) = (&solved.counts, &solved.report);
        let blocks = u64::from(case.grid.iter().product::<u32>());
        let accesses = counts.shared_stores + counts.shared_loads + counts.matrix_stores + counts.matrix_loads;
        let warps = [
            counts.wavefronts_stored + counts.wavefronts_loaded,
            accesses + counts.asynchronous_copies,
            counts.barriers,
            counts.shuffles,
        ];
        let [wavefronts, accesses, barriers, shuffles] = warps.map(|count| count * blocks);
        let bytes = report.transactions_loaded + report.transactions_stored;
        // The model predicts the time for a fixed number of blocks on each compute unit. So the launch's time is
        // proportional to this prediction times the number of blocks.
        let predicted = solved.derivation.prediction.cycles * blocks as f64;
        let shared_bytes = solved.derivation.shared_bytes;
        let resident = solved.derivation.prediction.resident;
        let is_pipelined = solved.derivation.loops.iter().any(|of| of.stages > 1);
        Self {
            name,
            moved: [wavefronts, accesses, barriers, shuffles, bytes],
            steps: report.steps,
            shared_bytes,
            resident,
            is_pipelined,
            predicted,
        }
    }

    pub fn dominates(&self, other: &Self) -> bool {
        let pairs = || self.moved.iter().zip(&other.moved);
        self.steps <= other.steps && pairs().all(|(a, b)| a <= b) && pairs().any(|(a, b)| a < b)
    }
}

/// Returns options of synthesis with each subset of three passes disabled, and for each a name that lists the disabled
/// passes.
pub fn switches() -> Vec<(String, SynthesisOptions)> {
    let of = |left: u32| {
        let [memory, task_mapping, pipeline] = [0, 1, 2].map(|bit| left >> bit & 1 == 0);
        let names = [("memory", memory), ("task mapping", task_mapping), ("pipeline", pipeline)];
        let names: Vec<&str> = names.iter().filter(|(_, on)| !on).map(|(name, _)| *name).collect();
        (
            format!("without [{}]", names.join(", ")),
            SynthesisOptions::default()
                .with_memory_search(memory)
                .with_task_mapping_search(task_mapping)
                .with_pipelining(pipeline),
        )
    };
    (0..8).map(of).collect()
}

/// Counts of pairs of a better and a worse variant. Index 0 counts pairs whose better variant has at least as many
/// resident blocks as the worse one and prefetches if that does, index 1 the other pairs: counts do not show latencies
/// that other blocks or prefetches hide.
#[derive(Default)]
pub struct RankingStats {
    pub pairs: [usize; 2],
    /// Number of pairs that the cost model ranks wrongly, with the same two indices.
    pub wrong: [usize; 2],
    /// Text that lists the pairs that the cost model ranks wrongly.
    pub report: String,
}

impl RankingStats {
    /// Returns the sum of both counts, with both reports.
    pub fn with(self, other: Self) -> Self {
        let sum = |a: [usize; 2], b: [usize; 2]| [a[0] + b[0], a[1] + b[1]];
        Self {
            pairs: sum(self.pairs, other.pairs),
            wrong: sum(self.wrong, other.wrong),
            report: self.report + &other.report,
        }
    }

    /// Counts the pairs among the variants of one program on one target.
    pub fn add(&mut self, gpu_model: &str, group: &[Variant]) {
        for (better, worse) in group.iter().flat_map(|a| group.iter().map(move |b| (a, b))) {
            if !better.dominates(worse) {
                continue;
            }
            let is_hidden = better.resident >= worse.resident && better.is_pipelined >= worse.is_pipelined;
            let kind = usize::from(!is_hidden);
            self.pairs[kind] += 1;
            if better.predicted < worse.predicted {
                continue;
            }
            self.wrong[kind] += 1;
            for Variant { name, moved, steps, shared_bytes, resident, predicted, .. } in [better, worse] {
                let counts = format!("{moved:?}, {steps} steps, {shared_bytes} bytes, {resident} resident");
                // Writing to a `String` does not fail.
                let _ = writeln!(self.report, "{gpu_model} {name}: {counts}, {predicted:.0} cycles");
            }
            self.report.push('\n');
        }
    }

    /// Counts the pairs among the variants of a program of the suite; [`switches`] has the options of the variants.
    pub fn add_ablations(&mut self, gpu_model: &str, target: &dyn Target, name: &str) {
        let (case, text) = case(name);
        let of = |(left, options): (String, SynthesisOptions)| {
            Variant::of(target, format!("{name} {left}"), &case, &text, options)
        };
        let group: Vec<Variant> = switches().into_iter().map(of).collect();
        self.add(gpu_model, &group);
    }
}
