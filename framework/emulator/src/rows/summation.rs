//! One element of a product of matrices: products along K, added as [`Summation`] says.
//!
//! Values are carried in binary64: it has all values of the factors and of the sums, and the products of all types
//! whose sums are not chains of fused multiply-adds.

use super::super::rounding::{Sum, odd_total};
use tilewright_target::{Format, Numerics, Summation};

/// Least normal exponent of binary32.
const LEAST: i32 = -126;

/// How one element comes about.
pub(super) struct Summed {
    pub(super) sum: Sum,
    pub(super) a: Format,
    pub(super) b: Format,
    /// Of what is added to.
    pub(super) c: Format,
    pub(super) numerics: Numerics,
    /// Products along K.
    pub(super) k: u32,
}

/// A number to add, and the exponent by which it is aligned.
#[derive(Clone, Copy)]
struct Term {
    value: f64,
    exponent: i32,
}

impl Summed {
    /// The bits of the element, from those of what it is added to and of the factors.
    pub(super) fn total(&self, c: u64, factors: impl Iterator<Item = (u64, u64)>) -> u64 {
        let factors = factors.map(|(a, b)| [self.a.decode(a), self.b.decode(b)]);
        let c = self.c.decode(c);
        let total = match self.numerics.summation {
            Summation::Chain => factors.fold(c, |sum, [a, b]| self.sum.multiply_add(sum, a, b)),
            summation => {
                let factors: Vec<_> = factors.collect();
                let groups = factors.chunks(summation.group(self.k) as usize);
                groups.fold(c, |sum, group| self.added(sum, group))
            }
        };
        self.encoded(total)
    }

    /// The same from exact products, one after the other, whatever their range.
    pub(super) fn total_of_products(&self, c: u64, products: impl Iterator<Item = f64>) -> u64 {
        self.encoded(products.fold(self.c.decode(c), |sum, product| self.sum.add_exact(sum, product)))
    }

    fn encoded(&self, total: f64) -> u64 {
        if total.is_nan() && self.numerics.nan_is_all_ones {
            return self.sum.magnitude_bits();
        }
        self.sum.encode(total)
    }

    /// The sum so far and the products of one group.
    fn added(&self, sum: f64, group: &[[f64; 2]]) -> f64 {
        if let Summation::Tree { .. } = self.numerics.summation {
            return self.tree(sum, group);
        }
        // Of finite numbers nothing here is infinite; of others the order does not matter.
        let plain = group.iter().fold(sum, |sum, [a, b]| sum + a * b);
        if !plain.is_finite() {
            return plain;
        }
        match self.numerics.summation {
            Summation::Aligned { fraction, kept, .. } => self.aligned(sum, group, fraction, kept),
            Summation::Floored { fraction, fraction_of_sum, interleaved, .. } => {
                self.floored(sum, group, fraction, fraction_of_sum, interleaved)
            }
            _ => self.sum.round(odd_total(group.iter().map(|[a, b]| a * b).chain([sum]))),
        }
    }

    fn products<'a>(&'a self, group: &'a [[f64; 2]]) -> impl Iterator<Item = Term> + Clone + 'a {
        group.iter().map(|&[a, b]| match a * b {
            0.0 => Term { value: a * b, exponent: LEAST },
            value => Term { value, exponent: exponent(a, self.a) + exponent(b, self.b) },
        })
    }

    /// The sum so far, with its exponent.
    fn so_far(&self, sum: f64) -> Term {
        Term { value: sum, exponent: if sum == 0.0 { LEAST } else { exponent(sum, self.c) } }
    }

    fn aligned(&self, sum: f64, group: &[[f64; 2]], fraction: u32, kept: u32) -> f64 {
        let (total, _) = cut_and_added(self.products(group).chain([self.so_far(sum)]), fraction);
        match self.sum {
            Sum::F32 => {
                let place = kept as i32 - binary_exponent(total).max(LEAST);
                let cut = (total * power(place)).trunc() * power(-place);
                f64::from(cut as f32)
            }
            narrower => narrower.round(total),
        }
    }

    fn floored(&self, sum: f64, group: &[[f64; 2]], fraction: u32, fraction_of_sum: u32, interleaved: bool) -> f64 {
        let overflows = |term: &Term| term.value.abs() >= power(128);
        if let Some(term) = self.products(group).find(overflows) {
            // The others that overflow decide whether this is a number.
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

    /// Two by two, in binary32, subnormals being zero.
    fn tree(&self, sum: f64, group: &[[f64; 2]]) -> f64 {
        let factor = |value: f64, format: Format| if value.abs() < format.least_normal() { 0.0 } else { value };
        let product = |&[a, b]: &[f64; 2]| flushed((factor(a, self.a) * factor(b, self.b)) as f32);
        let mut all: Vec<f32> = group.iter().map(product).collect();
        while all.len() > 1 {
            all = all.chunks(2).map(|pair| flushed(pair.iter().copied().reduce(|a, b| a + b).unwrap_or(0.0))).collect();
        }
        let sum = factor(sum, self.c) as f32;
        f64::from(all.first().map_or(sum, |&products| flushed(sum + products)))
    }
}

/// Terms cut `fraction` bits below the greatest exponent and added exactly, and that exponent.
fn cut_and_added(terms: impl Iterator<Item = Term> + Clone, fraction: u32) -> (f64, i32) {
    let greatest = terms.clone().map(|term| term.exponent).max().unwrap_or(LEAST);
    let place = fraction as i32 - greatest;
    let cut = terms.map(|term| (term.value * power(place)).trunc());
    (cut.reduce(|a, b| a + b).unwrap_or(0.0) * power(-place), greatest)
}

fn floored_at(value: f64, place: i32) -> f64 {
    (value * power(place)).floor() * power(-place)
}

/// The exponent of a number of a format; of subnormal ones the least.
fn exponent(value: f64, format: Format) -> i32 {
    binary_exponent(value).max(1 - format.bias())
}

fn binary_exponent(value: f64) -> i32 {
    (value.to_bits() >> 52 & 0x7ff) as i32 - 1023
}

/// Two to an exponent within binary64's normal range.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

fn flushed(value: f32) -> f32 {
    if value.is_subnormal() { 0f32.copysign(value) } else { value }
}

#[cfg(test)]
mod tests;
