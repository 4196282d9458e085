//! Test cases of planned contractions: every element of the result must be that of a product of matrices, computed here.
//!
//! First with integers so small that every partial sum in any order is a number of the accumulator's type: the
//! result must be exact. Then with elements of all kinds against a sum of about 100 bits. Where factors have scales, a
//! third time with a scale that is NaN: so must be what it is for, and nothing else.
//!
//! How far an element may be off follows from how the plan's unit rounds, see [`tolerance`](super::tolerance). Sums of
//! integers wrap and are exact. Scaled factors are exact: what multiplies them has all of them, and so has binary64
//! here. Where they are to saturate, the second run is with integers of which they do, the same in any order.

use super::CheckFailure;
use super::case::{CaseElement, Expectation};
use super::contraction_factors::Factors;
use super::contraction_memory::{Value, multiplied};
use super::exact::Exact;
use super::test_case::{Legend, Predicted, TestBuffer, TestCase, input, output};
use super::tolerance::Tolerance;
use crate::kernels::mma_kernel;
use tilewright_kernel::Kernel;
use tilewright_plan::contract::Contraction;
use tilewright_plan::movement::PlanContext;
use tilewright_target::ElementType;

/// The plan's kernels on two or three sets of factors.
///
/// # Errors
/// [`CheckFailure`]: there is no kernel, or a type of which no elements are known here.
pub fn contraction_cases<'a>(
    plan: &Contraction,
    context: impl Into<PlanContext<'a>>,
) -> Result<Vec<TestCase>, CheckFailure> {
    let context = context.into();
    let tolerance = Tolerance::of(plan, context);
    let shown = shown(plan, &tolerance)?.into_iter();
    shown.map(|(factors, accumulates)| factors.case(plan, accumulates, &tolerance, context)).collect()
}

/// What a plan is shown with, and whether its kernel adds to sums that are there.
fn shown(plan: &Contraction, tolerance: &Tolerance) -> Result<Vec<(Factors, bool)>, CheckFailure> {
    let saturates = plan.problem.saturating;
    let any = if saturates { Factors::saturating(plan)? } else { Factors::any(plan)? };
    let with_nan = any.with_nan(plan);
    let shown =
        [Some((Factors::exact(plan, tolerance)?, true)), Some((any, saturates)), with_nan.map(|it| (it, false))];
    Ok(shown.into_iter().flatten().collect())
}

/// What an element of the result must be.
enum Expected {
    Exact(u64),
    Nan,
    /// A number to some 100 bits, and what the element may be off by.
    Near(Double, f64),
}

impl Factors {
    /// The kernel, and what it reads.
    fn kernel(
        &self,
        plan: &Contraction,
        accumulates: bool,
        context: PlanContext<'_>,
    ) -> Result<(Kernel, Vec<Vec<u8>>), CheckFailure> {
        let kernel = mma_kernel(plan, accumulates, context)?;
        let problem = &plan.problem;
        let [_, n, k] = problem.shape.map(|size| size as usize);
        let shuffle = plan.shuffle().map_err(|error| CheckFailure::Row(error.to_string()))?;
        let place = |side: usize, at: usize| match problem.shuffled[side] {
            true => shuffle.apply_packed(at as u64) as usize,
            false => at,
        };
        let a = self.a.bytes(k, |row, at| row * k + place(0, at));
        let b = match problem.b.bits() < 8 {
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

    fn case(
        &self,
        plan: &Contraction,
        accumulates: bool,
        tolerance: &Tolerance,
        context: PlanContext<'_>,
    ) -> Result<TestCase, CheckFailure> {
        let (kernel, inputs) = self.kernel(plan, accumulates, context)?;
        let mut buffers: Vec<_> = inputs.into_iter().enumerate().map(|(at, bytes)| input(at, bytes)).collect();
        buffers.push(self.result(plan, accumulates, tolerance)?);
        let predicted =
            Predicted { rounds: 1, counts: None, cycles: plan.cost.cycles(), shared_bytes: kernel.shared_bytes() };
        Ok(TestCase::of_buffers(kernel, 1, buffers).with_predicted(predicted))
    }

    /// The buffer of the result. An exact one is compared bit by bit.
    fn result(&self, plan: &Contraction, accumulates: bool, tolerance: &Tolerance) -> Result<TestBuffer, CheckFailure> {
        let [m, n, _] = plan.problem.shape;
        let bits = self.c.kind.bits();
        let (mut bytes, mut values, mut rests, mut allowed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for index in 0..self.c.elements.len() {
            let at = [index / n as usize, index % n as usize];
            let (Double { high, low }, off) = match self.expected(plan, accumulates, tolerance, at)? {
                Expected::Exact(bits) => {
                    bytes.extend(bits.to_le_bytes().into_iter().take((self.c.kind.bits() / 8) as usize));
                    continue;
                }
                Expected::Nan => (Double { high: f64::NAN, low: 0.0 }, 0.0),
                Expected::Near(sum, off) => (sum, off),
            };
            values.push(high);
            rests.push(low);
            allowed.push(off);
        }
        if !values.is_empty() {
            let element = element_named(&plan.problem.accumulator.to_string())?;
            return Ok(output(0, element, vec![m, n], Expectation::Near { values, rests, allowed }));
        }
        let legend = Legend::of_elements(bits, move |index| {
            (format!("row {}, column {} of the result", index / n, index % n), index)
        });
        let result = output(0, CaseElement::Unsigned(bits), vec![m, n], Expectation::exactly(bytes));
        Ok(TestBuffer { legend: Some(legend), ..result })
    }

    /// What an element of the result must be.
    fn expected(
        &self,
        plan: &Contraction,
        accumulates: bool,
        tolerance: &Tolerance,
        [row, column]: [usize; 2],
    ) -> Result<Expected, CheckFailure> {
        let [_, n, k] = plan.problem.shape.map(|size| size as usize);
        let scale = |side: usize, line: usize, inner: usize| {
            let (matrix, own) = self.scales[side].as_ref().zip(plan.problem.scales[side])?;
            let block = own.block as usize;
            Some(matrix.elements[line * (k / block).max(1) + inner / block].1)
        };
        let terms = (0..k).map(|inner| {
            let (a, b) = (self.a.elements[row * k + inner].1, self.b.elements[inner * n + column].1);
            (multiplied(a, scale(0, row, inner)), multiplied(b, scale(1, column, inner)))
        });
        let start = if accumulates { self.c.elements[row * n + column].1 } else { Value::Integer(0) };
        let kind = self.c.kind;
        if self.is_exact || matches!(kind, ElementType::Integer { .. }) {
            let whole = |value| if let Value::Integer(value) = value { value } else { 0 };
            let total = terms.fold(whole(start), |sum, (a, b)| sum.wrapping_add(whole(a).wrapping_mul(whole(b))));
            let total = if plan.problem.saturating { kind.saturated(total as i64) } else { total as i64 };
            return kind.encode(total).map(Expected::Exact).map_err(CheckFailure::Row);
        }
        let terms = terms.map(|(a, b)| (Double::of(a), Double::of(b)));
        let sum = terms.clone().fold(Double::default(), |sum, (a, b)| sum.plus_product(a, b));
        if sum.high.is_nan() {
            return Ok(Expected::Nan);
        }
        Ok(Expected::Near(sum, tolerance.allowed(terms.map(|(a, b)| [a.high, b.high]))))
    }
}

/// What elements of a type of sums are in a buffer.
fn element_named(name: &str) -> Result<CaseElement, CheckFailure> {
    // Instructions call integers with a sign `s32`, programs `i32`.
    let name = name.strip_prefix('s').map_or(name.to_owned(), |bits| format!("i{bits}"));
    CaseElement::named(&name).map_err(CheckFailure::Row)
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
