//! Functions of floating-point numbers that the hardware of a target has.

use serde::{Deserialize, Serialize};

use super::Evidence;

/// A function that the hardware computes, so that it need not be expanded into arithmetic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct NativeFunction {
    /// Its name in the kernel IR: `exp2`, ...
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub function: String,
    /// The element: `f32` or `f64`.
    #[cfg_attr(test, schemars(extend("enum" = ["f32", "f64"])))]
    pub element: String,
    /// The greatest error, in units of the last place of the exact result.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub ulps: f64,
    /// How the bound is known.
    pub evidence: Evidence,
    /// Where it comes from.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}
