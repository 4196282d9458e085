//! Math functions of floating-point values as kernel IR.
//!
//! [`expand_math_functions`] replaces each [`tilewright_kernel::Op::Math`] whose function the target has no instruction
//! for. The formulas that replace it consist of arithmetic with the rounding of IEEE 754, selects, and integer
//! operations on the bits of values, all in the type of the operands. Branches are used only for rare costly cases:
//! large angles, and remainders of large quotients. Bessel functions of any integer order loop.
//!
//! [`error_bound_ulps`] returns the error bound of a result. Results at zeros, infinities, NaN, poles and outside of a
//! function's domain are those of C (ISO/IEC 9899:2024, F.10); subnormals are handled like other values.
//!
//! Formulas are written with the types `Real`, `Int` and `Bool` (module `formula_builder`): values of the kernel under
//! construction, with operators that append operations. One formula serves both floating-point types; only coefficients
//! (module `tables`) differ.
//!
//! [`casts`] converts to and from types narrower than those of the kernel IR.

mod angle;
mod bessel;
mod bessel_orders;
mod boolean;
mod bound;
pub mod casts;
mod control_flow;
mod double_word;
mod error_function;
mod exact;
mod expand;
mod exponential;
mod formula;
mod formula_builder;
mod gamma;
mod hyperbolic;
mod int;
mod inverse_error_function;
mod inverse_hyperbolic;
mod inverse_trigonometric;
mod logarithm;
mod natives;
mod polynomial;
mod power;
mod real;
mod remainder;
mod root;
mod table;
mod tables;
mod trigonometric;

pub use bound::error_bound_ulps;
pub use expand::{expand_math_functions, expansion_operation_count};
