//! Semantics of queries, register actions, fitting and affine maps, by enumeration on random layouts.

use std::collections::HashSet;

use proptest::collection::vec;
use proptest::prelude::*;
use tilewright_layout::{AffineLayout, ColumnAction, Dim, LayoutError, LinearLayout, Space, solve_composition};

const REGISTER: Dim = Dim::REGISTER;
const LANE: Dim = Dim::LANE;

fn dims() -> [Dim; 2] {
    [Dim::tensor(0), Dim::tensor(1)]
}

fn space(dims: [Dim; 2], bits: (u32, u32)) -> Space {
    Space::from_sizes(&[(dims[0], 1 << bits.0), (dims[1], 1 << bits.1)]).expect("few bits")
}

/// A random basis image. Two thirds are zero or a power of two below 256, so that the tested properties often hold.
fn column() -> impl Strategy<Value = u64> {
    prop_oneof![(0..8u32).prop_map(|bit| 1u64 << bit), Just(0), any::<u64>()]
}

fn layout() -> impl Strategy<Value = LinearLayout> {
    let sizes = ((0..4u32, 0..3u32), (0..4u32, 0..4u32));
    let columns = prop_oneof![vec(column(), 6), Just((0..6).map(|bit| 1 << bit).collect::<Vec<u64>>())];
    (sizes, columns).prop_map(|((ins, outs), columns)| {
        let (ins, outs) = (space([REGISTER, LANE], ins), space(dims(), outs));
        let mask = (1 << outs.total_bits()) - 1;
        let columns: Vec<_> = columns.iter().take(ins.total_bits() as usize).map(|column| column & mask).collect();
        LinearLayout::from_columns(ins, outs, &columns).expect("columns fit")
    })
}

fn inputs(layout: &LinearLayout) -> std::ops::Range<u64> {
    0..1 << layout.ins().total_bits()
}

fn affine() -> impl Strategy<Value = AffineLayout> {
    (layout(), any::<u64>()).prop_map(|(layout, offset)| {
        let offset: Vec<_> = layout.outs().unpack(offset).collect();
        AffineLayout::new(layout, &offset).expect("it fits")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn runs_are_the_longest_that_add(layout in layout()) {
        let (first_in, first_out) = (1u64 << layout.in_bits(REGISTER), 1u64 << layout.out_bits(dims()[0]));
        // In a consecutive sequence of inputs that crosses the first out dim's boundary, addition on the packed
        // coordinate would carry into the next out dim.
        let run = |length: u64| length <= first_in.min(first_out) && inputs(&layout).all(|input| {
            let start = layout.apply_packed(input - input % length);
            layout.apply_packed(input) == start + input % length
        });
        let longest = (0..=6).map(|bits| 1 << bits).filter(|&length| run(length)).max();
        prop_assert_eq!(Some(layout.consecutive_elements()), longest);
    }

    #[test]
    fn contiguous_along_an_axis_is_the_longest_prefix_reached(layout in layout()) {
        for dim in dims() {
            let reached: HashSet<u64> =
                inputs(&layout).map(|input| layout.outs().coordinate(layout.apply_packed(input), dim)).collect();
            let prefix = (0..).take_while(|at| reached.contains(at)).count() as u64;
            prop_assert_eq!(layout.contiguous_along_out(dim), prefix);
        }
    }

    #[test]
    fn vectors_are_side_by_side(layout in layout(), widest in 0..4u32) {
        let offset = dims()[0];
        let (elements, order) = layout.widest_vector_access(REGISTER, offset, 1 << widest);
        prop_assert!(elements <= 1 << widest);
        let ordered = order.apply(&layout).expect("the order is for it");
        let vector = LinearLayout::identity(elements, REGISTER, offset).expect("a power of two");
        prop_assert!(ordered.divide_left(&vector).is_some());
        let wider = LinearLayout::identity(elements * 2, REGISTER, offset).expect("a power of two");
        let none = layout.division_order(&wider, REGISTER, false).is_none();
        prop_assert!(none || elements == 1 << widest);
    }

    #[test]
    fn an_action_keeps_every_value_at_its_element(layout in layout(), shuffled in Just([0usize, 1, 2]).prop_shuffle(), keep in 0..4usize) {
        let bits = layout.in_bits(REGISTER);
        let kept: Vec<_> = shuffled.into_iter().filter(|&bit| bit < bits as usize).take(keep).collect();
        let action = ColumnAction::new(REGISTER, bits, &kept).expect("a selection");
        let after = action.apply(&layout).expect("as many bases");
        // The value of each register is its index.
        let values: Vec<u64> = (0..1 << bits).collect();
        let moved = action.apply_values(&values);
        prop_assert_eq!(moved.len(), 1 << kept.len());
        for (new, &old) in moved.iter().enumerate() {
            prop_assert_eq!(after.apply_packed(new as u64), layout.apply_packed(old));
        }
        match action.inverse() {
            Some(back) => {
                prop_assert!(action.then(&back).expect("it fits").is_identity());
                prop_assert_eq!(back.apply(&after).expect("it fits"), layout);
                prop_assert_eq!(back.apply_values(&moved), values);
            }
            None => prop_assert!(kept.len() < bits as usize),
        }
    }

    #[test]
    fn copies_are_dropped_and_come_back(layout in layout()) {
        let action = layout.remove_broadcast_action(REGISTER);
        let distinct = action.apply(&layout).expect("it fits");
        prop_assert_eq!(&distinct, &layout.remove_zero_bases(REGISTER));
        let elements: Vec<_> = (0..1 << distinct.in_bits(REGISTER)).map(|at| distinct.apply_packed(at)).collect();
        let all: Vec<_> = (0..1 << layout.in_bits(REGISTER)).map(|at| layout.apply_packed(at)).collect();
        prop_assert_eq!(action.broadcast_values(&elements), all);
    }

    #[test]
    fn an_order_for_division_divides(a in layout(), b in layout(), shuffled in Just([0usize, 1, 2, 3, 4, 5]).prop_shuffle()) {
        for above in [false, true] {
            let (low, high) = if above { (&a, &b) } else { (&b, &a) };
            let sum = low.direct_sum(high).expect("few bits");
            let bits = sum.in_bits(REGISTER);
            let kept: Vec<_> = shuffled.into_iter().filter(|&bit| bit < bits as usize).collect();
            let mixed = ColumnAction::new(REGISTER, bits, &kept).expect("a permutation").apply(&sum).expect("it fits");
            let order = mixed.division_order(&b, REGISTER, above);
            let order = order.expect("the order before is one");
            let ordered = order.apply(&mixed).expect("it fits");
            let quotient = if above { ordered.divide_right(&b) } else { ordered.divide_left(&b) };
            let quotient = quotient.expect("it can be divided");
            let back = if above { quotient.direct_sum(&b) } else { b.direct_sum(&quotient) };
            prop_assert_eq!(back.expect("few bits"), ordered);
        }
    }

    #[test]
    fn additive_registers_add(layout in layout()) {
        let (order, span) = layout.order_additive_bases_first(REGISTER);
        let ordered = order.apply(&layout).expect("it fits");
        for input in inputs(&ordered) {
            let first = input & (span - 1);
            let sum = ordered.apply_packed(input - first) + ordered.apply_packed(first);
            prop_assert_eq!(ordered.apply_packed(input), sum);
        }
    }

    #[test]
    fn solutions_solve(a in layout(), x in layout()) {
        let reached: HashSet<u64> = inputs(&a).map(|input| a.apply_packed(input)).collect();
        let b = LinearLayout::from_columns(
            x.ins().clone(), a.outs().clone(),
            &x.columns().iter().map(|column| column & ((1 << a.outs().total_bits()) - 1)).collect::<Vec<_>>(),
        ).expect("columns fit");
        // The same map with its out dims in reverse order has the same solutions.
        let turned = b.transpose_outs(&[dims()[1], dims()[0]]).expect("the same dims");
        prop_assert_eq!(solve_composition(&a, &turned), solve_composition(&a, &b));
        match solve_composition(&a, &b) {
            Ok(found) => prop_assert_eq!(found.compose(&a).expect("it fits"), b),
            Err(error) => {
                let unsolved = matches!(error, LayoutError::NoSolution { .. });
                prop_assert!(unsolved);
                prop_assert!(b.columns().iter().any(|column| !reached.contains(column)));
            }
        }
    }

    #[test]
    fn masks_are_parities_and_come_back(layout in layout()) {
        let masks = layout.output_masks();
        for input in inputs(&layout) {
            for (dim, rows) in &masks {
                let parity = |(bit, mask): (usize, &u64)| u64::from((input & mask).count_ones() & 1) << bit;
                let image: u64 = rows.iter().enumerate().map(parity).sum();
                prop_assert_eq!(layout.outs().coordinate(layout.apply_packed(input), *dim), image);
            }
        }
        prop_assert_eq!(LinearLayout::from_output_masks(layout.ins().clone(), &masks).expect("they fit"), layout);
    }

    #[test]
    fn a_tile_and_its_repetitions_make_the_layout(layout in layout(), taken in (0..3u32, 0..3u32)) {
        let bits = (taken.0.min(layout.in_bits(REGISTER)), taken.1.min(layout.in_bits(LANE)));
        let small = layout.resize_in(REGISTER, 1 << bits.0).and_then(|l| l.resize_in(LANE, 1 << bits.1));
        let tile = small.expect("smaller");
        let image = tile.columns().iter().fold(0, |all, column| all | column);
        let others = |dim, bits: u32| layout.columns_of(dim)[bits as usize..].iter().all(|column| column & image == 0);
        let is_disjoint = others(REGISTER, bits.0) && others(LANE, bits.1);
        let found = layout.divide_out_tile(&tile);
        prop_assert_eq!(found.is_some(), is_disjoint);
        let Some(found) = found else { return Ok(()) };
        for input in inputs(&layout) {
            let register = layout.ins().coordinate(input, REGISTER) & ((1 << bits.0) - 1);
            let lane = layout.ins().coordinate(input, LANE) & ((1 << bits.1) - 1);
            let within = tile.apply_packed(tile.ins().pack(&[(REGISTER, register), (LANE, lane)]).expect("within"));
            prop_assert_eq!(layout.apply_packed(input), within ^ found.apply_packed(input));
            prop_assert_eq!(found.apply_packed(input) & within, 0);
        }
    }

    #[test]
    fn a_fitted_layout_has_the_sizes(layout in layout(), sizes in (0..5u32, 0..5u32)) {
        let sizes = [(dims()[0], 1u64 << sizes.0), (dims()[1], 1u64 << sizes.1)];
        let large = layout.ensure_not_smaller_than(&sizes).expect("few bits");
        let fitted = large.ensure_not_larger_than(&sizes).expect("few bits");
        for (dim, size) in sizes {
            prop_assert!(1 << large.out_bits(dim) >= size);
            prop_assert_eq!(1 << fitted.out_bits(dim), size);
        }
        prop_assert!(!layout.is_distributed() || fitted.is_surjective());
        for dim in large.ins().dims() {
            for (before, after) in large.bases_of(dim).iter().zip(fitted.bases_of(dim)) {
                let cut = |(by, (_, size)): (&u64, &(Dim, u64))| if by < size { *by } else { 0 };
                let sized: Vec<_> = large.outs().dims().filter_map(|out| sizes.iter().find(|(dim, _)| *dim == out)).collect();
                prop_assert_eq!(before.iter().zip(sized).map(cut).collect::<Vec<_>>(), after, "a coordinate stays or is zero");
            }
        }
        prop_assert_eq!(layout.ensure_not_larger_than(&dims().map(|dim| (dim, 1 << layout.out_bits(dim)))), Ok(layout));
    }

    #[test]
    fn affine_maps_compose_and_invert(a in affine(), b in layout(), c in any::<u64>()) {
        let (a_outs, a_ins) = (a.linear_part().outs().clone(), a.linear_part().ins().clone());
        let columns: Vec<_> = (0..a_outs.total_bits()).map(|bit| c.rotate_left(7 * bit) & ((1 << b.outs().total_bits()) - 1)).collect();
        let outer = LinearLayout::from_columns(a_outs, b.outs().clone(), &columns).expect("columns fit");
        let mut outer = AffineLayout::from(outer);
        for dim in dims() {
            outer = outer.flip_out(dim).expect("it has both");
        }
        let both = a.compose(&outer).expect("one's outputs are the other's inputs");
        for input in 0..1 << a_ins.total_bits() {
            prop_assert_eq!(both.apply_packed(input), outer.apply_packed(a.apply_packed(input)));
        }
        match a.invert() {
            Ok(back) => {
                for input in 0..1 << a_ins.total_bits() {
                    prop_assert_eq!(back.apply_packed(a.apply_packed(input)), input);
                }
            }
            Err(_) => prop_assert!(!a.linear_part().is_invertible()),
        }
        if let Ok(back) = both.invert_and_compose(&outer) {
            for input in 0..1 << a_ins.total_bits() {
                prop_assert_eq!(outer.apply_packed(back.apply_packed(input)), both.apply_packed(input));
            }
        }
    }

    #[test]
    fn flips_reverse_and_slices_begin_later(a in affine(), start in 0..8u64, bits in 0..4u32) {
        let (ins, outs) = (a.linear_part().ins().clone(), a.linear_part().outs().clone());
        let size = 1u64 << ins.bits_of(REGISTER);
        let at = |map: &AffineLayout, register| map.apply(&[(REGISTER, register)]).expect("it is in the map");
        let (turned, mirrored) = (a.flip_in(REGISTER).expect("it is there"), a.flip_out(dims()[1]).expect("it is there"));
        for register in 0..size {
            prop_assert_eq!(at(&turned, register), at(&a, size - 1 - register));
            let (before, after) = (at(&a, register), at(&mirrored, register));
            prop_assert_eq!(before[1].1 + after[1].1 + 1, 1 << outs.bits_of(dims()[1]));
            prop_assert_eq!(before[0], after[0]);
        }
        match a.slice_in(REGISTER, start, 1 << bits) {
            Ok(slice) => for register in 0..1 << bits {
                prop_assert_eq!(at(&slice, register), at(&a, start + register));
            },
            Err(LayoutError::NotAffine { .. }) => prop_assert!(start % (1 << bits) != 0),
            Err(_) => prop_assert!(start + (1 << bits) > size),
        }
    }

    #[test]
    fn what_is_shifted_is_added(a in affine(), by in 0..8u64) {
        let dim = dims()[0];
        let along = |map: &AffineLayout, input| map.linear_part().outs().coordinate(map.apply_packed(input), dim);
        let size = 1 << a.linear_part().out_bits(dim);
        match a.shift_out(dim, by) {
            Ok(shifted) => for input in inputs(a.linear_part()) {
                prop_assert_eq!(along(&shifted, input), along(&a, input) + by);
            },
            Err(error) => {
                // The error is right: for some input the addition carries into another bit, or the sum exceeds the dim.
                let carries = matches!(error, LayoutError::NotAffine { .. });
                prop_assert!(carries);
                let differs = |input| along(&a, input) + by >= size || along(&a, input) ^ by != along(&a, input) + by;
                prop_assert!(inputs(a.linear_part()).any(differs) || by == 0);
            }
        }
    }
}

/// Definition 4.14 of the Linear Layouts paper, and the 32x32 xor swizzle of the article in `seed_001.rs` as masks.
#[test]
fn a_swizzle_is_a_memory_layout() {
    let [row, col] = dims();
    let ins = Space::from_sizes(&[(Dim::OFFSET, 1024)]).expect("a power of two");
    let rows = (0..5).map(|bit| 1 << (5 + bit)).collect();
    let columns = (0..5).map(|bit| 1 << bit | 1 << (5 + bit)).collect();
    let swizzle = LinearLayout::from_output_masks(ins, &[(row, rows), (col, columns)]).expect("masks fit");
    assert!(swizzle.is_memory_layout());
    for offset in 0..1024u64 {
        let expected = [(row, offset / 32), (col, (offset % 32) ^ (offset / 32))];
        assert_eq!(swizzle.apply(&[(Dim::OFFSET, offset)]).expect("an offset"), expected);
    }
    let of = |bases: &[u64]| {
        let bases = bases.iter().map(|&basis| vec![basis]).collect();
        LinearLayout::from_bases(&[(Dim::OFFSET, bases)], &[(row, 8)]).expect("they fit")
    };
    assert!(of(&[1, 3, 6]).is_memory_layout());
    assert!(!of(&[1, 2, 7]).is_memory_layout(), "three bits in a column");
    assert!(!of(&[1, 2, 3]).is_memory_layout(), "not invertible");
    assert!(!of(&[1, 2]).is_memory_layout(), "not surjective");
}

#[test]
fn identity_on_an_axis_and_equality_without_sizes() {
    let [row, col] = dims();
    let of = |bases: Vec<Vec<u64>>, size| {
        let bases = [(row, bases), (LANE, vec![vec![0, 1]])];
        LinearLayout::from_bases(&bases, &[(row, size), (col, 4)]).expect("they fit")
    };
    assert!(of(vec![vec![1, 0], vec![2, 0]], 4).is_identity_on_out(row));
    assert!(of(vec![vec![1, 3], vec![2, 1]], 4).is_identity_on_out(row), "the input may move along others too");
    assert!(!of(vec![vec![2, 0], vec![1, 0]], 4).is_identity_on_out(row));
    assert!(!of(vec![vec![1, 0], vec![2, 0]], 8).is_identity_on_out(row), "the axis is larger");
    assert!(!of(vec![vec![1, 0], vec![2, 0]], 4).is_identity_on_out(col), "there is no input of that name");
    let (small, large) = (of(vec![vec![1, 0], vec![2, 0]], 4), of(vec![vec![1, 0], vec![2, 0]], 8));
    assert!(small != large && small.equal_ignoring_out_sizes(&large));
    assert!(!small.equal_ignoring_out_sizes(&of(vec![vec![1, 0], vec![3, 0]], 4)));
}

#[test]
fn invalid_arguments_are_errors() {
    let lanes = LinearLayout::identity(8, LANE, dims()[0]).expect("a power of two");
    assert_eq!(ColumnAction::new(LANE, 3, &[0, 0]), Err(LayoutError::NotASelection { dim: LANE, bit: 0, bits: 3 }));
    assert!(ColumnAction::new(LANE, 3, &[3]).is_err());
    assert!(ColumnAction::identity(LANE, 2).apply(&lanes).is_err());
    assert!(ColumnAction::identity(LANE, 2).then(&ColumnAction::identity(REGISTER, 2)).is_err());
    let masks = [(dims()[0], vec![0b1000])];
    let wide = LinearLayout::from_output_masks(lanes.ins().clone(), &masks);
    assert_eq!(wide, Err(LayoutError::MaskTooWide { dim: dims()[0], mask: 8, bits: 3 }));
    let affine = AffineLayout::from(lanes.clone());
    assert!(affine.flip_out(LANE).is_err() && affine.flip_in(dims()[0]).is_err());
    assert!(affine.slice_in(LANE, 0, 16).is_err() && affine.slice_in(LANE, 8, 8).is_err());
    let error = affine.slice_in(LANE, 2, 4).expect_err("no multiple");
    assert!(error.to_string().contains("not an affine map"), "{error}");
    // A map that reaches even rows only never reaches an odd one.
    let even = LinearLayout::from_bases(&[(LANE, vec![vec![2]])], &[(dims()[0], 4)]).expect("it fits");
    let odd = AffineLayout::new(even.clone(), &[(dims()[0], 1)]).expect("it fits");
    assert_eq!(odd.invert_and_compose(&even.into()), Err(LayoutError::OffsetNotReached));
}
