//! Selections, comparison of shapes, thread-value layouts, coordinates as strides, offsets: each against its
//! definition, element by element.

use std::collections::BTreeSet;

use proptest::prelude::*;
use tilewright_layout::cute::*;
use tilewright_layout::{Dim, LinearLayout};

fn layout(text: &str) -> CuteLayout {
    text.parse().expect("a layout")
}

fn shape(text: &str) -> IntTuple {
    text.parse().expect("a tuple")
}

/// Random layouts of two nested axes of small sizes, with any strides.
fn two_axes() -> impl Strategy<Value = CuteLayout> {
    let mode = || (1..4u64, 1..4u64, 0..9u64, 0..9u64);
    (mode(), mode()).prop_map(|(a, b)| {
        layout(&format!("(({},{}),({},{})):(({},{}),({},{}))", a.0, a.1, b.0, b.1, a.2, a.3, b.2, b.3))
    })
}

proptest! {
    #[test]
    fn a_slice_and_its_offset_are_the_layout_with_the_open_coordinates_filled(of in two_axes(), at in 0..4u64) {
        let (rows, columns) = (of.modes()[0].size(), of.modes()[1].size());
        let row = at % rows;
        let (line, offset) = of.slice(&format!("({row},_)").parse().expect("a selection")).expect("a slice");
        for column in 0..columns {
            let exact = of.at_coordinate(&IntTuple::flat([row, column])).expect("small");
            prop_assert_eq!(line.at(column).expect("small") + offset, exact);
        }
        let fixed = of.dice(&format!("({row},_)").parse().expect("a selection")).expect("a part");
        prop_assert_eq!(fixed.size(), rows);
    }

    #[test]
    fn composing_coordinates_is_composing_their_maps(
        rows in 1..9u64, columns in 1..9u64,
        inner in (1..5u64, 0..12u64, 1..5u64, 0..12u64),
    ) {
        let tensor = CoordinateLayout::identity(&IntTuple::flat([rows, columns])).expect("a tensor");
        let inner = layout(&format!("({},{}):({},{})", inner.0, inner.2, inner.1, inner.3));
        // A layout continues beyond its size in its last mode, after modes of one element are removed.
        prop_assume!(inner.cosize() <= rows * columns);
        // A composition without a layout is rejected; a returned one is exact.
        if let Ok(composed) = tensor.compose(&inner) {
            for index in 0..inner.size() {
                let exact = tensor.at(inner.at(index).expect("small")).expect("small");
                prop_assert_eq!(composed.at(index).expect("small"), exact);
            }
            prop_assert_eq!(composed.to_string().parse::<CoordinateLayout>().map(|read| read.to_string()),
                Ok(composed.to_string()));
        }
    }

    #[test]
    fn threads_times_values_cover_every_element_of_the_tile_once(
        threads in (1..5u64, 1..5u64, any::<bool>()), values in (1..4u64, 1..4u64, any::<bool>()),
    ) {
        let compact_layout = |(rows, columns, row_major): (u64, u64, bool)| {
            layout(&if row_major { format!("({rows},{columns}):({columns},1)") }
                else { format!("({rows},{columns}):(1,{rows})") })
        };
        let (thread, value) = (compact_layout(threads), compact_layout(values));
        let tv = ThreadValue::from_product(&thread, &value).expect("a thread-value layout");
        prop_assert_eq!(tv.tile(), &IntTuple::flat([threads.0 * values.0, threads.1 * values.1]));
        let rows = threads.0 * values.0;
        let mut seen = BTreeSet::new();
        for t in 0..thread.size() {
            for v in 0..value.size() {
                let element = tv.layout().at_coordinate(&IntTuple::flat([t, v])).expect("small");
                let (row, column) = (element % rows, element / rows);
                // By definition: the block of values of a thread lies at the thread's grid position.
                prop_assert_eq!(thread.at_coordinate(&IntTuple::flat([row / values.0, column / values.1])), Ok(t));
                prop_assert_eq!(value.at_coordinate(&IntTuple::flat([row % values.0, column % values.1])), Ok(v));
                seen.insert(element);
            }
        }
        prop_assert_eq!(seen.len() as u64, thread.size() * value.size());
    }
}

#[test]
fn open_coordinates_within_tuples_become_modes() {
    let tile = layout("((2,4),(3,5)):((1,2),(8,24))");
    let (slice_layout, offset) = tile.slice(&"((_,1),_)".parse().expect("a selection")).expect("a slice");
    assert_eq!((slice_layout.to_string().as_str(), offset), ("(2,(3,5)):(1,(8,24))", 2));
    let (all, offset) = tile.slice(&"_".parse().expect("a selection")).expect("a slice");
    assert_eq!((all, offset), (tile.clone(), 0));
    assert_eq!(tile.dice(&"((_,1),_)".parse().expect("a selection")).expect("a part").to_string(), "(4):(2)");
    let refused = tile.slice(&"((_,1),_,0)".parse().expect("a selection"));
    assert!(matches!(refused, Err(CuteError::NotCongruent { .. })), "{refused:?}");
}

#[test]
fn shapes_are_compared_as_their_coordinates_are() {
    assert_eq!(shape("24").is_compatible(&shape("(4,6)")), Ok(true));
    assert_eq!(shape("(4,6)").is_compatible(&shape("((2,2),6)")), Ok(true));
    assert_eq!(shape("((2,2),6)").is_compatible(&shape("(4,6)")), Ok(false));
    assert_eq!(shape("24").is_compatible(&shape("(24)")), Ok(true));
    assert_eq!(shape("(24)").is_compatible(&shape("24")), Ok(false));
    assert_eq!(shape("25").is_compatible(&shape("(4,6)")), Ok(false));
    assert!(shape("(1,2)").is_weakly_congruent(&shape("((1,1),7)")));
    assert!(!shape("(1,(2,3))").is_weakly_congruent(&shape("(1,7)")));
}

#[test]
fn modes_are_replaced_and_shapes_changed_without_changing_values() {
    let tile = layout("(4,8):(8,1)");
    assert_eq!(tile.replace(1, &layout("(2,4):(4,1)")).expect("a layout").to_string(), "(4,(2,4)):(8,(4,1))");
    assert!(tile.replace(2, &tile).is_err());
    let reshaped = tile.with_shape(&shape("((2,2),(2,4))")).expect("a layout");
    assert_eq!(reshaped.values().collect::<Vec<_>>(), tile.values().collect::<Vec<_>>());
    assert!(layout("(3,4):(4,1)").with_shape(&shape("(2,6)")).is_err(), "3 rows cannot be cut into pairs");
}

#[test]
fn the_threads_of_a_copy_see_their_slice_of_each_tile() {
    // 32x16 elements, row after row, in tiles of 16x8: each thread has two neighbours of a row.
    let copy = ThreadValue::from_product(&layout("(16,4):(4,1)"), &layout("(1,2):(2,1)")).expect("a copy");
    let tensor = layout("(32,16):(16,1)");
    let seen = copy.partition(&tensor).expect("a partition");
    for thread in 0..64 {
        for value in 0..2 {
            for tile in 0..4 {
                let (row, column) = (thread / 4 + 16 * (tile % 2), 2 * (thread % 4) + value + 8 * (tile / 2));
                let at = seen.at_coordinate(&IntTuple::flat([thread, value, tile]));
                assert_eq!(at, Ok(16 * row + column), "thread {thread}, value {value}, tile {tile}");
            }
        }
    }
    let linear = to_linear_modes(
        &copy.composed().expect("a layout"),
        &[Dim::LANE, Dim::REGISTER],
        &[(Dim::tensor(0), 16), (Dim::tensor(1), 8)],
    );
    assert!(linear.as_ref().is_ok_and(LinearLayout::is_invertible), "{linear:?}");
}

#[test]
fn a_thread_value_layout_stays_within_its_tile() {
    let outside = ThreadValue::new(&shape("(4,4)"), layout("(8,4):(1,5)"));
    assert!(matches!(outside, Err(CuteError::OutsideTile { last: 22, size: 16, .. })), "{outside:?}");
    assert!(matches!(ThreadValue::new(&shape("8"), layout("8:1")), Err(CuteError::NotCongruent { .. })));
    let gaps = ThreadValue::from_product(&layout("4:2"), &layout("2:1"));
    assert!(matches!(gaps, Err(CuteError::NotNumbered { numbered: 1, size: 4, .. })), "{gaps:?}");
}

#[test]
fn the_coordinates_of_a_transposed_bulk_copy_are_transposed() {
    let tensor: CoordinateLayout = "(64,32):(1@1,1@0)".parse().expect("coordinates");
    assert_eq!(tensor.at(65), Ok(vec![1, 1]));
    let tile = tensor.compose(&layout("(8,(4,2)):(1,(64,256))")).expect("a tile");
    assert_eq!(tile.to_string(), "(8,(4,2)):(1@1,(1@0,4@0))");
    let diagonal: CoordinateLayout = "4:1@0+1@1".parse().expect("coordinates");
    assert_eq!(diagonal.at(3), Ok(vec![3, 3]));
    for wrong in ["(4,2):(1@0)", "4:3", "4:1@", "4", "0:1@0"] {
        assert!(wrong.parse::<CoordinateLayout>().is_err(), "{wrong}");
    }
}

#[test]
fn an_offset_beside_the_layout_is_affine_and_within_it_is_refused() {
    let composed: ComposedLayout = "Swizzle<2,0,3> o 32 o (4,8):(8,1)".parse().expect("a layout");
    let affine = to_affine(&composed, Dim::LANE, Dim::OFFSET).expect("an affine layout");
    for index in 0..32 {
        assert_eq!(affine.apply_packed(index), composed.at(index).expect("small"));
    }
    let carries: ComposedLayout = "4 o (4,8):(8,1)".parse().expect("a layout");
    assert_eq!(to_affine(&carries, Dim::LANE, Dim::OFFSET), Err(CuteError::Offset { offset: 4 }));
}

#[test]
fn layouts_are_read_as_cpp_spells_them() {
    let same = |text: &str, plain: &str| {
        let [read, expected] = [text, plain].map(|text| text.parse::<NotatedLayout>().expect("a layout"));
        assert_eq!(read, expected, "{text}");
    };
    same("Layout<cute::tuple<cute::C<4>,Int<8>>, Stride<_8,cute::_1>>", "(4,8):(8,1)");
    same("make_layout(Shape<_4,Shape<_2,_4>>{}, make_stride(Int<8>{}, Stride<_1,_2>{}))", "(4,(2,4)):(8,(1,2))");
    same("make_layout((4,8))", "(4,8):(1,4)");
    same(
        "ComposedLayout<Swizzle<3,3,3>,_0,Layout<Shape<_8,_64>,Stride<_64,_1>>>",
        "Swizzle<3,3,3> o 0 o (8,64):(64,1)",
    );
    same("composition(Swizzle<3,3,3>{}, make_layout((8,64),(64,1)))", "Swizzle<3,3,3> o 0 o (8,64):(64,1)");
    same("make_layout((4,8), (E<1>{}, E<0>{}))", "(4,8):(1@1,1@0)");
    same("ArithTuple(_0,0) o (_4,_8):(_1@1,_1@0)", "(4,8):(1@1,1@0)");
    same("make_layout((4,8), (-8,1))", "(4,8):(-8,1)");
    // The examples of CuTe's documentation (`01_layout.md`), and of `make_ordered_layout` (`layout.hpp`).
    same("make_layout(make_shape(Int<2>{},4), LayoutLeft{})", "(2,4):(1,2)");
    same("make_layout(make_shape(_2{},4), cute::LayoutRight{})", "(2,4):(4,1)");
    same("make_layout(make_shape(2,make_shape(2,2)), LayoutRight())", "(2,(2,2)):(4,(2,1))");
    same("make_layout(Shape<_2,_4>{}, GenColMajor{})", "(2,4):(1,2)");
    same("Layout<Shape<_2,_4>, GenRowMajor>{}", "(2,4):(4,1)");
    same("make_ordered_layout(Shape<_2,_2,_2,_4>{}, Step<_0,_2,_3,_1>{})", "(2,2,2,4):(1,8,16,2)");
    for wrong in [
        "Layout<Shape<_4,_8>",
        "make_layout(Shape<_4,_8), (8,1))",
        "Layout<Shape<_4,_8>;Stride<_8,_1>>",
        "(1,0) o 4:1@0",
        "make_layout((4,8), LayoutUp{})",
        "make_ordered_layout((4,8), (0,1,2))",
    ] {
        assert!(wrong.parse::<NotatedLayout>().is_err(), "{wrong}");
    }
}
