//! Functions of floating-point numbers that the hardware of a target has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Evidence;

/// A function that the hardware computes, so that it need not be expanded into arithmetic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NativeFunction {
    /// Its name in the kernel IR: `exp2`, ...
    #[schemars(regex(pattern = r"\S"))]
    pub function: String,
    /// The element: `f32` or `f64`.
    #[schemars(extend("enum" = ["f32", "f64"]))]
    pub element: String,
    /// The greatest error, in units of the last place of the exact result.
    #[schemars(range(min = 0))]
    pub ulps: f64,
    /// How the bound is known.
    pub evidence: Evidence,
    /// Where it comes from.
    #[schemars(regex(pattern = r"\S"))]
    pub source: String,
}
