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
use super::case::{After, Element};
use super::contraction_factors::Factors;
use super::contraction_memory::{Value, multiplied};
use super::exact::Exact;
use super::proof::{Machine, run, word};
use super::tolerance::Tolerance;
use super::trial::{Predicted, Trial, input, output};
use tilewright_emulator::Report;
use tilewright_kernel::Kernel;
use tilewright_lower::contraction_kernel;
use tilewright_plan::contract::Contraction;
use tilewright_plan::movement::Means;
use tilewright_plugin::{Device, Target};
use tilewright_target::Number;

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
    let mut machine = Machine::new(target, device);
    prove(plan, means, &mut |kernel, inputs, outputs| machine.run(kernel, inputs, outputs, 1))
}

fn prove(plan: &Contraction, means: Means<'_>, execute: Execute<'_>) -> Result<(), Disproof> {
    let tolerance = Tolerance::of(plan, means);
    shown(plan, &tolerance)?
        .into_iter()
        .try_for_each(|(factors, accumulates)| factors.run(plan, accumulates, &tolerance, means, execute))
}

/// The same kernels on the same factors, to be run elsewhere.
///
/// # Errors
/// [`Disproof`]: there is no kernel, or a type of which no elements are known here.
pub fn contraction_trials(plan: &Contraction, means: Means<'_>) -> Result<Vec<Trial>, Disproof> {
    let tolerance = Tolerance::of(plan, means);
    let shown = shown(plan, &tolerance)?.into_iter();
    shown.map(|(factors, accumulates)| factors.trial(plan, accumulates, &tolerance, means)).collect()
}

/// What a plan is shown with, and whether its kernel adds to sums that are there.
fn shown(plan: &Contraction, tolerance: &Tolerance) -> Result<Vec<(Factors, bool)>, Disproof> {
    let saturates = plan.question.saturating;
    let any = if saturates { Factors::saturating(plan)? } else { Factors::any(plan)? };
    let with_nan = any.with_nan(plan);
    let shown =
        [Some((Factors::exact(plan, tolerance)?, true)), Some((any, saturates)), with_nan.map(|it| (it, false))];
    Ok(shown.into_iter().flatten().collect())
}

/// What an element of the result must be.
enum Wanted {
    Exact(u64),
    Nan,
    /// A number to some 100 bits, and what the element may be off by.
    Near(Double, f64),
}

impl Factors {
    fn run(
        &self,
        plan: &Contraction,
        accumulates: bool,
        tolerance: &Tolerance,
        means: Means<'_>,
        execute: Execute<'_>,
    ) -> Result<(), Disproof> {
        let (kernel, inputs) = self.kernel(plan, accumulates, means)?;
        let bytes = (self.c.kind.bits() / 8) as usize;
        let written = execute(kernel, &inputs, &[self.c.elements.len() * bytes])?;
        let n = plan.question.shape[1] as usize;
        for (index, found) in written[0].chunks_exact(bytes).map(word).enumerate() {
            let at = [index / n, index % n];
            self.compare(at, self.wanted(plan, accumulates, tolerance, at)?, index, found)?;
        }
        Ok(())
    }

    /// The kernel, and what it reads.
    fn kernel(
        &self,
        plan: &Contraction,
        accumulates: bool,
        means: Means<'_>,
    ) -> Result<(Kernel, Vec<Vec<u8>>), Disproof> {
        let kernel = contraction_kernel("dot", plan, accumulates, means)?;
        tilewright_kernel::verify_instructions(&kernel, means.instructions)?;
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
        Ok((kernel, inputs))
    }

    /// The same as a trial.
    fn trial(
        &self,
        plan: &Contraction,
        accumulates: bool,
        tolerance: &Tolerance,
        means: Means<'_>,
    ) -> Result<Trial, Disproof> {
        let (kernel, inputs) = self.kernel(plan, accumulates, means)?;
        let (n, width) = (plan.question.shape[1] as usize, (self.c.kind.bits() / 8) as usize);
        let (mut bytes, mut values, mut allowed, mut exact) = (Vec::new(), Vec::new(), Vec::new(), true);
        for index in 0..self.c.elements.len() {
            let (value, off) = match self.wanted(plan, accumulates, tolerance, [index / n, index % n])? {
                Wanted::Exact(bits) => {
                    bytes.extend(bits.to_le_bytes().into_iter().take(width));
                    continue;
                }
                Wanted::Nan => (f64::NAN, 0.0),
                Wanted::Near(Double { high, low }, off) => (high, off + low.abs()),
            };
            exact = false;
            values.push(value);
            allowed.push(off);
        }
        let after = match exact {
            true => After::Expected { bytes, tolerance: Default::default() },
            false => After::Near { values, allowed },
        };
        let element = element_named(&plan.question.accumulator.to_string())?;
        let mut buffers: Vec<_> = inputs.into_iter().enumerate().map(|(at, bytes)| input(at, bytes)).collect();
        buffers.push(output(0, element, self.c.elements.len() as u64, after));
        let predicted =
            Predicted { rounds: 1, counts: None, cycles: plan.cost.cycles(), shared_bytes: kernel.shared_bytes() };
        Ok(Trial::of_buffers(kernel, 1, buffers, Some(predicted)))
    }

    fn compare(&self, [row, column]: [usize; 2], wanted: Wanted, index: usize, found: u64) -> Result<(), Disproof> {
        let (place, kind, element) = (format!("row {row}, column {column} of the result"), self.c.kind, index as u64);
        let wrong = |place, expected| Err(Disproof::WrongElement { place, found, element, expected });
        match wanted {
            Wanted::Exact(expected) if found == expected => Ok(()),
            Wanted::Exact(expected) => wrong(place, expected),
            Wanted::Nan if kind.is_nan(found) => Ok(()),
            Wanted::Nan => wrong(place, 0x7fc0_0000),
            Wanted::Near(sum, tolerance) => {
                let found = kind.decode(found);
                let error = (found - sum.high) - sum.low;
                // What is not a number is not within.
                if error.abs() <= tolerance {
                    return Ok(());
                }
                Err(Disproof::Imprecise { place, found, expected: sum.high, tolerance })
            }
        }
    }

    /// What an element of the result must be.
    fn wanted(
        &self,
        plan: &Contraction,
        accumulates: bool,
        tolerance: &Tolerance,
        [row, column]: [usize; 2],
    ) -> Result<Wanted, Disproof> {
        let [_, n, k] = plan.question.shape.map(|size| size as usize);
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
        if self.is_exact || matches!(kind, Number::Integer { .. }) {
            let whole = |value| if let Value::Integer(value) = value { value } else { 0 };
            let total = terms.fold(whole(start), |sum, (a, b)| sum.wrapping_add(whole(a).wrapping_mul(whole(b))));
            let total = if plan.question.saturating { kind.saturated(total as i64) } else { total as i64 };
            return kind.encode(total).map(Wanted::Exact).map_err(Disproof::Row);
        }
        let terms = terms.map(|(a, b)| (Double::of(a), Double::of(b)));
        let sum = terms.clone().fold(Double::default(), |sum, (a, b)| sum.plus_product(a, b));
        if sum.high.is_nan() {
            return Ok(Wanted::Nan);
        }
        Ok(Wanted::Near(sum, tolerance.allowed(terms.map(|(a, b)| [a.high, b.high]))))
    }
}

/// What elements of a type of sums are in a buffer.
fn element_named(name: &str) -> Result<Element, Disproof> {
    // Instructions call integers with a sign `s32`, programs `i32`.
    let name = name.strip_prefix('s').map_or(name.to_owned(), |bits| format!("i{bits}"));
    Element::named(&name).map_err(Disproof::Row)
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
