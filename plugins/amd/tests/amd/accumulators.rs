//! The accumulator of one `v_mfma` as the 16-bit operand of the next (chained dot), without shared memory.
#![allow(clippy::unwrap_used)]

use crate::targets::target;
use tilewright_plan::movement::ConversionKind;
use tilewright_vendor_testkit::code::count;
use tilewright_vendor_testkit::conversions::proven;
use tilewright_vendor_testkit::layouts::resolve_distributed;
use tilewright_vendor_testkit::prelude::*;

const BITS: u32 = 16;

/// A chained dot: the transposed result of one warp becomes operand A of the next dot, with `k_width` adjacent elements
/// in a lane.
struct Case {
    version: u32,
    instruction: [u64; 3],
    k_width: u32,
}

impl Case {
    fn layouts(&self, target: &dyn Target) -> [LinearLayout; 2] {
        let Self { version, instruction, k_width } = self;
        let result = format!(
            "#ttg.amd_mfma<{{version = {version}, warpsPerCTA = [1, 1], instrShape = {instruction:?}, isTransposed = true}}>"
        );
        let operand = format!("#ttg.dot_op<{{opIdx = 0, parent = {result}, kWidth = {k_width}}}>");
        [result, operand].map(|text| resolve_distributed(target, &text, &[instruction[0], 64]))
    }

    fn plan(&self, target: &dyn Target) -> ConversionPlan {
        let [src, dst] = self.layouts(target);
        proven([&src, &dst], BITS, build_plan_context(target))
    }

    fn kernels(&self, target: &dyn Target, plan: &ConversionPlan) -> Vec<Kernel> {
        let [src, dst] = self.layouts(target);
        vec![build_conversion_kernel("convert", [&src, &dst], BITS, plan, build_plan_context(target)).unwrap()]
    }
}

/// Checks that nothing moves if the result already has the operand's layout: four elements of a row in a lane.
#[test]
fn results_that_lie_as_operands_stay() {
    for instruction in [[32, 32, 8], [16, 16, 16]] {
        let plan = Case { version: 3, instruction, k_width: 4 }.plan(&target("mi300x"));
        assert_eq!(plan.stats.counts, Counts::default(), "{instruction:?}");
    }
}

/// Checks the swaps for operands with eight adjacent elements of a row. A row of 64 columns is 32 elements per lane: 16
/// words for the wider instruction, half as many for the narrower. One lane bit changes places with a register bit, or
/// two lane bits and a register bit are permuted cyclically. A swap moves two words, and nothing else is needed.
#[test]
fn results_are_swapped_into_operands_where_lanes_swap() {
    let target = target("mi355x");
    for (instruction, lanes, words) in [([32, 32, 16], &[32][..], 16), ([16, 16, 32], &[16, 32], 8)] {
        let case = Case { version: 4, instruction, k_width: 8 };
        let plan = case.plan(&target);
        let swaps = words / 2;
        let swaps_of_lanes = swaps * lanes.len() as u64;
        let expected = Counts { shuffles: swaps_of_lanes, swaps: swaps_of_lanes, ..Counts::default() };
        assert_eq!(
            (plan.path, plan.stats.counts, plan.stats.shared_bytes),
            (ConversionKind::Shuffle, expected, 0),
            "{instruction:?}"
        );
        let text = assembled(&target, case.kernels(&target, &plan));
        for lane in [16, 32] {
            let expected = if lanes.contains(&lane) { swaps } else { 0 };
            assert_eq!(count(&text, &format!("v_permlane{lane}_swap_b32_e32")), expected, "{lane}: {text}");
        }
        assert_eq!((count(&text, "ds_bpermute_b32"), count(&text, "v_cndmask_b32_e32")), (0, 0), "{text}");
    }
}

/// Checks that on targets without a swap instruction half of the words are shuffled by index, between selects.
#[test]
fn results_are_shuffled_into_operands_elsewhere() {
    let target = target("mi300x");
    let case = Case { version: 3, instruction: [32, 32, 16], k_width: 8 };
    let plan = case.plan(&target);
    let expected = Counts { shuffles: 8, selects: 24, ..Counts::default() };
    assert_eq!((plan.path, plan.stats.counts, plan.stats.shared_bytes), (ConversionKind::Shuffle, expected, 0));
    let text = assembled(&target, case.kernels(&target, &plan));
    assert_eq!(count(&text, "ds_bpermute_b32"), 8, "{text}");
}

#[test]
fn a_swap_is_refused_where_lanes_do_not_swap() {
    let case = Case { version: 4, instruction: [32, 32, 16], k_width: 8 };
    let kernels = case.kernels(&target("mi355x"), &case.plan(&target("mi355x")));
    let error = refusal(&target("mi300x"), kernels);
    assert!(error.to_string().contains("gfx942 does not swap lanes that differ by 32"), "{error}");
}
