//! Tensor descriptors that a launch can turn into tensor maps: their fields are arguments of the function or constants.

use tilewright_tile::op::name::{arith, tt};
use tilewright_tile::{Attribute, FunctionBody, TileType, Value, ValueOrigin};

/// A kernel parameter that belongs to a function argument. A tensor descriptor has several parameters: its pointer, the
/// size along each axis, then the stride along each axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArgumentParameter {
    /// The argument of the function.
    pub argument: Value,
    /// Index of the parameter among those of the argument, from 0.
    pub field: u32,
}

/// A number that is known when the kernel is launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchTimeScalar {
    /// A constant.
    Constant(u64),
    /// The value of a kernel parameter that holds an integer.
    Argument(ArgumentParameter),
}

/// A tensor in global memory whose base, sizes and strides are known at launch, so that the host can encode its tensor
/// map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchTimeTensor {
    /// The pointer to the first element.
    pub base: ArgumentParameter,
    /// The size along each axis.
    pub sizes: Vec<LaunchTimeScalar>,
    /// The stride along each axis, in elements.
    pub strides: Vec<LaunchTimeScalar>,
}

/// Returns the tensor that a tensor descriptor describes, in terms of kernel parameters; `None` if a launch cannot
/// describe it. That includes descriptors that pad with NaN, because tensor maps can pad with NaN only for some element
/// types.
#[must_use]
pub fn find_descriptor_tensor(body: &FunctionBody, descriptor: Value) -> Option<LaunchTimeTensor> {
    let TileType::Descriptor(ty) = body.value_type(descriptor) else { return None };
    let rank = ty.shape.len();
    let op = match body.value_origin(descriptor) {
        ValueOrigin::Result(op, _) if body.op(op).name() == tt::MAKE_TENSOR_DESCRIPTOR => op,
        ValueOrigin::Result(..) => return None,
        ValueOrigin::Argument(..) => {
            let base = argument(body, descriptor)?;
            let field = |index: usize| {
                LaunchTimeScalar::Argument(ArgumentParameter {
                    argument: descriptor,
                    field: u32::try_from(index).unwrap_or(0),
                })
            };
            let strides = (0..rank).map(|axis| match axis + 1 == rank {
                true => LaunchTimeScalar::Constant(1),
                false => field(1 + rank + axis),
            });
            return Some(LaunchTimeTensor { base, sizes: (1..=rank).map(field).collect(), strides: strides.collect() });
        }
    };
    let pads_with_nan = body.op(op).attributes.get("padding").and_then(Attribute::as_text) == Some("nan");
    let numbers = |group| body.operands(op, group).iter().map(|&value| number(body, value)).collect::<Option<Vec<_>>>();
    let tensor = LaunchTimeTensor {
        base: argument(body, body.operand(op, "base")?)?,
        sizes: numbers("shape")?,
        strides: numbers("strides")?,
    };
    let is_packed = tensor.strides.last() == Some(&LaunchTimeScalar::Constant(1));
    (is_packed && !pads_with_nan && tensor.sizes.len() == rank && tensor.strides.len() == rank).then_some(tensor)
}

/// Returns a scalar as a number that a launch knows: a constant, or an argument, perhaps extended to more bits. `None`
/// for other values.
fn number(body: &FunctionBody, value: Value) -> Option<LaunchTimeScalar> {
    if let Some(constant) = body.constant_integer(value) {
        return u64::try_from(constant).ok().map(LaunchTimeScalar::Constant);
    }
    match body.value_origin(value) {
        ValueOrigin::Result(op, _) if matches!(body.op(op).name(), arith::EXTSI | arith::EXTUI) => {
            number(body, *body.op(op).operands.first()?)
        }
        ValueOrigin::Result(..) => None,
        ValueOrigin::Argument(..) => argument(body, value).map(LaunchTimeScalar::Argument),
    }
}

/// Returns the first kernel parameter of a function argument: its value, or the pointer of a tensor descriptor. `None`
/// for other values.
fn argument(body: &FunctionBody, value: Value) -> Option<ArgumentParameter> {
    let entry = *body.blocks(body.root()).first()?;
    body.arguments(entry).contains(&value).then_some(ArgumentParameter { argument: value, field: 0 })
}
