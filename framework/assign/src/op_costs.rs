//! Operation counts of a tile operation in a layout, from the plans of data movement.
//!
//! Layout assignment weighs the counts in shared-memory wavefronts ([`super::price`]), the performance model of
//! synthesis in cycles.

use super::LaunchConfig;
use super::graph::{ISSUE, Kind};
use tilewright_kernel::Counts;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{MovementError, plan_global_access, plan_reduction, plan_scan};

/// Operation counts of one warp; the maximum if warps differ.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct OpCosts {
    /// Number of plain instructions.
    pub plain: f64,
    /// Numbers of operations that move data between threads.
    pub counts: Counts,
    /// Number of global-memory accesses.
    pub accesses: u64,
    /// Bytes of global memory that the whole block accesses, in whole sectors.
    pub bytes: u64,
}

impl OpCosts {
    /// Counts an operation in a layout; zero for kinds whose counts depend on further layouts.
    pub(super) fn of(kind: &Kind, layout: &LinearLayout, config: &LaunchConfig<'_>) -> Result<Self, MovementError> {
        let (target, registers) = (config.context.target, registers(layout));
        let plain = |issues: &f64| issues / ISSUE * registers;
        Ok(match kind {
            Kind::Elementwise(issues) => Self { plain: plain(issues), ..Self::default() },
            Kind::Access(access) => {
                let named = &access.named;
                let plan = plan_global_access(layout, &named.tensor, named.bits, access.direction, target)?;
                let bytes = plan.transactions * u64::from(target.global.transaction_bytes);
                Self { accesses: plan.accesses, bytes, ..Self::default() }
            }
            Kind::Reduce(axis, widths, issues) => {
                let counts = plan_reduction(layout, Dim::tensor(*axis), widths, target)?.stats.counts;
                Self { plain: plain(issues), counts, ..Self::default() }
            }
            Kind::Scan(axis, widths, direction, issues) => {
                let counts = plan_scan(layout, Dim::tensor(*axis), widths, *direction, target)?.stats.counts;
                Self { plain: plain(issues), counts, ..Self::default() }
            }
            Kind::Nothing | Kind::Gather(..) | Kind::Dot => Self::default(),
        })
    }
}

/// Returns the number of registers of a lane in a layout.
pub(super) fn registers(layout: &LinearLayout) -> f64 {
    (1u64 << layout.in_bits(Dim::REGISTER)) as f64
}
