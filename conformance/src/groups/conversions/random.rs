//! Layout conversions between random distributed layouts. Their seed is part of the case's name, to repeat a failure.

use tilewright_layout::{FamilyParameterValue, FamilySpec};

use super::super::{CaseTensorSpec, KernelConfig, NamedLayout};
use super::ConversionCase;
use crate::Context;

/// Number of conversions between random layouts for each number of warps and lanes.
const FOR_EACH_SETTING: u64 = 3;
const MIN_BITS: u64 = 7;
const MOST_BITS: u64 = 13;

pub(super) fn random(context: &Context) -> Vec<ConversionCase> {
    let default = context.target().description().lanes.default;
    let settings = KernelConfig::all(context).into_iter().filter(|setting| setting.lanes == default);
    let numbered = settings.enumerate().flat_map(|(index, setting)| {
        (0..FOR_EACH_SETTING).map(move |repetition| (index as u64 * FOR_EACH_SETTING + repetition, setting))
    });
    let first = u64::from(context.seed());
    numbered.map(|(number, setting)| conversion(first + number, setting)).collect()
}

fn conversion(seed: u64, setting: KernelConfig) -> ConversionCase {
    let mut numbers = Numbers(seed);
    let bits = MIN_BITS + numbers.below(MOST_BITS - MIN_BITS + 1);
    let rows = numbers.below(bits + 1);
    let shape = [1 << rows, 1 << (bits - rows)];
    let mut endpoint =
        |name: &str| NamedLayout { name: name.to_owned(), spec: layout(&mut numbers, shape, setting), axes: 2 };
    let (source, target) = (endpoint("source"), endpoint("target"));
    let tensor = CaseTensorSpec { shape: shape.to_vec(), setting };
    ConversionCase { title: format!("random-{seed}"), ..ConversionCase::between(source, target, tensor) }
}

/// Returns a random layout: every bit of a tensor coordinate goes to a register, a lane or a warp; some lanes and warps
/// may hold replicas of others.
fn layout(numbers: &mut Numbers, shape: [u64; 2], setting: KernelConfig) -> FamilySpec {
    let units = |axis: usize| {
        (0..shape[axis].trailing_zeros()).map(move |bit| if axis == 0 { [1i64 << bit, 0] } else { [0, 1 << bit] })
    };
    let mut left: Vec<[i64; 2]> = units(0).chain(units(1)).collect();
    numbers.shuffle(&mut left);
    let mut take = |numbers: &mut Numbers, count: u32| -> Vec<[i64; 2]> {
        let copies = |numbers: &mut Numbers| numbers.below(8) == 0;
        (0..count).map(|_| if copies(numbers) { [0, 0] } else { left.pop().unwrap_or([0, 0]) }).collect()
    };
    // Lanes take their bits before warps. The order matters only for a small tensor, with too few bits for both.
    let lanes = take(numbers, setting.lanes.trailing_zeros());
    let warps = take(numbers, setting.warps.trailing_zeros());
    let bases =
        |bases: Vec<[i64; 2]>| FamilyParameterValue::List(bases.into_iter().map(FamilyParameterValue::from).collect());
    FamilySpec::new("linear")
        .with_parameter("reg_bases", bases(left))
        .with_parameter("lane_bases", bases(lanes))
        .with_parameter("warp_bases", bases(warps))
        .with_parameter("block_bases", bases(Vec::new()))
        .with_parameter("shape", shape.map(|size| size as i64))
}

/// A pseudorandom generator (SplitMix64) that gives the same numbers on every machine and in every version, since the
/// seed is part of the case's name.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for index in (1..items.len()).rev() {
            items.swap(index, self.below(index as u64 + 1) as usize);
        }
    }
}
