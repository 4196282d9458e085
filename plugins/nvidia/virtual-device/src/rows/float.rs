//! PTX instructions for floating-point arithmetic.

use super::{one, three, two};
use crate::float::{Exact, Float, Rounding};
use crate::machine::Compute;
use crate::program::Form;

/// Properties of a floating-point instruction: its type, rounding mode, and the treatment of operands and results.
#[derive(Clone, Copy)]
pub(super) struct Style {
    pub(super) float: Float,
    pub(super) rounding: Rounding,
    /// Whether subnormal operands and results become zero (`.ftz`).
    flushes: bool,
    /// Whether results are clamped to the range 0 to 1, and NaN becomes 0 (`.sat`).
    saturates: bool,
    /// Whether negative results become zero (`.relu`).
    relu: bool,
}

impl Style {
    pub(super) fn of(form: &Form<'_>) -> Option<Self> {
        Some(Self {
            float: form.types.last().copied().unwrap_or(form.ty()).float()?,
            rounding: form.find(Rounding::named).unwrap_or(Rounding::Even),
            flushes: form.has("ftz"),
            saturates: form.has("sat"),
            relu: form.has("relu"),
        })
    }

    /// Returns two styles: for the first (or multiplied) operands, and for the result and last operand, which may be
    /// wider. For example `add.f32.f16` adds a binary16 number to a binary32 number.
    fn mixed(form: &Form<'_>) -> Option<[Self; 2]> {
        let source = Self::of(form)?;
        Some([source, Self { float: form.ty().float()?, ..source }])
    }

    pub(super) fn read(self, bits: u64) -> f64 {
        self.float.decode(if self.flushes { self.float.flushed(bits) } else { bits })
    }

    pub(super) fn write(self, value: impl Into<Exact>) -> u64 {
        let value = value.into();
        let value = match value.nearest {
            nearest if self.saturates && (nearest.is_nan() || nearest <= 0.0) => 0.0.into(),
            nearest if self.saturates && nearest > 1.0 => 1.0.into(),
            nearest if self.relu && nearest < 0.0 => 0.0.into(),
            _ => value,
        };
        let bits = self.float.round(value, self.rounding, false);
        if self.flushes { self.float.flushed(bits) } else { bits }
    }

    /// Whether the instruction is binary32 arithmetic without modifiers, for which the host's arithmetic gives the same
    /// results.
    fn is_plain_single(self) -> bool {
        self.float.is_single() && self.rounding == Rounding::Even && !(self.flushes || self.saturates || self.relu)
    }
}

/// Returns the bits of a binary32 result; a NaN becomes the canonical NaN of PTX.
fn single(value: f32) -> u64 {
    u64::from(if value.is_nan() { 0x7fff_ffff } else { value.to_bits() })
}

fn from_single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

pub(super) fn add(form: &Form<'_>) -> Option<Compute> {
    let [source, style] = Style::mixed(form)?;
    if source.is_plain_single() {
        return two(form.ty(), |a, b| single(from_single(a) + from_single(b)));
    }
    two(form.ty(), move |a, b| style.write(Exact::sum(source.read(a), style.read(b))))
}

pub(super) fn sub(form: &Form<'_>) -> Option<Compute> {
    let [source, style] = Style::mixed(form)?;
    if source.is_plain_single() {
        return two(form.ty(), |a, b| single(from_single(a) - from_single(b)));
    }
    two(form.ty(), move |a, b| style.write(Exact::sum(source.read(a), -style.read(b))))
}

pub(super) fn mul(form: &Form<'_>) -> Option<Compute> {
    let style = Style::of(form)?;
    if form.has("lo") || form.has("hi") || form.has("wide") {
        return None;
    }
    if style.is_plain_single() {
        return two(form.ty(), |a, b| single(from_single(a) * from_single(b)));
    }
    two(form.ty(), move |a, b| style.write(Exact::product(style.read(a), style.read(b))))
}

pub(super) fn fused(form: &Form<'_>) -> Option<Compute> {
    let [source, style] = Style::mixed(form)?;
    if source.is_plain_single() {
        return three(form.ty(), |a, b, c| single(from_single(a).mul_add(from_single(b), from_single(c))));
    }
    if style.float.is_double() {
        // `mul_add` rounds to nearest. The error of its result need not be representable in binary64, so results in
        // other rounding modes cannot be derived.
        let even = style.rounding == Rounding::Even;
        let fused = move |a, b, c| style.write(style.read(a).mul_add(style.read(b), style.read(c)));
        return if even { three(form.ty(), fused) } else { None };
    }
    three(form.ty(), move |a, b, c| style.write(Exact::fused(source.read(a), source.read(b), style.read(c))))
}

/// Returns the function by which a lane computes `div`. Quotients are correctly rounded, even for approximate opcodes
/// such as `div.approx`.
pub(super) fn div(form: &Form<'_>) -> Option<Compute> {
    let style = Style::of(form)?;
    if form.ty().bits == 16 {
        return None;
    }
    two(form.ty(), move |a, b| style.write(Exact::quotient(style.read(a), style.read(b))))
}

fn sign(form: &Form<'_>) -> u64 {
    1 << (form.ty().bits - 1)
}

pub(super) fn abs(form: &Form<'_>) -> Option<Compute> {
    let (style, sign) = (Style::of(form)?, sign(form));
    one(form.ty(), move |a| if style.flushes { style.float.flushed(a) & !sign } else { a & !sign })
}

pub(super) fn neg(form: &Form<'_>) -> Option<Compute> {
    let (style, sign) = (Style::of(form)?, sign(form));
    one(form.ty(), move |a| if style.flushes { style.float.flushed(a) ^ sign } else { a ^ sign })
}

/// Returns the function by which a lane computes `min`, or `max` if `greater`; -0 is less than +0. If one operand is
/// NaN, the result is the other operand, or NaN with the modifier `.NaN`. With `.xorsign.abs`, magnitudes are compared,
/// and the result has the product of the signs.
pub(super) fn extreme(form: &Form<'_>, greater: bool) -> Option<Compute> {
    let (style, keeps_nan) = (Style::of(form)?, form.has("NaN"));
    if form.has("relu") || form.has("xorsign") != form.has("abs") {
        return None;
    }
    let magnitude = if form.has("xorsign") { !sign(form) } else { u64::MAX };
    two(form.ty(), move |given_a, given_b| {
        let (a, b) = (given_a & magnitude, given_b & magnitude);
        let flush = |bits| if style.flushes { style.float.flushed(bits) } else { bits };
        let (a, b) = (flush(a), flush(b));
        let [x, y] = [a, b].map(|bits| style.float.decode(bits));
        let found = match (x.is_nan(), y.is_nan()) {
            (true, true) => return style.float.nan(),
            (true, false) | (false, true) if keeps_nan => return style.float.nan(),
            (true, false) => b,
            (false, true) => a,
            _ if x.total_cmp(&y).is_lt() == greater => b,
            _ => a,
        };
        found | (given_a ^ given_b) & !magnitude
    })
}
