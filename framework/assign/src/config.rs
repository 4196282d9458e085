//! The target and launch configuration for which layouts are assigned.

use tilewright_layout::Families;
use tilewright_plan::movement::PlanContext;

/// A target with the number of lanes and warps of a launch.
#[derive(Clone, Copy)]
pub struct LaunchConfig<'a> {
    /// The target, its instruction table, and the limits that plans of data movement and of MMAs must keep: shared
    /// memory, registers, blocks of a cluster.
    pub context: PlanContext<'a>,
    /// The families (named constructors of layouts, such as `blocked`) that resolve the layout names of types.
    pub families: &'a dyn Families,
    /// Number of lanes of a warp.
    pub lanes: u32,
    /// Number of warps of a block.
    pub warps: u32,
}

impl LaunchConfig<'_> {
    /// Returns the number of registers that a lane can have if all warps of the block have as many.
    pub(crate) fn registers_per_lane(&self) -> u64 {
        let limits = &self.context.target.limits;
        let each = self.context.registers.unwrap_or(limits.registers_per_lane);
        let lanes = u64::from(self.lanes) * u64::from(self.warps);
        u64::from(each).min(u64::from(limits.registers_per_block) / lanes.max(1))
    }
}

impl std::fmt::Debug for LaunchConfig<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LaunchConfig")
            .field("target", &self.context.target.name)
            .field("lanes", &self.lanes)
            .field("warps", &self.warps)
            .finish_non_exhaustive()
    }
}
