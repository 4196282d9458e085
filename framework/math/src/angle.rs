//! Argument reduction by multiples of pi / 2.
//!
//! Up to a limit (2^16 in binary32, 2^30 in binary64), a multiple of pi / 2 is subtracted from the argument, with pi /
//! 2 as the sum of three numbers (Cody and Waite). Above it, the argument is multiplied by the relevant binary digits
//! of 2 / pi (Payne and Hanek). Digits that contribute multiples of 2 pi are dropped; enough further digits are taken
//! that the remainder is accurate even for the argument closest to a multiple of pi / 2.

use super::formula_builder::{FormulaBuilder, Int, Real};
use super::tables::constants::{HALF_PI, TWO_OVER_PI, TWO_OVER_PI_DOUBLE, TWO_OVER_PI_SINGLE};

/// A reduced angle: `quadrant` times pi / 2, plus `high + low` radians, whose magnitude is about pi / 4 at most. Only
/// the two low bits of `quadrant` are meaningful.
pub(super) struct Angle<'p> {
    pub quadrant: Int<'p>,
    pub high: Real<'p>,
    pub low: Real<'p>,
}

/// Reduces an angle `x` in radians to a quadrant and a remainder; infinities give NaN.
pub(super) fn reduced<'p>(x: Real<'p>) -> Angle<'p> {
    let formula = x.formula;
    let limit = formula.select_by_type(65_536.0, 1_073_741_824.0);
    let is_far = formula.real_constant(limit).is_less(x.abs());
    let (quadrant, [high, low]) = formula.emit_branch(is_far, || far(x), || near(x));
    Angle { quadrant, high, low }
}

fn near<'p>(x: Real<'p>) -> (Int<'p>, [Real<'p>; 2]) {
    let formula = x.formula;
    let [first, second, third] = [0, 1, 2].map(|entry_index| -formula.table_entry(&HALF_PI, entry_index));
    let (count, quadrant) = x.round_product(formula.table_entry(&TWO_OVER_PI, 0));
    // Exact: the remainder is less than one, and a multiple of the last bit of this first part of pi / 2.
    let rest = count.mul_add(first, x);
    let [product, left] = count.two_product(second);
    let [rest, more] = rest.two_sum(product);
    (quadrant, rest.fast_two_sum(count.mul_add(third, more + left)))
}

fn far<'p>(x: Real<'p>) -> (Int<'p>, [Real<'p>; 2]) {
    let formula = x.formula;
    let (width, fraction) = (formula.float_bits(), formula.fraction_bits());
    let field = (x.to_bits() >> fraction) & (2 * formula.exponent_bias() + 1);
    let mantissa = (x.to_bits() & ((1 << fraction) - 1)) | (1 << fraction);
    // Index, in the table of digits of 2 / pi, of the digit whose product with the mantissa's last bit counts two
    // quadrants. Digits before it contribute multiples of 2 pi. The table starts with zeros.
    let zeros = formula.select_by_type(10, 24);
    let at = field - (formula.exponent_bias() + fraction + 2 - zeros);
    let digits = digits_from(at);
    let [high_bits, low_bits] = product(mantissa, digits);
    let quadrant = high_bits >> (width - 2);
    let [high, low] = [(high_bits << 2) | (low_bits >> (width - 2)), low_bits << 2];
    // All ones if the fraction is in the upper half of its quadrant; the remainder is then the negative distance to the
    // next quadrant.
    let is_over = high.shr_s(width - 1);
    let quadrant = quadrant - is_over;
    let [high, low] = in_quarters([high ^ is_over, low ^ is_over]);
    let [scale, scale_low] = [0, 1].map(|entry_index| formula.table_entry(&HALF_PI, entry_index));
    let [angle, left] = high.two_product(scale);
    let [angle, left] = angle.fast_two_sum(high.mul_add(scale_low, low.mul_add(scale, left)));
    let sign = x.sign_bit() ^ (is_over & (1 << (width - 1)));
    let quadrant = x.is_less(0.0).select_int(formula.int_constant(0) - quadrant, quadrant);
    let is_finite = x.abs().is_less(f64::INFINITY);
    let angle = is_finite.select(angle.flip_sign_by(sign), f64::NAN);
    (quadrant, [angle, left.flip_sign_by(sign)])
}

/// Returns three words of the binary digits of 2 / pi from the digit with the index `at` on, the most significant word
/// first. A word is as wide as the floating-point type.
fn digits_from<'p>(at: Int<'p>) -> [Int<'p>; 3] {
    let formula = at.formula;
    let all: Vec<u64> = formula.select_by_type(TWO_OVER_PI_SINGLE.map(u64::from).to_vec(), TWO_OVER_PI_DOUBLE.to_vec());
    let mut ints: Vec<Int<'p>> = all.into_iter().map(|int| formula.int_constant(int)).collect();
    let (index, shift) = (at >> formula.select_by_type(5, 6), at & (formula.float_bits() - 1));
    for level in (0..formula.select_by_type(2, 4)).rev() {
        let step = 1usize << level;
        let is_set = index.has_any_bit(step as u64);
        ints = ints.windows(1 + step).map(|own| is_set.select_int(own[step], own[0])).take(4 + step - 1).collect();
    }
    let back = shift ^ (formula.float_bits() - 1);
    std::array::from_fn(|index| (ints[index] << shift) | ((ints[index + 1] >> 1) >> back))
}

/// Returns two words of `mantissa * digits`, the most significant first; `digits` are three words in the same order.
///
/// The product has four words: the highest is dropped, because it counts multiples of 2 pi, and the lowest, because it
/// is beyond the precision.
fn product<'p>(mantissa: Int<'p>, digits: [Int<'p>; 3]) -> [Int<'p>; 2] {
    let low = digits[2].mul_high(mantissa);
    let middle = digits[1] * mantissa + low;
    let carry = middle.is_less(low).select_int(1, 0);
    [digits[0] * mantissa + digits[1].mul_high(mantissa) + carry, middle]
}

/// Converts a fraction of a quadrant to floating point: returns a high and a low part, whose sum is the fraction. The
/// fraction is a signed number of two words, behind the binary point, the most significant word first. Conversions of
/// half words are exact.
fn in_quarters<'p>([high, low]: [Int<'p>; 2]) -> [Real<'p>; 2] {
    let formula: &'p FormulaBuilder<'p> = high.formula;
    let half = formula.float_bits() / 2;
    let mask = (1 << half) - 1;
    let scaled = |int: Int<'p>, position: i32| int.to_real() * 2f64.powi(-position * half as i32);
    let [first, left] = scaled(high >> half, 1).fast_two_sum(scaled(high & mask, 2));
    first.fast_two_sum(left + (scaled(low >> half, 3) + scaled(low & mask, 4)))
}
