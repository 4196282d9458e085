//! The input of the lowering.

use tilewright_assign::LaunchConfig;
use tilewright_assign::layouts::LayoutCache;
use tilewright_tile::Function;
use tilewright_tile::axis_info::AxisInfoMap;

use super::fixed_plans::FixedPlans;

/// A function to be lowered to a kernel, with its axis information, layouts, launch configuration and fixed plans.
#[derive(Debug, Clone, Copy)]
pub struct LoweringInput<'a> {
    /// The function to be lowered; all its tensors have layouts.
    pub function: &'a Function,
    /// Axis information of the function's values (Triton's AxisInfo).
    pub axis_info: &'a AxisInfoMap,
    /// The resolved layouts of the function's types.
    pub layouts: &'a LayoutCache<'a>,
    /// The target, and the numbers of lanes and warps for which the function has layouts.
    pub config: &'a LaunchConfig<'a>,
    /// The plans that are given for some operations; the lowering plans all others.
    pub plans: &'a FixedPlans,
}
