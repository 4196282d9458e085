//! Laws of the CuTe algebra and of the bridge, on random layouts, against evaluation.

use std::collections::BTreeSet;

use proptest::prelude::*;
use tilewright_layout::cute::*;
use tilewright_layout::{Dim, LinearLayout, Space};

fn pair(
    shape: impl Strategy<Value = u64>,
    stride: impl Strategy<Value = u64>,
) -> impl Strategy<Value = Tree<CuteLeaf>> {
    (shape, stride).prop_map(|(shape, stride)| Tree::leaf(CuteLeaf { shape, stride }))
}

fn nested(leaf: impl Strategy<Value = Tree<CuteLeaf>> + 'static) -> impl Strategy<Value = CuteLayout> {
    let tree = leaf.prop_recursive(2, 5, 3, |inner| {
        prop::collection::vec(inner, 1..=3).prop_map(|modes| Tree::tuple(modes).expect("shallow"))
    });
    tree.prop_map(|tree| CuteLayout::from_tree(tree).expect("small"))
}

/// Random small nested layouts.
fn any_layout() -> impl Strategy<Value = CuteLayout> {
    nested(pair(1..7u64, 0..25u64))
}

/// Random layouts whose sizes and strides often divide each other, so that compositions often exist.
fn smooth_layout() -> impl Strategy<Value = CuteLayout> {
    let size = prop::sample::select(vec![1u64, 2, 2, 3, 4, 4, 6, 8]);
    nested(pair(size, prop::sample::select(vec![0u64, 1, 1, 2, 3, 4, 6, 8, 12, 16, 24, 48])))
}

/// Random layouts with sizes of powers of two and any strides.
fn binary_layout() -> impl Strategy<Value = CuteLayout> {
    nested(pair(prop::sample::select(vec![1u64, 2, 4]), 0..40u64))
}

/// Random matrices with independent columns: row operations on distinct unit columns.
fn injective_columns() -> impl Strategy<Value = (u32, Vec<u64>)> {
    let operations = prop::collection::vec((0..10u32, 0..10u32), 0..30);
    (Just((0..10u32).collect::<Vec<_>>()).prop_shuffle(), 0..=10usize, operations).prop_map(
        |(rows, keep, operations)| {
            let mut columns: Vec<u64> = rows[..keep].iter().map(|row| 1 << row).collect();
            for (src, dst) in operations.into_iter().filter(|(src, dst)| src != dst) {
                columns.iter_mut().for_each(|column| *column ^= (*column >> src & 1) << dst);
            }
            (10, columns)
        },
    )
}

/// The exact values of `outer(inner(c))`, the last mode of the coalesced outer layout unbounded.
fn composed_values(outer: &CuteLayout, inner: &CuteLayout) -> Vec<u64> {
    inner.values().map(|value| outer.at(value).expect("small")).collect()
}

/// Whether a layout of this shape has these values, decided without the code under test by trying every factorisation
/// of every leaf.
fn representable(shape: &[u64], values: &[u64]) -> bool {
    fn along(values: &[u64], step: usize, size: usize) -> bool {
        // Values of one leaf: some first part is linear, and the rest is again the values of a leaf.
        if size == 1 {
            return true;
        }
        (2..=size).filter(|divisor| size.is_multiple_of(*divisor)).any(|divisor| {
            let first = values[step];
            let linear = (0..divisor).all(|i| values[i * step] == first * i as u64);
            let adds = (0..size)
                .all(|i| values[i * step] == values[i % divisor * step] + values[i / divisor * divisor * step]);
            linear && adds && along(values, step * divisor, size / divisor)
        })
    }
    let mut domain = 1usize;
    let mut offsets = vec![0u64];
    for &size in shape {
        let size = size as usize;
        if !along(values, domain, size) {
            return false;
        }
        let grown = (0..size).flat_map(|i| offsets.iter().map(move |sum| (i, *sum)));
        offsets = grown.map(|(i, sum)| sum + values[i * domain]).collect();
        domain *= size;
    }
    offsets == values
}

fn as_composed(layout: &CuteLayout) -> ComposedLayout {
    ComposedLayout::new(Vec::new(), 0, layout.clone()).expect("small")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn text_round_trips(layout in any_layout(), bits in 0..4u32, base in 0..5u32, shift in 4..9i32, offset in 0..9u64) {
        prop_assert_eq!(layout.to_string().parse::<CuteLayout>(), Ok(layout.clone()));
        let swizzles = vec![Swizzle::new(bits, base, shift).expect("a swizzle"), Swizzle::new(bits, base, -shift).expect("a swizzle")];
        let composed = ComposedLayout::new(swizzles, offset, layout).expect("small");
        prop_assert_eq!(composed.to_string().parse::<ComposedLayout>(), Ok(composed));
    }

    #[test]
    fn no_text_panics(text in "[0-9():,o<> SwizleZ-]{0,40}") {
        let _ = (text.parse::<CuteLayout>(), text.parse::<ComposedLayout>(), text.parse::<Swizzle>(), text.parse::<IntTuple>());
    }

    #[test]
    fn coalesce_keeps_the_map(layout in any_layout()) {
        let short = coalesce(&layout).expect("a layout");
        prop_assert!(short.depth() <= 1);
        prop_assert!(short.values().eq(layout.values()));
        prop_assert!(filter(&layout).expect("a layout").values().all(|value| layout.values().any(|other| other == value)));
        prop_assert_eq!(coalesce(&short).expect("a layout"), short);
    }

    #[test]
    fn coordinates_go_through(layout in any_layout(), index in 0..10_000u64) {
        let shape = layout.shape();
        let coordinate = idx2crd(index, &shape).expect("a coordinate");
        prop_assert_eq!(crd2idx(&coordinate, &shape), Ok(index));
        prop_assert_eq!(layout.at_coordinate(&coordinate), layout.at(index));
    }

    /// Composition is sound and complete: a result has the exact values; a rejection shows a point, and no result
    /// exists.
    #[test]
    fn composition_is_exact_or_impossible(outer in prop_oneof![any_layout(), smooth_layout()], inner in prop_oneof![any_layout(), smooth_layout()]) {
        prop_assume!(inner.size() <= 4096);
        let exact = composed_values(&outer, &inner);
        let shape: Vec<u64> = inner.leaf_modes().iter().map(|mode| mode.shape).collect();
        match composition(&outer, &inner) {
            Ok(result) => {
                prop_assert!(result.values().eq(exact.iter().copied()), "{} o {} = {}", outer, inner, result);
                prop_assert!(inner.depth() == 0 || result.rank() == inner.rank());
            }
            Err(CuteError::Inexact { index, exact: value, candidate, .. }) => {
                prop_assert!(!representable(&shape, &exact), "{} o {} is a layout", outer, inner);
                prop_assert_eq!(exact[index as usize], value);
                prop_assert_ne!(value, candidate);
            }
            Err(other) => prop_assert!(false, "{} o {}: {}", outer, inner, other),
        }
    }

    #[test]
    fn complement_is_disjoint_and_complete(layout in smooth_layout(), size in 1..200u64) {
        let once = filter(&layout).expect("a layout");
        match complement(&layout, size) {
            Ok(rest) => {
                let offsets: Vec<u64> = rest.values().flat_map(|gap| once.values().map(move |value| gap + value)).collect();
                let distinct: BTreeSet<u64> = offsets.iter().copied().collect();
                prop_assert_eq!(distinct.len(), offsets.len(), "{} and {} overlap", layout, rest);
                prop_assert!(distinct.into_iter().take(size as usize).eq(0..size), "{} and {} leave gaps", layout, rest);
                prop_assert!(rest.values().collect::<Vec<_>>().is_sorted());
            }
            Err(CuteError::NotInjective { first, second, value, .. }) => {
                prop_assert_ne!(first, second);
                prop_assert_eq!((layout.at(first), layout.at(second)), (Ok(value), Ok(value)));
            }
            Err(CuteError::NoComplement { stride, block, start }) => {
                prop_assert!(stride % block != 0 && start + stride % block == stride);
            }
            Err(other) => prop_assert!(false, "{}: {}", layout, other),
        }
    }

    #[test]
    fn inverses_undo(layout in smooth_layout()) {
        let right = right_inverse(&layout).expect("small");
        prop_assert!(right.values().enumerate().all(|(i, at)| layout.at(at) == Ok(i as u64)));
        match left_inverse(&layout) {
            Ok(left) => prop_assert!(layout.values().enumerate().all(|(i, value)| left.at(value) == Ok(i as u64))),
            Err(CuteError::NotInjective { first, second, value, .. }) => {
                prop_assert_ne!(first, second);
                prop_assert_eq!((layout.at(first), layout.at(second)), (Ok(value), Ok(value)));
            }
            Err(CuteError::NotUndone { value, index, found }) => {
                prop_assert_eq!(layout.at(index), Ok(value));
                prop_assert_ne!(index, found);
            }
            Err(other) => prop_assert!(false, "{}: {}", layout, other),
        }
        prop_assert!(nullspace(&layout).expect("small").values().all(|at| layout.at(at) == Ok(0)));
    }

    #[test]
    fn the_common_layout_is_contiguous_in_both(left in smooth_layout(), right in smooth_layout()) {
        let common = max_common_layout(&left, &right).expect("small");
        // A layout continues beyond its size: a case is skipped if the common layout has coordinates beyond the size of
        // `left`.
        prop_assume!(common.cosize() <= left.size());
        let contiguous = common.values().enumerate().all(|(i, at)| right.at(at) == Ok(i as u64) && left.at(at) == Ok(i as u64));
        prop_assert!(contiguous, "{} and {}: {}", left, right, common);
    }

    #[test]
    fn division_only_reorders(layout in smooth_layout(), size in 1..9u64, stride in 1..5u64) {
        let tile = CuteLayout::single_mode(size, stride).expect("small");
        if let Ok(divided) = logical_divide(&layout, &Tiler::Layout(tile.clone()))
            && divided.size() == layout.size() && complement(&tile, layout.size()).is_ok_and(|rest| tile.cosize() + rest.cosize() - 1 == layout.size())
        {
            let sorted = |layout: &CuteLayout| { let mut values: Vec<_> = layout.values().collect(); values.sort_unstable(); values };
            prop_assert_eq!(sorted(&divided), sorted(&layout));
        }
    }

    #[test]
    fn products_repeat_the_block(block in smooth_layout(), tile in smooth_layout()) {
        if let Ok(product) = logical_product(&block, &Tiler::Layout(tile.clone())) {
            let modes = product.modes();
            prop_assert_eq!(&modes[0], &block);
            prop_assert_eq!(modes[1].size(), tile.size());
            for (pairs, first) in [(blocked_product(&block, &tile), true), (raked_product(&block, &tile), false)] {
                let pairs = pairs.expect("as the product");
                let mode_list = |at: usize| pairs.modes().iter().map(move |pair| pair.modes()[at].clone()).collect::<Vec<_>>();
                let (blocks, copies) = if first { (mode_list(0), mode_list(1)) } else { (mode_list(1), mode_list(0)) };
                prop_assert_eq!(coalesce(&CuteLayout::from_modes(blocks).expect("a layout")), coalesce(&block));
                prop_assert_eq!(coalesce(&CuteLayout::from_modes(copies).expect("a layout")), coalesce(&modes[1]));
            }
        }
    }

    /// The bridge accepts a layout exactly if it is linear over F2: the map sends `a ^ b` to the xor of both images.
    #[test]
    fn the_bridge_takes_exactly_the_linear_ones(layout in binary_layout()) {
        let values: Vec<u64> = layout.values().collect();
        let linear = (0..values.len()).all(|a| (0..values.len()).all(|b| values[a ^ b] == values[a] ^ values[b]));
        match to_linear(&as_composed(&layout), Dim::LANE, Dim::OFFSET) {
            Ok(found) => {
                prop_assert!(linear);
                prop_assert!(values.iter().enumerate().all(|(i, value)| found.apply_packed(i as u64) == *value));
            }
            Err(CuteError::NotLinear { .. }) => prop_assert!(!linear, "{} is linear", layout),
            Err(other) => prop_assert!(false, "{}", other),
        }
    }

    #[test]
    fn every_injective_linear_layout_is_a_chain_of_swizzles((bits, columns) in injective_columns(), split in 0..=10u32) {
        let split = split.min(columns.len() as u32);
        let (mut ins, mut outs) = (Space::default(), Space::default());
        ins.push(Dim::REGISTER, split).expect("fits");
        ins.push(Dim::LANE, columns.len() as u32 - split).expect("fits");
        outs.push(Dim::OFFSET, bits).expect("fits");
        let linear = LinearLayout::from_columns(ins, outs, &columns).expect("a layout");
        let chain = from_linear(&linear).expect("injective");
        for index in 0..1u64 << columns.len() {
            prop_assert_eq!(chain.at(index), Ok(linear.apply_packed(index)), "{}", chain);
        }
        let back = to_linear_modes(&chain, &[Dim::REGISTER, Dim::LANE], &[(Dim::OFFSET, 1 << bits)]);
        prop_assert_eq!(back, Ok(linear));
    }

    #[test]
    fn wide_elements_contain_the_narrow_ones(layout in smooth_layout(), divisor in prop::sample::select(vec![1u64, 2, 3, 4, 8])) {
        // The smaller strides fill an element, so each new coordinate corresponds to `divisor` old ones.
        if let Ok(wide) = upcast(&layout, divisor) {
            let quotients: BTreeSet<u64> = layout.values().map(|value| value / divisor).collect();
            prop_assert_eq!(wide.values().collect::<BTreeSet<_>>(), quotients, "{} by {}: {}", layout, divisor, wide);
        }
    }
}

#[test]
fn swizzles_of_hardware_are_found_from_their_maps() {
    for text in
        ["Swizzle<3,4,3> o 0 o (8,128):(128,1)", "Swizzle<2,3,3> o 0 o 256:1", "Swizzle<1,0,-2> o 0 o (4,4):(1,4)"]
    {
        let linear = to_linear(&text.parse().expect("a layout"), Dim::LANE, Dim::OFFSET).expect("linear");
        let chain = from_linear(&linear).expect("invertible");
        assert_eq!(chain.swizzles().len(), 1, "{text}: {chain}");
        assert!((0..chain.layout().size()).all(|index| chain.at(index) == Ok(linear.apply_packed(index))));
    }
}

#[test]
fn the_mode_that_breaks_linearity_is_named() {
    for (text, mode) in [("4:3", "0"), ("(2,2):(1,1)", "1"), ("(4,4):(1,2)", "1"), ("(2,(3,4)):(1,(2,8))", "1.0")] {
        match to_linear(&as_composed(&text.parse().expect("a layout")), Dim::LANE, Dim::OFFSET) {
            Err(CuteError::NotLinear { mode: named, .. }) => assert_eq!(named, mode, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    let shifted: ComposedLayout = "4 o 4:1".parse().expect("a layout");
    assert_eq!(to_linear(&shifted, Dim::LANE, Dim::OFFSET), Err(CuteError::Offset { offset: 4 }));
}

#[test]
fn errors_in_text_have_a_position() {
    for (text, expected_at) in [
        ("", 0),
        ("(4,8", 5 - 1),
        ("4:x", 2),
        ("(4,8):(1,4) x", 12),
        ("4;1", 1),
        ("99999999999999999999:1", 0),
        ("-4:1", 0),
    ] {
        match text.parse::<CuteLayout>() {
            Err(CuteError::Text(error)) => assert_eq!(error.at, expected_at, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    assert!(matches!("(4,8):4".parse::<CuteLayout>(), Err(CuteError::NotCongruent { .. })));
    assert!(matches!("(4,0):(1,4)".parse::<CuteLayout>(), Err(CuteError::EmptyMode { mode: 1 })));
    assert!(matches!("Swizzle<3,4,2>".parse::<Swizzle>(), Err(CuteError::Swizzle { .. })));
    let deep = format!("{}4{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(matches!(deep.parse::<IntTuple>(), Err(CuteError::TooDeep { .. })));
}

#[test]
fn one_element_tuples_may_end_in_a_comma() {
    for (python, cute) in [("(8,):(2,)", "(8):(2)"), ("((4,8),(2,)):((16,1),(8,))", "((4,8),(2)):((16,1),(8))")] {
        assert_eq!(python.parse::<CuteLayout>(), cute.parse(), "{python}");
    }
    for (text, expected_at) in [("(8,,):(2,)", 3), ("(8,2,):(2,16)", 5), ("(,):(2,)", 1)] {
        match text.parse::<CuteLayout>() {
            Err(CuteError::Text(error)) => assert_eq!(error.at, expected_at, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

/// The integer coordinate counts on in the last mode, even if that mode has one element.
#[test]
fn compositions_continue_a_last_mode_of_one_element() {
    for (outer, inner, expected) in [
        ("(4,1):(1,100)", "8:1", "(4,2):(1,100)"),
        ("(4,1):(1,0)", "8:1", "(4,2):(1,0)"),
        ("(4,1):(1,4)", "8:1", "8:1"),
        ("(4,1,1):(1,100,7)", "8:2", "(2,4):(2,7)"),
        ("1:5", "4:1", "4:5"),
        ("(9223372036854775808,1):(1,9223372036854775808)", "4:1", "4:1"),
    ] {
        let (outer, inner): (CuteLayout, CuteLayout) = (outer.parse().expect(outer), inner.parse().expect(inner));
        let result = composition(&outer, &inner).expect("a layout");
        assert_eq!(result.to_string(), expected, "{outer} o {inner}");
        for (index, value) in result.values().enumerate() {
            assert_eq!(outer.at(inner.at(index as u64).expect("small")), Ok(value), "{outer} o {inner} at {index}");
        }
    }
}

#[test]
fn the_largest_numbers_are_errors_or_right() {
    let large = [
        "18446744073709551615:1",
        "(4294967296,4294967295):(1,4294967296)",
        "9223372036854775808:1",
        "2:18446744073709551614",
        "3:9223372036854775807",
        "1:18446744073709551615",
        "(3,1000000007):(1000000007,1)",
    ];
    let layouts: Vec<CuteLayout> = large.iter().filter_map(|text| text.parse().ok()).collect();
    assert!(layouts.len() >= 5);
    for a in &layouts {
        for b in &layouts {
            let tiler = Tiler::Layout(b.clone());
            let _ = (
                composition(a, b),
                logical_divide(a, &tiler),
                logical_product(a, &tiler),
                blocked_product(a, b),
                raked_product(a, b),
            );
            let _ = (
                max_common_layout(a, b),
                zipped_divide(a, &tiler),
                flat_divide(a, &tiler),
                tile_to_shape(a, &b.shape(), None),
            );
        }
        for n in [0, 1, 3, 1 << 63, u64::MAX] {
            let _ = (
                complement(a, n),
                upcast(a, n),
                downcast(a, n),
                recast(a, n, 3),
                recast(a, 8, n),
                a.at(n),
                idx2crd(n, &a.shape()),
            );
        }
        let _ = (left_inverse(a), right_inverse(a), nullspace(a), to_linear(&as_composed(a), Dim::LANE, Dim::OFFSET));
        assert_eq!(a.at(a.size() - 1), Ok(a.cosize() - 1), "{a}");
    }
    // Divisible strides are decided even above the limit of points that can be checked.
    let huge =
        composition(&layouts[1], &"(1048576,1048576):(1048576,1)".parse().expect("a layout")).expect("divisible");
    assert_eq!(huge.to_string(), "(1048576,1048576):(1048576,1)");
}
