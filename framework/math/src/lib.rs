//! Functions of floating-point numbers as kernel IR.
//!
//! [`expand`] puts formulas in the place of [`tilewright_kernel::Op::Math`] where a target has no instruction of its own: arithmetic
//! that rounds as IEEE 754 says, selects, and integer operations on the bits of numbers, all in the type of the operands.
//! Branches are taken only where the rare case is costly: angles of many turns, remainders of great quotients.
//!
//! [`bound`] says how far from the exact value a result is at most. Results at zeros, infinities, NaN, poles and outside
//! a function's domain are those of C (ISO/IEC 9899:2024, F.10); subnormal numbers are numbers like others.
//!
//! Formulas are written with `Real`, `Word` and `Truth` (`place`): values of the kernel under construction with operators
//! that append operations. One formula serves both types; what differs are coefficients (`tables`).
//!
//! [`casts`] converts to types narrower than those of the kernel IR.

mod angle;
mod bessel;
mod bessel_orders;
mod bound;
pub mod casts;
mod control_flow;
mod double_word;
mod error_function;
mod exact;
mod expand;
mod exponential;
mod formula;
mod gamma;
mod hyperbolic;
mod inverse_error_function;
mod inverse_hyperbolic;
mod inverse_trigonometric;
mod logarithm;
mod place;
mod polynomial;
mod power;
mod real;
mod remainder;
mod root;
mod table;
mod tables;
mod trigonometric;
mod truth;
mod word;

pub use bound::bound;
pub use expand::{expand, operations};
