//! Laws of the layout algebra, on random layouts, and their semantics by enumeration.

use std::collections::HashSet;

use proptest::collection::vec;
use proptest::prelude::*;
use tilewright_layout::{
    Dim, FamilyParameterValue, FamilySpec, LayoutError, LinearLayout, Space, layout_from_json, layout_to_json,
    parse_family_spec, spec_from_json, spec_to_json,
};

const INS: [Dim; 4] = [Dim::REGISTER, Dim::LANE, Dim::WARP, Dim::BLOCK];

/// Random spaces of some of the dims, in their order, each of up to `most` bits.
fn space(dims: Vec<Dim>, most: u32) -> impl Strategy<Value = Space> {
    vec(prop::option::weighted(0.8, 0..=most), dims.len()).prop_map(move |bits| {
        let mut space = Space::default();
        for (&dim, bits) in dims.iter().zip(bits) {
            if let Some(bits) = bits {
                space.push(dim, bits).expect("few bits");
            }
        }
        space
    })
}

fn outs() -> Vec<Dim> {
    (0..3).map(Dim::tensor).collect()
}

/// Random layouts between the given spaces.
pub fn between(ins: Space, outs: Space) -> impl Strategy<Value = LinearLayout> {
    let mask = (1u64 << outs.total_bits()) - 1;
    vec(any::<u64>(), ins.total_bits() as usize).prop_map(move |columns| {
        let columns: Vec<_> = columns.into_iter().map(|column| column & mask).collect();
        LinearLayout::from_columns(ins.clone(), outs.clone(), &columns).expect("columns fit")
    })
}

fn any_layout() -> impl Strategy<Value = LinearLayout> {
    (space(INS.to_vec(), 3), space(outs(), 3)).prop_flat_map(|(ins, outs)| between(ins, outs))
}

/// Random layouts between spaces of equal bits, often invertible.
fn square() -> impl Strategy<Value = LinearLayout> {
    let sides = (0..4u32, 0..3u32, 0..5u32);
    sides.prop_flat_map(|(register, lane, rows)| {
        let rows = rows.min(register + lane);
        let mut ins = Space::default();
        let mut outs = Space::default();
        ins.push(Dim::REGISTER, register).expect("few bits");
        ins.push(Dim::LANE, lane).expect("few bits");
        outs.push(Dim::tensor(0), rows).expect("few bits");
        outs.push(Dim::tensor(1), register + lane - rows).expect("few bits");
        between(ins, outs)
    })
}

/// Two random layouts into one space.
fn pair_into_one_space() -> impl Strategy<Value = (LinearLayout, LinearLayout)> {
    (space(INS.to_vec(), 2), space(INS.to_vec(), 3), space(outs(), 2))
        .prop_flat_map(|(a, b, outs)| (between(a, outs.clone()), between(b, outs)))
}

/// Three random layouts, each from the outputs of the one before.
fn chain_of_three() -> impl Strategy<Value = (LinearLayout, LinearLayout, LinearLayout)> {
    (space(INS.to_vec(), 3), space(outs(), 3), space(vec![Dim::OFFSET, Dim::ROW], 3), space(vec![Dim::COL], 5))
        .prop_flat_map(|(a, b, c, d)| (between(a, b.clone()), between(b, c.clone()), between(c, d)))
}

fn inputs(layout: &LinearLayout) -> std::ops::Range<u64> {
    0..1 << layout.ins().total_bits()
}

fn image(layout: &LinearLayout) -> HashSet<u64> {
    inputs(layout).map(|input| layout.apply_packed(input)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn layouts_are_linear(layout in any_layout(), x: u64, y: u64) {
        let mask = (1 << layout.ins().total_bits()) - 1;
        let (x, y) = (x & mask, y & mask);
        prop_assert_eq!(layout.apply_packed(x) ^ layout.apply_packed(y), layout.apply_packed(x ^ y));
        prop_assert_eq!(layout.apply_packed(0), 0);
    }

    #[test]
    fn predicates_agree_with_enumeration(layout in any_layout()) {
        let image = image(&layout);
        prop_assert_eq!(layout.is_surjective(), image.len() == 1 << layout.outs().total_bits());
        prop_assert_eq!(layout.is_injective(), image.len() == 1 << layout.ins().total_bits());
        prop_assert_eq!(layout.is_invertible(), layout.is_surjective() && layout.is_injective());
        prop_assert_eq!(1usize << layout.rank(), image.len());
    }

    #[test]
    fn free_bits_are_those_without_which_all_is_reached(layout in any_layout()) {
        let free = layout.free_variable_masks();
        let mask = free.iter().fold(0, |mask, &(dim, bits)| mask | bits << layout.ins().shift_of(dim).expect("its dim"));
        let fixed: HashSet<_> = inputs(&layout).filter(|input| input & mask == 0).map(|i| layout.apply_packed(i)).collect();
        prop_assert_eq!(fixed.len() as u32, 1 << (layout.ins().total_bits() - mask.count_ones()));
        prop_assert_eq!(fixed, image(&layout));
    }

    #[test]
    fn direct_sum_places_each_operand_above_the_other(a in any_layout(), b in any_layout()) {
        let sum = a.direct_sum(&b).expect("few bits");
        for (dim, bits) in sum.ins().iter() {
            prop_assert_eq!(bits, a.in_bits(dim) + b.in_bits(dim));
        }
        for x in inputs(&a).step_by(3) {
            for y in inputs(&b).step_by(5) {
                let input: Vec<_> = sum.ins().dims().map(|dim| {
                    (dim, a.ins().coordinate(x, dim) | b.ins().coordinate(y, dim) << a.in_bits(dim))
                }).collect();
                let (left, right) = (a.apply_packed(x), b.apply_packed(y));
                for (dim, found) in sum.apply(&input).expect("an input") {
                    let expected = a.outs().coordinate(left, dim) | b.outs().coordinate(right, dim) << a.out_bits(dim);
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }

    #[test]
    fn direct_sum_is_associative(a in any_layout(), b in any_layout(), c in any_layout()) {
        let left = a.direct_sum(&b).and_then(|ab| ab.direct_sum(&c)).expect("few bits");
        let right = b.direct_sum(&c).and_then(|bc| a.direct_sum(&bc)).expect("few bits");
        // The same map; if a part lacks dims, their order may differ.
        let outs: Vec<_> = left.outs().dims().collect();
        let ins: Vec<_> = left.ins().dims().collect();
        let right = right.transpose_outs(&outs).and_then(|r| r.transpose_ins(&ins)).expect("the same dims");
        prop_assert_eq!(left, right);
    }

    #[test]
    fn the_empty_layout_is_the_unit_of_the_direct_sum(a in any_layout()) {
        prop_assert_eq!(&a.direct_sum(&LinearLayout::empty()).expect("no more bits"), &a);
        prop_assert_eq!(&LinearLayout::empty().direct_sum(&a).expect("no more bits"), &a);
    }

    #[test]
    fn division_undoes_the_direct_sum(a in any_layout(), b in any_layout()) {
        let sum = a.direct_sum(&b).expect("few bits");
        let right = sum.divide_left(&a).expect("a is a left factor");
        prop_assert_eq!(a.direct_sum(&right).expect("few bits"), sum.clone());
        for dim in right.ins().dims() {
            prop_assert_eq!(right.columns_of(dim).len(), b.columns_of(dim).len());
        }
        let left = sum.divide_right(&b).expect("b is a right factor");
        let recomposed = left.direct_sum(&b).expect("few bits");
        let outs: Vec<_> = sum.outs().dims().collect();
        let ins: Vec<_> = sum.ins().dims().collect();
        prop_assert_eq!(recomposed.transpose_outs(&outs).and_then(|r| r.transpose_ins(&ins)).expect("the same dims"), sum);
    }

    #[test]
    fn left_division_inverts_direct_sum(a in any_layout(), b in any_layout()) {
        if let Some(quotient) = a.divide_left(&b) {
            let recomposed = b.direct_sum(&quotient).expect("no more bits than there were");
            let outs: Vec<_> = a.outs().dims().collect();
            let ins: Vec<_> = a.ins().dims().collect();
            prop_assume!(recomposed.outs().len() == outs.len() && recomposed.ins().len() == ins.len());
            prop_assert_eq!(recomposed.transpose_outs(&outs).and_then(|r| r.transpose_ins(&ins)).expect("the same dims"), a);
        }
    }

    #[test]
    fn composition_applies_one_after_the_other((a, b, _) in chain_of_three()) {
        let both = a.compose(&b).expect("b takes a's outputs");
        for input in inputs(&a) {
            prop_assert_eq!(both.apply_packed(input), b.apply_packed(a.apply_packed(input)));
        }
    }

    #[test]
    fn composition_is_associative((a, b, c) in chain_of_three()) {
        let left = a.compose(&b).and_then(|ab| ab.compose(&c)).expect("the spaces fit");
        let right = b.compose(&c).and_then(|bc| a.compose(&bc)).expect("the spaces fit");
        prop_assert_eq!(left, right);
    }

    #[test]
    fn inverting_twice_is_nothing(layout in square()) {
        match layout.invert() {
            Ok(inverse) => {
                prop_assert!(layout.is_invertible());
                for input in inputs(&layout) {
                    prop_assert_eq!(inverse.apply_packed(layout.apply_packed(input)), input);
                }
                prop_assert_eq!(inverse.invert().expect("an inverse has one"), layout);
            }
            Err(error) => {
                prop_assert!(!layout.is_invertible());
                let is_named = matches!(error, LayoutError::NotInvertible { .. });
                prop_assert!(is_named);
            }
        }
    }

    #[test]
    fn pseudoinverses_are_right_inverses(layout in any_layout()) {
        match layout.pseudoinvert() {
            Ok(right) => for output in 0..1 << layout.outs().total_bits() {
                prop_assert_eq!(layout.apply_packed(right.apply_packed(output)), output);
            },
            Err(_) => prop_assert!(!layout.is_surjective()),
        }
    }

    #[test]
    fn invert_and_compose_solves_for_the_layout_between((a, b) in pair_into_one_space()) {
        let reached = image(&a).is_subset(&image(&b));
        match a.invert_and_compose(&b) {
            Ok(between) => {
                prop_assert!(reached);
                prop_assert_eq!(between.outs(), b.ins());
                for input in inputs(&a) {
                    prop_assert_eq!(b.apply_packed(between.apply_packed(input)), a.apply_packed(input));
                }
            }
            Err(_) => prop_assert!(!reached),
        }
    }

    #[test]
    fn a_layout_into_itself_keeps_the_dims_that_share_no_bit(a in any_layout()) {
        let own = a.invert_and_compose(&a).expect("a reaches what a reaches");
        for dim in a.ins().dims() {
            let mask = a.ins().mask_of(dim);
            let bits = |is_moved: &dyn Fn(u64) -> bool| {
                inputs(&a).filter(|&input| is_moved(input)).fold(0, |all, input| all | a.apply_packed(input))
            };
            if bits(&|input| input & !mask == 0) & bits(&|input| input & mask == 0) == 0 {
                for input in inputs(&a).filter(|i| i & !mask == 0) {
                    prop_assert_eq!(own.apply_packed(input), input);
                }
            }
        }
    }

    #[test]
    fn reshaping_keeps_the_packed_map(layout in any_layout(), cut in 0..6u32) {
        let total = layout.outs().total_bits();
        let low = cut.min(total);
        let outs = [(Dim::tensor(0), 1 << low), (Dim::tensor(1), 1 << (total - low))];
        let reshaped = layout.reshape_outs(&outs).expect("as many elements");
        let flat = layout.flatten_ins().flatten_outs();
        for input in inputs(&layout) {
            prop_assert_eq!(reshaped.apply_packed(input), layout.apply_packed(input));
            prop_assert_eq!(flat.apply_packed(input), layout.apply_packed(input));
        }
    }

    #[test]
    fn listing_dims_otherwise_keeps_the_map(layout in any_layout()) {
        let (ins, outs): (Vec<_>, Vec<_>) = (layout.ins().dims().rev().collect(), layout.outs().dims().rev().collect());
        let turned = layout.transpose_ins(&ins).and_then(|l| l.transpose_outs(&outs)).expect("all dims");
        for input in inputs(&layout).step_by(3) {
            let named: Vec<_> = layout.ins().unpack(input).collect();
            let mut found = turned.apply(&named).expect("the same dims");
            found.reverse();
            prop_assert_eq!(found, layout.apply(&named).expect("an input"));
        }
    }

    #[test]
    fn sublayouts_are_the_map_with_other_dims_at_zero(layout in any_layout()) {
        let ins: Vec<_> = layout.ins().dims().step_by(2).collect();
        let outs: Vec<_> = layout.outs().dims().skip(1).collect();
        let restricted = layout.sublayout(&ins, &outs).expect("its dims");
        for input in inputs(&restricted) {
            let named: Vec<_> = restricted.ins().unpack(input).collect();
            let full = layout.apply(&named).expect("an input");
            let kept: Vec<_> = full.into_iter().filter(|(dim, _)| outs.contains(dim)).collect();
            prop_assert_eq!(restricted.apply(&named).expect("an input"), kept);
        }
        let is_zero = inputs(&restricted).all(|input| restricted.apply_packed(input) == 0);
        prop_assert_eq!(layout.sublayout_is_zero(&ins, &outs).expect("its dims"), is_zero);
    }

    #[test]
    fn a_trivial_dim_and_the_rest_make_up_the_layout(layout in any_layout(), size in 0..3u32) {
        let name = Dim::named("extra");
        let extra = LinearLayout::identity(1 << size, name, name).expect("a size");
        let sum = layout.direct_sum(&extra).expect("few bits");
        prop_assert!(sum.is_trivial_over(&[name]));
        prop_assert_eq!(sum.quotient(&[name]).expect("it is trivial"), layout);
    }

    #[test]
    fn json_gives_back_the_layout(layout in any_layout()) {
        prop_assert_eq!(layout_from_json(&layout_to_json(&layout)).expect("its own form"), layout);
    }

    #[test]
    fn json_gives_back_the_spec(spec in any_spec()) {
        let json = spec_to_json(&spec);
        prop_assert_eq!(spec_from_json(&json).expect("its own form"), spec.clone());
        prop_assert_eq!(parse_family_spec(&json.to_string()).expect("its own form"), spec);
    }

    #[test]
    fn attribute_text_gives_back_the_spec(spec in any_spec()) {
        prop_assert_eq!(parse_family_spec(&text_of(&spec)).expect("well formed"), spec);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[#a-z0-9.<>{}\\[\\],=:+\" -]{0,40}") {
        if let Err(error) = parse_family_spec(&text) {
            prop_assert!(error.at <= text.len());
        }
    }
}

fn any_spec() -> impl Strategy<Value = FamilySpec> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(FamilyParameterValue::Int),
        any::<bool>().prop_map(FamilyParameterValue::Bool),
        "x[a-z]{0,5}".prop_map(FamilyParameterValue::Text),
    ];
    let value = leaf.prop_recursive(2, 12, 4, |inner| vec(inner, 0..4).prop_map(FamilyParameterValue::List));
    let plain = ("[a-z][a-z_]{0,7}", prop::collection::btree_map("x[a-z]{1,6}(_[a-z]{1,4})?", value, 0..4))
        .prop_map(|(name, attributes)| FamilySpec { name, parent: None, attributes });
    plain.prop_recursive(2, 6, 1, |inner| {
        (inner.clone(), inner).prop_map(|(spec, parent)| FamilySpec { parent: Some(Box::new(parent)), ..spec })
    })
}

/// The attribute text of a spec, with keywords in camel case, as compilers print it.
fn text_of(spec: &FamilySpec) -> String {
    let camel = |name: &str| {
        let mut words = name.split('_');
        let first = words.next().unwrap_or("").to_owned();
        words.fold(first, |all, word| all + &word[..1].to_uppercase() + &word[1..])
    };
    let mut entries: Vec<_> =
        spec.attributes.iter().map(|(name, value)| format!("{} = {}", camel(name), value_text(value))).collect();
    entries.extend(spec.parent.iter().map(|parent| format!("parent = {}", text_of(parent))));
    format!("#any.{}<{{{}}}>", spec.name, entries.join(", "))
}

fn value_text(value: &FamilyParameterValue) -> String {
    match value {
        FamilyParameterValue::Bool(value) => value.to_string(),
        FamilyParameterValue::Int(value) => value.to_string(),
        FamilyParameterValue::Text(word) => word.clone(),
        FamilyParameterValue::List(items) => {
            format!("[{}]", items.iter().map(value_text).collect::<Vec<_>>().join(", "))
        }
        FamilyParameterValue::Spec(spec) => text_of(spec),
    }
}

#[test]
fn more_than_64_bits_are_an_error() {
    let wide = LinearLayout::identity(1 << 40, Dim::REGISTER, Dim::tensor(0)).expect("40 bits");
    assert_eq!(wide.direct_sum(&wide), Err(LayoutError::TooManyBits { bits: 80 }));
    let full = LinearLayout::identity(1 << 32, Dim::REGISTER, Dim::tensor(0)).expect("32 bits");
    let full = full.direct_sum(&full).expect("64 bits fit");
    assert_eq!(full.apply_packed(u64::MAX), u64::MAX);
    assert_eq!(
        full.invert().expect("an identity"),
        full.rename_in(Dim::REGISTER, Dim::tensor(0))
            .and_then(|l| l.rename_out(Dim::tensor(0), Dim::REGISTER))
            .expect("new names")
    );
}
