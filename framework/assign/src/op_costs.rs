//! Operation counts of a tile operation in a layout, from the plans of data movement.
//!
//! Layout assignment ([`super::price`]) and the performance model of synthesis turn them into cycles.

use super::LaunchConfig;
use super::graph::{Access, Kind};
use tilewright_kernel::Counts;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::cost::{GlobalWork, WarpWork};
use tilewright_plan::movement::{GlobalAccessPlan, MovementError, plan_global_access, plan_reduction, plan_scan};
use tilewright_target::Direction;

/// Operation counts of one warp; the maximum if warps differ.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct OpCosts {
    /// Number of instructions of a warp that neither access memory nor move data between threads.
    pub plain: f64,
    /// Counts of the operations that move data between threads, such as shuffles and shared-memory accesses.
    pub counts: Counts,
    /// Number of global-memory access instructions of a warp.
    pub accesses: u64,
    /// Bytes of global memory that the whole block accesses, in whole sectors.
    pub bytes: u64,
    /// Numbers of sectors and of cache lines that the accesses of a warp touch.
    pub global: GlobalWork,
}

impl OpCosts {
    /// Counts the operations of a node of this kind in a layout. The counts are zero for kinds whose costs depend on
    /// further layouts.
    pub(super) fn of(kind: &Kind, layout: &LinearLayout, config: &LaunchConfig<'_>) -> Result<Self, MovementError> {
        let target = config.context.target;
        let plain = |instructions: &f64| instructions * registers(layout);
        Ok(match kind {
            Kind::Elementwise(instructions, equal) => {
                let distinct = equal.find_distinct(layout, config);
                Self { plain: instructions * registers(&distinct), ..Self::default() }
            }
            Kind::Access(access) => match access.bulk_store(layout, config) {
                Some(bulk) => bulk.costs,
                None => Self::of_direct_access(access, layout, config)?,
            },
            Kind::Reduce(axis, widths, instructions) => {
                let counts = plan_reduction(layout, Dim::tensor(*axis), widths, target)?.stats.counts;
                Self { plain: plain(instructions), counts, ..Self::default() }
            }
            Kind::Scan(axis, widths, direction, instructions) => {
                let counts = plan_scan(layout, Dim::tensor(*axis), widths, *direction, target)?.stats.counts;
                Self { plain: plain(instructions), counts, ..Self::default() }
            }
            Kind::Nothing | Kind::Gather(..) | Kind::Dot => Self::default(),
        })
    }
}

impl OpCosts {
    /// Counts the operations of loads or stores of global memory by lanes. A store through a tensor descriptor also
    /// checks the bounds along each axis, by a comparison whose result is combined with the others.
    pub(super) fn of_direct_access(
        access: &Access,
        layout: &LinearLayout,
        config: &LaunchConfig<'_>,
    ) -> Result<Self, MovementError> {
        let (named, target) = (&access.named, config.context.target);
        let distinct = match access.direction {
            Direction::Load => named.equal.find_distinct(layout, config),
            Direction::Store => layout.clone(),
        };
        let plan = plan_global_access(&distinct, &named.tensor, named.bits, access.direction, target)?;
        let bytes = plan.transactions * u64::from(target.global.transaction_bytes);
        let axes = access.bulk_block.as_ref().map_or(0, |block| block.shape.len());
        let plain = packing_instructions(&plan) + (2 * axes) as f64 * plan.accesses as f64;
        let global = GlobalWork::from_access(&plan, access.direction, config.warps);
        Ok(Self { plain, accesses: plan.accesses, bytes, global, ..Self::default() })
    }

    /// Returns the work of one warp, as the cost model takes it.
    pub(super) fn work(&self) -> WarpWork {
        WarpWork { instructions: self.plain, global: self.global, ..WarpWork::from_counts(self.counts, 1) }
    }
}

/// Returns the number of instructions that pack elements of narrow loads into 32-bit registers, or unpack elements for
/// narrow stores: half the number of accesses. Accesses of four bytes or more need none.
fn packing_instructions(plan: &GlobalAccessPlan) -> f64 {
    if plan.bytes_per_lane() < 4 { plan.accesses as f64 / 2.0 } else { 0.0 }
}

/// Returns the number of registers that a lane holds in a layout.
pub(super) fn registers(layout: &LinearLayout) -> f64 {
    (1u64 << layout.in_bits(Dim::REGISTER)) as f64
}
