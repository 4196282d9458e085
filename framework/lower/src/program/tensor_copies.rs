//! Lowers bulk tensor copies (PTX `cp.async.bulk.tensor`). The launch encodes a tensor map of the memory behind one of
//! the program's pointers, and one lane issues the copy. The bytes of a copy to shared memory are counted at an
//! mbarrier; a copy from shared memory is a bulk group, for which the issuing warp waits before the memory is reused.
//!
//! Tensor maps are parameters of the kernel, so they are found before any operation is lowered: `tw.derived_tensor_map`
//! has a pointer and strides as operands, a tensor descriptor also sizes; all are arguments of the function or
//! constants.

use std::collections::HashMap;
use tilewright_tile::op::name::tw;

use crate::shared_memory::Access;
use tilewright_assign::launch_tensor::{ArgumentParameter, LaunchTimeScalar, find_descriptor_tensor};
use tilewright_assign::layouts::{LayoutCache, first_coordinates};
use tilewright_assign::memory::describe_descriptor_global_tensor;
use tilewright_assign::{LaunchConfig, find_bulk_reduction};
use tilewright_kernel::{LaunchDerivedTensorMap, LaunchTimeElementCount, Parameter, Value};
use tilewright_layout::{Dim, Layout};
use tilewright_plan::movement::{
    AsyncCopySpec, AxisStride, GlobalTensor, TensorCopy, TensorCopyGlobalTile, TensorPart, plan_tensor_copy_to_global,
    plan_tensor_copy_to_shared,
};
use tilewright_tile::axis_info::{AxisInfo, AxisInfoMap};
use tilewright_tile::transform::resolve_captured_value;
use tilewright_tile::{self as tile, FunctionBody, Op, ValueOrigin};

use super::error::{LowerError, LowerErrorReason, Lowered};
use super::lowering::{Lowering, TensorCopies};
use super::mbarrier::by_first;
use super::shared::{placed_at, slice};
use super::types::{carrier, stored};

const DERIVED_TENSOR_MAP: &str = tw::DERIVED_TENSOR_MAP;

/// The planner of a program's bulk tensor copies, before the program is lowered.
pub(super) struct TensorCopyPlanner<'a> {
    pub body: &'a FunctionBody,
    pub axis_info: &'a AxisInfoMap,
    pub layouts: &'a LayoutCache<'a>,
    pub config: &'a LaunchConfig<'a>,
    /// For each argument of the function, the number of its first kernel parameter.
    pub parameters: &'a HashMap<tile::Value, u32>,
}

impl TensorCopyPlanner<'_> {
    /// Plans all bulk tensor copies; returns the plans, and the tensor maps as further parameters of the kernel, which
    /// follow the first `before` parameters.
    ///
    /// # Errors
    /// [`LowerError`] at a copy that no instruction of the target executes, or whose memory a launch cannot encode as a
    /// tensor map.
    pub(super) fn plan_tensor_copies(&self, before: usize) -> Result<(TensorCopies, Vec<Parameter>), LowerError> {
        let (mut tensor_copies, mut maps) = (TensorCopies::new(), Vec::<Parameter>::new());
        let all = self.body.walk_region(self.body.root());
        for op in all.into_iter().filter(|&op| shared_end(self.body, op).is_some()) {
            let (copy, map) = self.planned(op).map_err(|reason| reason.at(self.body, op))?;
            let known = maps.iter().position(|known| known.map == map.map && known.rows == map.rows);
            let number = known.unwrap_or_else(|| {
                maps.push(map);
                maps.len() - 1
            });
            tensor_copies.insert(op, (copy, (before + number) as u32));
        }
        Ok((tensor_copies, maps))
    }

    fn planned(&self, op: Op) -> Lowered<(TensorCopy, Parameter)> {
        let body = self.body;
        if self.config.context.blocks > 1 {
            return Err(LowerErrorReason::unsupported("a bulk tensor copy in a cluster of several blocks"));
        }
        let operand =
            |group: &str| body.operand(op, group).ok_or_else(|| LowerErrorReason::malformed("an operand is missing"));
        let descriptor = resolve_captured_value(body, operand("desc")?);
        let is_store = body.op(op).name() == tw::BULK_TENSOR_STORE;
        let end = operand(if is_store { "src" } else { "dst" })?;
        let ty = body.value_type(end);
        let memory_layout = self.layouts.resolve_memory(ty)?;
        let shape = ty.shape().unwrap_or_default();
        let shape = shape[shape.len().saturating_sub(memory_layout.shape.len())..].to_vec();
        let Layout::Memory(memory) = memory_layout.layout else {
            return Err(LowerErrorReason::unsupported("a bulk tensor copy of something other than shared memory"));
        };
        let element_bits = stored(carrier(ty.element())?).bits();
        let mapped = match body.value_origin(descriptor) {
            ValueOrigin::Result(mapped, _) if body.op(mapped).name() == DERIVED_TENSOR_MAP => {
                self.derived(mapped, &shape, element_bits)?
            }
            _ => self.mapped_tensor(descriptor)?,
        };
        let MappedTensor { global, base, strides, sizes } = mapped;
        let (lanes, warps) = (self.config.lanes, self.config.warps);
        let reduction = find_bulk_reduction(body.op(op), body.value_type(descriptor))
            .map_err(|word| LowerErrorReason::unsupported(format!("a bulk tensor copy that combines by `{word}`")))?;
        let problem = AsyncCopySpec::new(&global, &memory, element_bits, lanes, warps);
        let is_part = shape != memory_layout.shape;
        let part = is_part.then(|| TensorPart { first: first_coordinates(body, end, self.layouts), sizes: shape });
        let problem = problem.with_tensor_map(true).with_reduction(reduction).with_part(part);
        let copy = match is_store {
            true => plan_tensor_copy_to_global(&problem, self.config.context)?,
            false => plan_tensor_copy_to_shared(&problem, self.config.context)?,
        };
        let bytes = memory.allocated_bytes(element_bits);
        if !bytes.is_multiple_of(copy.alignment) {
            let message = format!("boxes need {}-byte alignment, not {bytes}-byte buffers", copy.alignment);
            return Err(LowerErrorReason::unsupported(message));
        }
        let in_order = |extents: &[LaunchTimeElementCount]| {
            let axes = copy.axes.iter().filter_map(|axis| axis.as_tensor_axis());
            axes.filter_map(|axis| extents.get(axis).copied()).collect()
        };
        let rows = LaunchDerivedTensorMap { pointer: base, strides: in_order(&strides), sizes: in_order(&sizes) };
        let name = format!("map{base}");
        let map = Parameter { rows: Some(rows), ..Parameter::tensor_map(&name, copy.map.clone()) };
        Ok((copy, map))
    }

    /// Returns the tensor behind a tensor descriptor.
    fn mapped_tensor(&self, descriptor: tile::Value) -> Lowered<MappedTensor> {
        let unknown = || LowerErrorReason::unsupported("a bulk tensor copy of a tensor that a launch cannot describe");
        let tensor = find_descriptor_tensor(self.body, descriptor).ok_or_else(unknown)?;
        let parameter =
            |field: &ArgumentParameter| self.parameters.get(&field.argument).map(|first| first + field.field);
        let extents = |numbers: &[LaunchTimeScalar]| -> Option<Vec<LaunchTimeElementCount>> {
            let extent = |number: &LaunchTimeScalar| match number {
                LaunchTimeScalar::Constant(number) => Some(LaunchTimeElementCount::Number(*number)),
                LaunchTimeScalar::Argument(field) => parameter(field).map(LaunchTimeElementCount::Parameter),
            };
            numbers.iter().map(extent).collect()
        };
        let global =
            describe_descriptor_global_tensor(self.body.value_type(descriptor), u64::MAX).map(|memory| memory.tensor);
        let all = (global, parameter(&tensor.base), extents(&tensor.strides), extents(&tensor.sizes));
        let (Some(global), Some(base), Some(strides), Some(sizes)) = all else { return Err(unknown()) };
        Ok(MappedTensor { global, base, strides, sizes })
    }

    /// Returns the global tensor that the tensor map of a `tw.derived_tensor_map` describes.
    fn derived(&self, mapped: Op, shape: &[u64], element_bits: u32) -> Lowered<MappedTensor> {
        let body = self.body;
        // A partition of warps captures the arguments.
        let base = body.operand(mapped, "base").map(|base| resolve_captured_value(body, base));
        let base = base.ok_or_else(|| LowerErrorReason::malformed("it has no pointer"))?;
        let strides = body.operands(mapped, "strides").iter().map(|&stride| resolve_captured_value(body, stride));
        let known = |value: tile::Value| self.axis_info.get(value).map_or(1, AxisInfo::divisibility);
        let parameter = |value: tile::Value| {
            let number = self.parameters.get(&value).copied();
            number
                .ok_or_else(|| LowerErrorReason::unsupported("a tensor map whose pointer or stride is not an argument"))
        };
        let (mut axes, mut extents) = (Vec::new(), Vec::new());
        for ((axis, &size), stride) in shape.iter().enumerate().zip(strides) {
            let (stride, extent) = match body.constant_integer(stride).and_then(|number| u64::try_from(number).ok()) {
                Some(number) => (AxisStride::Elements(number), LaunchTimeElementCount::Number(number)),
                None => (AxisStride::MultipleOf(known(stride)), LaunchTimeElementCount::Parameter(parameter(stride)?)),
            };
            axes.push((Dim::tensor(axis), size, stride));
            extents.push(extent);
        }
        if axes.len() != shape.len() || element_bits < 8 {
            return Err(LowerErrorReason::malformed(
                "a tensor map needs a stride for each axis, and elements of whole bytes",
            ));
        }
        let global = GlobalTensor::new(axes, known(base));
        Ok(MappedTensor { global, base: parameter(base)?, strides: extents, sizes: Vec::new() })
    }
}

/// A tensor in global memory whose tensor map the launch encodes.
struct MappedTensor {
    /// The properties of the tensor that are known at compile time: sizes, strides and alignment.
    global: GlobalTensor,
    /// Index of the kernel parameter that points to the tensor.
    base: u32,
    /// For each axis of the tensor, the formula by which the launch computes its stride, in elements.
    strides: Vec<LaunchTimeElementCount>,
    /// For each axis of the tensor, the formula by which the launch computes its size; empty if the strides determine
    /// the sizes.
    sizes: Vec<LaunchTimeElementCount>,
}

/// Returns the shared memory that a bulk tensor copy fills or reads; `None` for other operations.
fn shared_end(body: &FunctionBody, op: Op) -> Option<tile::Value> {
    match body.op(op).name() {
        tw::BULK_TENSOR_LOAD => body.operand(op, "dst"),
        tw::BULK_TENSOR_STORE => body.operand(op, "src"),
        _ => None,
    }
}

/// Whether a program has bulk tensor copies that read shared memory.
pub(super) fn has_stores(body: &FunctionBody) -> bool {
    body.walk_region(body.root()).into_iter().any(|op| body.op(op).name() == tw::BULK_TENSOR_STORE)
}

/// A bulk tensor copy with its lowered operands.
struct LoweredCopy {
    plan: TensorCopy,
    map: Value,
    /// Coordinates of the first element of the tile, along the axes of the tensor map.
    origin: Vec<Value>,
    /// The shared memory, as a value of the program and as an address.
    memory: tile::Value,
    buffer: Value,
}

fn lower_operands(lowering: &Lowering<'_>, op: Op) -> Lowered<LoweredCopy> {
    let Some((plan, number)) = lowering.tensor_copies.get(&op).cloned() else {
        return Err(LowerErrorReason::unsupported("a bulk tensor copy without a plan"));
    };
    let indices: Vec<Value> =
        lowering.body.operands(op, "indices").iter().map(|&index| lowering.scalar(index)).collect::<Lowered<_>>()?;
    let along = plan.axes.iter().map(|axis| axis.as_tensor_axis().and_then(|axis| indices.get(axis).copied()));
    let origin: Option<Vec<Value>> = along.collect();
    let origin = origin.ok_or_else(|| LowerErrorReason::malformed("an index is missing"))?;
    let memory = shared_end(lowering.body, op);
    let memory = memory.ok_or_else(|| LowerErrorReason::malformed("an operand is missing"))?;
    let buffer = placed_at(lowering, memory)?;
    Ok(LoweredCopy { plan, map: lowering.builder.parameter(number), origin, memory, buffer })
}

/// Lowers `tw.bulk_tensor_load`: the first warp of the group issues the copy.
pub(super) fn load(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let LoweredCopy { plan, map, origin, memory, buffer } = lower_operands(lowering, op)?;
    let mbarrier = lowering.body.operand(op, "mbarrier");
    let mbarrier = mbarrier.ok_or_else(|| LowerErrorReason::malformed("an operand is missing"))?;
    let mbarrier = placed_at(lowering, mbarrier)?;
    let active = lowering.optional(op, "pred").map(|active| lowering.scalar(active)).transpose()?;
    let slice = slice(lowering, memory)?;
    lowering.record_access(Access::Copy, vec![slice]);
    by_first(&mut lowering.builder, active, |builder| {
        plan.emit_without_completion(builder, buffer, TensorCopyGlobalTile { map, origin: &origin }, mbarrier);
    });
    Ok(())
}

/// Lowers `tw.bulk_tensor_store`: the first warp of the group issues the copy. The wait for its reads is inserted where
/// the shared memory is written again ([`Access::BulkRead`]).
pub(super) fn store(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let LoweredCopy { plan, map, origin, memory, buffer } = lower_operands(lowering, op)?;
    if plan.completion_queue().is_none() {
        return Err(LowerErrorReason::malformed("a copy to global memory without a bulk group"));
    }
    let slice = slice(lowering, memory)?;
    lowering.record_access(Access::BulkRead, vec![slice]);
    by_first(&mut lowering.builder, None, |builder| {
        plan.emit(builder, buffer, TensorCopyGlobalTile { map, origin: &origin }, buffer);
    });
    Ok(())
}
