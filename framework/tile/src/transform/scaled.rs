//! Lowers scaled dots that no MMA instruction supports: multiplies the operands by their scales first.
//!
//! Instructions apply scales to elements of at most eight bits, packed into bytes along K. An operand of 16 bits with
//! scales, or of four bits packed across K, is converted to 16 bits before the dot: to `f16` if one of the operands is,
//! else to `bf16`, as in Triton 3.9.0 (`DecomposeScaledBlocked`). Scales and products are rounded to that type.

use crate::import::plain;
use crate::op::Dialects;
use crate::op::name::{arith, tt, ttg};
use crate::{
    Attribute, Attributes, BuildError, FloatType, FunctionBody, Op, TileModule, TileType, TileViolation, Value,
};

use super::{IrCloner, Rewrite, Rewritten, rewrite_functions_with};

const SCALED_DOT: &str = tt::DOT_SCALED;

/// One operand of a scaled dot: the names of its operand group, of the group of its scales, and of its attributes.
struct Side {
    operand: &'static str,
    scale: &'static str,
    kind: &'static str,
    pack: &'static str,
    /// The position of the operand's K axis, counted from the end: 1 is the last axis.
    k_from_last: usize,
}

const SIDES: [Side; 2] = [
    Side { operand: "a", scale: "a_scale", kind: "a_elem_type", pack: "lhs_k_pack", k_from_last: 1 },
    Side { operand: "b", scale: "b_scale", kind: "b_elem_type", pack: "rhs_k_pack", k_from_last: 2 },
];

impl Side {
    fn kind<'b>(&self, body: &'b FunctionBody, op: Op) -> &'b str {
        body.op(op).attributes.get(self.kind).and_then(Attribute::as_text).unwrap_or_default()
    }

    /// Whether a byte of the operand packs two four-bit elements along M or N, and not along K.
    fn is_across(&self, body: &FunctionBody, op: Op) -> bool {
        self.kind(body, op) == "e2m1" && body.op(op).attributes.get(self.pack) == Some(&Attribute::Bool(false))
    }

    fn needs_it(&self, body: &FunctionBody, op: Op) -> bool {
        let is_wide = matches!(self.kind(body, op), "fp16" | "bf16");
        self.is_across(body, op) || is_wide && body.operand(op, self.scale).is_some()
    }
}

/// Replaces scaled dots that no MMA instruction supports by plain dots, whose operands are multiplied by their scales.
///
/// # Errors
/// A [`TileViolation`] at a dot that violates a rule.
pub fn decompose_scaled_dots(module: &TileModule, dialects: &Dialects) -> Result<TileModule, TileViolation> {
    rewrite_functions_with(module, dialects, is_meant, &mut ScaledBefore { module: &module.attributes })
}

fn is_meant(body: &FunctionBody, op: Op) -> bool {
    body.op(op).name() == SCALED_DOT && SIDES.iter().any(|side| side.needs_it(body, op))
}

struct ScaledBefore<'m> {
    module: &'m Attributes,
}

impl Rewrite for ScaledBefore<'_> {
    fn rewrite(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        if !is_meant(cloner.from, op) {
            return Ok(false);
        }
        let around = plain::around(self.module, cloner.from, op);
        decompose_scaled_dot(op, cloner, &around)?;
        Ok(true)
    }
}

fn decompose_scaled_dot(op: Op, cloner: &mut IrCloner<'_, '_, '_>, around: &Attributes) -> Result<(), BuildError> {
    let from = cloner.from;
    let is_half = SIDES.iter().any(|side| side.kind(from, op) == "fp16");
    let element = TileType::Float(if is_half { FloatType::F16 } else { FloatType::Bf16 });
    let mut maker = Maker { cloner, around, element };
    let mut operands = Vec::new();
    for side in &SIDES {
        let Some(operand) = from.operand(op, side.operand) else { return Ok(()) };
        let operand = maker.cloner.clone_of(operand);
        let unscaled = maker.widened(operand, side, op)?;
        operands.push(match from.operand(op, side.scale) {
            Some(scale) => {
                let scale = maker.cloner.clone_of(scale);
                maker.scaled(unscaled, scale, side)?
            }
            None => unscaled,
        });
    }
    let Some(accumulator) = from.operand(op, "c") else { return Ok(()) };
    let accumulator = maker.cloner.clone_of(accumulator);
    let ty = maker.cloner.to.ty(accumulator).clone();
    let dot = maker.cloner.to.build_op(tt::DOT).operand(operands[0]).operand(operands[1]).operand(accumulator);
    let dot = dot.result(ty).value()?;
    if let Some(&result) = from.op(op).results.first() {
        cloner.bind(result, dot);
    }
    Ok(())
}

/// Emits the operations that replace one scaled dot.
struct Maker<'m, 'c, 'a, 'b, 'd> {
    cloner: &'c mut IrCloner<'a, 'b, 'd>,
    /// The module attributes, with the numbers of warps and lanes at the dot.
    around: &'m Attributes,
    /// The element type of both operands of the new dot.
    element: TileType,
}

impl Maker<'_, '_, '_, '_, '_> {
    fn ty(&self, value: Value) -> TileType {
        self.cloner.to.ty(value).clone()
    }

    /// The type of a tensor of this shape, in the default layout if the module states the numbers of warps and lanes.
    fn plain(&self, shape: &[u64], element: TileType) -> TileType {
        plain::of_shape(shape, &element, self.around)
    }

    /// Emits the conversion of an operand to the element type of the new dot; four-bit elements are unpacked.
    fn widened(&mut self, value: Value, side: &Side, op: Op) -> Result<Value, BuildError> {
        let (ty, kind) = (self.ty(value), side.kind(self.cloner.from, op).to_owned());
        if kind == "e2m1" {
            let mut shape = ty.shape().unwrap_or_default().to_vec();
            let across = side.is_across(self.cloner.from, op);
            let axis = shape.len().saturating_sub(if across { 3 - side.k_from_last } else { side.k_from_last });
            if let Some(size) = shape.get_mut(axis) {
                *size *= 2;
            }
            let wide = self.plain(&shape, self.element.clone());
            let new_op = self.cloner.to.build_op(ttg::FP4_TO_FP).operand(value).attribute("axis", axis as i32);
            return new_op.result(wide).value();
        }
        let name = match kind.as_str() {
            "fp16" => "f16",
            "e4m3" => "f8E4M3FN",
            "e5m2" => "f8E5M2",
            other => other,
        };
        let Some(float) = FloatType::from_name(name) else { return Ok(value) };
        self.as_float(value, float)
    }

    /// Emits the conversion of numbers of type `float`, or of integers with their bits, to the element type of the new
    /// dot.
    fn as_float(&mut self, value: Value, float: FloatType) -> Result<Value, BuildError> {
        let ty = self.ty(value);
        let numbers = match ty.element() {
            TileType::Integer(..) => {
                self.cloner.to.unary(tt::BITCAST, value, ty.with_element(TileType::Float(float)))?
            }
            _ => value,
        };
        if *self.ty(numbers).element() == self.element {
            return Ok(numbers);
        }
        let new_op = self.cloner.to.build_op(tt::FP_TO_FP).operand(numbers);
        let new_op = new_op.attribute("rounding", Attribute::Keyword("rtne".into()));
        new_op.result(ty.with_element(self.element.clone())).value()
    }

    /// Emits the product of an operand and its scales; each scale applies to several adjacent elements along K.
    fn scaled(&mut self, operand: Value, scale: Value, side: &Side) -> Result<Value, BuildError> {
        let numbers = self.as_float(scale, FloatType::F8E8M0Fnu)?;
        let ty = self.ty(operand);
        let shape = ty.shape().unwrap_or_default().to_vec();
        let k = shape.len().checked_sub(side.k_from_last).map_or(1, |axis| shape[axis]);
        let lines = self.ty(numbers).shape().unwrap_or_default().to_vec();
        let blocks = lines.last().copied().unwrap_or(1).max(1);
        let mut each = self.stretched(numbers, lines, k / blocks)?;
        if side.k_from_last == 2 {
            each = self.transposed(each, &shape)?;
        }
        if self.ty(each) != ty {
            each = self.cloner.to.unary(ttg::CONVERT_LAYOUT, each, ty.clone())?;
        }
        self.cloner.to.binary(arith::MULF, operand, each)
    }

    /// Emits a tensor that repeats each number `times` times along the last axis; `shape` is the shape of `numbers`.
    fn stretched(&mut self, numbers: Value, mut shape: Vec<u64>, times: u64) -> Result<Value, BuildError> {
        let axis = shape.len();
        let element = self.element.clone();
        let mut full = shape.clone();
        if let Some(last) = full.last_mut() {
            *last *= times;
        }
        shape.push(1);
        let one = self.plain(&shape, element.clone());
        let one = self.cloner.to.build_op(tt::EXPAND_DIMS).operand(numbers).attribute("axis", axis as i32).result(one);
        let one = one.value()?;
        shape[axis] = times;
        let many = self.ty(one).layout().cloned();
        let many = self.cloner.to.unary(tt::BROADCAST, one, TileType::tensor(shape, element.clone(), many))?;
        let full = self.plain(&full, element);
        self.cloner.to.unary(tt::RESHAPE, many, full)
    }

    /// Emits the transposition of scales whose last axis is K, so that they have the shape of operand B.
    fn transposed(&mut self, lines: Value, shape: &[u64]) -> Result<Value, BuildError> {
        let mut order: Vec<u64> = (0..shape.len() as u64).collect();
        let last = order.len();
        if last >= 2 {
            order.swap(last - 2, last - 1);
        }
        let ty = self.plain(shape, self.element.clone());
        let order = Attribute::Array(TileType::integer(32), order);
        self.cloner.to.build_op(tt::TRANS).operand(lines).attribute("order", order).result(ty).value()
    }
}
