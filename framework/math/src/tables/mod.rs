//! Coefficients and constants. They are derived here: `polynomials.py` and `constants.py` write these files.
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
