//! Replaces loads and stores through tensor descriptors by loads and stores through tensors of pointers, for targets
//! without bulk tensor copies (TMA).
//!
//! Later passes then treat them as any other access: loops prefetch such loads by asynchronous copies. A descriptor's
//! base and rows are aligned to 16 bytes, which the pointers' `tt.divisibility` states. Source: Triton 3.9.0,
//! `RewriteTensorDescriptorToPointer`.

use crate::op::Dialects;
use crate::op::name::{arith, tt};
use crate::{Attribute, BuildError, FunctionBody, FunctionBuilder, Op, TileModule, TileType, TileViolation, Value};
use crate::{TensorDescriptorType, ValueOrigin};

use super::{IrCloner, Rewrite, Rewritten, rewrite_functions_with};

/// Alignment of a descriptor's base and rows, in bytes.
const ROW_ALIGNMENT: u64 = 16;

/// Replaces the loads and stores through descriptors that the function itself makes (`tt.make_tensor_descriptor`), if
/// their tensors have no layouts yet.
///
/// # Errors
/// A [`TileViolation`] if the dialects lack one of the operations.
pub fn replace_descriptor_accesses(module: &TileModule, dialects: &Dialects) -> Result<TileModule, TileViolation> {
    rewrite_functions_with(module, dialects, |body, op| find_access(body, op).is_some(), &mut DescriptorAccesses)
}

/// A load or store through a descriptor.
struct Access<'b> {
    /// The `tt.make_tensor_descriptor`.
    descriptor: Op,
    block: &'b TensorDescriptorType,
    /// The type of the tensor that is loaded or stored: a block, perhaps without its first axes, which have size one.
    tensor: &'b TileType,
    /// The tensor to store; `None` for a load.
    stored: Option<Value>,
}

/// Returns the access that `op` is; `None` if it stays as it is.
fn find_access(body: &FunctionBody, op: Op) -> Option<Access<'_>> {
    let operation = body.op(op);
    let stored = match operation.name() {
        tt::DESCRIPTOR_LOAD => None,
        tt::DESCRIPTOR_STORE => Some(body.operand(op, "src")?),
        _ => return None,
    };
    let value = body.operand(op, "desc")?;
    let TileType::Descriptor(block) = body.value_type(value) else { return None };
    let ValueOrigin::Result(descriptor, _) = body.value_origin(value) else { return None };
    let tensor = body.value_type(stored.or_else(|| operation.results.first().copied())?);
    let shape = tensor.shape()?;
    let (first, last) = block.shape.split_at_checked(block.shape.len().checked_sub(shape.len())?)?;
    let is_block = last == shape && first.iter().all(|&size| size == 1) && *tensor.element() == block.element;
    let is_local = body.op(descriptor).name() == tt::MAKE_TENSOR_DESCRIPTOR;
    (is_local && is_block && tensor.layout().is_none()).then_some(Access { descriptor, block, tensor, stored })
}

struct DescriptorAccesses;

impl Rewrite for DescriptorAccesses {
    fn rewrite(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let from = cloner.from;
        let Some(access) = find_access(from, op) else { return Ok(false) };
        let all = |cloner: &IrCloner<'_, '_, '_>, op, group| cloner.all(from.operands(op, group));
        let [base, sizes, strides] = ["base", "shape", "strides"].map(|group| all(cloner, access.descriptor, group));
        let indices = all(cloner, op, "indices");
        let Some(&base) = base.first() else { return Ok(false) };
        let axes = sizes.iter().zip(&strides).zip(&indices).zip(&access.block.shape);
        let axes: Vec<Axis> =
            axes.map(|(((&size, &stride), &first), &count)| Axis { size, stride, first, count }).collect();
        let shape = access.tensor.shape().unwrap_or_default();
        let (pointers, mask) = append_pointers(cloner.to, base, &axes, shape)?;
        let kept = ["cachePolicy", "cache", "evict"];
        let kept = kept.iter().filter_map(|name| Some((*name, from.op(op).attributes.get(name)?.clone())));
        match access.stored {
            Some(stored) => {
                let stored = cloner.clone_of(stored);
                let store = cloner.to.build_op(tt::STORE).operand(pointers).operand(stored);
                store.operand(mask).attributes(kept).build()?;
            }
            None => {
                let pads_with_nan = from.op(access.descriptor).attributes.get("padding").and_then(Attribute::as_text);
                let padding = append_padding(cloner.to, access.tensor, pads_with_nan == Some("nan"))?;
                let load = cloner.to.build_op(tt::LOAD).operand(pointers).operand(mask).operand(padding);
                let loaded = load.attributes(kept).result(access.tensor.clone()).value()?;
                cloner.bind_all(&from.op(op).results, &[loaded]);
            }
        }
        Ok(true)
    }
}

/// One axis of a block of the descriptor's tensor.
struct Axis {
    /// Number of elements of the tensor, an `i32`.
    size: Value,
    /// Distance of neighbouring elements, an `i64`.
    stride: Value,
    /// Index at which the block begins, an `i32`.
    first: Value,
    /// Number of elements of the block.
    count: u64,
}

/// Appends the pointers to the elements of a block, of this shape, and the mask of those within the tensor.
fn append_pointers(
    to: &mut FunctionBuilder<'_>,
    base: Value,
    axes: &[Axis],
    shape: &[u64],
) -> Result<(Value, Value), BuildError> {
    let bytes = to.ty(base).pointee_type().and_then(|ty| ty.element_bits()).map_or(1, |bits| (bits / 8).max(1));
    let aligned = (ROW_ALIGNMENT / u64::from(bytes)).max(1);
    let (mut offsets, mut mask) = (None, None);
    let dropped = axes.len() - shape.len();
    for (number, axis) in axes.iter().enumerate() {
        // The axes that the tensor lacks have one element, whose index is the same for the whole tensor.
        let along = number.checked_sub(dropped);
        let sizes = [axis.count];
        let mut index = to.splat(axis.first, &sizes)?;
        if axis.count > 1 {
            let range = to.range(axis.count)?;
            index = to.binary(arith::ADDI, index, range)?;
        }
        let size = to.splat(axis.size, &sizes)?;
        // The unsigned comparison is false for negative indices too.
        let is_inside = to.compare("ult", index, size)?;
        let wide = to.ty(index).with_element(TileType::integer(64));
        let mut offset = to.unary(arith::EXTSI, index, wide)?;
        if to.body().constant_integer(axis.stride) != Some(1) {
            let stride = append_aligned_splat(to, axis.stride, &sizes, aligned)?;
            offset = to.binary(arith::MULI, offset, stride)?;
        }
        let offset = append_spread(to, offset, along, shape)?;
        offsets = Some(to.combine(arith::ADDI, offsets, offset)?);
        let is_inside = append_spread(to, is_inside, along, shape)?;
        mask = Some(to.combine(arith::ANDI, mask, is_inside)?);
    }
    let pointers = append_aligned_splat(to, base, shape, ROW_ALIGNMENT)?;
    match (offsets, mask) {
        (Some(offsets), Some(mask)) => Ok((to.binary(tt::ADDPTR, pointers, offsets)?, mask)),
        _ => Ok((pointers, to.integer(1, &TileType::tensor(shape, TileType::BOOLEAN, None))?)),
    }
}

/// Appends a tensor of this shape that has the elements of a vector along an axis, or, without an axis, the only element
/// of the vector everywhere.
fn append_spread(
    to: &mut FunctionBuilder<'_>,
    vector: Value,
    along: Option<usize>,
    shape: &[u64],
) -> Result<Value, BuildError> {
    match along {
        Some(axis) => to.spread(vector, axis, shape),
        None => {
            let scalar = to.ty(vector).element().clone();
            let scalar = to.unary(tt::UNSPLAT, vector, scalar)?;
            to.splat(scalar, shape)
        }
    }
}

/// Appends a splat of a scalar that is a multiple of `divisor`.
fn append_aligned_splat(
    to: &mut FunctionBuilder<'_>,
    scalar: Value,
    shape: &[u64],
    divisor: u64,
) -> Result<Value, BuildError> {
    let ty = TileType::tensor(shape, to.ty(scalar).clone(), None);
    let divisor = i32::try_from(divisor).unwrap_or(1);
    to.build_op(tt::SPLAT).operand(scalar).attribute("tt.divisibility", divisor).result(ty).value()
}

/// Appends the values of the elements outside of the descriptor's tensor: zeros, or NaNs.
fn append_padding(to: &mut FunctionBuilder<'_>, ty: &TileType, pads_with_nan: bool) -> Result<Value, BuildError> {
    let nan = match ty.element() {
        TileType::Float(float) if pads_with_nan => float.encode_nan(),
        _ => None,
    };
    to.add_constant(Attribute::of_bits(nan.unwrap_or(0), ty.clone()))
}
