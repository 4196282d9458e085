//! Angles without their whole quarter turns.
//!
//! Up to a limit multiples of pi / 2 are subtracted in three parts, each product exact (Cody and Waite). Above it the
//! argument is multiplied by those binary digits of 2 / pi that matter to it (Payne and Hanek): digits that make whole
//! turns are left out, and as many behind are taken as the closest argument to a multiple of pi / 2 needs.

use super::place::{Place, Real, Word};
use super::tables::constants::{HALF_PI, TWO_OVER_PI, TWO_OVER_PI_DOUBLE, TWO_OVER_PI_SINGLE};

/// An angle of `quadrant` quarter turns, of which the last two bits count, and `high + low`, about pi / 4 at most.
pub(super) struct Angle<'p> {
    pub quadrant: Word<'p>,
    pub high: Real<'p>,
    pub low: Real<'p>,
}

/// Takes the quarter turns off an angle in radians; infinities become NaN.
pub(super) fn reduced<'p>(x: Real<'p>) -> Angle<'p> {
    let place = x.place;
    let limit = place.by_type(65_536.0, 1_073_741_824.0);
    let is_far = place.number(limit).is_less(x.abs());
    let (quadrant, [high, low]) = place.branch(is_far, || far(x), || near(x));
    Angle { quadrant, high, low }
}

fn near<'p>(x: Real<'p>) -> (Word<'p>, [Real<'p>; 2]) {
    let place = x.place;
    let [first, second, third] = [0, 1, 2].map(|part| -place.entry(&HALF_PI, part));
    let (count, quadrant) = x.nearest_of_product(place.entry(&TWO_OVER_PI, 0));
    // Exact: a multiple of the last bit of pi / 2, and less than one.
    let rest = count.mul_add(first, x);
    let [product, left] = count.two_product(second);
    let [rest, more] = rest.two_sum(product);
    (quadrant, rest.fast_sum(count.mul_add(third, more + left)))
}

fn far<'p>(x: Real<'p>) -> (Word<'p>, [Real<'p>; 2]) {
    let place = x.place;
    let (width, fraction) = (place.width(), place.fraction());
    let field = (x.bits() >> fraction) & (2 * place.bias() + 1);
    let mantissa = (x.bits() & ((1 << fraction) - 1)) | (1 << fraction);
    // The digit that stands for two: digits before it make whole turns. Zeros are put before all digits.
    let zeros = place.by_type(10, 24);
    let at = field - (place.bias() + fraction + 2 - zeros);
    let digits = digits_from(at);
    let [whole, part] = product(mantissa, digits);
    let quadrant = whole >> (width - 2);
    let [high, low] = [(whole << 2) | (part >> (width - 2)), part << 2];
    // From half a quarter on, what is missing to the next.
    let is_over = high.shr_s(width - 1);
    let quadrant = quadrant - is_over;
    let [high, low] = in_quarters([high ^ is_over, low ^ is_over]);
    let [scale, scale_low] = [0, 1].map(|part| place.entry(&HALF_PI, part));
    let [angle, left] = high.two_product(scale);
    let [angle, left] = angle.fast_sum(high.mul_add(scale_low, low.mul_add(scale, left)));
    let sign = x.sign() ^ (is_over & (1 << (width - 1)));
    let quadrant = x.is_less(0.0).select_word(place.word(0) - quadrant, quadrant);
    let is_finite = x.abs().is_less(f64::INFINITY);
    let angle = is_finite.select(angle.with_sign_changed(sign), f64::NAN);
    (quadrant, [angle, left.with_sign_changed(sign)])
}

/// Three words of the digits of 2 / pi from one on, most significant first.
fn digits_from<'p>(at: Word<'p>) -> [Word<'p>; 3] {
    let place = at.place;
    let all: Vec<u64> = place.by_type(TWO_OVER_PI_SINGLE.map(u64::from).to_vec(), TWO_OVER_PI_DOUBLE.to_vec());
    let mut words: Vec<Word<'p>> = all.into_iter().map(|word| place.word(word)).collect();
    let (index, shift) = (at >> place.by_type(5, 6), at & (place.width() - 1));
    for level in (0..place.by_type(2, 4)).rev() {
        let step = 1usize << level;
        let is_set = index.has(step as u64);
        words = words.windows(1 + step).map(|own| is_set.select_word(own[step], own[0])).take(4 + step - 1).collect();
    }
    let back = shift ^ (place.width() - 1);
    std::array::from_fn(|word| (words[word] << shift) | ((words[word + 1] >> 1) >> back))
}

/// The upper two words of the lower three words of a product.
fn product<'p>(mantissa: Word<'p>, digits: [Word<'p>; 3]) -> [Word<'p>; 2] {
    let low = digits[2].mul_high(mantissa);
    let middle = digits[1] * mantissa + low;
    let carry = middle.is_less(low).select_word(1, 0);
    [digits[0] * mantissa + digits[1].mul_high(mantissa) + carry, middle]
}

/// A number of two words, as a part of their range, as the sum of two numbers: half words are exact.
fn in_quarters<'p>([high, low]: [Word<'p>; 2]) -> [Real<'p>; 2] {
    let place: &'p Place<'p> = high.place;
    let half = place.width() / 2;
    let mask = (1 << half) - 1;
    let scaled = |word: Word<'p>, halves: i32| word.to_real() * 2f64.powi(-halves * half as i32);
    let [first, left] = scaled(high >> half, 1).fast_sum(scaled(high & mask, 2));
    first.fast_sum(left + (scaled(low >> half, 3) + scaled(low & mask, 4)))
}
