//! Computes dots in `f32` as sums of dots in a narrower type (`tf32x3`, `bf16x3`, `bf16x6`).
//!
//! Each operand is split into parts of `tf32` or `bf16`: the first has the upper bits, each further part the upper bits
//! of the remainder. The dot is the sum of the dots of parts, without those that are too small to count, as in Triton
//! 3.9.0 (`F32DotTC`). Small dots are added first. If an operand is infinite, they may be NaN, and count as zero.
//!
//! `tf32` stays in `f32`, since MMA instructions ignore the lower bits of such operands. The first part is truncated, not
//! rounded: rounding up the bits of some NaNs would give a number.

use super::rewrite_error::Rewritten;
use super::{IrCloner, Rewrite, rewrite_functions_with};
use crate::op::Dialects;
use crate::op::name::{arith, tt};
use crate::{
    Attribute, BuildError, FloatType, FunctionBody, FunctionBuilder, Op, TileModule, TileType, TileViolation, Value,
};

const PRECISION: &str = "inputPrecision";

/// Number of low bits of a `f32` that `tf32` ignores.
const IGNORED_BITS: u32 = 13;

/// Whether the target computes this number of dots with operands of this type in less time than one dot in `f32`.
pub type IsFaster<'a> = dyn Fn(FloatType, usize) -> bool + 'a;

/// A dot that is a sum of dots of parts.
struct Split {
    /// Type of the parts.
    ty: FloatType,
    /// The indices of the parts of A and of B that the dots of small parts multiply, in the order of addition. The last
    /// dot, not listed, multiplies the first parts.
    small_dots: &'static [[usize; 2]],
}

impl Split {
    /// Returns the split that a dot's precision states; `None` if it states one dot.
    fn from_precision(precision: &str) -> Option<Self> {
        const TWO_PARTS: &[[usize; 2]] = &[[1, 0], [0, 1]];
        const THREE_PARTS: &[[usize; 2]] = &[[1, 1], [2, 0], [0, 2], [1, 0], [0, 1]];
        let (ty, small_dots) = match precision {
            "tf32x3" => (FloatType::Tf32, TWO_PARTS),
            "bf16x3" => (FloatType::Bf16, TWO_PARTS),
            "bf16x6" => (FloatType::Bf16, THREE_PARTS),
            _ => return None,
        };
        Some(Self { ty, small_dots })
    }

    /// Number of parts of each operand.
    fn parts(&self) -> usize {
        self.small_dots.iter().flatten().max().map_or(1, |last| last + 1)
    }
}

/// Replaces each `tt.dot` in `f32` whose precision is a sum of several dots by these dots, if they take less time.
///
/// # Errors
/// A [`TileViolation`] if the dialects lack one of the operations.
pub fn split_dots(
    module: &TileModule,
    dialects: &Dialects,
    is_faster: &IsFaster<'_>,
) -> Result<TileModule, TileViolation> {
    let is_meant = |body: &FunctionBody, op| find_split(body, op, is_faster).is_some();
    rewrite_functions_with(module, dialects, is_meant, &mut SplitDots { is_faster })
}

/// Returns how to split a dot; `None` for a dot that stays, and for other operations.
fn find_split(body: &FunctionBody, op: Op, is_faster: &IsFaster<'_>) -> Option<Split> {
    if body.op(op).name() != tt::DOT {
        return None;
    }
    let is_single = |group| {
        let value = body.operand(op, group);
        value.is_some_and(|value| *body.value_type(value).element() == TileType::Float(FloatType::F32))
    };
    let split = Split::from_precision(body.op(op).attributes.get(PRECISION)?.as_text()?)?;
    (["a", "b", "c"].into_iter().all(is_single) && is_faster(split.ty, split.small_dots.len() + 1)).then_some(split)
}

struct SplitDots<'a> {
    is_faster: &'a IsFaster<'a>,
}

impl Rewrite for SplitDots<'_> {
    fn rewrite(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let from = cloner.from;
        let Some(split) = find_split(from, op, self.is_faster) else { return Ok(false) };
        let groups = ["a", "b", "c"].map(|group| from.operand(op, group));
        let ([Some(a), Some(b), Some(c)], Some(&result)) = (groups, from.op(op).results.first()) else {
            return Ok(false);
        };
        let [a, b, c] = [a, b, c].map(|value| cloner.clone_of(value));
        let [a, b] = [append_parts(cloner.to, a, &split)?, append_parts(cloner.to, b, &split)?];
        let zeros = cloner.to.zeros(&cloner.to.ty(c).clone())?;
        let mut sum = zeros;
        for &[of_a, of_b] in split.small_dots {
            sum = append_dot(cloner.to, [a[of_a], b[of_b], sum])?;
        }
        let small = append_without_nans(cloner.to, sum, zeros)?;
        let large = append_dot(cloner.to, [a[0], b[0], small])?;
        // The accumulator is added to the finished dot, since MMA instructions may truncate sums.
        let total = cloner.to.binary(arith::ADDF, large, c)?;
        cloner.bind(result, total);
        Ok(true)
    }
}

/// Appends the parts of an operand, largest first.
fn append_parts(to: &mut FunctionBuilder<'_>, operand: Value, split: &Split) -> Result<Vec<Value>, BuildError> {
    let ty = to.ty(operand).clone();
    let mut remainder = operand;
    let mut parts = Vec::new();
    for index in 0..split.parts() {
        let is_last = index + 1 == split.parts();
        let (part, value) = match split.ty {
            FloatType::Tf32 => {
                let part = append_tf32(to, remainder, is_last)?;
                (part, part)
            }
            narrow => {
                let part = to.unary(arith::TRUNCF, remainder, ty.with_element(TileType::Float(narrow)))?;
                (part, if is_last { part } else { to.unary(arith::EXTF, part, ty.clone())? })
            }
        };
        parts.push(part);
        if !is_last {
            remainder = to.binary(arith::SUBF, remainder, value)?;
        }
    }
    Ok(parts)
}

/// Appends the conversion of a `f32` to a `f32` whose bits above [`IGNORED_BITS`] are those of a `tf32`: rounded if it is
/// the last part, truncated otherwise. The last part keeps ignored bits.
fn append_tf32(to: &mut FunctionBuilder<'_>, value: Value, is_last: bool) -> Result<Value, BuildError> {
    let ty = to.ty(value).clone();
    let words = ty.with_element(TileType::integer(32));
    let bits = to.unary(arith::BITCAST, value, words.clone())?;
    let (name, operand) = match is_last {
        true => (arith::ADDI, 1i64 << (IGNORED_BITS - 1)),
        false => (arith::ANDI, -1i64 << IGNORED_BITS),
    };
    let operand = to.integer(operand, &words)?;
    let bits = to.binary(name, bits, operand)?;
    to.unary(arith::BITCAST, bits, ty)
}

/// Appends a dot with the operands A, B and C.
fn append_dot(to: &mut FunctionBuilder<'_>, operands: [Value; 3]) -> Result<Value, BuildError> {
    let ty = to.ty(operands[2]).clone();
    let is_single = *to.ty(operands[0]).element() == TileType::Float(FloatType::F32);
    let mut dot = to.build_op(tt::DOT);
    for operand in operands {
        dot = dot.operand(operand);
    }
    let precision = if is_single { "tf32" } else { "ieee" };
    dot.attribute(PRECISION, Attribute::Keyword(precision.into())).result(ty).value()
}

/// Appends a select of zero where a number is NaN.
fn append_without_nans(to: &mut FunctionBuilder<'_>, value: Value, zeros: Value) -> Result<Value, BuildError> {
    let flags = to.ty(value).with_element(TileType::BOOLEAN);
    let unordered = Attribute::Keyword("uno".into());
    let compare = to.build_op(arith::CMPF).operand(value).operand(value).attribute("predicate", unordered);
    let is_nan = compare.result(flags).value()?;
    to.select(is_nan, zeros, value)
}
