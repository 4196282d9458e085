//! Plans that are fixed for operations before they are lowered.

use std::collections::HashMap;

use tilewright_plan::movement::{Gather, Plan, Reduction, Scan};
use tilewright_tile::Op;

/// The operations whose plan is given, each with its plan; the lowering plans the others itself. A test lowers by an
/// alternative that the lowering would not choose, and a host by the plan that it has been shown.
///
/// A function with fixed plans is to do what they count. Its buffers in shared memory do not share places, since that can add
/// barriers to those of the plans, and movements do not share barriers, which leaves some out.
#[derive(Debug, Clone, Default)]
pub struct FixedPlans {
    /// Plans of `ttg.convert_layout`.
    pub conversions: HashMap<Op, Plan>,
    /// Plans of `tt.reduce`.
    pub reductions: HashMap<Op, Reduction>,
    /// Plans of `tt.scan`.
    pub scans: HashMap<Op, Scan>,
    /// Plans of `tt.gather`.
    pub gathers: HashMap<Op, Gather>,
}

impl FixedPlans {
    pub(super) fn is_empty(&self) -> bool {
        let Self { conversions, reductions, scans, gathers } = self;
        conversions.is_empty() && reductions.is_empty() && scans.is_empty() && gathers.is_empty()
    }
}
