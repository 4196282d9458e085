//! Kernels around one movement between registers, a reduction, a scan or a gather, through the lowering of tile programs. That of a
//! conversion is [`tilewright_lower::conversion_kernel`], which hosts ask for too.

use tilewright_kernel::Kernel;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_lower::{LowerError, Reason, RegisterTensor, tensor_kernel, without_axis};
use tilewright_plan::movement::{Gather, PlanContext, Reduction, Scan, ScanDirection};
use tilewright_tile::op::name::{arith, tt};
use tilewright_tile::{BuildError, FunctionBuilder, TileType, Value};

/// Combines two tuples of scalars, the earlier one first.
pub type CombineScalars = fn(&mut FunctionBuilder<'_>, &[Value], &[Value]) -> Result<Vec<Value>, BuildError>;

/// Adds two tuples, element by element.
///
/// # Errors
/// [`BuildError`]: the values are no integers of one type.
pub fn add(builder: &mut FunctionBuilder<'_>, earlier: &[Value], later: &[Value]) -> Result<Vec<Value>, BuildError> {
    earlier.iter().zip(later).map(|(&a, &b)| builder.op(arith::ADDI).operand(a).operand(b).value()).collect()
}

/// A kernel that reads tensors into the layout `src`, reduces them together along an axis by adding (integers, modulo
/// their width), and writes the registers of the results out.
///
/// The parameters are pointers to global memory: one for each tensor of the tuple, then one for the registers of each
/// result, as [`tilewright_lower::program_kernel`] has them.
///
/// # Errors
/// [`LowerError`]: the plan is not for these tensors, or no element has one of these widths.
pub fn reduction_kernel(
    (src, axis): (&LinearLayout, Dim),
    element_bits: &[u32],
    reduction: &Reduction,
    context: PlanContext<'_>,
) -> Result<Kernel, LowerError> {
    // With one more axis the result is a tensor, whose every register is written, where it would be a scalar.
    let rank = src.outs().len();
    let extended =
        |layout| with_unit_axis(layout, rank).map_err(|reason| LowerError::of_function("reduce", None, reason));
    let (src, mut reduction) = (extended(src)?, reduction.clone());
    reduction.result = extended(&reduction.result)?;
    let tensors = tuple(&src, element_bits);
    tensor_kernel("reduce", &tensors, context, |builder, values, plans| {
        let kept = without_axis(&reduction.result, axis)?;
        let mut op = builder.op(tt::REDUCE).operands("srcs", values).attribute("axis", number(axis));
        for tensor in &tensors {
            op = op.result(RegisterTensor { layout: &kept, ..*tensor }.ty()?);
        }
        let op = op.region(scalars(element_bits), combine(add, tt::REDUCE_RETURN)).done()?;
        plans.reductions.insert(op, reduction);
        Ok(builder.body().op(op).results.to_vec())
    })
}

/// A kernel that reads tensors into the layout `src`, scans them together along an axis, and writes the registers out; its
/// parameters are those of [`reduction_kernel`].
///
/// # Errors
/// As [`reduction_kernel`].
pub fn scan_kernel(
    (src, axis): (&LinearLayout, Dim),
    element_bits: &[u32],
    (scan, direction): (&Scan, ScanDirection),
    by: CombineScalars,
    context: PlanContext<'_>,
) -> Result<Kernel, LowerError> {
    let tensors = tuple(src, element_bits);
    tensor_kernel("scan", &tensors, context, |builder, values, plans| {
        let types: Vec<TileType> = values.iter().map(|&value| builder.ty(value).clone()).collect();
        let mut op = builder.op(tt::SCAN).operands("srcs", values).attribute("axis", number(axis));
        op = op.attribute("reverse", direction == ScanDirection::Down);
        for ty in types {
            op = op.result(ty);
        }
        let op = op.region(scalars(element_bits), combine(by, tt::SCAN_RETURN)).done()?;
        plans.scans.insert(op, scan.clone());
        Ok(builder.body().op(op).results.to_vec())
    })
}

/// A kernel that reads a tensor into the layout `src` and `i32` indices into the layout `indices`, gathers along an axis, and
/// writes the registers out.
///
/// The parameters are pointers to global memory: the tensor, the indices, the registers of the result, as
/// [`tilewright_lower::program_kernel`] has them.
///
/// # Errors
/// As [`reduction_kernel`].
pub fn gather_kernel(
    ([src, indices], axis): ([&LinearLayout; 2], Dim),
    element_bits: u32,
    gather: &Gather,
    context: PlanContext<'_>,
) -> Result<Kernel, LowerError> {
    let tensor = RegisterTensor { name: "tensor", layout: src, element_bits };
    let indices = RegisterTensor { name: "indices", layout: indices, element_bits: 32 };
    tensor_kernel("gather", &[tensor, indices], context, |builder, values, plans| {
        let op = builder.op(tt::GATHER).operand(values[0]).operand(values[1]);
        let op = op.attribute("axis", number(axis));
        let op = op.result(RegisterTensor { element_bits, ..indices }.ty()?).done()?;
        plans.gathers.insert(op, gather.clone());
        Ok(builder.body().op(op).results.to_vec())
    })
}

/// The layout of the same tensor with one more axis, of one element, behind those of a tensor of this rank.
fn with_unit_axis(layout: &LinearLayout, rank: usize) -> Result<LinearLayout, Reason> {
    Ok(layout.direct_sum(&LinearLayout::identity(1, Dim::REGISTER, Dim::tensor(rank))?)?)
}

/// Tensors of one layout.
fn tuple<'a>(layout: &'a LinearLayout, element_bits: &[u32]) -> Vec<RegisterTensor<'a>> {
    element_bits.iter().map(|&element_bits| RegisterTensor { name: "tensor", layout, element_bits }).collect()
}

/// The types of two tuples of scalars.
fn scalars(element_bits: &[u32]) -> Vec<TileType> {
    [element_bits, element_bits].concat().into_iter().map(TileType::integer).collect()
}

/// Fills the region of a reduction or of a scan.
fn combine(
    by: CombineScalars,
    end: &'static str,
) -> impl FnOnce(&mut FunctionBuilder<'_>, &[Value]) -> Result<(), BuildError> {
    move |builder, arguments| {
        let (earlier, later) = arguments.split_at(arguments.len() / 2);
        let combined = by(builder, earlier, later)?;
        combined.into_iter().fold(builder.op(end), |op, value| op.operand(value)).done().map(drop)
    }
}

fn number(axis: Dim) -> i32 {
    axis.tensor_axis().unwrap_or_default() as i32
}
