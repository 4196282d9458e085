//! Operands, accumulators and scales of MMA tests.

use super::CheckFailure;
use super::exact::{Exact, scrambled};
use super::mma_operand_memory::{Matrix, Value};
use super::tolerance::Tolerance;
use tilewright_plan::mma::{BlockScale, MmaPlan};
use tilewright_target::ElementType;

/// The inputs of one MMA test: the elements of `a`, `b` and `c`, row-major, as bits and as values; and the scales of
/// `a` (by row and block of K) and of `b` (by column and block of K).
#[derive(Clone)]
pub(super) struct MmaInputs {
    pub a: Matrix,
    pub b: Matrix,
    pub c: Matrix,
    pub scales: [Option<Matrix>; 2],
    /// Whether all values are integers so small that every sum is exact.
    pub is_exact: bool,
}

impl MmaInputs {
    fn of(
        plan: &MmaPlan,
        is_exact: bool,
        of: impl Fn(u64, ElementType, u64) -> Result<(u64, Value), String>,
        scale: impl Fn(ElementType, BlockScale, u64) -> Result<(u64, Value), String>,
    ) -> Result<Self, CheckFailure> {
        let problem = &plan.problem;
        let [m, n, k] = problem.shape;
        let scales = |side: usize, rows: u64| -> Result<Option<Matrix>, CheckFailure> {
            let Some(own) = problem.scales[side] else { return Ok(None) };
            let count = rows * (k / own.block).max(1);
            let seed = 1000 * (side as u64 + 1);
            Matrix::new(own.element_type, count, |kind, index| scale(kind, own, index + seed)).map(Some)
        };
        Ok(Self {
            a: Matrix::new(problem.a, m * k, |kind, index| of(1, kind, index))?,
            b: Matrix::new(problem.b, k * n, |kind, index| of(2, kind, index))?,
            c: Matrix::new(problem.accumulator, m * n, |kind, index| of(3, kind, index))?,
            scales: [scales(0, m)?, scales(1, n)?],
            is_exact,
        })
    }

    /// Returns exact inputs: integers from -2 to 2, mapped to values of the type; `a` has so many zeros that every
    /// partial sum is exact. Scales are one, two and four.
    pub(super) fn exact(plan: &MmaPlan, tolerance: &Tolerance) -> Result<Self, CheckFailure> {
        let accumulator = plan.problem.accumulator;
        let k = plan.problem.shape[2];
        let most = if plan.problem.scales.iter().any(Option::is_some) { 64 } else { 4 };
        let stride = match accumulator {
            ElementType::Integer { .. } => 1,
            ElementType::Float(_) => (most * k + 2).div_ceil(1 << tolerance.exact_bits()).next_power_of_two(),
        };
        let element = |which, kind: ElementType, index| {
            let value = (scrambled(index, which) % 5) as i64 - 2;
            let value =
                if which == 1 && index % k % stride != index / k % stride { 0 } else { kind.representable(value) };
            Ok((kind.encode(value)?, Value::Integer(value.into())))
        };
        let scale = |kind: ElementType, _, index| {
            let value = 1 << (scrambled(index, 9) % 3);
            Ok((kind.encode(value)?, Value::Integer(value.into())))
        };
        Self::of(plan, true, element, scale)
    }

    /// Returns inputs over the whole range: arbitrary integers; floating-point values near one, or, for types of up to
    /// eight bits, all finite values unless 16-bit accumulators might overflow. Scales are near one, or within their
    /// known range.
    pub(super) fn any(plan: &MmaPlan) -> Result<Self, CheckFailure> {
        let narrow_accumulator = plan.problem.accumulator.bits() <= 16;
        let element = |which, kind, index| {
            let noise = scrambled(index, which + 3);
            Ok(match kind {
                ElementType::Integer { bits, signed } => {
                    let bits_of = noise & (u64::MAX >> (64 - bits));
                    let value =
                        if signed { i128::from((noise << (64 - bits)) as i64 >> (64 - bits)) } else { bits_of.into() };
                    (bits_of, Value::Integer(value))
                }
                ElementType::Float(format) => {
                    let [exponent, mantissa, below] = format.field_widths();
                    let field = match exponent + mantissa {
                        3 | 5 => (noise >> 56) % (1 << exponent),
                        7 if !narrow_accumulator => (noise >> 56) % ((1 << exponent) - 1),
                        _ => (format.bias() - 4) as u64 + (noise >> 56) % 8,
                    };
                    let fraction = noise & ((1 << mantissa) - 1);
                    // Some types have no negative zero.
                    let sign = if field | fraction == 0 { 0 } else { noise >> 63 };
                    let bits = ((sign << exponent | field) << mantissa | fraction) << below;
                    (bits, Value::Real(kind.decode(bits)))
                }
            })
        };
        let scale = |kind: ElementType, own: BlockScale, index| {
            let ElementType::Float(format) = kind else { return Err("scales cannot be integers".to_owned()) };
            let [_, mantissa, _] = format.field_widths();
            let [min, max] = own.exponents.unwrap_or([-6, 6]).map(i64::from);
            let noise = scrambled(index, 10);
            let field = (i64::from(format.bias()) + min) + (noise >> 40) as i64 % (max - min + 1);
            let bits = (field.max(1) as u64) << mantissa | noise & ((1 << mantissa) - 1);
            Ok((bits, Value::Real(kind.decode(bits))))
        };
        Self::of(plan, false, element, scale)
    }

    /// Returns inputs for saturating MMAs: integers whose accumulation saturates at the same value in any order. All
    /// products of a row have one sign, and the accumulator is near that end of the type's range.
    pub(super) fn saturating(plan: &MmaPlan) -> Result<Self, CheckFailure> {
        let [_, n, k] = plan.problem.shape;
        let signed = |kind| matches!(kind, ElementType::Integer { signed: true, .. });
        let of_a = plan.problem.a;
        let element = |which, kind: ElementType, index: u64| {
            let noise = scrambled(index, which + 3) >> 8;
            let falls = |row: u64| signed(of_a) && row % 2 == 1;
            let [min, max] = [i64::MIN, i64::MAX].map(|end| kind.saturated(end));
            let own = (noise & max as u64) as i64;
            let near = (noise & 0xfff) as i64;
            let value = match which {
                1 if falls(index / k) => -own,
                3 if falls(index / n) => min + near,
                3 => max - near,
                _ => own,
            };
            Ok((kind.encode(value)?, Value::Integer(value.into())))
        };
        Self::of(plan, false, element, |_, _, _| Err("integers have no scales".to_owned()))
    }

    /// Returns a copy of the inputs with NaN as the last scale of each scaled operand; `None` if no operand has scales.
    pub(super) fn with_nan(&self, plan: &MmaPlan) -> Option<Self> {
        let (mut changed, scales) = (false, plan.problem.scales);
        let mut own = self.clone();
        for (matrix, scale) in own.scales.iter_mut().zip(scales) {
            let Some((last, scale)) = matrix.as_mut().and_then(|matrix| matrix.elements.last_mut()).zip(scale) else {
                continue;
            };
            // A NaN scale has all bits set (OCP Microscaling Formats, section 5.4.1, and PTX ISA); for ue4m3, all bits
            // that are read.
            let bits = if scale.element_type.to_string() == "e8m0" { 0xff } else { 0x7f };
            *last = (bits, Value::Real(f64::NAN));
            changed = true;
        }
        changed.then_some(own)
    }
}
