//! Generated coefficients and constants; `polynomials.py` and `constants.py` in this folder write these files. If a
//! comment there gives two numbers, such as two degrees, the first is for binary32 and the second for binary64.
#![allow(clippy::approx_constant, reason = "first coefficients are near to constants that they are not")]

pub(super) mod bessel;
pub(super) mod bessel_far;
pub(super) mod constants;
pub(super) mod error_function;
pub(super) mod exponential;
pub(super) mod gamma;
pub(super) mod hyperbolic;
pub(super) mod inverse_error_function;
pub(super) mod inverse_trigonometric;
pub(super) mod logarithm;
pub(super) mod modified_bessel;
pub(super) mod scaled_error_function;
pub(super) mod trigonometric;
