//! Contracts multiplications and additions into fused multiply-adds.

use super::{IrCloner, Rewrite, Rewritten, each_function, rewrite_function};
use crate::op::Dialects;
use crate::op::name::{arith, math};
use crate::{FloatType, FunctionBody, Op, TileModule, TileType, TileViolation, Value, ValueOrigin};

/// Replaces a sum or difference by `math.fma`, which rounds once, if one operand is the result of a multiplication
/// without other uses. Multiplications that lose their use stay for
/// [`remove_unused_operations`](super::remove_unused_operations).
///
/// Elements are `f16`, `f32` or `f64`. A multiply-add of `bf16` is not cheaper on all architectures, so `bf16` is left
/// as it is.
///
/// # Errors
/// A [`TileViolation`] if the dialects have no `math.fma`.
pub fn fuse_multiply_adds(module: &TileModule, dialects: &Dialects) -> Result<TileModule, TileViolation> {
    each_function(module, |function| {
        let Some(body) = &function.body else { return Ok(function.clone()) };
        rewrite_function(function, dialects, &mut Fuse { uses: body.count_uses() })
    })
}

struct Fuse {
    uses: Vec<u32>,
}

/// An addition or subtraction that becomes a multiply-add of the multiplicands and a third term.
struct Fused {
    multiplicands: [Value; 2],
    term: Value,
    /// Whether the product is subtracted from the term.
    negates_product: bool,
    /// Whether the term is subtracted from the product.
    negates_term: bool,
}

impl Fuse {
    /// The operands of the multiplication that defines a value; `None` if there is none, or if the value has other
    /// uses.
    fn product(&self, body: &FunctionBody, value: Value) -> Option<[Value; 2]> {
        let ValueOrigin::Result(op, _) = body.value_origin(value) else { return None };
        let operation = body.op(op);
        let is_sole_use = operation.name() == arith::MULF && self.uses[value.index()] == 1;
        <[Value; 2]>::try_from(&operation.operands[..]).ok().filter(|_| is_sole_use)
    }

    fn fused(&self, body: &FunctionBody, op: Op) -> Option<Fused> {
        let operation = body.op(op);
        let is_difference = operation.name() == arith::SUBF;
        let &[left, right] = &operation.operands[..] else { return None };
        if !(is_difference || operation.name() == arith::ADDF) || !is_fusible(body.value_type(left)) {
            return None;
        }
        let fused = |multiplicands, term| Fused { multiplicands, term, negates_product: false, negates_term: false };
        let of_left = self.product(body, left).map(|multiplicands| fused(multiplicands, right));
        let of_right = || self.product(body, right).map(|multiplicands| fused(multiplicands, left));
        match of_left {
            Some(found) => Some(Fused { negates_term: is_difference, ..found }),
            None => of_right().map(|found| Fused { negates_product: is_difference, ..found }),
        }
    }
}

impl Rewrite for Fuse {
    fn rewrite(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let Some(fused) = self.fused(cloner.from, op) else { return Ok(false) };
        let Some(&result) = cloner.from.op(op).results.first() else { return Ok(false) };
        let ty = cloner.from.value_type(result).clone();
        let [mut a, b] = fused.multiplicands.map(|multiplicand| cloner.clone_of(multiplicand));
        let mut c = cloner.clone_of(fused.term);
        if fused.negates_product {
            a = cloner.to.unary(arith::NEGF, a, ty.clone())?;
        }
        if fused.negates_term {
            c = cloner.to.unary(arith::NEGF, c, ty.clone())?;
        }
        let sum = cloner.to.build_op(math::FMA).operand(a).operand(b).operand(c).result(ty).value()?;
        cloner.bind(result, sum);
        Ok(true)
    }
}

fn is_fusible(ty: &TileType) -> bool {
    let element = ty.as_tensor().map_or(ty, |tensor| &tensor.element);
    matches!(element, TileType::Float(FloatType::F16 | FloatType::F32 | FloatType::F64))
}
