//! Tests of reductions that add 32-bit elements along each axis of tensors in a list of layouts, on the shapes of Table
//! 4 of the Linear Layouts paper. They are planned, emulated, and checked for duplicate stores.

pub mod list;

use std::path::Path;

use crate::layouts::resolve_distributed;
use crate::prelude::*;
use tilewright_plan::movement::ReductionPlan;

pub use list::{ListedLayout, MatrixLayouts, list};

const SHAPES: [[u64; 2]; 5] = [[128, 16], [128, 128], [32, 128], [32, 32], [16, 16]];
const ELEMENT_BITS: u32 = 32;

/// A planned reduction of a tensor whose layout is in the list.
pub struct PlannedReduction {
    pub kind: &'static str,
    /// Index of the layout in the list, shape and axis, such as `23/128x16/0`.
    pub id: String,
    pub src: LinearLayout,
    pub axis: Dim,
    pub plan: ReductionPlan,
}

/// Returns the list of layouts as text, one JSON object on each line.
pub fn text(rows: &[ListedLayout]) -> String {
    let line = |row: &ListedLayout| format!("{}\n", serde_json::json!({ "kind": row.kind, "layout": row.layout }));
    rows.iter().map(line).collect()
}

/// Checks that the list of layouts equals a committed file, and that it has 100 different layouts.
pub fn check_committed_list(rows: &[ListedLayout], file: &Path) {
    let different: BTreeSet<_> = rows.iter().map(|row| &row.layout).collect();
    assert_eq!((rows.len(), different.len()), (100, 100), "layouts of the list");
    golden::check(file, &text(rows));
}

/// Plans the reductions of every layout of the list for the target, in each shape and along both axes. Panics if one
/// cannot be planned.
pub fn plan_all(rows: &[ListedLayout], target: &dyn Target) -> Vec<PlannedReduction> {
    let mut all = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        for shape in SHAPES {
            let src = resolve_distributed(target, &row.layout, &shape);
            for axis in 0..2 {
                let id = format!("{index}/{}x{}/{axis}", shape[0], shape[1]);
                let along = Dim::tensor(axis);
                let plan = plan_reduction(&src, along, &[ELEMENT_BITS], target.description());
                let plan = plan.unwrap_or_else(|error| panic!("{id}: {error}\n{src}"));
                all.push(PlannedReduction { kind: row.kind, id, src: src.clone(), axis: along, plan });
            }
        }
    }
    all
}

/// Emulates all reductions of the list on each target. A kernel that several targets with the same banks share is
/// emulated once.
pub fn check_all(rows: &[ListedLayout], targets: &[&dyn Target]) {
    let mut proven = BTreeSet::new();
    for &target in targets {
        let banks = target.description().shared.banks.iter();
        let banks: Vec<_> =
            banks.map(|row| (&row.directions, &row.access_bits, row.banks, row.bank_bytes, &row.phase)).collect();
        for problem in plan_all(rows, target) {
            let mut plan = problem.plan.clone();
            plan.stats.cost = 0.0;
            if proven.insert(format!("{} {plan:?} {banks:?}", problem.id)) {
                problem.check_on_emulator(target);
            }
        }
    }
}

impl PlannedReduction {
    /// Emulates the reduction, and checks results and counts. Also checks that nothing is stored to shared memory
    /// twice: each warp's partial result is stored once, and each total once if totals must be moved to the lanes that
    /// need them.
    fn check_on_emulator(&self, target: &dyn Target) {
        let case = build_reduction_case((&self.src, self.axis), &[ELEMENT_BITS], &self.plan, target.description());
        let report = check_case(case, target.description(), format!("{} ({})\n{}", self.id, self.kind, self.src));
        let moves_totals = self.plan.broadcasts_results()
            || self.partial_results() == 0 && self.plan.stats.counts.wavefronts_stored > 0;
        let broadcast_elements = if moves_totals { self.lines() } else { 0 };
        let once = (self.partial_results() + broadcast_elements) * u64::from(ELEMENT_BITS / 8);
        assert_eq!(report.shared_bytes_stored, once, "{} ({}) stores\n{}", self.id, self.kind, self.src);
    }

    /// Returns the number of results of the reduction: the number of elements divided by the size of the reduced axis.
    fn lines(&self) -> u64 {
        let outs = self.src.outs();
        1 << (outs.total_bits() - outs.bits_of(self.axis))
    }

    /// Returns the number of distinct partial results that the block's warps compute. For each result, it is the size
    /// of the reduced axis divided by the number of coordinates along this axis that warp 0 holds. Zero if a warp holds
    /// the whole axis.
    fn partial_results(&self) -> u64 {
        let (ins, outs) = (self.src.ins(), self.src.outs());
        let of_warp = (0..1u64 << ins.total_bits()).filter(|&packed| ins.coordinate(packed, Dim::WARP) == 0);
        let along: BTreeSet<u64> =
            of_warp.map(|packed| outs.coordinate(self.src.apply_packed(packed), self.axis)).collect();
        match (1u64 << outs.bits_of(self.axis)) / along.len() as u64 {
            1 => 0,
            partials => partials * self.lines(),
        }
    }
}
