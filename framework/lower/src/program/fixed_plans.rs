//! Plans that are fixed for operations before lowering.

use std::collections::HashMap;

use tilewright_plan::movement::{ConversionPlan, GatherPlan, ReductionPlan, ScanPlan};
use tilewright_tile::Op;

/// Plans that are given for some operations; the lowering plans all other operations. For example, a test fixes an
/// alternative that the lowering would not choose, and a host fixes the plan that it has inspected.
///
/// The kernel of a function with fixed plans must match the plans' counts. So its buffers in shared memory do not share
/// addresses, which could add barriers, and data movements do not share barriers, which could remove some.
#[derive(Debug, Clone, Default)]
pub struct FixedPlans {
    /// The plan of each `ttg.convert_layout` with a fixed plan.
    pub conversions: HashMap<Op, ConversionPlan>,
    /// The plan of each `tt.reduce` with a fixed plan.
    pub reductions: HashMap<Op, ReductionPlan>,
    /// The plan of each `tt.scan` with a fixed plan.
    pub scans: HashMap<Op, ScanPlan>,
    /// The plan of each `tt.gather` with a fixed plan.
    pub gathers: HashMap<Op, GatherPlan>,
}

impl FixedPlans {
    pub(super) fn is_empty(&self) -> bool {
        let Self { conversions, reductions, scans, gathers } = self;
        conversions.is_empty() && reductions.is_empty() && scans.is_empty() && gathers.is_empty()
    }
}
