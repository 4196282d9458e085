//! Lowers powers of integers.

use tilewright_kernel::{Binary, Builder, Compare, Value};

/// Emits an integer power by repeated squaring. A negative exponent gives a fraction, which is zero except for bases
/// one and minus one; their powers repeat every second exponent, so the result is right in any case.
pub(super) fn of_integers(builder: &mut Builder, base: Value, exponent: Value) -> Value {
    let ty = builder.type_of(base);
    let (zero, one) = (builder.constant(ty, 0), builder.constant(ty, 1));
    let (mut power, mut square) = (one, base);
    for bit in 0..ty.bits() {
        let mask = builder.constant(ty, 1 << bit);
        let own = builder.binary(Binary::And, exponent, mask);
        let is_set = builder.compare(Compare::Ne, own, zero);
        let more = builder.binary(Binary::Mul, power, square);
        power = builder.select(is_set, more, power);
        square = builder.binary(Binary::Mul, square, square);
    }
    // For minus one, zero and one, the base plus one is at most two as an unsigned number.
    let after = builder.binary(Binary::Add, base, one);
    let two = builder.constant(ty, 2);
    let is_other = builder.compare(Compare::LtU, two, after);
    let is_zero = builder.compare(Compare::Eq, base, zero);
    let is_other = builder.binary(Binary::Or, is_other, is_zero);
    let is_fraction = builder.compare(Compare::LtS, exponent, zero);
    let vanishes = builder.binary(Binary::And, is_other, is_fraction);
    builder.select(vanishes, zero, power)
}
