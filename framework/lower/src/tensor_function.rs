//! Tensor functions: tile programs around one operation, for inspecting, running and checking the code of that
//! operation.

use std::sync::LazyLock;

use tilewright_assign::LaunchConfig;
use tilewright_assign::layouts::{LayoutCache, format_layout_attribute, to_canonical_dim_order};
use tilewright_kernel::Kernel;
use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{ConversionPlan, PlanContext};
use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::op::Dialects;
use tilewright_tile::op::name::{tt, ttg};
use tilewright_tile::{FunctionBuilder, TileType, Value};

use super::program::{FixedPlans, LowerError, LowerErrorReason, LoweringInput, lower_function};
use super::registers::find_memory_integer;

static DIALECTS: LazyLock<Dialects> = LazyLock::new(Dialects::neutral);

/// A tensor of integers in registers that a tensor function takes as a parameter.
#[derive(Debug, Clone, Copy)]
pub struct RegisterTensorParameter<'a> {
    /// The name of the function's parameter that is this tensor.
    pub name: &'a str,
    /// The register layout of the tensor.
    pub layout: &'a LinearLayout,
    /// Number of bits of an element.
    pub element_bits: u32,
}

impl RegisterTensorParameter<'_> {
    /// Returns the type of the tensor.
    ///
    /// # Errors
    /// [`LowerErrorReason::Movement`] if memory holds no elements of this width.
    pub fn ty(&self) -> Result<TileType, LowerErrorReason> {
        let element = TileType::integer(find_memory_integer(self.element_bits)?.bits());
        let layout = to_canonical_dim_order(self.layout)?;
        let shape: Vec<u64> = layout.outs().iter().map(|(_, bits)| 1 << bits).collect();
        Ok(TileType::tensor(shape, element, Some(format_layout_attribute(&layout))))
    }
}

/// Lowers a function of the tensors `tensors` to a kernel. `body` adds the function's operations; the values that it
/// returns are the function's results. The kernel's parameters are those of [`lower_function`].
///
/// # Errors
/// [`LowerError`] if memory holds no elements of a tensor's width, `body` fails, or an operation cannot be lowered.
pub fn build_and_lower_tensor_function(
    name: &str,
    tensors: &[RegisterTensorParameter<'_>],
    context: PlanContext<'_>,
    body: impl FnOnce(&mut FunctionBuilder<'_>, &[Value], &mut FixedPlans) -> Result<Vec<Value>, LowerErrorReason>,
) -> Result<Kernel, LowerError> {
    let failed = |reason| LowerError::for_function(name, None, reason);
    let types = tensors.iter().map(RegisterTensorParameter::ty).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let mut builder = FunctionBuilder::new(&DIALECTS, name, types);
    let arguments = builder.arguments().to_vec();
    arguments.iter().zip(tensors).for_each(|(&argument, tensor)| builder.set_name(argument, tensor.name));
    let mut plans = FixedPlans::default();
    let results = body(&mut builder, &arguments, &mut plans).map_err(failed)?;
    let types = results.iter().map(|&result| builder.ty(result).clone()).collect();
    builder.build_op(tt::RETURN).operands("srcs", &results).build().map_err(|error| failed(error.into()))?;
    let function = &builder.set_result_types(types).finish();
    let bits = |dim| tensors.first().map_or(0, |tensor| tensor.layout.in_bits(dim));
    let config =
        &LaunchConfig { context, families: &NeutralFamilies, lanes: 1 << bits(Dim::LANE), warps: 1 << bits(Dim::WARP) };
    let (axis_info, layouts) = (&AxisInfoMap::analyze(function), &LayoutCache::new(config.families));
    lower_function(&LoweringInput { function, axis_info, layouts, config, plans: &plans })
}

/// Returns a kernel that loads a tensor in the layout `src`, converts it by `plan`, and stores the registers.
///
/// The kernel's parameters are two pointers to global memory, as [`lower_function`] has them for a function of one
/// tensor and one result. The kernel is launched in clusters if the plan needs them.
///
/// # Errors
/// [`LowerError`] if the plan is not for these layouts, or if no element type has this width.
pub fn build_conversion_kernel(
    name: &str,
    [src, dst]: [&LinearLayout; 2],
    element_bits: u32,
    plan: &ConversionPlan,
    context: PlanContext<'_>,
) -> Result<Kernel, LowerError> {
    let tensor = RegisterTensorParameter { name: "tensor", layout: src, element_bits };
    build_and_lower_tensor_function(name, &[tensor], context, |builder, tensors, plans| {
        let converted = RegisterTensorParameter { layout: dst, ..tensor }.ty()?;
        let op = builder.build_op(ttg::CONVERT_LAYOUT).operand(tensors[0]).result(converted).build()?;
        plans.conversions.insert(op, plan.clone());
        Ok(builder.body().op(op).results.to_vec())
    })
}
