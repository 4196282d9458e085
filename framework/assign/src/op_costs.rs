//! What an operation does in a layout: counts of the plans of movement, whatever they are weighed by.
//!
//! The engine weighs them in slots of a warp ([`super::price`]), the model of synthesis in cycles of the target.

use super::LaunchConfig;
use super::graph::{ISSUE, Kind};
use tilewright_kernel::Counts;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{MovementError, access_global, reduce, scan};

/// What a warp does; where warps differ, the most.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct OpCosts {
    /// Plain operations of registers.
    pub plain: f64,
    /// Movement between threads.
    pub counts: Counts,
    /// Accesses of global memory.
    pub accesses: u64,
    /// Bytes of global memory of the whole block, whole units counted.
    pub bytes: u64,
}

impl OpCosts {
    /// What an operation of a kind does in a layout; nothing of what depends on more than that.
    pub(super) fn of(kind: &Kind, layout: &LinearLayout, machine: &LaunchConfig<'_>) -> Result<Self, MovementError> {
        let (target, registers) = (machine.context.target, registers(layout));
        let plain = |issues: &f64| issues / ISSUE * registers;
        Ok(match kind {
            Kind::Elementwise(issues) => Self { plain: plain(issues), ..Self::default() },
            Kind::Access(access) => {
                let named = &access.named;
                let plan = access_global(layout, &named.tensor, named.bits, access.direction, target)?;
                let bytes = plan.transactions * u64::from(target.global.transaction_bytes);
                Self { accesses: plan.accesses, bytes, ..Self::default() }
            }
            Kind::Reduce(axis, widths, issues) => {
                let counts = reduce(layout, Dim::tensor(*axis), widths, target)?.stats.counts;
                Self { plain: plain(issues), counts, ..Self::default() }
            }
            Kind::Scan(axis, widths, direction, issues) => {
                let counts = scan(layout, Dim::tensor(*axis), widths, *direction, target)?.stats.counts;
                Self { plain: plain(issues), counts, ..Self::default() }
            }
            Kind::Nothing | Kind::Gather(..) | Kind::Product => Self::default(),
        })
    }
}

/// Registers of a lane.
pub(super) fn registers(layout: &LinearLayout) -> f64 {
    (1u64 << layout.in_bits(Dim::REGISTER)) as f64
}
