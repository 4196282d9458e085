//! Floating-point functions and casts that a target's hardware computes.

use serde::{Deserialize, Serialize};

use super::Evidence;

/// A function that the hardware computes, so that it is not expanded into arithmetic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct HardwareMathFunction {
    /// Name of the function or cast in the kernel IR, such as `exp2` or `extend_e4m3`.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub function: String,
    /// Element type of the function: `f16`, `bf16`, `f32` or `f64`; for a cast, the wider of its two types.
    #[cfg_attr(test, schemars(extend("enum" = ["f16", "bf16", "f32", "f64"])))]
    pub element: String,
    /// Maximum error in units in the last place (ulp) of the exact result; 0 if the result is exact.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub ulps: f64,
    /// Whether subnormal operands and results become zero.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flushes: bool,
    /// Kind of evidence for the error bound `ulps`: measured, documented or assumed.
    pub evidence: Evidence,
    /// Origin of the error bound: a document, a measurement or an assumption.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}
