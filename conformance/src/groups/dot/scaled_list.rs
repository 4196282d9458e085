//! The list of dots with block scales that are checked.
//!
//! The pairs of operand types are: every two formats of OCP Microscaling, with scales on both operands, on either one,
//! or on none; each format with and without scales against `f16` and `bf16`; `e2m1` with scales of `ue4m3` against
//! itself and against `f16` and `bf16`.
//!
//! The shapes are the 125 combinations of 4, 16, 32, 64 and 128 for M, N and K, including sizes below every tile and
//! below a block of scales. They are ordered so that any five consecutive shapes have each size once for each of M, N
//! and K; each pair of types takes the next four shapes.

use std::fmt;

/// The type of an operand's elements, and of its scales if it has any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScaledOperandType {
    /// The type of the operand's elements.
    pub element: &'static str,
    /// The type of the operand's block scales; `None` for an operand without scales.
    pub scale: Option<&'static str>,
}

impl fmt::Display for ScaledOperandType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scale {
            Some(scale) => write!(f, "{}.{scale}", self.element),
            None => f.write_str(self.element),
        }
    }
}

/// A dot with an `f32` accumulator, of operands that may have block scales.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScaledDotProblem {
    /// The sizes M, N and K, in elements.
    pub shape: [u64; 3],
    /// The element type and scale type of operand A.
    pub a: ScaledOperandType,
    /// The element type and scale type of operand B.
    pub b: ScaledOperandType,
}

impl fmt::Display for ScaledDotProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [m, n, k] = self.shape;
        write!(f, "{}-{}/{m}x{n}x{k}", self.a, self.b)
    }
}

const FORMATS: [&str; 5] = ["e2m1", "e2m3", "e3m2", "e4m3", "e5m2"];
const UNSCALED_FORMATS: [&str; 2] = ["f16", "bf16"];
const SIZES: [u64; 5] = [4, 16, 32, 64, 128];
/// Number of shapes for each pair of operand types.
const SHAPES: usize = 4;

/// Returns the pairs of operand types, all distinct.
fn pairs() -> Vec<[ScaledOperandType; 2]> {
    let plain = |element| ScaledOperandType { element, scale: None };
    let mx = |element| ScaledOperandType { element, scale: Some("e8m0") };
    let nv = ScaledOperandType { element: "e2m1", scale: Some("ue4m3") };
    let mut pairs = Vec::new();
    for a in FORMATS {
        for b in FORMATS {
            pairs.extend([[mx(a), mx(b)], [mx(a), plain(b)], [plain(a), mx(b)], [plain(a), plain(b)]]);
        }
        for half in UNSCALED_FORMATS.map(plain) {
            pairs.extend([[mx(a), half], [half, mx(a)], [plain(a), half], [half, plain(a)]]);
        }
    }
    pairs.push([nv, nv]);
    for other in ["e2m1", "f16", "bf16"].map(plain) {
        pairs.extend([[nv, other], [other, nv]]);
    }
    pairs
}

/// Returns the dots that are checked: four shapes for each pair of operand types.
#[must_use]
pub fn list_scaled_dots() -> Vec<ScaledDotProblem> {
    let mut shapes = (0..).map(shape);
    let of = |[a, b]: [ScaledOperandType; 2]| -> Vec<ScaledDotProblem> {
        shapes.by_ref().take(SHAPES).map(|shape| ScaledDotProblem { shape, a, b }).collect()
    };
    pairs().into_iter().flat_map(of).collect()
}

/// Returns the sizes [M, N, K] of shape number `number` = 25 c + 5 b + a. The digits a, b and c determine the sizes so
/// that any five consecutive shapes have each size once on each axis.
fn shape(number: usize) -> [u64; 3] {
    let [a, b, c] = [number % 5, number / 5 % 5, number / 25 % 5];
    [a + 2 * b + c, a + b, a].map(|digit| SIZES[digit % 5])
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn every_pair_and_every_shape_is_there() {
        let dots = list_scaled_dots();
        // 25 pairs with four kinds of scales, five formats against two 16-bit types with four kinds, seven of ue4m3;
        // four shapes each.
        assert_eq!(dots.len(), (25 * 4 + 5 * 2 * 4 + 7) * 4);
        let distinct: BTreeSet<_> = dots.iter().map(ScaledDotProblem::to_string).collect();
        assert_eq!(distinct.len(), dots.len(), "no case is there twice");
        let mut shapes: BTreeMap<[u64; 3], usize> = BTreeMap::new();
        dots.iter().for_each(|dot| *shapes.entry(dot.shape).or_default() += 1);
        assert_eq!(shapes.len(), 125);
        assert!(shapes.values().all(|&count| count >= 4));
    }
}
