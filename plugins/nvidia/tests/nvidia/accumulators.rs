//! The accumulator of one `wgmma` becomes the 8-bit operand of the next in registers, as FlashAttention-3 does by hand
//! (Linear Layouts paper, section 1).

use crate::layouts::{dot_operand, mma};
use crate::prelude::*;
use tilewright_plan::movement::ConversionKind;
use tilewright_vendor_testkit::code::count;
use tilewright_vendor_testkit::conversions::proven;
use tilewright_vendor_testkit::layouts::resolve_distributed;

const BITS: u32 = 8;

/// Returns the layout of a 64-row accumulator of `wgmma` over four warps, and the layout of the next MMA's 8-bit
/// register operand.
fn problem(target: &dyn Target, columns: u64) -> [LinearLayout; 2] {
    let accumulator = mma(3, &[4, 1], &[16, columns, 32]);
    let operand = dot_operand(0, &accumulator, 4);
    [accumulator, operand].map(|text| resolve_distributed(target, &text, &[64, columns]))
}

/// Returns the counts of FlashAttention-3 (`ReorgCFp8toAFp8` of its published code): for every two words of a lane, two
/// byte permutes, two shuffles, and two byte permutes with selectors that depend on the lane.
fn by_hand(columns: u64) -> Counts {
    // 64 rows over 128 lanes: half as many elements in a lane as columns, four in a word.
    let words = columns / 2 / 4;
    Counts { shuffles: words, permutes: 2 * words, ..Counts::default() }
}

#[test]
fn an_accumulator_becomes_an_operand_without_shared_memory() {
    let target = target("h100");
    for columns in [32, 64, 128, 256] {
        let [src, dst] = problem(&target, columns);
        let plan = proven([&src, &dst], BITS, build_plan_context(&target));
        let words = columns / 8;
        let expected = Counts { shuffles: words, permutes: words, selects: words, ..Counts::default() };
        assert_eq!(
            (plan.path, plan.stats.counts, plan.stats.shared_bytes),
            (ConversionKind::Shuffle, expected, 0),
            "{columns} columns"
        );
        assert!(plan.stats.cost <= predict_cycles(&by_hand(columns), 4, 1, target.description()), "{columns} columns");
    }
}

/// Returns a kernel that converts packed registers, four 8-bit elements in a word, as conversions to 8-bit floats
/// return them and `wgmma` reads them.
fn packed(plan: &ConversionPlan, src: &LinearLayout, dst: &LinearLayout) -> Kernel {
    let global = Type::Pointer(MemorySpace::Global);
    let mut k = Builder::new("convert", StaticLaunchConfig::new(32, 4), &[("from", global), ("to", global)]);
    let quad = Type::Vector(Element::I8, 4);
    let words = |layout: &LinearLayout| 1i32 << layout.in_bits(Dim::REGISTER) >> 2;
    let mut registers: Vec<Value> = Vec::new();
    for word in 0..words(src) {
        let from = k.parameter(0);
        let loaded = k.load(Type::Scalar(Element::I32), from, 4 * word, None);
        let bytes = k.cast(Cast::Bits, loaded, quad);
        registers.extend((0..4).map(|byte| k.extract(bytes, byte)));
    }
    let converted = plan.emit(&mut k, &registers);
    for (word, bytes) in (0..words(dst)).zip(converted.chunks(4)) {
        let bytes = k.pack(bytes);
        let stored = k.cast(Cast::Bits, bytes, Type::Scalar(Element::I32));
        let to = k.parameter(1);
        k.store(to, 4 * word, stored, None);
    }
    k.finish()
}

/// Checks that the PTX for packed registers has only the plan's permutes and selects, plus one select for each of the
/// two selectors that depend on the lane.
#[test]
fn the_ptx_has_the_permutes_that_the_plan_counts() {
    let target = target("h100");
    let [src, dst] = problem(&target, 128);
    let plan = plan_conversion(&src, &dst, BITS, target.description()).unwrap();
    let ptx = assembled(&target, vec![packed(&plan, &src, &dst)]);
    let Counts { shuffles, permutes, selects, .. } = plan.stats.counts;
    let found = ["shfl.sync.", "prmt.", "selp."].map(|word| count(&ptx, word));
    assert_eq!(found, [shuffles, permutes, selects + 2], "{ptx}");
}
