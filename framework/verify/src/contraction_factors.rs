//! Factors, sums and scales that a contraction is shown with.

use super::CheckFailure;
use super::contraction_memory::{Matrix, Value};
use super::exact::{Exact, scrambled};
use super::tolerance::Tolerance;
use tilewright_plan::contract::{Contraction, Scale};
use tilewright_target::ElementType;

/// The elements of `a`, `b` and `c`, row-major, as bits and as values, and the scales of `a` and of `b`, for each row or
/// column its blocks.
#[derive(Clone)]
pub(super) struct Factors {
    pub a: Matrix,
    pub b: Matrix,
    pub c: Matrix,
    pub scales: [Option<Matrix>; 2],
    /// Whether all of them are integers whose sums are exact.
    pub is_exact: bool,
}

impl Factors {
    fn of(
        plan: &Contraction,
        is_exact: bool,
        of: impl Fn(u64, ElementType, u64) -> Result<(u64, Value), String>,
        scale: impl Fn(ElementType, Scale, u64) -> Result<(u64, Value), String>,
    ) -> Result<Self, CheckFailure> {
        let problem = &plan.problem;
        let [m, n, k] = problem.shape;
        let scales = |side: usize, rows: u64| -> Result<Option<Matrix>, CheckFailure> {
            let Some(own) = problem.scales[side] else { return Ok(None) };
            let count = rows * (k / own.block).max(1);
            let seed = 1000 * (side as u64 + 1);
            Matrix::new(own.number, count, |kind, index| scale(kind, own, index + seed)).map(Some)
        };
        Ok(Self {
            a: Matrix::new(problem.a, m * k, |kind, index| of(1, kind, index))?,
            b: Matrix::new(problem.b, k * n, |kind, index| of(2, kind, index))?,
            c: Matrix::new(problem.accumulator, m * n, |kind, index| of(3, kind, index))?,
            scales: [scales(0, m)?, scales(1, n)?],
            is_exact,
        })
    }

    /// Integers from -2 to 2, of as few bits as the type has; of `a` so few beside zero that sums stay exact. Scales are
    /// one, two and four.
    pub(super) fn exact(plan: &Contraction, tolerance: &Tolerance) -> Result<Self, CheckFailure> {
        let accumulator = plan.problem.accumulator;
        let k = plan.problem.shape[2];
        let most = if plan.problem.scales.iter().any(Option::is_some) { 64 } else { 4 };
        let stride = match accumulator {
            ElementType::Integer { .. } => 1,
            ElementType::Float(_) => (most * k + 2).div_ceil(1 << tolerance.exact_bits()).next_power_of_two(),
        };
        let element = |which, kind: ElementType, index| {
            let value = (scrambled(index, which) % 5) as i64 - 2;
            let value = if which == 1 && index % k % stride != index / k % stride { 0 } else { kind.nearest(value) };
            Ok((kind.encode(value)?, Value::Integer(value.into())))
        };
        let scale = |kind: ElementType, _, index| {
            let value = 1 << (scrambled(index, 9) % 3);
            Ok((kind.encode(value)?, Value::Integer(value.into())))
        };
        Self::of(plan, true, element, scale)
    }

    /// All integers; floating-point numbers near one, of types of up to eight bits all finite ones unless sums of
    /// sixteen bits might overflow. Scales near one, or what is known of them.
    pub(super) fn any(plan: &Contraction) -> Result<Self, CheckFailure> {
        let narrow_sums = plan.problem.accumulator.bits() <= 16;
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
                    let [exponent, mantissa, below] = format.widths();
                    let field = match exponent + mantissa {
                        3 | 5 => (noise >> 56) % (1 << exponent),
                        7 if !narrow_sums => (noise >> 56) % ((1 << exponent) - 1),
                        _ => (format.bias() - 4) as u64 + (noise >> 56) % 8,
                    };
                    let fraction = noise & ((1 << mantissa) - 1);
                    // The negative zero is no number in some types.
                    let sign = if field | fraction == 0 { 0 } else { noise >> 63 };
                    let bits = ((sign << exponent | field) << mantissa | fraction) << below;
                    (bits, Value::Real(kind.decode(bits)))
                }
            })
        };
        let scale = |kind: ElementType, own: Scale, index| {
            let ElementType::Float(format) = kind else { return Err("scales are no integers".to_owned()) };
            let [_, mantissa, _] = format.widths();
            let [least, greatest] = own.exponents.unwrap_or([-6, 6]).map(i64::from);
            let noise = scrambled(index, 10);
            let field = (i64::from(format.bias()) + least) + (noise >> 40) as i64 % (greatest - least + 1);
            let bits = (field.max(1) as u64) << mantissa | noise & ((1 << mantissa) - 1);
            Ok((bits, Value::Real(kind.decode(bits))))
        };
        Self::of(plan, false, element, scale)
    }

    /// Integers of which sums saturate, and the same wherever a unit does so: all products of a row have one sign, and
    /// what they are added to is near the end of the type on that side.
    pub(super) fn saturating(plan: &Contraction) -> Result<Self, CheckFailure> {
        let [_, n, k] = plan.problem.shape;
        let signed = |kind| matches!(kind, ElementType::Integer { signed: true, .. });
        let of_a = plan.problem.a;
        let element = |which, kind: ElementType, index: u64| {
            let noise = scrambled(index, which + 3) >> 8;
            let falls = |row: u64| signed(of_a) && row % 2 == 1;
            let [least, greatest] = [i64::MIN, i64::MAX].map(|end| kind.saturated(end));
            let own = (noise & greatest as u64) as i64;
            let near = (noise & 0xfff) as i64;
            let value = match which {
                1 if falls(index / k) => -own,
                3 if falls(index / n) => least + near,
                3 => greatest - near,
                _ => own,
            };
            Ok((kind.encode(value)?, Value::Integer(value.into())))
        };
        Self::of(plan, false, element, |_, _, _| Err("integers have no scales".to_owned()))
    }

    /// The same with the last scale of each factor that has scales being NaN.
    pub(super) fn with_nan(&self, plan: &Contraction) -> Option<Self> {
        let (mut changed, scales) = (false, plan.problem.scales);
        let mut own = self.clone();
        for (matrix, scale) in own.scales.iter_mut().zip(scales) {
            let Some((last, scale)) = matrix.as_mut().and_then(|matrix| matrix.elements.last_mut()).zip(scale) else {
                continue;
            };
            // OCP Microscaling Formats, section 5.4.1, and PTX ISA: all ones, of ue4m3 all that are read.
            let bits = if scale.number.to_string() == "e8m0" { 0xff } else { 0x7f };
            *last = (bits, Value::Real(f64::NAN));
            changed = true;
        }
        changed.then_some(own)
    }
}
