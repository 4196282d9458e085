//! Test cases of planned MMAs: every element of the result is compared with a matrix product computed here.
//!
//! The first run has integers so small that the accumulator's type holds every partial sum in any order: the result
//! must be exact. The second run has elements over the whole range, compared with a sum of about 100 bits. If operands
//! have scales, a third run has a NaN scale: exactly the results that it applies to must be NaN.
//!
//! The tolerance of an element follows from the rounding of the plan's MMA, see [`tolerance`](super::tolerance).
//! Integer sums wrap and are exact. Scaled operands are exact: the MMA represents them exactly, and so does binary64
//! here. For saturating MMAs, the second run has integers whose sums saturate equally in any order.

use super::CheckFailure;
use super::case::{CaseElement, ExpectedContents};
use super::exact::Exact;
use super::mma_inputs::MmaInputs;
use super::mma_operand_memory::{Value, multiplied};
use super::test_case::{BufferLegend, PredictedStats, TestBuffer, TestCase, input, output};
use super::tolerance::Tolerance;
use crate::kernels::build_mma_kernel;
use tilewright_kernel::Kernel;
use tilewright_plan::mma::MmaPlan;
use tilewright_plan::movement::PlanContext;
use tilewright_target::ElementType;

/// Creates test cases of the plan's kernels with two or three sets of operands.
///
/// # Errors
/// [`CheckFailure`] if no kernel can be built for the plan, or if this crate does not know an element type.
pub fn build_mma_plan_cases<'a>(
    plan: &MmaPlan,
    context: impl Into<PlanContext<'a>>,
) -> Result<Vec<TestCase>, CheckFailure> {
    let context = context.into();
    let tolerance = Tolerance::of(plan, context);
    let shown = run_inputs(plan, &tolerance)?.into_iter();
    shown.map(|(input_set, accumulates)| input_set.case(plan, accumulates, &tolerance, context)).collect()
}

/// Returns the inputs of each run of the plan's kernel, each with whether the kernel adds to an initial accumulator.
fn run_inputs(plan: &MmaPlan, tolerance: &Tolerance) -> Result<Vec<(MmaInputs, bool)>, CheckFailure> {
    let saturates = plan.problem.saturating;
    let any = if saturates { MmaInputs::saturating(plan)? } else { MmaInputs::any(plan)? };
    let with_nan = any.with_nan(plan);
    let shown =
        [Some((MmaInputs::exact(plan, tolerance)?, true)), Some((any, saturates)), with_nan.map(|it| (it, false))];
    Ok(shown.into_iter().flatten().collect())
}

/// The expected value of an element of the result.
enum Expected {
    Exact(u64),
    Nan,
    /// A value (to about 100 bits), and the tolerated absolute error.
    Near(Double, f64),
}

impl MmaInputs {
    /// Builds the kernel of a plan, and returns it with the contents of its input buffers, in the order of the
    /// parameters. If `accumulates`, the kernel adds to an initial accumulator.
    fn kernel(
        &self,
        plan: &MmaPlan,
        accumulates: bool,
        context: PlanContext<'_>,
    ) -> Result<(Kernel, Vec<Vec<u8>>), CheckFailure> {
        let kernel = build_mma_kernel(plan, accumulates, context)?;
        let problem = &plan.problem;
        let [_, n, k] = problem.shape.map(|size| size as usize);
        let k_permutation = plan.k_permutation().map_err(|error| CheckFailure::Row(error.to_string()))?;
        let k_index = |side: usize, at: usize| match problem.k_permuted[side] {
            true => k_permutation.apply_packed(at as u64) as usize,
            false => at,
        };
        let a = self.a.bytes(k, |row, at| row * k + k_index(0, at));
        let b = match problem.b.bits() < 8 {
            true => self.b.bytes(k, |column, at| k_index(1, at) * n + column),
            false => self.b.bytes(n, |row, column| k_index(1, row) * n + column),
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
        plan: &MmaPlan,
        accumulates: bool,
        tolerance: &Tolerance,
        context: PlanContext<'_>,
    ) -> Result<TestCase, CheckFailure> {
        let (kernel, inputs) = self.kernel(plan, accumulates, context)?;
        let mut buffers: Vec<_> = inputs.into_iter().enumerate().map(|(at, bytes)| input(at, bytes)).collect();
        buffers.push(self.result(plan, accumulates, tolerance)?);
        let predicted =
            PredictedStats { rounds: 1, counts: None, cycles: plan.cost.cycles(), shared_bytes: kernel.shared_bytes() };
        Ok(TestCase::of_buffers(kernel, 1, buffers).with_predicted(predicted))
    }

    /// Creates the buffer that receives the result, with the expected value of each element. Exact results are compared
    /// bit by bit.
    fn result(&self, plan: &MmaPlan, accumulates: bool, tolerance: &Tolerance) -> Result<TestBuffer, CheckFailure> {
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
            return Ok(output(0, element, vec![m, n], ExpectedContents::Near { values, rests, allowed }));
        }
        let legend = BufferLegend::of_elements(bits, move |index| {
            (format!("row {}, column {} of the result", index / n, index % n), index)
        });
        let result = output(0, CaseElement::Unsigned(bits), vec![m, n], ExpectedContents::exact_bytes(bytes));
        Ok(TestBuffer { legend: Some(legend), ..result })
    }

    /// Computes the expected value of an element of the result.
    fn expected(
        &self,
        plan: &MmaPlan,
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
            let as_integer = |value| if let Value::Integer(value) = value { value } else { 0 };
            let total = terms
                .fold(as_integer(start), |sum, (a, b)| sum.wrapping_add(as_integer(a).wrapping_mul(as_integer(b))));
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

/// Returns the element type of buffers that hold elements of the accumulator type with this name.
fn element_named(name: &str) -> Result<CaseElement, CheckFailure> {
    // Instructions name signed integers `s32`, programs `i32`.
    let name = name.strip_prefix('s').map_or(name.to_owned(), |bits| format!("i{bits}"));
    CaseElement::from_name(&name).map_err(|error| CheckFailure::Row(error.to_string()))
}

/// An unevaluated sum of two binary64 values: about 100 bits (Dekker, 1971).
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
                // Small integers take a quicker path, since every term of a product is converted here: hardware
                // converts 64-bit integers by one instruction, wider ones not.
                if let Some(small) = i64::try_from(value).ok().filter(|small| small.unsigned_abs() < 1 << 53) {
                    return Self { high: small as f64, low: 0.0 };
                }
                let high = value as f64;
                Self { high, low: (value - high as i128) as f64 }
            }
        }
    }

    fn plus_product(self, a: Self, b: Self) -> Self {
        let product = a.high * b.high;
        let rest = a.high.mul_add(b.high, -product) + (a.high * b.low + a.low * b.high);
        let sum = self.high + product;
        let sum_minus_high = sum - self.high;
        let error = (self.high - (sum - sum_minus_high)) + (product - sum_minus_high);
        let low = self.low + rest + error;
        let high = sum + low;
        Self { high, low: low - (high - sum) }
    }
}
