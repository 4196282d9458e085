//! Generated coefficients and constants; `polynomials.py` and `constants.py` in this folder write these files.
//!
//! The comment of a polynomial names the function that it approximates, and the interval of its variable. The weighted
//! error is approximately the error that the polynomial causes in the math function's result, relative to the result
//! (of a Bessel function, to its amplitude).
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
