//! Which products of factors with scales are shown.
//!
//! Every pair of the formats of OCP Microscaling with scales of both, of either one and of none; each format with and
//! without scales beside `f16` and `bf16`; `e2m1` with scales of `ue4m3` beside itself and those two. The 125 shapes of
//! 4, 16, 32, 64 and 128 along M, N and K, in which sizes below every tile and below a block of scales are, are put in
//! one order in which every five have each size once along each axis; pairs take four of it in turn.

use std::fmt;

/// One factor: the type of its elements, and that of its scales where it has any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Factor {
    /// The elements' type.
    pub element: &'static str,
    /// The scales' type.
    pub scale: Option<&'static str>,
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scale {
            Some(scale) => write!(f, "{}.{scale}", self.element),
            None => f.write_str(self.element),
        }
    }
}

/// One product, with sums of `f32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScaledDot {
    /// M, N, K.
    pub shape: [u64; 3],
    /// The first factor.
    pub a: Factor,
    /// The second factor.
    pub b: Factor,
}

impl fmt::Display for ScaledDot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [m, n, k] = self.shape;
        write!(f, "{}-{}/{m}x{n}x{k}", self.a, self.b)
    }
}

const FORMATS: [&str; 5] = ["e2m1", "e2m3", "e3m2", "e4m3", "e5m2"];
const HALVES: [&str; 2] = ["f16", "bf16"];
const SIZES: [u64; 5] = [4, 16, 32, 64, 128];
/// Shapes for each pair.
const SHAPES: usize = 4;

/// The pairs, all different.
fn pairs() -> Vec<[Factor; 2]> {
    let plain = |element| Factor { element, scale: None };
    let mx = |element| Factor { element, scale: Some("e8m0") };
    let nv = Factor { element: "e2m1", scale: Some("ue4m3") };
    let mut pairs = Vec::new();
    for a in FORMATS {
        for b in FORMATS {
            pairs.extend([[mx(a), mx(b)], [mx(a), plain(b)], [plain(a), mx(b)], [plain(a), plain(b)]]);
        }
        for half in HALVES.map(plain) {
            pairs.extend([[mx(a), half], [half, mx(a)], [plain(a), half], [half, plain(a)]]);
        }
    }
    pairs.push([nv, nv]);
    for other in ["e2m1", "f16", "bf16"].map(plain) {
        pairs.extend([[nv, other], [other, nv]]);
    }
    pairs
}

/// The cases.
#[must_use]
pub fn scaled() -> Vec<ScaledDot> {
    let mut shapes = (0..).map(shape);
    let of = |[a, b]: [Factor; 2]| -> Vec<ScaledDot> {
        shapes.by_ref().take(SHAPES).map(|shape| ScaledDot { shape, a, b }).collect()
    };
    pairs().into_iter().flat_map(of).collect()
}

/// Shape number 25 c + 5 b + a; a, b and c can be told from it.
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
        let dots = scaled();
        // 25 pairs four ways, five formats beside two halves four ways, seven of ue4m3; four shapes each.
        assert_eq!(dots.len(), (25 * 4 + 5 * 2 * 4 + 7) * 4);
        let distinct: BTreeSet<_> = dots.iter().map(ScaledDot::to_string).collect();
        assert_eq!(distinct.len(), dots.len(), "no case is there twice");
        let mut shapes: BTreeMap<[u64; 3], usize> = BTreeMap::new();
        dots.iter().for_each(|dot| *shapes.entry(dot.shape).or_default() += 1);
        assert_eq!(shapes.len(), 125);
        assert!(shapes.values().all(|&count| count >= 4));
    }
}
