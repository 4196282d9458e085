//! The dots of the conformance suite.
//!
//! The pairs of types, and the number of cases of each, are those of Table 5 of "Linear Layouts" (2025), which does not
//! state the shapes. The shapes here: the 125 combinations of 8, 16, 32, 64 and 128 along M, N and K are ordered such
//! that every five consecutive shapes have each size once along each axis. Each pair of types takes the next shapes of
//! this order, cyclically, and uses each shape for both operand orders. The 784 cases so take 392 shapes: each of the
//! 125 shapes occurs at least three times, also those smaller than the tile of some instruction.

use std::fmt;

/// One dot of the conformance suite: a product `a * b` of a shape and element types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DotCase {
    /// Sizes M, N and K of the dot, in elements.
    pub shape: [u64; 3],
    /// Element type of `a`, e.g. `f16`.
    pub a: &'static str,
    /// Element type of `b`, e.g. `f16`.
    pub b: &'static str,
    /// Element type of the accumulator, e.g. `f32`.
    pub accumulator: &'static str,
}

impl fmt::Display for DotCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [m, n, k] = self.shape;
        write!(f, "{}-{}-{}/{m}x{n}x{k}", self.a, self.b, self.accumulator)
    }
}

/// The pairs of Table 5: an integer type, a floating-point type (`f8` alternates between `e4m3` and `e5m2`), the
/// accumulator type, and the number of cases. The accumulator is binary32 if it represents all values of both types,
/// otherwise binary64 (which does not represent all 64-bit integers).
pub const TABLE_5_TYPE_PAIRS: [(&str, &str, &str, usize); 14] = [
    ("i16", "f16", "f32", 64),
    ("i16", "f32", "f32", 32),
    ("i16", "f64", "f64", 32),
    ("i16", "f8", "f32", 96),
    ("i32", "f16", "f64", 32),
    ("i32", "f64", "f64", 32),
    ("i32", "f8", "f64", 48),
    ("i64", "f16", "f64", 32),
    ("i64", "f32", "f64", 32),
    ("i64", "f8", "f64", 48),
    ("i8", "f16", "f32", 96),
    ("i8", "f32", "f32", 48),
    ("i8", "f64", "f64", 48),
    ("i8", "f8", "f32", 144),
];

const SIZES: [u64; 5] = [8, 16, 32, 64, 128];

/// Returns the 784 cases of Table 5, in the order of [`TABLE_5_TYPE_PAIRS`].
#[must_use]
pub fn list_table_5_dots() -> Vec<DotCase> {
    let mut shapes = (0..).map(shape);
    let mut dots = Vec::new();
    for (integer, float, accumulator, cases) in TABLE_5_TYPE_PAIRS {
        for (index, shape) in shapes.by_ref().take(cases / 2).enumerate() {
            let float = if float == "f8" { ["e4m3", "e5m2"][index % 2] } else { float };
            dots.push(DotCase { shape, a: integer, b: float, accumulator });
            dots.push(DotCase { shape, a: float, b: integer, accumulator });
        }
    }
    dots
}

/// Returns M, N and K of the shape with the index `index`. The number `25 c + 5 b + a` has the digits (a, b, c) in base
/// 5; M, N and K are the sizes with the numbers `a + 2 b + c`, `a + b` and `a` modulo 5. So 125 consecutive indices
/// give all shapes.
fn shape(index: usize) -> [u64; 3] {
    let [a, b, c] = [index % 5, index / 5 % 5, index / 25 % 5];
    [a + 2 * b + c, a + b, a].map(|digit| SIZES[digit % 5])
}

/// Type combinations (`a`, `b`, accumulator) that some MMA instructions multiply without a cast.
const UNCAST: [[&str; 3]; 11] = [
    ["f16", "f16", "f32"],
    ["f16", "f16", "f16"],
    ["bf16", "bf16", "f32"],
    ["f32", "f32", "f32"],
    ["f64", "f64", "f64"],
    ["i8", "i8", "i32"],
    ["u8", "i8", "i32"],
    ["e4m3", "e4m3", "f32"],
    ["e4m3", "e5m2", "f32"],
    ["fp8_fnuz", "bf8_fnuz", "f32"],
    ["i8", "u8", "i32"],
];

/// Returns dots of the type combinations in `UNCAST`, in four shapes with M, N and K from 16 to 128.
#[must_use]
pub fn list_uncast_dots() -> Vec<DotCase> {
    let shapes = [[16, 16, 16], [32, 64, 32], [64, 32, 128], [128, 64, 64]];
    all(&UNCAST, shapes.into_iter())
}

/// Returns dots with M, N and K from 1 to 4, smaller than the tile of every MMA instruction.
#[must_use]
pub fn list_small_dots() -> Vec<DotCase> {
    let sizes = [1, 2, 4];
    let shapes = sizes.into_iter().flat_map(|m| sizes.into_iter().flat_map(move |n| sizes.map(|k| [m, n, k])));
    all(&UNCAST[..6], shapes)
}

/// Type combinations (`a`, `b`, accumulator) with types narrower than a byte.
const NARROW: [[&str; 3]; 14] = [
    ["s4", "s4", "i32"],
    ["s4", "u4", "i32"],
    ["u4", "s4", "i32"],
    ["u4", "u4", "i32"],
    ["s4", "i8", "i32"],
    ["u8", "s4", "i32"],
    ["s4", "f16", "f32"],
    ["f16", "s4", "f32"],
    ["u4", "bf16", "f32"],
    ["bf16", "s4", "f32"],
    ["s4", "e4m3", "f32"],
    ["s2", "i8", "i32"],
    ["u2", "f16", "f32"],
    ["u1", "u1", "i32"],
];

/// Returns dots of the type combinations in `NARROW`, in shapes up to 128 x 256 and in shapes smaller than the tile of
/// every MMA instruction.
#[must_use]
pub fn list_sub_byte_dots() -> Vec<DotCase> {
    let shapes = [[1, 1, 1], [4, 8, 2], [16, 16, 16], [32, 64, 32], [64, 32, 128], [16, 128, 256], [128, 64, 64]];
    all(&NARROW, shapes.into_iter())
}

fn all(types: &[[&'static str; 3]], shapes: impl Iterator<Item = [u64; 3]> + Clone) -> Vec<DotCase> {
    let of = |&[a, b, accumulator]: &[&'static str; 3]| {
        shapes.clone().map(move |shape| DotCase { shape, a, b, accumulator })
    };
    types.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn the_list_has_the_tables_counts_and_every_shape() {
        let dots = list_table_5_dots();
        // Linear Layouts (2025), Table 5: 784 cases.
        assert_eq!(dots.len(), 784);
        let distinct: BTreeSet<_> = dots.iter().map(DotCase::to_string).collect();
        assert_eq!(distinct.len(), 784, "no case is there twice");
        let mut shapes: BTreeMap<[u64; 3], usize> = BTreeMap::new();
        dots.iter().for_each(|dot| *shapes.entry(dot.shape).or_default() += 1);
        assert_eq!(shapes.len(), 125);
        assert!(shapes.values().all(|&count| count >= 6), "both operand orders, three times");
    }

    #[test]
    fn each_pair_has_small_and_large_sizes_along_every_axis() {
        for (integer, float, _, cases) in TABLE_5_TYPE_PAIRS {
            let of_pair = |dot: &DotCase| {
                let narrow = |name: &str| if float == "f8" { name.starts_with('e') } else { name == float };
                (dot.a == integer && narrow(dot.b)) || (dot.b == integer && narrow(dot.a))
            };
            let dots: Vec<_> = list_table_5_dots().into_iter().filter(of_pair).collect();
            assert_eq!(dots.len(), cases, "{integer} x {float}");
            for axis in 0..3 {
                let sizes: BTreeSet<_> = dots.iter().map(|dot| dot.shape[axis]).collect();
                assert!(sizes.contains(&8) && sizes.contains(&128), "{integer} x {float}: {sizes:?}");
            }
        }
    }
}
