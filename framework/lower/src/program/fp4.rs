//! Lowers the conversion of packed fp4: `e2m1` numbers, two in each byte.

use std::sync::Arc;

use tilewright_kernel::{Binary, Cast, Element, Type, Value};
use tilewright_layout::Dim;
use tilewright_math::casts;
use tilewright_target::ElementType;
use tilewright_tile::{self as tile, Op};

use super::error::{LowerErrorReason, Lowered};
use super::lowering::Lowering;
use super::tensor_coordinates::map_coordinates;
use super::types::native;

/// Lowers `ttg.fp4_to_fp`: each byte holds two `e2m1` numbers that are adjacent along an axis, the first in the low
/// half.
pub(super) fn widened(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let axis = lowering.integer_attribute(op, "axis")? as usize;
    let operand = lowering.operand(op, 0)?;
    let shape = lowering.body.value_type(operand).shape().unwrap_or_default().to_vec();
    let layout = lowering.result_layout(op)?;
    let bytes = map_coordinates(&layout, &shape, |coordinates| {
        coordinates.iter().enumerate().map(|(index, &at)| if index == axis { at >> 1 } else { at }).collect()
    })?;
    let tensor = lowering.tensor(operand)?;
    let bytes = lowering.convert(&tensor, &Arc::new(bytes))?;
    let outs = layout.outs().clone();
    let shifts = lowering.numbers(&layout, |column| (outs.coordinate(column, Dim::tensor(axis)) & 1) << 2);
    let element = match lowering.body.value_type(lowering.result(op, 0)?).element() {
        tile::TileType::Float(float) => native(*float),
        _ => None,
    };
    let element = element.ok_or_else(|| LowerErrorReason::unsupported("fp4 has no casts to this type"))?;
    let Some(ElementType::Float(format)) = ElementType::from_name("e2m1") else {
        return Err(LowerErrorReason::unsupported("the element type `e2m1` is unknown"));
    };
    let values: Vec<Value> = bytes
        .iter()
        .zip(shifts)
        .map(|(&byte, shift)| {
            let builder = &mut lowering.builder;
            let word = builder.cast(Cast::ExtendU, byte, Type::Scalar(Element::I32));
            let half = builder.binary(Binary::ShrU, word, shift);
            let half = builder.binary_const(Binary::And, half, 0xf);
            let single = casts::emit_decode_to_f32(builder, half, format);
            match element.bits() {
                64 => builder.cast(Cast::ExtendF, single, Type::Scalar(element)),
                32 => single,
                _ => builder.cast(Cast::RoundF, single, Type::Scalar(element)),
            }
        })
        .collect();
    lowering.give_tensor(op, layout, values)
}
