//! Reductions by adding 32-bit elements along both axes of a list of layouts, on the shapes of seed 000,
//! Table 4: planned, run on the emulator, and looked at for stores that are made twice.

pub mod list;

use std::path::Path;

use crate::layouts::distributed;
use crate::prelude::*;
use tilewright_plan::movement::Reduction;

pub use list::{MatrixLayouts, Row, list};

const SHAPES: [[u64; 2]; 5] = [[128, 16], [128, 128], [32, 128], [32, 32], [16, 16]];
const ELEMENT_BITS: u32 = 32;

/// A reduction of the list.
pub struct Question {
    pub kind: &'static str,
    /// Number of the layout in the list, shape and axis: `23/128x16/0`.
    pub id: String,
    pub src: LinearLayout,
    pub axis: Dim,
    pub plan: Reduction,
}

/// The list as it is kept: a line for each layout.
pub fn text(rows: &[Row]) -> String {
    let line = |row: &Row| format!("{}\n", serde_json::json!({ "kind": row.kind, "layout": row.layout }));
    rows.iter().map(line).collect()
}

/// Compares the list with the kept file.
pub fn check_kept(rows: &[Row], file: &Path) {
    let different: BTreeSet<_> = rows.iter().map(|row| &row.layout).collect();
    assert_eq!((rows.len(), different.len()), (100, 100), "layouts of the list");
    golden::check(file, &text(rows));
}

/// All reductions of the list, planned for the target.
pub fn problems(rows: &[Row], target: &dyn Target) -> Vec<Question> {
    let mut all = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        for shape in SHAPES {
            let src = distributed(target, &row.layout, &shape);
            for axis in 0..2 {
                let id = format!("{number}/{}x{}/{axis}", shape[0], shape[1]);
                let along = Dim::tensor(axis);
                let plan = reduce(&src, along, &[ELEMENT_BITS], target.description());
                let plan = plan.unwrap_or_else(|error| panic!("{id}: {error}\n{src}"));
                all.push(Question { kind: row.kind, id, src: src.clone(), axis: along, plan });
            }
        }
    }
    all
}

/// Runs all reductions of the list on each target. A kernel that targets have alike, on banks that they have alike, is
/// run once.
pub fn check_all(rows: &[Row], targets: &[&dyn Target]) {
    let mut proven = BTreeSet::new();
    for &target in targets {
        let banks = target.description().shared.banks.iter();
        let banks: Vec<_> =
            banks.map(|row| (&row.directions, &row.access_bits, row.banks, row.bank_bytes, &row.phase)).collect();
        for problem in problems(rows, target) {
            let mut plan = problem.plan.clone();
            plan.stats.cost = 0.0;
            if proven.insert(format!("{} {plan:?} {banks:?}", problem.id)) {
                problem.prove(target);
            }
        }
    }
}

impl Question {
    /// Runs the reduction, compares every result and every count, and sees that nothing is stored to
    /// shared memory twice: each part once, and each sum once where sums are handed out.
    fn prove(&self, target: &dyn Target) {
        let case = reduction_case((&self.src, self.axis), &[ELEMENT_BITS], &self.plan, target.description());
        let report = proven_case(case, target.description(), format!("{} ({})\n{}", self.id, self.kind, self.src));
        let handed_out = if self.plan.hands_out() { self.lines() } else { 0 };
        let once = (self.parts_of_warps() + handed_out) * u64::from(ELEMENT_BITS / 8);
        assert_eq!(report.shared_bytes_stored, once, "{} ({}) stores\n{}", self.id, self.kind, self.src);
    }

    /// How many sums there are.
    fn lines(&self) -> u64 {
        let outs = self.src.outs();
        1 << (outs.bits() - outs.bits_of(self.axis))
    }

    /// How many different partial sums the warps of the block hold together, where a warp holds less than
    /// the whole of a line; by going through the elements that warp 0 holds.
    fn parts_of_warps(&self) -> u64 {
        let (ins, outs) = (self.src.ins(), self.src.outs());
        let of_warp = (0..1u64 << ins.bits()).filter(|&place| ins.coordinate(place, Dim::WARP) == 0);
        let along: BTreeSet<u64> =
            of_warp.map(|place| outs.coordinate(self.src.apply_packed(place), self.axis)).collect();
        match (1u64 << outs.bits_of(self.axis)) / along.len() as u64 {
            1 => 0,
            parts => parts * self.lines(),
        }
    }
}
