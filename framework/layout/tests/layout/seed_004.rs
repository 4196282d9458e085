//! The article "Linear Layout in Triton (2)": every call that it shows, with its numbers, corrected as in
//! docs/concepts.md.

use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{Dim, Families, Layout, LinearLayout, parse_family_spec};

const REGISTER: Dim = Dim::REGISTER;
const LANE: Dim = Dim::LANE;
const WARP: Dim = Dim::WARP;
const OFFSET: Dim = Dim::OFFSET;

fn dim0() -> Dim {
    Dim::tensor(0)
}

fn dim1() -> Dim {
    Dim::tensor(1)
}

fn apply(layout: &LinearLayout, input: &[(Dim, u64)]) -> Vec<(Dim, u64)> {
    layout.apply(input).expect("in range").to_vec()
}

fn resolved(text: &str, shape: [u64; 2]) -> Layout {
    NeutralFamilies.resolve(&parse_family_spec(text).expect("text"), &shape, &NeutralFamilies).expect("a layout")
}

fn blocked(parameters: &str, shape: [u64; 2]) -> LinearLayout {
    resolved(&format!("#ttg.blocked<{{{parameters}}}>"), shape).linear().clone()
}

#[test]
fn section_4_1_input_dims_are_the_hardware() {
    let text = "sizePerThread = [4, 2], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [1, 0]";
    let layout = blocked(text, [64, 16]);
    let sizes: Vec<_> = layout.ins().iter().map(|(dim, bits)| (dim, 1 << bits)).collect();
    assert_eq!(sizes, [(REGISTER, 8), (LANE, 32), (WARP, 4), (Dim::BLOCK, 1)]);
    let shared = resolved("#ttg.swizzled_shared<{vec = 8, perPhase = 4, maxPhase = 8, order = [1, 0]}>", [128, 32]);
    assert!(shared.linear().ins().dims().eq([OFFSET, Dim::BLOCK]));
}

/// Section 4.2: out dims are the tensor's axes as shaped, whatever the order.
#[test]
fn section_4_2_output_dims_do_not_follow_the_order() {
    for order in ["[1, 0]", "[0, 1]"] {
        let text = format!("sizePerThread = [2, 2], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = {order}");
        assert!(blocked(&text, [16, 32]).outs().dims().eq([dim0(), dim1()]));
    }
}

/// Section 4.3: flattening makes the register the low bits of the flat input and the lane the high bits.
#[test]
fn section_4_3_flattening_is_minor_to_major() {
    let layout = LinearLayout::identity(4, REGISTER, dim0()).expect("registers");
    let layout = layout.direct_sum(&LinearLayout::identity(8, LANE, dim0()).expect("lanes")).expect("both");
    let flattened = layout.flatten_ins();
    assert_eq!(flattened.ins().iter().collect::<Vec<_>>(), [(REGISTER, 5)]);
    assert_eq!(apply(&flattened, &[(REGISTER, 3 + 4 * 5)]), apply(&layout, &[(REGISTER, 3), (LANE, 5)]));
}

#[test]
fn section_5_1_1_identity() {
    let layout = LinearLayout::identity(8, LANE, dim0()).expect("a layout");
    (0..8).for_each(|x| assert_eq!(apply(&layout, &[(LANE, x)]), [(dim0(), x)]));
    assert_eq!(layout.bases_of(LANE), [[1], [2], [4]]);
}

#[test]
fn section_5_1_2_strided() {
    let layout = LinearLayout::strided(4, 2, LANE, dim0()).expect("a layout");
    let values: Vec<_> = (0..4).map(|x| apply(&layout, &[(LANE, x)])[0].1).collect();
    assert_eq!(values, [0, 2, 4, 6]);
    assert_eq!(layout.bases_of(LANE), [[2], [4]]);
    assert!(LinearLayout::strided(4, 3, LANE, dim0()).is_err(), "the stride must be a power of two");
}

#[test]
fn section_5_1_3_zeros() {
    let layout = LinearLayout::zeros(8, LANE, dim1(), 1).expect("a layout");
    (0..8).for_each(|x| assert_eq!(apply(&layout, &[(LANE, x)]), [(dim1(), 0)]));
    assert_eq!(layout.bases_of(LANE), [[0], [0], [0]]);
}

fn swizzle() -> LinearLayout {
    let bases = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 4], [8, 8]];
    let bases = bases.iter().map(|basis| basis.to_vec()).collect();
    LinearLayout::from_bases_inferred(&[(OFFSET, bases)], &[dim0(), dim1()]).expect("a layout")
}

#[test]
fn section_5_2_bases() {
    let layout = swizzle();
    assert_eq!(layout.outs().iter().collect::<Vec<_>>(), [(dim0(), 4), (dim1(), 4)]);
    assert_eq!(apply(&layout, &[(OFFSET, 1 << 6)]), [(dim0(), 4), (dim1(), 4)]);
    assert_eq!(apply(&layout, &[(OFFSET, 0b1100_0001)]), [(dim0(), 12), (dim1(), 13)]);
}

/// Section 5.3, example 1; the inner layout's dims come first.
#[test]
fn section_5_3_example_1_a_two_dimensional_identity() {
    let lanes = LinearLayout::identity(4, LANE, dim1()).expect("lanes");
    let registers = LinearLayout::identity(8, REGISTER, dim0()).expect("registers");
    let layout = lanes.direct_sum(&registers).expect("both");
    assert!(layout.ins().dims().eq([LANE, REGISTER]));
    assert_eq!(apply(&layout, &[(REGISTER, 3), (LANE, 2)]), [(dim1(), 2), (dim0(), 3)]);
}

/// Section 5.3, example 2; the outer layout is shifted above the inner, nothing is xored.
#[test]
fn section_5_3_example_2_a_shared_output_dim() {
    let lanes = LinearLayout::identity(4, LANE, dim0()).expect("lanes");
    let registers = LinearLayout::identity(8, REGISTER, dim0()).expect("registers");
    let layout = lanes.direct_sum(&registers).expect("both");
    assert_eq!(apply(&layout, &[(LANE, 2), (REGISTER, 3)]), [(dim0(), 14)]);
}

#[test]
fn section_5_3_example_3_a_broadcast() {
    let lanes = LinearLayout::zeros(4, LANE, dim1(), 1).expect("lanes");
    let registers = LinearLayout::identity(8, REGISTER, dim0()).expect("registers");
    let layout = lanes.direct_sum(&registers).expect("both");
    (0..4).for_each(|lane| assert_eq!(apply(&layout, &[(LANE, lane), (REGISTER, 5)]), [(dim1(), 0), (dim0(), 5)]));
}

#[test]
fn section_5_4_compose() {
    let first = LinearLayout::identity(32, REGISTER, OFFSET).expect("a layout");
    let both = first.compose(&swizzle()).expect("the offsets are there");
    (0..32).for_each(|x| assert_eq!(apply(&both, &[(REGISTER, x)]), apply(&swizzle(), &[(OFFSET, x)])));
}

/// Section 5.5: the element (2, 3) is at offset 10 of the memory, so the register that holds it maps to that offset.
/// Index 0 can only be at (0, 0).
#[test]
fn section_5_5_invert_and_compose() {
    let two_by_two = |dim, bases: [[u64; 2]; 2]| (dim, bases.iter().map(|basis| basis.to_vec()).collect());
    let registers = [two_by_two(REGISTER, [[1, 0], [2, 0]]), two_by_two(LANE, [[0, 1], [0, 2]])];
    let registers = LinearLayout::from_bases(&registers, &[(dim0(), 4), (dim1(), 4)]).expect("a layout");
    let offsets = [vec![0, 1], vec![0, 2], vec![1, 0], vec![2, 1]];
    let memory =
        LinearLayout::from_bases(&[(OFFSET, offsets.to_vec())], &[(dim0(), 4), (dim1(), 4)]).expect("a layout");
    assert_eq!(apply(&registers, &[(REGISTER, 2), (LANE, 3)]), [(dim0(), 2), (dim1(), 3)]);
    assert_eq!(apply(&memory, &[(OFFSET, 10)]), [(dim0(), 2), (dim1(), 3)]);
    let stores = registers.invert_and_compose(&memory).expect("the memory holds all");
    assert_eq!(apply(&stores, &[(REGISTER, 2), (LANE, 3)]), [(OFFSET, 10)]);
    assert_eq!(apply(&stores, &[]), [(OFFSET, 0)]);
}

#[test]
fn section_5_6_shapes() {
    let identity_of = |size, dim| LinearLayout::identity(size, dim, dim0()).expect("a layout");
    let layout = identity_of(4, REGISTER)
        .direct_sum(&identity_of(8, LANE))
        .expect("sum")
        .direct_sum(&identity_of(2, WARP))
        .expect("sum");
    assert_eq!(layout.flatten_ins().ins().iter().collect::<Vec<_>>(), [(REGISTER, 6)]);
    let reshaped = layout.reshape_ins(&[(REGISTER, 8), (LANE, 8)]).expect("as many");
    assert_eq!(apply(&reshaped, &[(REGISTER, 5), (LANE, 3)]), [(dim0(), 5 + 8 * 3)]);
    let transposed = swizzle().transpose_outs(&[dim1(), dim0()]).expect("both axes");
    assert_eq!(apply(&transposed, &[(OFFSET, 0b1100_0001)]), [(dim1(), 13), (dim0(), 12)]);
    assert_eq!(swizzle().flatten_outs().outs().iter().collect::<Vec<_>>(), [(dim0(), 8)]);
}

/// Section 5.7: register 3, lane 5, warp 1 of a blocked layout.
#[test]
fn section_5_7_apply() {
    let text = "sizePerThread = [2, 2], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]";
    let found = apply(&blocked(text, [16, 16]), &[(REGISTER, 3), (LANE, 5), (WARP, 1)]);
    // The register is at (1, 1), the lane at (0, 10), the warp at (8, 0).
    assert_eq!(found, [(dim0(), 9), (dim1(), 11)]);
}

/// Section 6.1: for the elements that the section's comment lists, the lane must supply the low bits of the element's
/// index.
#[test]
fn section_6_1_elements_dealt_out_to_lanes() {
    let lanes = LinearLayout::identity(4, LANE, dim0()).expect("lanes");
    let registers = LinearLayout::identity(8, REGISTER, dim0()).expect("registers");
    let dealt = lanes.direct_sum(&registers).expect("both");
    let elements_of_lanes = [
        [0, 4, 8, 12, 16, 20, 24, 28],
        [1, 5, 9, 13, 17, 21, 25, 29],
        [2, 6, 10, 14, 18, 22, 26, 30],
        [3, 7, 11, 15, 19, 23, 27, 31],
    ];
    for (lane, elements) in elements_of_lanes.iter().enumerate() {
        for (register, &element) in elements.iter().enumerate() {
            let at = [(REGISTER, register as u64), (LANE, lane as u64)];
            assert_eq!(apply(&dealt, &at), [(dim0(), element)]);
        }
    }
    // In the article's order of factors, each lane has eight consecutive elements.
    let strided = LinearLayout::strided(4, 1, LANE, dim0()).expect("lanes");
    let written = registers.direct_sum(&strided).expect("both");
    let values = [(0, 0), (1, 0), (0, 1), (2, 3)].map(|(r, l)| apply(&written, &[(REGISTER, r), (LANE, l)])[0].1);
    assert_eq!(values, [0, 1, 8, 26]);
}

/// Section 6.2: the blocked layout at register 2 of lane 5 in either order, and the sizes of the article's product of
/// strided layouts.
#[test]
fn section_6_2_a_blocked_layout() {
    let text =
        |order: &str| format!("sizePerThread = [2, 2], threadsPerWarp = [4, 4], warpsPerCTA = [2, 2], order = {order}");
    let at = [(REGISTER, 2), (LANE, 5), (WARP, 0)];
    assert_eq!(apply(&blocked(&text("[1, 0]"), [16, 16]), &at), [(dim0(), 3), (dim1(), 2)]);
    assert_eq!(apply(&blocked(&text("[0, 1]"), [16, 16]), &at), [(dim0(), 2), (dim1(), 3)]);
    let pair = |size, stride, dim| {
        let along = |axis| LinearLayout::strided(size, stride, dim, axis).expect("a layout");
        along(dim0()).direct_sum(&along(dim1())).expect("both")
    };
    let lanes_and_warps = pair(4, 2, LANE).direct_sum(&pair(2, 8, WARP)).expect("both");
    let product = pair(2, 1, REGISTER).direct_sum(&lanes_and_warps).expect("all");
    assert_eq!(product.outs().iter().collect::<Vec<_>>(), [(dim0(), 8), (dim1(), 8)], "256x256");
}

/// Section 6.3: rows begin at offset 32; offset 17 is in row 0, and (4, 9) is at 129.
#[test]
fn section_6_3_a_swizzled_memory() {
    let columns = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]];
    let rows = [[1, 0], [2, 0], [4, 8], [8, 16], [16, 0], [32, 0], [64, 0]];
    let bases = columns.iter().chain(&rows).map(|basis| basis.to_vec()).collect();
    let by_hand = LinearLayout::from_bases_inferred(&[(OFFSET, bases)], &[dim0(), dim1()]).expect("a layout");
    assert_eq!(apply(&by_hand, &[(OFFSET, 17)]), [(dim0(), 0), (dim1(), 17)]);
    assert_eq!(apply(&by_hand, &[(OFFSET, 129)]), [(dim0(), 4), (dim1(), 9)]);
    let text = "#ttg.swizzled_shared<{vec = 8, perPhase = 4, maxPhase = 8, order = [1, 0]}>";
    assert_eq!(resolved(text, [128, 32]).linear().bases_of(OFFSET), by_hand.bases_of(OFFSET));
}

/// Section 6.4: every register is stored to its element's offset, no two at one offset.
#[test]
fn section_6_4_from_registers_to_shared_memory() {
    let text = "sizePerThread = [2, 2], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [1, 0]";
    let registers = blocked(text, [128, 32]);
    let memory = resolved("#ttg.swizzled_shared<{vec = 8, perPhase = 4, maxPhase = 8, order = [1, 0]}>", [128, 32]);
    let stores = registers.invert_and_compose(memory.linear()).expect("the memory holds all");
    assert!(stores.outs().dims().eq([OFFSET, Dim::BLOCK]));
    let mut used = vec![false; 128 * 32];
    for packed in 0..1u64 << registers.ins().total_bits() {
        let offset = stores.outs().coordinate(stores.apply_packed(packed), OFFSET);
        assert_eq!(memory.linear().apply_packed(offset), registers.apply_packed(packed));
        assert!(!std::mem::replace(&mut used[offset as usize], true), "two values at {offset}");
    }
    assert!(used.iter().all(|&used| used));
}
