//! Typical layouts of the neutral families, for conformance suites.

use crate::{FamilyParameterValue, FamilySpec, SampleLayout, SampleLayoutRequest};

/// The sample layouts for a use: coalesced loads along rows and along columns, results of reductions, operands of FMA
/// dots, and shared memory for all of them.
pub(super) fn typical(use_case: SampleLayoutRequest) -> Vec<SampleLayout> {
    let SampleLayoutRequest { lanes, warps, element_bits } = use_case;
    if !lanes.is_power_of_two() || !warps.is_power_of_two() || !element_bits.is_power_of_two() || element_bits > 128 {
        return Vec::new();
    }
    // Sixteen bytes for each lane: the widest access that every target has.
    let vector = (128 / element_bits).min(16);
    let rows = blocked([1, vector], [lanes / lanes.min(8), lanes.min(8)], [warps, 1], [1, 0]);
    let cols = blocked([vector, 1], [lanes.min(8), lanes / lanes.min(8)], [1, warps], [0, 1]);
    let square = blocked([2, 2], [lanes / lanes.min(4), lanes.min(4)], split_warps(warps), [1, 0]);
    let mut samples = vec![
        SampleLayout::new("blocked-rows", rows.clone()),
        SampleLayout::new("blocked-cols", cols.clone()),
        SampleLayout::new("blocked-square", square.clone()),
        SampleLayout::new("blocked-a", dot_operand(0, &square)),
        SampleLayout::new("blocked-b", dot_operand(1, &square)),
    ];
    samples.extend(memory(vector));
    samples
}

fn memory(vector: u32) -> [SampleLayout; 4] {
    let order = |fastest: [i64; 2]| FamilyParameterValue::from(fastest);
    let swizzled = |per_phase: i64, max_phase: i64, fastest| {
        FamilySpec::new("swizzled_shared")
            .with_parameter("vec", i64::from(vector))
            .with_parameter("per_phase", per_phase)
            .with_parameter("max_phase", max_phase)
            .with_parameter("order", order(fastest))
    };
    let padded = FamilySpec::new("padded_shared")
        .with_parameter("interval_padding_pairs", [[64, i64::from(vector)]])
        .with_parameter("order", order([1, 0]));
    [
        SampleLayout::new("shared-plain", swizzled(1, 1, [1, 0])),
        SampleLayout::new("shared-rows", swizzled(1, 8, [1, 0])),
        SampleLayout::new("shared-cols", swizzled(2, 4, [0, 1])),
        SampleLayout::new("shared-padded", padded),
    ]
}

/// Splits `warps` into a product of two numbers, as even as possible, the larger first.
fn split_warps(warps: u32) -> [u32; 2] {
    let second = 1 << (warps.trailing_zeros() / 2);
    [warps / second, second]
}

fn blocked(per_lane: [u32; 2], per_warp: [u32; 2], per_block: [u32; 2], order: [i64; 2]) -> FamilySpec {
    FamilySpec::new("blocked")
        .with_parameter("size_per_thread", per_lane.map(i64::from))
        .with_parameter("threads_per_warp", per_warp.map(i64::from))
        .with_parameter("warps_per_cta", per_block.map(i64::from))
        .with_parameter("order", order)
}

fn dot_operand(index: i64, parent: &FamilySpec) -> FamilySpec {
    FamilySpec::new("dot_operand").with_parameter("operand_index", index).with_parent(parent.clone())
}
