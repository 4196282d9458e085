//! Showing that a plan of a contraction multiplies matrices: its kernel is run on the emulator, and every element
//! of the result is compared with a product computed here.
//!
//! First with integers so small that every partial sum in any order is a number of the accumulator's type: the
//! result must be exact. Then with elements of all kinds against a sum of about 100 bits.
//!
//! How far an element may be off follows from how the plan's unit rounds, see [`tolerance`](super::tolerance). Sums of
//! integers wrap and are exact.

use super::Disproof;
use super::exact::{Kind, scrambled};
use super::proof::{little_endian, run, word};
use super::tolerance::Tolerance;
use crate::contract::Contraction;
use crate::emulator::Report;
use crate::lower::contraction_kernel;
use crate::movement::Means;
use crate::target::Number;

/// Runs the plan's kernel twice and compares everything that it writes.
///
/// # Errors
/// [`Disproof`]: the first thing that is wrong.
pub fn prove_contraction(plan: &Contraction, means: Means<'_>) -> Result<Report, Disproof> {
    let tolerance = Tolerance::of(plan, means);
    let report = Trial::exact(plan, &tolerance)?.run(plan, true, &tolerance, means)?;
    Trial::any(plan)?.run(plan, false, &tolerance, means)?;
    Ok(report)
}

/// The elements of `a`, `b` and `c`, row-major, as bits and as values.
struct Trial {
    a: Matrix,
    b: Matrix,
    c: Matrix,
    is_exact: bool,
}

/// A value as an integer, or as a sum of two numbers.
#[derive(Clone, Copy)]
enum Value {
    Integer(i128),
    Real(f64),
}

struct Matrix {
    kind: Kind,
    elements: Vec<(u64, Value)>,
}

impl Matrix {
    fn new(
        number: Number,
        count: u64,
        of: impl Fn(Kind, u64) -> Result<(u64, Value), String>,
    ) -> Result<Self, Disproof> {
        let kind = Kind::named(&number.to_string()).map_err(Disproof::Row)?;
        let elements = (0..count).map(|index| of(kind, index)).collect::<Result<_, _>>().map_err(Disproof::Row)?;
        Ok(Self { kind, elements })
    }

    fn bytes(&self) -> Vec<u8> {
        little_endian(self.elements.iter().map(|(bits, _)| *bits), (self.kind.bits() / 8) as usize)
    }
}

impl Trial {
    fn of(
        plan: &Contraction,
        is_exact: bool,
        of: impl Fn(u64, Kind, u64) -> Result<(u64, Value), String>,
    ) -> Result<Self, Disproof> {
        let question = &plan.question;
        let [m, n, k] = question.shape;
        Ok(Self {
            a: Matrix::new(question.a, m * k, |kind, index| of(1, kind, index))?,
            b: Matrix::new(question.b, k * n, |kind, index| of(2, kind, index))?,
            c: Matrix::new(question.accumulator, m * n, |kind, index| of(3, kind, index))?,
            is_exact,
        })
    }

    /// Integers from -2 to 2; of `a` so few beside zero that sums stay exact.
    fn exact(plan: &Contraction, tolerance: &Tolerance) -> Result<Self, Disproof> {
        let accumulator = Kind::named(&plan.question.accumulator.to_string()).map_err(Disproof::Row)?;
        let k = plan.question.shape[2];
        let stride = match accumulator {
            Kind::Integer { .. } => 1,
            Kind::Float { .. } => (4 * k + 2).div_ceil(1 << tolerance.exact_bits()).next_power_of_two(),
        };
        Self::of(plan, true, |which, kind, index| {
            let value = (scrambled(index, which) % 5) as i64 - 2;
            let value = if kind.is_unsigned() { value.abs() } else { value };
            let (row, column) = (index / k, index % k);
            let value = if which == 1 && column % stride != row % stride { 0 } else { value };
            Ok((kind.encode(value)?, Value::Integer(value.into())))
        })
    }

    /// All integers; floating-point numbers near one, of types of eight bits all finite ones unless sums of
    /// sixteen bits might overflow.
    fn any(plan: &Contraction) -> Result<Self, Disproof> {
        let narrow_sums = plan.question.accumulator.bits() <= 16;
        Self::of(plan, false, |which, kind, index| {
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
        })
    }

    fn run(
        &self,
        plan: &Contraction,
        accumulates: bool,
        tolerance: &Tolerance,
        means: Means<'_>,
    ) -> Result<Report, Disproof> {
        let kernel = contraction_kernel("dot", plan, accumulates, means)?;
        crate::kernel::verify_instructions(&kernel, means.instructions)?;
        let mut inputs = vec![self.a.bytes(), self.b.bytes()];
        if accumulates {
            inputs.push(self.c.bytes());
        }
        let bytes = (self.c.kind.bits() / 8) as usize;
        let (report, written) = run(kernel, &inputs, &[self.c.elements.len() * bytes], 1, means)?;
        let n = plan.question.shape[1] as usize;
        for (index, found) in written[0].chunks_exact(bytes).map(word).enumerate() {
            self.compare(plan, accumulates, tolerance, [index / n, index % n], found)?;
        }
        Ok(report)
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
        let terms = (0..k).map(|inner| (self.a.elements[row * k + inner].1, self.b.elements[inner * n + column].1));
        let start = if accumulates { self.c.elements[row * n + column].1 } else { Value::Integer(0) };
        let kind = self.c.kind;
        let element = (row * n + column) as u64;
        let place = format!("row {row}, column {column} of the result");
        if self.is_exact || matches!(kind, Kind::Integer { .. }) {
            let whole = |value| if let Value::Integer(value) = value { value } else { 0 };
            let total = terms.fold(whole(start), |sum, (a, b)| sum.wrapping_add(whole(a).wrapping_mul(whole(b))));
            let expected = kind.encode(total as i64).map_err(Disproof::Row)?;
            return match found == expected {
                true => Ok(()),
                false => Err(Disproof::WrongElement { place, found, element, expected }),
            };
        }
        let terms = terms.map(|(a, b)| (Double::of(a), Double::of(b)));
        let sum = terms.clone().fold(Double::default(), |sum, (a, b)| sum.plus_product(a, b));
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
