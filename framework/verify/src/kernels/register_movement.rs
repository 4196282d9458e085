//! Kernels around one movement between registers (a reduction, a scan or a gather), lowered like tile programs. The
//! kernel of a conversion is [`tilewright_lower::build_conversion_kernel`], which is public API.

use tilewright_kernel::{Element, Kernel};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_lower::{
    LowerError, LowerErrorReason, RegisterTensorParameter, build_and_lower_tensor_function, reduced_layout,
};
use tilewright_plan::movement::{GatherPlan, PlanContext, ReductionPlan, ScanDirection, ScanPlan};
use tilewright_tile::op::name::{arith, tt};
use tilewright_tile::{BuildError, FloatType, FunctionBuilder, TileType, Value};

/// A function that emits the combination of two tuples of scalars, the earlier one first.
pub type EmitScalarCombine = fn(&mut FunctionBuilder<'_>, &[Value], &[Value]) -> Result<Vec<Value>, BuildError>;

/// Returns a function that emits the addition of two tuples of scalars, element by element. The scalars are integers
/// that hold the bits of elements; the addition is the element type's, so floats are added as floats.
pub fn tuple_add_emitter(
    elements: &[Element],
) -> impl Fn(&mut FunctionBuilder<'_>, &[Value], &[Value]) -> Result<Vec<Value>, BuildError> + '_ {
    move |builder, earlier, later| {
        let pairs = earlier.iter().zip(later).zip(elements);
        pairs.map(|((&a, &b), &element)| sum(builder, [a, b], element)).collect()
    }
}

fn sum(builder: &mut FunctionBuilder<'_>, [a, b]: [Value; 2], element: Element) -> Result<Value, BuildError> {
    let Some(float) = FloatType::from_name(element.name()).filter(|_| element.is_float()) else {
        return builder.build_op(arith::ADDI).operand(a).operand(b).value();
    };
    let bits = builder.ty(a).clone();
    let mut as_float = |value| builder.build_op(arith::BITCAST).operand(value).result(TileType::Float(float)).value();
    let (a, b) = (as_float(a)?, as_float(b)?);
    let sum = builder.build_op(arith::ADDF).operand(a).operand(b).value()?;
    builder.build_op(arith::BITCAST).operand(sum).result(bits).value()
}

/// Emits the addition of two tuples, element by element.
///
/// # Errors
/// [`BuildError`] if the values are not integers of one type.
pub fn emit_tuple_add(
    builder: &mut FunctionBuilder<'_>,
    earlier: &[Value],
    later: &[Value],
) -> Result<Vec<Value>, BuildError> {
    earlier.iter().zip(later).map(|(&a, &b)| builder.build_op(arith::ADDI).operand(a).operand(b).value()).collect()
}

/// Builds a kernel that reads tensors into the layout `src`, reduces them together along an axis by the function `by`,
/// and writes the registers of the results.
///
/// The parameters are pointers to global memory: one for each tensor of the tuple, then one for the registers of each
/// result, as in [`tilewright_lower::lower_function`].
///
/// # Errors
/// [`LowerError`] if the plan is not for these tensors, or if no element has one of these widths.
pub fn build_reduction_kernel(
    (src, axis): (&LinearLayout, Dim),
    element_bits: &[u32],
    reduction: &ReductionPlan,
    by: impl Fn(&mut FunctionBuilder<'_>, &[Value], &[Value]) -> Result<Vec<Value>, BuildError>,
    context: PlanContext<'_>,
) -> Result<Kernel, LowerError> {
    // The program adds a further axis, because a scalar result would not be a tensor, and only registers of tensors are
    // written.
    let rank = src.outs().len();
    let extended =
        |layout| with_unit_axis(layout, rank).map_err(|reason| LowerError::for_function("reduce", None, reason));
    let (src, mut reduction) = (extended(src)?, reduction.clone());
    reduction.result = extended(&reduction.result)?;
    let tensors = tuple(&src, element_bits);
    build_and_lower_tensor_function("reduce", &tensors, context, |builder, values, plans| {
        let kept = reduced_layout(&reduction.result, axis)?;
        let mut op = builder.build_op(tt::REDUCE).operands("srcs", values).attribute("axis", axis_attribute(axis));
        for tensor in &tensors {
            op = op.result(RegisterTensorParameter { layout: &kept, ..*tensor }.ty()?);
        }
        let op = op.region(scalars(element_bits), combine(by, tt::REDUCE_RETURN)).build()?;
        plans.reductions.insert(op, reduction);
        Ok(builder.body().op(op).results.to_vec())
    })
}

/// Builds a kernel that reads tensors into the layout `src`, scans them together along an axis, and writes the
/// registers; its parameters are those of [`build_reduction_kernel`].
///
/// # Errors
/// [`LowerError`] if the plan is not for these tensors, or if no element has one of these widths.
pub fn build_scan_kernel(
    (src, axis): (&LinearLayout, Dim),
    element_bits: &[u32],
    (scan, direction): (&ScanPlan, ScanDirection),
    by: impl Fn(&mut FunctionBuilder<'_>, &[Value], &[Value]) -> Result<Vec<Value>, BuildError>,
    context: PlanContext<'_>,
) -> Result<Kernel, LowerError> {
    let tensors = tuple(src, element_bits);
    build_and_lower_tensor_function("scan", &tensors, context, |builder, values, plans| {
        let types: Vec<TileType> = values.iter().map(|&value| builder.ty(value).clone()).collect();
        let mut op = builder.build_op(tt::SCAN).operands("srcs", values).attribute("axis", axis_attribute(axis));
        op = op.attribute("reverse", direction == ScanDirection::Reverse);
        for ty in types {
            op = op.result(ty);
        }
        let op = op.region(scalars(element_bits), combine(by, tt::SCAN_RETURN)).build()?;
        plans.scans.insert(op, scan.clone());
        Ok(builder.body().op(op).results.to_vec())
    })
}

/// Builds a kernel that reads a tensor into the layout `src` and `i32` indices into the layout `indices`, gathers along
/// an axis, and writes the registers.
///
/// The parameters are pointers to global memory: the tensor, the indices, the registers of the result, as in
/// [`tilewright_lower::lower_function`].
///
/// # Errors
/// [`LowerError`] if the plan is not for these tensors, or if no element has this width.
pub fn build_gather_kernel(
    ([src, indices], axis): ([&LinearLayout; 2], Dim),
    element_bits: u32,
    gather: &GatherPlan,
    context: PlanContext<'_>,
) -> Result<Kernel, LowerError> {
    let tensor = RegisterTensorParameter { name: "tensor", layout: src, element_bits };
    let indices = RegisterTensorParameter { name: "indices", layout: indices, element_bits: 32 };
    build_and_lower_tensor_function("gather", &[tensor, indices], context, |builder, values, plans| {
        let op = builder.build_op(tt::GATHER).operand(values[0]).operand(values[1]);
        let op = op.attribute("axis", axis_attribute(axis));
        let op = op.result(RegisterTensorParameter { element_bits, ..indices }.ty()?).build()?;
        plans.gathers.insert(op, gather.clone());
        Ok(builder.body().op(op).results.to_vec())
    })
}

/// Appends an axis of one element to the layout of a tensor with `rank` axes; no position moves along it.
fn with_unit_axis(layout: &LinearLayout, rank: usize) -> Result<LinearLayout, LowerErrorReason> {
    Ok(layout.direct_sum(&LinearLayout::identity(1, Dim::REGISTER, Dim::tensor(rank))?)?)
}

/// Returns the tensors of a tuple, one of layout `layout` for each element width.
fn tuple<'a>(layout: &'a LinearLayout, element_bits: &[u32]) -> Vec<RegisterTensorParameter<'a>> {
    element_bits.iter().map(|&element_bits| RegisterTensorParameter { name: "tensor", layout, element_bits }).collect()
}

/// Returns the scalar integer types of the elements of two equal tuples, one after the other; the tuples have elements
/// of these widths.
fn scalars(element_bits: &[u32]) -> Vec<TileType> {
    [element_bits, element_bits].concat().into_iter().map(TileType::integer).collect()
}

/// Returns a function that fills the region of a reduction or scan by `by`, with the terminator `end`.
fn combine(
    by: impl Fn(&mut FunctionBuilder<'_>, &[Value], &[Value]) -> Result<Vec<Value>, BuildError>,
    end: &'static str,
) -> impl FnOnce(&mut FunctionBuilder<'_>, &[Value]) -> Result<(), BuildError> {
    move |builder, arguments| {
        let (earlier, later) = arguments.split_at(arguments.len() / 2);
        let combined = by(builder, earlier, later)?;
        combined.into_iter().fold(builder.build_op(end), |op, value| op.operand(value)).build().map(drop)
    }
}

fn axis_attribute(axis: Dim) -> i32 {
    axis.as_tensor_axis().unwrap_or_default() as i32
}
