//! For what layouts are assigned.

use tilewright_layout::Families;
use tilewright_plan::movement::PlanContext;

/// The target of a program, with the block that its launch has.
#[derive(Clone, Copy)]
pub struct LaunchConfig<'a> {
    /// The target, and what plans of movement and of products may use of it.
    pub context: PlanContext<'a>,
    /// The families of layouts that types may name.
    pub families: &'a dyn Families,
    /// Lanes of a warp.
    pub lanes: u32,
    /// Warps of a block.
    pub warps: u32,
}

impl std::fmt::Debug for LaunchConfig<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine")
            .field("target", &self.context.target.name)
            .field("lanes", &self.lanes)
            .field("warps", &self.warps)
            .finish_non_exhaustive()
    }
}
