//! Floating-point summation of one MMA element: products along K, added as [`Summation`] states.
//!
//! Values are carried in binary64. It represents all operand and accumulator values exactly, and all products except
//! those that [`Summation`] accumulates by chains of fused multiply-adds.

use super::super::rounding::{AccumulatorType, odd_total};
use tilewright_target::{FloatFormat, MmaNumerics, Summation};

/// Minimum exponent of a normal binary32 value.
const MIN_EXPONENT: i32 = -126;

/// The floating-point summation of one element of an MMA result, by the numerics of the instruction's table row.
pub(super) struct FloatSummation {
    pub(super) sum: AccumulatorType,
    pub(super) a: FloatFormat,
    pub(super) b: FloatFormat,
    /// Format of the accumulator input.
    pub(super) c: FloatFormat,
    pub(super) numerics: MmaNumerics,
    /// Number of products along K.
    pub(super) k: u32,
}

/// A term of a sum, with the exponent by which it is aligned with the other terms before they are added.
#[derive(Clone, Copy)]
struct Term {
    value: f64,
    exponent: i32,
}

/// Number of neighbouring columns of a result that are added at once, as vectors of the host.
const COLUMNS: usize = 8;

/// The values of an operand's elements.
pub(super) struct OperandValues {
    pub(super) values: Vec<f64>,
    /// For each element, two to the power of its exponent; zero for zero.
    scales: Vec<f64>,
    is_finite: bool,
}

impl OperandValues {
    pub(super) fn new(elements: Vec<u64>, format: FloatFormat) -> Self {
        let values: Vec<f64> = elements.into_iter().map(|bits| format.decode(bits)).collect();
        let scales = values.iter().map(|&value| scale(value, format)).collect();
        let is_finite = values.iter().all(|value| value.is_finite());
        Self { values, scales, is_finite }
    }
}

/// The products of one K index for `N` columns: their values, and two to the powers of their exponents (zero for zero).
#[derive(Clone, Copy)]
struct Products<const N: usize> {
    values: [f64; N],
    scales: [f64; N],
}

impl FloatSummation {
    /// Computes the bits of the element from the accumulator's bits and the operand elements.
    pub(super) fn total(&self, c: u64, operands: impl Iterator<Item = (u64, u64)>) -> u64 {
        self.total_of_values(c, operands.map(|(a, b)| [self.a.decode(a), self.b.decode(b)]))
    }

    /// Computes the bits of the element from the accumulator's bits and the values of the operand elements.
    pub(super) fn total_of_values(&self, c: u64, mut operands: impl Iterator<Item = [f64; 2]>) -> u64 {
        let c = self.c.decode(c);
        let total = match self.numerics.summation {
            Summation::Chain => operands.fold(c, |sum, [a, b]| self.sum.multiply_add(sum, a, b)),
            summation => {
                let (length, mut sum) = (summation.group_size(self.k) as usize, c);
                let mut group: Vec<[f64; 2]> = operands.by_ref().take(length).collect();
                while !group.is_empty() {
                    sum = self.add_group(sum, &group);
                    group.clear();
                    group.extend(operands.by_ref().take(length));
                }
                sum
            }
        };
        self.encoded(total)
    }

    /// Computes the bits of the element: adds the products, which are exact and of any range, to the accumulator one
    /// after another, rounding each sum.
    pub(super) fn total_of_products(&self, c: u64, products: impl Iterator<Item = f64>) -> u64 {
        self.encoded(products.fold(self.c.decode(c), |sum, product| self.sum.add_exact(sum, product)))
    }

    /// Returns the bits of a total in the accumulator's type.
    pub(super) fn encoded(&self, total: f64) -> u64 {
        if total.is_nan() && self.numerics.nan_is_all_ones {
            return self.sum.magnitude_bits();
        }
        self.sum.encode(total)
    }

    /// Adds the products of one group (neighbours along K that hardware adds in one step) to the running sum.
    fn add_group(&self, sum: f64, group: &[[f64; 2]]) -> f64 {
        if let Summation::Tree { .. } = self.numerics.summation {
            return self.tree(sum, group);
        }
        // The plain sum of finite terms is finite. If it is not finite, a term is infinite or NaN, and the plain sum is
        // the result, since the order of the terms does not matter then.
        let plain = group.iter().fold(sum, |sum, [a, b]| sum + a * b);
        if !plain.is_finite() {
            return plain;
        }
        match self.numerics.summation {
            Summation::Aligned { fraction, kept, .. } => {
                let scales = |[a, b]: [f64; 2]| scale(a, self.a) * scale(b, self.b);
                let product = |&[a, b]: &[f64; 2]| Products { values: [a * b], scales: [scales([a, b])] };
                let [total] = self.aligned([sum], &group.iter().map(product).collect::<Vec<_>>(), fraction, kept);
                total
            }
            Summation::Floored { fraction, fraction_of_sum, interleaved, .. } => {
                self.floored(sum, group, fraction, fraction_of_sum, interleaved)
            }
            _ => self.sum.round(odd_total(group.iter().map(|[a, b]| a * b).chain([sum]))),
        }
    }

    fn products<'a>(&'a self, group: &'a [[f64; 2]]) -> impl Iterator<Item = Term> + Clone + 'a {
        group.iter().map(|&[a, b]| match a * b {
            0.0 => Term { value: a * b, exponent: MIN_EXPONENT },
            value => Term { value, exponent: exponent(a, self.a) + exponent(b, self.b) },
        })
    }

    /// Returns the running sum as a term.
    fn so_far(&self, sum: f64) -> Term {
        Term { value: sum, exponent: if sum == 0.0 { MIN_EXPONENT } else { exponent(sum, self.c) } }
    }

    /// Whether [`FloatSummation::add_row`] computes products of these operands.
    pub(super) fn adds_rows(&self, a: &OperandValues, b: &OperandValues) -> bool {
        matches!(self.numerics.summation, Summation::Aligned { .. }) && a.is_finite && b.is_finite
    }

    /// Adds the products of one row of `a`, whose `k` elements start at an index, and of the rows of `b` from an index
    /// on, to the accumulators of that row of the result.
    pub(super) fn add_row(
        &self,
        accumulators: &mut [f64],
        a: (&OperandValues, usize),
        b: (&OperandValues, usize),
        k: usize,
    ) {
        let columns = accumulators.len();
        let (blocks, rest) = accumulators.as_chunks_mut::<COLUMNS>();
        let count = blocks.len();
        for (block, accumulators) in blocks.iter_mut().enumerate() {
            self.add_columns(accumulators, a, (b.0, b.1 + block * COLUMNS, columns), k);
        }
        for (at, sum) in rest.iter_mut().enumerate() {
            self.add_columns(std::array::from_mut(sum), a, (b.0, b.1 + count * COLUMNS + at, columns), k);
        }
    }

    /// As [`FloatSummation::add_row`], for `N` columns; the last number of `b` is the distance of its rows.
    fn add_columns<const N: usize>(
        &self,
        accumulators: &mut [f64; N],
        (a, of_a): (&OperandValues, usize),
        (b, of_b, stride): (&OperandValues, usize, usize),
        k: usize,
    ) {
        let Summation::Aligned { fraction, kept, .. } = self.numerics.summation else { return };
        let group = self.numerics.summation.group_size(self.k) as usize;
        let mut products = Vec::with_capacity(group);
        for k_at in 0..k {
            let (value, scale) = (a.values[of_a + k_at], a.scales[of_a + k_at]);
            let from = of_b + k_at * stride;
            let (values, scales) = (&b.values[from..from + N], &b.scales[from..from + N]);
            products.push(Products {
                values: std::array::from_fn(|column| value * values[column]),
                scales: std::array::from_fn(|column| scale * scales[column]),
            });
            if products.len() == group || k_at + 1 == k {
                *accumulators = self.aligned(*accumulators, &products, fraction, kept);
                products.clear();
            }
        }
    }

    /// Adds one group of finite products to the accumulators of `N` columns. A sum that is infinite or NaN stays so.
    fn aligned<const N: usize>(
        &self,
        accumulators: [f64; N],
        products: &[Products<N>],
        fraction: u32,
        kept: u32,
    ) -> [f64; N] {
        let (least, step) = (power(MIN_EXPONENT), power(-(fraction as i32)));
        // The greatest exponent as a power of two; a zero term counts with the least exponent.
        let mut top = accumulators.map(|sum| scale(sum, self.c).max(least));
        for product in products {
            top = std::array::from_fn(|column| larger(product.scales[column], top[column]));
        }
        // The neutral element of addition is negative zero.
        let mut totals = [-0.0; N];
        for values in products.iter().map(|product| &product.values).chain([&accumulators]) {
            totals = std::array::from_fn(|column| totals[column] + truncated(values[column], top[column] * step));
        }
        let narrowed = |total: f64| match self.sum {
            AccumulatorType::F32 => {
                let unit = larger(leading_power(total), least) * power(-(kept as i32));
                f64::from(truncated(total, unit) as f32)
            }
            narrower => narrower.round(total),
        };
        let narrowed = totals.map(narrowed);
        std::array::from_fn(
            |column| if accumulators[column].is_finite() { narrowed[column] } else { accumulators[column] },
        )
    }

    fn floored(&self, sum: f64, group: &[[f64; 2]], fraction: u32, fraction_of_sum: u32, interleaved: bool) -> f64 {
        let overflows = |term: &Term| term.value.abs() >= power(128);
        if let Some(term) = self.products(group).find(overflows) {
            // Further overflowing terms of the other sign make the result NaN.
            let others = self.products(group).filter(overflows).any(|other| (other.value < 0.0) != (term.value < 0.0));
            return if others { f64::NAN } else { f64::INFINITY.copysign(term.value) };
        }
        let (products, greatest) = if interleaved {
            let every_other = |first| cut_and_added(self.products(group).skip(first).step_by(2), fraction);
            let ((even, of_even), (odd, of_odd)) = (every_other(0), every_other(1));
            let greatest = of_even.max(of_odd);
            let at = |value| floored_at(value, fraction as i32 - greatest);
            (at(even) + at(odd), greatest)
        } else {
            cut_and_added(self.products(group), fraction)
        };
        let sum = self.so_far(sum);
        let top = greatest.max(sum.exponent);
        let products = floored_at(products, fraction_of_sum as i32 - top);
        let vanishes = interleaved && sum.exponent < top - fraction as i32 - 1;
        let before = if vanishes { 0.0 } else { floored_at(sum.value, fraction as i32 - top) };
        self.sum.round(products + before)
    }

    /// Adds the products of a group pairwise in binary32, and then the running sum; subnormal operands, products and
    /// partial sums become zero.
    fn tree(&self, sum: f64, group: &[[f64; 2]]) -> f64 {
        let flush_subnormal =
            |value: f64, format: FloatFormat| if value.abs() < format.min_normal() { 0.0 } else { value };
        let product = |&[a, b]: &[f64; 2]| flushed((flush_subnormal(a, self.a) * flush_subnormal(b, self.b)) as f32);
        let mut all: Vec<f32> = group.iter().map(product).collect();
        while all.len() > 1 {
            all = all.chunks(2).map(|pair| flushed(pair.iter().copied().reduce(|a, b| a + b).unwrap_or(0.0))).collect();
        }
        let sum = flush_subnormal(sum, self.c) as f32;
        f64::from(all.first().map_or(sum, |&products| flushed(sum + products)))
    }
}

/// Truncates the terms to `fraction` bits below the greatest of their exponents, and adds them exactly; returns the sum
/// and that exponent.
fn cut_and_added(terms: impl Iterator<Item = Term> + Clone, fraction: u32) -> (f64, i32) {
    let greatest = terms.clone().map(|term| term.exponent).max().unwrap_or(MIN_EXPONENT);
    let lsb_exponent = fraction as i32 - greatest;
    let cut = terms.map(|term| (term.value * power(lsb_exponent)).trunc());
    (cut.reduce(|a, b| a + b).unwrap_or(0.0) * power(-lsb_exponent), greatest)
}

fn floored_at(value: f64, lsb_exponent: i32) -> f64 {
    (value * power(lsb_exponent)).floor() * power(-lsb_exponent)
}

/// Two to the power of the exponent of a finite value of a format; zero for zero.
fn scale(value: f64, format: FloatFormat) -> f64 {
    if value == 0.0 { 0.0 } else { leading_power(value).max(power(1 - format.bias())) }
}

/// Returns the greater number. In this form the host compares vectors, since no argument is NaN.
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// Truncates a value of magnitude below 2^52 units toward zero to a multiple of `unit`, a power of two. The sum of the
/// magnitude and 2^52 units is rounded to a multiple of the unit, since it has no lower bits.
fn truncated(value: f64, unit: f64) -> f64 {
    let shift = unit * power(52);
    let nearest = value.abs() + shift - shift;
    let excess = if nearest > value.abs() { unit } else { 0.0 };
    (nearest - excess).copysign(value)
}

/// The greatest power of two that is not above the magnitude of a normal value; zero for zero.
fn leading_power(value: f64) -> f64 {
    f64::from_bits(value.to_bits() & 0x7ff << 52)
}

/// The exponent of a value of a format; a subnormal value has the format's minimum exponent.
fn exponent(value: f64, format: FloatFormat) -> i32 {
    binary_exponent(value).max(1 - format.bias())
}

fn binary_exponent(value: f64) -> i32 {
    (value.to_bits() >> 52 & 0x7ff) as i32 - 1023
}

/// Two to the power of `exponent`, within binary64's normal range.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

fn flushed(value: f32) -> f32 {
    if value.is_subnormal() { 0f32.copysign(value) } else { value }
}

#[cfg(test)]
mod tests;
