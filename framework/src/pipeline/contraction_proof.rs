//! Showing that a plan of a contraction multiplies matrices: its kernel is run on the emulator, or on a device, and every element
//! of the result is compared with a product computed here.
//!
//! First with integers so small that every partial sum in any order is a number of the accumulator's type: the
//! result must be exact. Then with elements of all kinds against a sum of about 100 bits. Where factors have scales, a
//! third time with a scale that is NaN: so must be what it is for, and nothing else.
//!
//! How far an element may be off follows from how the plan's unit rounds, see [`tolerance`](super::tolerance). Sums of
//! integers wrap and are exact. Scaled factors are exact: what multiplies them has all of them, and so has binary64
//! here. Where they are to saturate, the second run is with integers of which they do, the same in any order.

use super::Disproof;
use super::contraction_memory::{Matrix, Value, multiplied};
use super::exact::{Kind, scrambled};
use super::proof::{Machine, run, word};
use super::tolerance::Tolerance;
use crate::contract::{Contraction, Scale};
use crate::emulator::Report;
use crate::kernel::Kernel;
use crate::lower::contraction_kernel;
use crate::movement::Means;
use crate::vendor::{Device, Target};

/// Runs a kernel on its inputs; gives what it wrote to outputs of so many bytes.
type Execute<'a> = &'a mut dyn FnMut(Kernel, &[Vec<u8>], &[usize]) -> Result<Vec<Vec<u8>>, Disproof>;

/// Runs the plan's kernel twice on the emulator and compares everything that it writes; gives what was executed the
/// first time.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_contraction(plan: &Contraction, means: Means<'_>) -> Result<Report, Disproof> {
    let mut first = None;
    prove(plan, means, &mut |kernel, inputs, outputs| {
        let (report, written) = run(kernel, inputs, outputs, 1, means)?;
        first.get_or_insert(report);
        Ok(written)
    })?;
    first.ok_or_else(|| Disproof::Row("nothing was executed".to_owned()))
}

/// Compiles the plan's kernel, runs it as often on a device of the target, and compares everything that it writes.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_contraction_on(
    device: &mut dyn Device,
    target: &dyn Target,
    plan: &Contraction,
    means: Means<'_>,
) -> Result<(), Disproof> {
    let mut machine = Machine { target, device };
    prove(plan, means, &mut |kernel, inputs, outputs| machine.run(kernel, inputs, outputs, 1))
}

fn prove(plan: &Contraction, means: Means<'_>, execute: Execute<'_>) -> Result<(), Disproof> {
    let tolerance = Tolerance::of(plan, means);
    Trial::exact(plan, &tolerance)?.run(plan, true, &tolerance, means, execute)?;
    let any = if plan.question.saturating { Trial::saturating(plan)? } else { Trial::any(plan)? };
    any.run(plan, plan.question.saturating, &tolerance, means, execute)?;
    match any.with_nan(plan) {
        Some(trial) => trial.run(plan, false, &tolerance, means, execute),
        None => Ok(()),
    }
}

/// The elements of `a`, `b` and `c`, row-major, as bits and as values, and the scales of `a` and of `b`, for each row or
/// column its blocks.
struct Trial {
    a: Matrix,
    b: Matrix,
    c: Matrix,
    scales: [Option<Matrix>; 2],
    is_exact: bool,
}

impl Trial {
    fn of(
        plan: &Contraction,
        is_exact: bool,
        of: impl Fn(u64, Kind, u64) -> Result<(u64, Value), String>,
        scale: impl Fn(Kind, Scale, u64) -> Result<(u64, Value), String>,
    ) -> Result<Self, Disproof> {
        let question = &plan.question;
        let [m, n, k] = question.shape;
        let scales = |side: usize, rows: u64| -> Result<Option<Matrix>, Disproof> {
            let Some(own) = question.scales[side] else { return Ok(None) };
            let count = rows * (k / own.block).max(1);
            let seed = 1000 * (side as u64 + 1);
            Matrix::new(own.number, count, |kind, index| scale(kind, own, index + seed)).map(Some)
        };
        Ok(Self {
            a: Matrix::new(question.a, m * k, |kind, index| of(1, kind, index))?,
            b: Matrix::new(question.b, k * n, |kind, index| of(2, kind, index))?,
            c: Matrix::new(question.accumulator, m * n, |kind, index| of(3, kind, index))?,
            scales: [scales(0, m)?, scales(1, n)?],
            is_exact,
        })
    }

    /// Integers from -2 to 2, of as few bits as the type has; of `a` so few beside zero that sums stay exact. Scales are
    /// one, two and four.
    fn exact(plan: &Contraction, tolerance: &Tolerance) -> Result<Self, Disproof> {
        let accumulator = Kind::named(&plan.question.accumulator.to_string()).map_err(Disproof::Row)?;
        let k = plan.question.shape[2];
        let most = if plan.question.scales.iter().any(Option::is_some) { 64 } else { 4 };
        let stride = match accumulator {
            Kind::Integer { .. } => 1,
            Kind::Float { .. } => (most * k + 2).div_ceil(1 << tolerance.exact_bits()).next_power_of_two(),
        };
        let element = |which, kind: Kind, index| {
            let value = (scrambled(index, which) % 5) as i64 - 2;
            let value = if which == 1 && index % k % stride != index / k % stride { 0 } else { kind.nearest(value) };
            Ok((kind.encode(value)?, Value::Integer(value.into())))
        };
        let scale = |kind: Kind, _, index| {
            let value = 1 << (scrambled(index, 9) % 3);
            Ok((kind.encode(value)?, Value::Integer(value.into())))
        };
        Self::of(plan, true, element, scale)
    }

    /// All integers; floating-point numbers near one, of types of up to eight bits all finite ones unless sums of
    /// sixteen bits might overflow. Scales near one, or what is known of them.
    fn any(plan: &Contraction) -> Result<Self, Disproof> {
        let narrow_sums = plan.question.accumulator.bits() <= 16;
        let element = |which, kind, index| {
            let noise = scrambled(index, which + 3);
            Ok(match kind {
                Kind::Integer { bits, signed } => {
                    let bits_of = noise & (u64::MAX >> (64 - bits));
                    let value =
                        if signed { i128::from((noise << (64 - bits)) as i64 >> (64 - bits)) } else { bits_of.into() };
                    (bits_of, Value::Integer(value))
                }
                Kind::Float { exponent, mantissa, bias, below } => {
                    let field = match exponent + mantissa {
                        3 | 5 => (noise >> 56) % (1 << exponent),
                        7 if !narrow_sums => (noise >> 56) % ((1 << exponent) - 1),
                        _ => (bias - 4) as u64 + (noise >> 56) % 8,
                    };
                    let fraction = noise & ((1 << mantissa) - 1);
                    // The negative zero is no number in some types.
                    let sign = if field | fraction == 0 { 0 } else { noise >> 63 };
                    let bits = ((sign << exponent | field) << mantissa | fraction) << below;
                    (bits, Value::Real(kind.decode(bits)))
                }
            })
        };
        let scale = |kind: Kind, own: Scale, index| {
            let Kind::Float { mantissa, bias, .. } = kind else { return Err("scales are no integers".to_owned()) };
            let [least, greatest] = own.exponents.unwrap_or([-6, 6]).map(i64::from);
            let noise = scrambled(index, 10);
            let field = (bias + least) + (noise >> 40) as i64 % (greatest - least + 1);
            let bits = (field.max(1) as u64) << mantissa | noise & ((1 << mantissa) - 1);
            Ok((bits, Value::Real(kind.decode(bits))))
        };
        Self::of(plan, false, element, scale)
    }

    /// Integers of which sums saturate, and the same wherever a unit does so: all products of a row have one sign, and
    /// what they are added to is near the end of the type on that side.
    fn saturating(plan: &Contraction) -> Result<Self, Disproof> {
        let [_, n, k] = plan.question.shape;
        let signed = |kind| matches!(kind, Kind::Integer { signed: true, .. });
        let of_a = Kind::named(&plan.question.a.to_string()).map_err(Disproof::Row)?;
        let element = |which, kind: Kind, index: u64| {
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
    fn with_nan(mut self, plan: &Contraction) -> Option<Self> {
        let (mut changed, scales) = (false, plan.question.scales);
        for (matrix, scale) in self.scales.iter_mut().zip(scales) {
            let Some((last, scale)) = matrix.as_mut().and_then(|matrix| matrix.elements.last_mut()).zip(scale) else {
                continue;
            };
            // OCP Microscaling Formats, section 5.4.1, and PTX ISA: all ones, of ue4m3 all that are read.
            let bits = if scale.number.to_string() == "e8m0" { 0xff } else { 0x7f };
            *last = (bits, Value::Real(f64::NAN));
            changed = true;
        }
        changed.then_some(self)
    }

    fn run(
        &self,
        plan: &Contraction,
        accumulates: bool,
        tolerance: &Tolerance,
        means: Means<'_>,
        execute: Execute<'_>,
    ) -> Result<(), Disproof> {
        let kernel = contraction_kernel("dot", plan, accumulates, means)?;
        crate::kernel::verify_instructions(&kernel, means.instructions)?;
        let question = &plan.question;
        let [_, n, k] = question.shape.map(|size| size as usize);
        let shuffle = plan.shuffle().map_err(|error| Disproof::Row(error.to_string()))?;
        let place = |side: usize, at: usize| match question.shuffled[side] {
            true => shuffle.apply_packed(at as u64) as usize,
            false => at,
        };
        let a = self.a.bytes(k, |row, at| row * k + place(0, at));
        let b = match question.b.bits() < 8 {
            true => self.b.bytes(k, |column, at| place(1, at) * n + column),
            false => self.b.bytes(n, |row, column| place(1, row) * n + column),
        };
        let mut inputs = vec![a, b];
        for scales in self.scales.iter().flatten() {
            inputs.push(scales.bytes(1, |row, _| row));
        }
        if accumulates {
            inputs.push(self.c.bytes(n, |row, column| row * n + column));
        }
        let bytes = (self.c.kind.bits() / 8) as usize;
        let written = execute(kernel, &inputs, &[self.c.elements.len() * bytes])?;
        let n = plan.question.shape[1] as usize;
        for (index, found) in written[0].chunks_exact(bytes).map(word).enumerate() {
            self.compare(plan, accumulates, tolerance, [index / n, index % n], found)?;
        }
        Ok(())
    }

    fn compare(
        &self,
        plan: &Contraction,
        accumulates: bool,
        tolerance: &Tolerance,
        at: [usize; 2],
        found: u64,
    ) -> Result<(), Disproof> {
        let [_, n, k] = plan.question.shape.map(|size| size as usize);
        let [row, column] = at;
        let scale = |side: usize, line: usize, inner: usize| {
            let (matrix, own) = self.scales[side].as_ref().zip(plan.question.scales[side])?;
            let block = own.block as usize;
            Some(matrix.elements[line * (k / block).max(1) + inner / block].1)
        };
        let terms = (0..k).map(|inner| {
            let (a, b) = (self.a.elements[row * k + inner].1, self.b.elements[inner * n + column].1);
            (multiplied(a, scale(0, row, inner)), multiplied(b, scale(1, column, inner)))
        });
        let start = if accumulates { self.c.elements[row * n + column].1 } else { Value::Integer(0) };
        let kind = self.c.kind;
        let element = (row * n + column) as u64;
        let place = format!("row {row}, column {column} of the result");
        if self.is_exact || matches!(kind, Kind::Integer { .. }) {
            let whole = |value| if let Value::Integer(value) = value { value } else { 0 };
            let total = terms.fold(whole(start), |sum, (a, b)| sum.wrapping_add(whole(a).wrapping_mul(whole(b))));
            let total = if plan.question.saturating { kind.saturated(total as i64) } else { total as i64 };
            let expected = kind.encode(total).map_err(Disproof::Row)?;
            return match found == expected {
                true => Ok(()),
                false => Err(Disproof::WrongElement { place, found, element, expected }),
            };
        }
        let terms = terms.map(|(a, b)| (Double::of(a), Double::of(b)));
        let sum = terms.clone().fold(Double::default(), |sum, (a, b)| sum.plus_product(a, b));
        if sum.high.is_nan() {
            return match kind.is_nan(found) {
                true => Ok(()),
                false => Err(Disproof::WrongElement { place, found, element, expected: 0x7fc0_0000 }),
            };
        }
        let tolerance = tolerance.allowed(terms.map(|(a, b)| [a.high, b.high]));
        let found = kind.decode(found);
        let error = (found - sum.high) - sum.low;
        // What is not a number is not within.
        if error.abs() <= tolerance {
            return Ok(());
        }
        Err(Disproof::Imprecise { place, found, expected: sum.high, tolerance })
    }
}

/// An unevaluated sum of two numbers of binary64: some 100 bits (Dekker, 1971).
#[derive(Debug, Clone, Copy, Default)]
struct Double {
    high: f64,
    low: f64,
}

impl Double {
    fn of(value: Value) -> Self {
        match value {
            Value::Real(high) => Self { high, low: 0.0 },
            Value::Integer(value) => {
                let high = value as f64;
                Self { high, low: (value - high as i128) as f64 }
            }
        }
    }

    fn plus_product(self, a: Self, b: Self) -> Self {
        let product = a.high * b.high;
        let rest = a.high.mul_add(b.high, -product) + (a.high * b.low + a.low * b.high);
        let sum = self.high + product;
        let part = sum - self.high;
        let error = (self.high - (sum - part)) + (product - part);
        let low = self.low + rest + error;
        let high = sum + low;
        Self { high, low: low - (high - sum) }
    }
}
