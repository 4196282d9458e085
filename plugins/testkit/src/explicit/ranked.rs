//! The model of synthesis against execution: of two variants of a program of which one executes no more of anything, and fewer
//! wavefronts, accesses, barriers or bytes, the model predicts that it takes less.

use std::fmt::Write;

use super::{case, executed};
use crate::prelude::*;
use tilewright_assign::synthesis::Options;
use tilewright_verify::case::ProgramCase;

/// A variant: what it executes and what is predicted of it, both of the whole launch.
pub struct Variant {
    pub name: String,
    /// Wavefronts, accesses of shared memory, barriers, exchanges, and units of global memory.
    moved: [u64; 5],
    /// Operations that warps ran.
    steps: u64,
    /// Bytes of shared memory of a block.
    shared_bytes: u64,
    predicted: f64,
}

impl Variant {
    pub fn of(target: &dyn Target, name: String, case: &ProgramCase, text: &str, options: Options) -> Self {
        let solved = executed(target, case, text, options);
        let (counts, report) = (&solved.counts, &solved.report);
        let blocks = u64::from(case.grid.iter().product::<u32>());
        let accesses = counts.shared_stores + counts.shared_loads + counts.matrix_stores + counts.matrix_loads;
        let warps = [
            counts.wavefronts_stored + counts.wavefronts_loaded,
            accesses + counts.asynchronous_copies,
            counts.barriers,
            counts.exchanges,
        ];
        let [wavefronts, accesses, barriers, exchanges] = warps.map(|count| count * blocks);
        let bytes = report.transactions_loaded + report.transactions_stored;
        // As many blocks of each are predicted, of which each does its part of the launch.
        let predicted = solved.derivation.prediction.cycles * blocks as f64;
        let shared_bytes = solved.derivation.shared_bytes;
        Self {
            name,
            moved: [wavefronts, accesses, barriers, exchanges, bytes],
            steps: report.steps,
            shared_bytes,
            predicted,
        }
    }

    pub fn dominates(&self, other: &Self) -> bool {
        let pairs = || self.moved.iter().zip(&other.moved);
        self.steps <= other.steps && pairs().all(|(a, b)| a <= b) && pairs().any(|(a, b)| a < b)
    }
}

/// Parts of synthesis, all and left out.
pub fn switches() -> Vec<(String, Options)> {
    let of = |left: u32| {
        let [memory, task_mapping, pipeline] = [0, 1, 2].map(|bit| left >> bit & 1 == 0);
        let names = [("memory", memory), ("task mapping", task_mapping), ("pipeline", pipeline)];
        let names: Vec<&str> = names.iter().filter(|(_, on)| !on).map(|(name, _)| *name).collect();
        (format!("without [{}]", names.join(", ")), Options { memory, task_mapping, pipeline, ..Options::default() })
    };
    (0..8).map(of).collect()
}

/// Pairs of variants of which one dominates: those whose better one takes no more of shared memory, and others.
#[derive(Default)]
pub struct Ranked {
    pub pairs: [usize; 2],
    /// How many of them are ranked wrongly.
    pub wrong: [usize; 2],
    /// What these are.
    pub told: String,
}

impl Ranked {
    /// These pairs and others.
    pub fn with(self, other: Self) -> Self {
        let sum = |a: [usize; 2], b: [usize; 2]| [a[0] + b[0], a[1] + b[1]];
        Self { pairs: sum(self.pairs, other.pairs), wrong: sum(self.wrong, other.wrong), told: self.told + &other.told }
    }

    /// Adds the pairs of variants of one program on a product.
    pub fn add(&mut self, product: &str, group: &[Variant]) {
        for (better, worse) in group.iter().flat_map(|a| group.iter().map(move |b| (a, b))) {
            if !better.dominates(worse) {
                continue;
            }
            let kind = usize::from(better.shared_bytes > worse.shared_bytes);
            self.pairs[kind] += 1;
            if better.predicted < worse.predicted {
                continue;
            }
            self.wrong[kind] += 1;
            for Variant { name, moved, steps, shared_bytes, predicted } in [better, worse] {
                let counts = format!("{moved:?}, {steps} steps, {shared_bytes} bytes");
                // Writing to a text does not fail.
                let _ = writeln!(self.told, "{product} {name}: {counts}, {predicted:.0} cycles");
            }
            self.told.push('\n');
        }
    }

    /// The pairs of a suite's program with parts of synthesis left out.
    pub fn add_parts_left_out(&mut self, product: &str, target: &dyn Target, name: &str) {
        let (case, text) = case(name);
        let of =
            |(left, options): (String, Options)| Variant::of(target, format!("{name} {left}"), &case, &text, options);
        let group: Vec<Variant> = switches().into_iter().map(of).collect();
        self.add(product, &group);
    }
}
