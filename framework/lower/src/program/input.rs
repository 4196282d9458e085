//! The input of the lowering.

use tilewright_assign::LaunchConfig;
use tilewright_assign::layouts::LayoutCache;
use tilewright_tile::Function;
use tilewright_tile::facts::AxisInfoMap;

use super::fixed_plans::FixedPlans;

/// A function to be lowered to a kernel, with its analysis, layouts, launch and given plans.
#[derive(Debug, Clone, Copy)]
pub struct LoweringInput<'a> {
    /// The function; all its tensors have layouts.
    pub function: &'a Function,
    /// The analysis of its values.
    pub facts: &'a AxisInfoMap,
    /// The layouts that its types name.
    pub layouts: &'a LayoutCache<'a>,
    /// The target, and the lanes and warps that its layouts are for.
    pub machine: &'a LaunchConfig<'a>,
    /// The plans of operations that the lowering does not choose.
    pub plans: &'a FixedPlans,
}
