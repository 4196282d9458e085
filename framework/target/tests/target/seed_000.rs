//! The Linear Layouts paper: the layouts of its examples, with its numbers.

use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{Dim, Families, LinearLayout, parse_family_spec};
use tilewright_target::{BankTableEntry, Direction, Evidence, count_access_wavefronts};

const I: usize = 0;
const J: usize = 1;

/// Layout A of section 4.1: a 16x16 tensor over 2x2 registers, 4x8 threads and 2x1 warps, j fastest.
fn layout_a() -> LinearLayout {
    let text = "#ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}>";
    let spec = parse_family_spec(text).expect("text");
    NeutralFamilies.resolve(&spec, &[16, 16], &NeutralFamilies).expect("a layout").linear().clone()
}

fn at(layout: &LinearLayout, register: u64, lane: u64, warp: u64) -> [u64; 2] {
    let coordinates =
        layout.apply(&[(Dim::REGISTER, register), (Dim::LANE, lane), (Dim::WARP, warp)]).expect("in range");
    [I, J].map(|axis| coordinates.iter().find(|(dim, _)| *dim == Dim::tensor(axis)).expect("an axis").1)
}

#[test]
fn table_1() {
    // Location, register, thread, warp.
    let rows = [
        ([0, 0], 0b0, 0b0, 0b0),
        ([0, 1], 0b1, 0b0, 0b0),
        ([0, 2], 0b0, 0b1, 0b0),
        ([0, 3], 0b1, 0b1, 0b0),
        ([1, 0], 0b10, 0b0, 0b0),
        ([1, 1], 0b11, 0b0, 0b0),
        ([2, 2], 0b0, 0b1001, 0b0),
        ([2, 3], 0b1, 0b1001, 0b0),
        ([3, 2], 0b10, 0b1001, 0b0),
        ([3, 3], 0b11, 0b1001, 0b0),
    ];
    for (location, register, thread, warp) in rows {
        assert_eq!(at(&layout_a(), register, thread, warp), location);
    }
}

/// The rows of the matrix are the bits of j and then of i, the lowest first; its columns are two bits of the register,
/// five of the thread, one of the warp.
#[test]
fn section_4_1_the_matrix_of_layout_a() {
    let j_first = layout_a().transpose_outs(&[Dim::tensor(J), Dim::tensor(I)]).expect("both axes");
    let matrix = [
        [1, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 1, 0, 0, 0, 0, 0],
        [0, 0, 0, 1, 0, 0, 0, 0],
        [0, 0, 0, 0, 1, 0, 0, 0],
        [0, 1, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0, 0, 1, 0],
        [0, 0, 0, 0, 0, 0, 0, 1],
    ];
    assert_eq!(j_first.matrix(), matrix);
}

/// Register 1 of thread 9 of warp 0: (0,1) within the thread's tile, the tile at (2,2) of the
/// warp's, the warp at (0,0); together (2,3).
#[test]
fn section_4_1_positions_add_up() {
    let a = layout_a();
    assert_eq!(at(&a, 1, 0, 0), [0, 1]);
    assert_eq!(at(&a, 0, 9, 0), [2, 2]);
    assert_eq!(at(&a, 0, 0, 0), [0, 0]);
    assert_eq!(at(&a, 1, 9, 0), [2, 3]);
}

/// Section 5.1: with an additional zero register column, registers 4 to 7 hold the values of 0 to 3.
#[test]
fn section_5_1_a_zero_column_is_a_copy() {
    let a = layout_a();
    let doubled = a.resize_in(Dim::REGISTER, 8).expect("larger");
    for register in 0..4 {
        assert_eq!(at(&doubled, register + 4, 9, 1), at(&a, register, 9, 1));
    }
    assert_eq!(doubled.free_variable_masks()[0], (Dim::REGISTER, 0b100));
}

/// Definition 4.11 with the row term that it omits: the element (i, j) lies at `i * 2^n + (((i / per_phase) mod
/// max_phase) xor j / vec) * vec xor j mod vec`.
#[test]
fn definition_4_11_swizzled_offsets() {
    let text = "#ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 4, order = [1, 0]}>";
    let layout = NeutralFamilies
        .resolve(&parse_family_spec(text).expect("text"), &[16, 32], &NeutralFamilies)
        .expect("a layout");
    let offsets = layout.linear().invert().expect("a memory layout");
    for (i, j) in (0..16).flat_map(|i| (0..32).map(move |j| (i, j))) {
        let expected = i * 32 + (((((i / 2) % 4) ^ (j / 4)) * 4) ^ (j % 4));
        let found = offsets.apply(&[(Dim::tensor(I), i), (Dim::tensor(J), j)]).expect("in range");
        assert_eq!(found.iter().find(|(dim, _)| *dim == Dim::OFFSET).expect("an offset").1, expected);
    }
    assert!(layout.linear().is_memory_layout());
}

/// The setting of Figure 5: four banks, segments of four elements, four threads that each access elements 4 apart as
/// one vector.
struct Figure5 {
    /// From (vector, bank, segment) to elements: the columns of the paper's M.
    memory: LinearLayout,
    reader: LinearLayout,
}

/// Figure 5's memory with these bases of the segment bits; the vector bit has the basis 4, the bank bit the basis 1.
/// The bases of the reader's thread bits are 1 and 2.
fn figure_5(segments: [u64; 2]) -> Figure5 {
    let element = Dim::tensor(0);
    let offsets = vec![vec![4], vec![1], vec![segments[0]], vec![segments[1]]];
    let memory = LinearLayout::from_bases(&[(Dim::OFFSET, offsets)], &[(element, 16)]).expect("sixteen elements");
    let reader = [(Dim::REGISTER, vec![vec![4], vec![8]]), (Dim::LANE, vec![vec![1], vec![2]])];
    Figure5 { memory, reader: LinearLayout::from_bases(&reader, &[(element, 16)]).expect("sixteen elements") }
}

impl Figure5 {
    fn offset(&self, register: u64, lane: u64) -> u64 {
        let offsets = self.reader.invert_and_compose(&self.memory).expect("the memory holds all");
        offsets.apply(&[(Dim::REGISTER, register), (Dim::LANE, lane)]).expect("in range")[0].1
    }

    fn bank(&self, register: u64, lane: u64) -> u64 {
        self.offset(register, lane) % 4
    }

    /// Number of transactions for each thread's first vector: two elements at a time, two threads in a phase.
    fn transactions(&self, lanes: [u64; 2]) -> u64 {
        let row = BankTableEntry {
            directions: vec![Direction::Load],
            access_bits: vec![64],
            instruction: None,
            banks: 4,
            bank_bytes: 4,
            phase: vec![1],
            idle_phases: false,
            paired: None,
            evidence: Evidence::Assumed,
            source: "Figure 5".to_owned(),
        };
        let addresses = lanes.map(|lane| Some(4 * self.offset(0, lane)));
        count_access_wavefronts(&row, &addresses, 8)
    }
}

/// Figure 5 (2): without a swizzle t0 and t2 access the same bank, and so do t1 and t3.
#[test]
fn figure_5_unswizzled() {
    let plain = figure_5([2, 8]);
    assert_eq!(plain.bank(0, 0), plain.bank(0, 2));
    assert_eq!(plain.bank(0, 1), plain.bank(0, 3));
    assert_eq!([plain.transactions([0, 2]), plain.transactions([1, 3])], [2, 2]);
}

/// Figure 5 (3): with the segment basis 1 xor 2 in the place of 2, t0 reads 0 (b0) and 4 (b1) while
/// t1 reads 1 (b2) and 5 (b3), then t2 reads 2 (b2) and 6 (b3) while t3 reads 3 (b0) and 7 (b1).
#[test]
fn figure_5_swizzled() {
    let swizzled = figure_5([1 ^ 2, 8]);
    let banks = |lane| [swizzled.bank(0, lane), swizzled.bank(1, lane)];
    assert_eq!([banks(0), banks(1), banks(2), banks(3)], [[0, 1], [2, 3], [2, 3], [0, 1]]);
    let pairs = [[0, 1], [2, 3], [0, 2], [1, 3]];
    assert!(pairs.iter().all(|&lanes| swizzled.transactions(lanes) == 1));
}
