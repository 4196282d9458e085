//! The article "Linear Layouts From First Principles": its layouts, in its direction from tensor to memory, and
//! inverted.

use std::collections::HashSet;

use tilewright_layout::{Dim, EnlargedShape, LinearLayout, Space};

fn axes<const N: usize>(sizes: [u64; N]) -> Space {
    let named: Vec<_> = sizes.into_iter().enumerate().map(|(axis, size)| (Dim::tensor(axis), size)).collect();
    Space::from_sizes(&named).expect("powers of two")
}

fn value(layout: &LinearLayout, index: &[u64], out: Dim) -> u64 {
    let input: Vec<_> = index.iter().enumerate().map(|(axis, &at)| (Dim::tensor(axis), at)).collect();
    let output = layout.apply(&input).expect("in range");
    output.into_iter().find(|(dim, _)| *dim == out).expect("the out dim").1
}

/// Masks that select the given bits of the packed index, the lowest bit of the result first.
fn bit_masks(bits: impl IntoIterator<Item = u32>) -> Vec<u64> {
    bits.into_iter().map(|bit| 1 << bit).collect()
}

/// Layout #1: `RowMaj(r, c) = C r + c`, `ColMaj(r, c) = R c + r`. The packed index has the bits of
/// the row (here three) below those of the column (here four).
#[test]
fn row_major_and_column_major() {
    let order = |bits: Vec<u32>| {
        LinearLayout::from_output_masks(axes([8, 16]), &[(Dim::OFFSET, bit_masks(bits))]).expect("a layout")
    };
    let row_major = order([3, 4, 5, 6, 0, 1, 2].to_vec());
    let column_major = order([0, 1, 2, 3, 4, 5, 6].to_vec());
    for (r, c) in (0..8).flat_map(|r| (0..16).map(move |c| (r, c))) {
        assert_eq!(value(&row_major, &[r, c], Dim::OFFSET), 16 * r + c);
        assert_eq!(value(&column_major, &[r, c], Dim::OFFSET), 8 * c + r);
    }
    // From memory to the tensor: the inverse.
    let back = row_major.invert().expect("no copies");
    assert_eq!(back.apply(&[(Dim::OFFSET, 16 * 5 + 11)]).expect("within"), [(Dim::tensor(0), 5), (Dim::tensor(1), 11)]);
}

/// Layout #2: from the top, all bits of n, all of c but two, all of h, all of w, two of c.
#[test]
fn nchw_vect_c() {
    // N 2, C 16, H 4, W 8: packed, n is bit 0, c bits 1 to 4, h bits 5 and 6, w bits 7 to 9.
    let from_the_bottom = [1, 2, 7, 8, 9, 5, 6, 3, 4, 0];
    let masks = [(Dim::OFFSET, bit_masks(from_the_bottom))];
    let layout = LinearLayout::from_output_masks(axes([2, 16, 4, 8]), &masks).expect("a layout");
    let (n, c, h, w) = (1, 13, 2, 5);
    assert_eq!(value(&layout, &[n, c, h, w], Dim::OFFSET), 981);
    for index in 0..2 * 16 * 4 * 8 {
        let [n, c, h, w] = [index % 2, index / 2 % 16, index / 32 % 4, index / 128];
        let vectors = ((n * 4 + c / 4) * 4 + h) * 8 + w;
        assert_eq!(value(&layout, &[n, c, h, w], Dim::OFFSET), vectors * 4 + c % 4);
    }
}

const BANK: Dim = Dim::COL;

/// 32x32 elements at (row, bank): the row is r, the bank c or, swizzled, r xor c.
fn shared(swizzled: bool) -> LinearLayout {
    let bank = |bit: u32| 1 << (5 + bit) | if swizzled { 1 << bit } else { 0 };
    let masks = [(Dim::ROW, bit_masks(0..5)), (BANK, (0..5).map(bank).collect())];
    LinearLayout::from_output_masks(axes([32, 32]), &masks).expect("a layout")
}

fn banks(layout: &LinearLayout, elements: impl Iterator<Item = [u64; 2]>) -> usize {
    elements.map(|element| value(layout, &element, BANK)).collect::<HashSet<_>>().len()
}

/// Layout #3: row-major, a column of 32 elements lies in one bank.
#[test]
fn row_major_columns_lie_in_one_bank() {
    for fixed in 0..32 {
        assert_eq!(banks(&shared(false), (0..32).map(|c| [fixed, c])), 32);
        assert_eq!(banks(&shared(false), (0..32).map(|r| [r, fixed])), 1);
    }
}

/// Layout #3: with the bank r xor c, neither rows nor columns have conflicts.
#[test]
fn the_xor_swizzle_is_free_of_conflicts_in_rows_and_columns() {
    let swizzled = shared(true);
    for (r, c) in (0..32).flat_map(|r| (0..32).map(move |c| (r, c))) {
        assert_eq!((value(&swizzled, &[r, c], Dim::ROW), value(&swizzled, &[r, c], BANK)), (r, r ^ c));
    }
    for fixed in 0..32 {
        assert_eq!(banks(&swizzled, (0..32).map(|c| [fixed, c])), 32);
        assert_eq!(banks(&swizzled, (0..32).map(|r| [r, fixed])), 32);
    }
}

/// The worked example on three bits. The article writes vectors as (b2, b1, b0) and the rows m0, m1, m2.
#[test]
fn the_three_bit_matrix() {
    let masks = vec![0b101, 0b011, 0b111];
    let ins = Space::from_sizes(&[(Dim::OFFSET, 8)]).expect("three bits");
    let layout = LinearLayout::from_output_masks(ins, &[(Dim::tensor(0), masks.clone())]).expect("a layout");
    for b in 0..8u64 {
        let [b0, b1, b2] = [b & 1, b >> 1 & 1, b >> 2];
        let [o0, o1, o2] = [b2 ^ b0, b1 ^ b0, b2 ^ b1 ^ b0];
        assert_eq!(layout.apply_packed(b), o0 | o1 << 1 | o2 << 2);
    }
    assert_eq!(layout.output_masks(), [(Dim::tensor(0), masks)]);
    // The columns of `matrix` run from the lowest bit of the input, the article's from the highest.
    assert_eq!(layout.matrix(), [[1, 0, 1], [1, 1, 0], [1, 1, 1]]);
    // A power of two gives a column.
    assert_eq!([layout.apply_packed(1), layout.apply_packed(2), layout.apply_packed(4)], [0b111, 0b110, 0b101]);
    assert!(layout.is_invertible());
}

#[test]
fn the_zero_matrix_stores_everything_at_one_offset() {
    let zeros = LinearLayout::zeros(8, Dim::tensor(0), Dim::OFFSET, 8).expect("a layout");
    assert!(!zeros.is_injective());
}

/// "A dynamically-sized array of blocks": the number of blocks is known at run time only, the
/// layout within one before.
#[test]
fn an_array_of_fixed_blocks_for_a_dynamic_shape() {
    let within = shared(true);
    let address = |blocks_across: u64, r: u64, c: u64| {
        let block = (r / 32) * blocks_across + c / 32;
        let inside = [r % 32, c % 32];
        block * 1024 + value(&within, &inside, Dim::ROW) * 32 + value(&within, &inside, BANK)
    };
    for (rows, columns) in [(32, 96), (100, 70), (1, 33)] {
        let across = columns_of_blocks(columns);
        let used: HashSet<_> = (0..rows).flat_map(|r| (0..columns).map(move |c| address(across, r, c))).collect();
        assert_eq!(used.len() as u64, rows * columns, "every element has its own place");
        assert!(used.iter().all(|&offset| offset < columns_of_blocks(rows) * across * 1024));
    }
}

fn columns_of_blocks(elements: u64) -> u64 {
    elements.div_ceil(32)
}

/// "We already require padding the input size to be a power of two": a 100x70 tensor in 128x128.
#[test]
fn a_shape_that_is_no_power_of_two_is_enlarged_and_masked() {
    let enlarged = EnlargedShape::new(&[100, 70]).expect("small");
    assert_eq!(enlarged.shape(), [128, 128]);
    assert_eq!(enlarged.mask_bounds(), [(Dim::tensor(0), 100), (Dim::tensor(1), 70)]);
}
