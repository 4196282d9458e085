//! Scales of a product that no unit applies: the factors are multiplied by them first.
//!
//! Units scale elements of at most eight bits whose bytes hold neighbours along K. A factor of 16 bits that has scales, or one whose
//! elements of four bits share bytes across K, is a factor of 16 bits before the product: of `f16` where one of both is, else of
//! `bf16`, as Triton 3.9.0 has it (`DecomposeScaledBlocked`). A scale is rounded to that type, and so is each of its products.

use crate::import::plain;
use crate::op::Dialects;
use crate::op::name::{arith, tt, ttg};
use crate::{Attribute, Attributes, Body, BuildError, Float, Op, TileModule, TileType, TileViolation, Value};

use super::{Copier, Rewrite, Rewritten, each_function, rewritten};

const PRODUCT: &str = tt::DOT_SCALED;

/// Names of what belongs to a factor.
struct Side {
    factor: &'static str,
    scale: &'static str,
    kind: &'static str,
    pack: &'static str,
    /// Which axis K is, from the last one.
    k_from_last: usize,
}

const SIDES: [Side; 2] = [
    Side { factor: "a", scale: "a_scale", kind: "a_elem_type", pack: "lhs_k_pack", k_from_last: 1 },
    Side { factor: "b", scale: "b_scale", kind: "b_elem_type", pack: "rhs_k_pack", k_from_last: 2 },
];

impl Side {
    fn kind<'b>(&self, body: &'b Body, op: Op) -> &'b str {
        body.op(op).attributes.get(self.kind).and_then(Attribute::as_text).unwrap_or_default()
    }

    /// Whether two elements of four bits share a byte across K.
    fn is_across(&self, body: &Body, op: Op) -> bool {
        self.kind(body, op) == "e2m1" && body.op(op).attributes.get(self.pack) == Some(&Attribute::Bool(false))
    }

    fn needs_it(&self, body: &Body, op: Op) -> bool {
        let is_wide = matches!(self.kind(body, op), "fp16" | "bf16");
        self.is_across(body, op) || is_wide && body.operand(op, self.scale).is_some()
    }
}

/// The program with products of factors that were multiplied by their scales, where no unit would do that.
///
/// # Errors
/// A [`TileViolation`] at a product that breaks the rules.
pub fn scaled_before(module: &TileModule, dialects: &Dialects) -> Result<TileModule, TileViolation> {
    each_function(module, |function| {
        let Some(body) = &function.body else { return Ok(function.clone()) };
        if !body.walk(body.root()).iter().any(|&op| is_meant(body, op)) {
            return Ok(function.clone());
        }
        rewritten(function, dialects, &mut ScaledBefore { module: &module.attributes })
    })
}

fn is_meant(body: &Body, op: Op) -> bool {
    body.op(op).name() == PRODUCT && SIDES.iter().any(|side| side.needs_it(body, op))
}

struct ScaledBefore<'m> {
    module: &'m Attributes,
}

impl Rewrite for ScaledBefore<'_> {
    fn rewrite(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<bool> {
        if !is_meant(copier.from, op) {
            return Ok(false);
        }
        let around = plain::around(self.module, copier.from, op);
        product(op, copier, &around)?;
        Ok(true)
    }
}

fn product(op: Op, copier: &mut Copier<'_, '_, '_>, around: &Attributes) -> Result<(), BuildError> {
    let from = copier.from;
    let is_half = SIDES.iter().any(|side| side.kind(from, op) == "fp16");
    let element = TileType::Float(if is_half { Float::F16 } else { Float::Bf16 });
    let mut maker = Maker { copier, around, element };
    let mut operands = Vec::new();
    for side in &SIDES {
        let Some(factor) = from.operand(op, side.factor) else { return Ok(()) };
        let factor = maker.copier.value(factor);
        let unscaled = maker.widened(factor, side, op)?;
        operands.push(match from.operand(op, side.scale) {
            Some(scale) => {
                let scale = maker.copier.value(scale);
                maker.scaled(unscaled, scale, side)?
            }
            None => unscaled,
        });
    }
    let Some(accumulator) = from.operand(op, "c") else { return Ok(()) };
    let accumulator = maker.copier.value(accumulator);
    let ty = maker.copier.to.ty(accumulator).clone();
    let product = maker.copier.to.op(tt::DOT).operand(operands[0]).operand(operands[1]).operand(accumulator);
    let product = product.result(ty).value()?;
    if let Some(&result) = from.op(op).results.first() {
        copier.bind(result, product);
    }
    Ok(())
}

/// Adds what a product becomes.
struct Maker<'m, 'c, 'a, 'b, 'd> {
    copier: &'c mut Copier<'a, 'b, 'd>,
    /// What the module says of warps and lanes there.
    around: &'m Attributes,
    /// The element of both factors of the product.
    element: TileType,
}

impl Maker<'_, '_, '_, '_, '_> {
    fn ty(&self, value: Value) -> TileType {
        self.copier.to.ty(value).clone()
    }

    /// A tensor of a shape, in a layout where the module's tensors have layouts.
    fn plain(&self, shape: &[u64], element: TileType) -> TileType {
        plain::of_shape(shape, &element, self.around)
    }

    /// A factor's elements in the type that is multiplied.
    fn widened(&mut self, value: Value, side: &Side, op: Op) -> Result<Value, BuildError> {
        let (ty, kind) = (self.ty(value), side.kind(self.copier.from, op).to_owned());
        if kind == "e2m1" {
            let mut shape = ty.shape().unwrap_or_default().to_vec();
            let across = side.is_across(self.copier.from, op);
            let axis = shape.len().saturating_sub(if across { 3 - side.k_from_last } else { side.k_from_last });
            if let Some(size) = shape.get_mut(axis) {
                *size *= 2;
            }
            let wide = self.plain(&shape, self.element.clone());
            let made = self.copier.to.op(ttg::FP4_TO_FP).operand(value).attribute("axis", axis as i32);
            return made.result(wide).value();
        }
        let name = match kind.as_str() {
            "fp16" => "f16",
            "e4m3" => "f8E4M3FN",
            "e5m2" => "f8E5M2",
            other => other,
        };
        let Some(float) = Float::named(name) else { return Ok(value) };
        self.as_float(value, float)
    }

    /// Numbers, or their bits, in the type that is multiplied.
    fn as_float(&mut self, value: Value, float: Float) -> Result<Value, BuildError> {
        let ty = self.ty(value);
        let numbers = match ty.element() {
            TileType::Integer(..) => {
                self.copier.to.unary(tt::BITCAST, value, ty.with_element(TileType::Float(float)))?
            }
            _ => value,
        };
        if *self.ty(numbers).element() == self.element {
            return Ok(numbers);
        }
        let made = self.copier.to.op(tt::FP_TO_FP).operand(numbers);
        let made = made.attribute("rounding", Attribute::Word("rtne".into()));
        made.result(ty.with_element(self.element.clone())).value()
    }

    /// A factor times its scales, each of which is for a block of elements along K.
    fn scaled(&mut self, factor: Value, scale: Value, side: &Side) -> Result<Value, BuildError> {
        let numbers = self.as_float(scale, Float::F8E8M0Fnu)?;
        let ty = self.ty(factor);
        let shape = ty.shape().unwrap_or_default().to_vec();
        let k = shape.len().checked_sub(side.k_from_last).map_or(1, |axis| shape[axis]);
        let lines = self.ty(numbers).shape().unwrap_or_default().to_vec();
        let blocks = lines.last().copied().unwrap_or(1).max(1);
        let mut each = self.stretched(numbers, lines, k / blocks)?;
        if side.k_from_last == 2 {
            each = self.turned(each, &shape)?;
        }
        if self.ty(each) != ty {
            each = self.copier.to.unary(ttg::CONVERT_LAYOUT, each, ty.clone())?;
        }
        self.copier.to.binary(arith::MULF, factor, each)
    }

    /// Each number so many times, one after the other along the last axis.
    fn stretched(&mut self, numbers: Value, mut shape: Vec<u64>, times: u64) -> Result<Value, BuildError> {
        let axis = shape.len();
        let element = self.element.clone();
        let mut whole = shape.clone();
        if let Some(last) = whole.last_mut() {
            *last *= times;
        }
        shape.push(1);
        let one = self.plain(&shape, element.clone());
        let one = self.copier.to.op(tt::EXPAND_DIMS).operand(numbers).attribute("axis", axis as i32).result(one);
        let one = one.value()?;
        shape[axis] = times;
        let many = self.ty(one).layout().cloned();
        let many = self.copier.to.unary(tt::BROADCAST, one, TileType::tensor(shape, element.clone(), many))?;
        let whole = self.plain(&whole, element);
        self.copier.to.unary(tt::RESHAPE, many, whole)
    }

    /// Lines as columns of a factor of this shape.
    fn turned(&mut self, lines: Value, shape: &[u64]) -> Result<Value, BuildError> {
        let mut order: Vec<u64> = (0..shape.len() as u64).collect();
        let last = order.len();
        if last >= 2 {
            order.swap(last - 2, last - 1);
        }
        let ty = self.plain(shape, self.element.clone());
        let order = Attribute::Array(TileType::integer(32), order);
        self.copier.to.op(tt::TRANS).operand(lines).attribute("order", order).result(ty).value()
    }
}
