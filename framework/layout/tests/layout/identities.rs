//! Laws across operations of the layout algebra: identities, inverses, and composition with direct sums, notations and
//! the bridge to CuTe.

use crate::laws::between;
use proptest::collection::vec;
use proptest::prelude::*;
use tilewright_layout::cute::{from_tensor_layout, to_distributed, to_memory};
use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{
    AttributeSyntaxes, Dim, EnlargedShape, FamilyParameterValue, FamilySpec, Layout, LinearLayout, MaskRequirement,
    Space, parse_family_spec, spec_from_json, spec_to_json,
};

fn space(dims: &[(Dim, u32)]) -> Space {
    let mut space = Space::default();
    dims.iter().for_each(|&(dim, bits)| space.push(dim, bits).expect("few bits"));
    space
}

/// Two random layouts that compose: from registers and lanes to (offset, row), and from there to two axes.
fn chain() -> impl Strategy<Value = (LinearLayout, LinearLayout)> {
    let bits = (0..3u32, 0..3u32, 0..3u32, 0..3u32, 0..3u32, 0..3u32);
    bits.prop_flat_map(|(register, lane, offset, row, first, second)| {
        let middle = space(&[(Dim::OFFSET, offset), (Dim::ROW, row)]);
        let ins = space(&[(Dim::REGISTER, register), (Dim::LANE, lane)]);
        let outs = space(&[(Dim::tensor(0), first), (Dim::tensor(1), second)]);
        (between(ins, middle.clone()), between(middle, outs))
    })
}

/// Random invertible layouts, composed of invertible steps.
fn invertible() -> impl Strategy<Value = LinearLayout> {
    let steps = vec((0..6usize, 0..6usize), 0..30);
    (Just((0..6u32).collect::<Vec<_>>()).prop_shuffle(), steps, 0..=6u32, 0..=6u32).prop_map(
        |(order, steps, register, first)| {
            let mut columns: Vec<u64> = order.into_iter().map(|bit| 1 << bit).collect();
            steps.into_iter().filter(|(to, from)| to != from).for_each(|(to, from)| columns[to] ^= columns[from]);
            let ins = space(&[(Dim::REGISTER, register), (Dim::LANE, 6 - register)]);
            let outs = space(&[(Dim::tensor(0), first), (Dim::tensor(1), 6 - first)]);
            LinearLayout::from_columns(ins, outs, &columns).expect("columns fit")
        },
    )
}

/// The identity of a space: maps each dim to itself.
fn identity(space: &Space) -> LinearLayout {
    let columns: Vec<u64> = (0..space.total_bits()).map(|bit| 1 << bit).collect();
    LinearLayout::from_columns(space.clone(), space.clone(), &columns).expect("columns fit")
}

/// Random distributed layouts, whose columns are units or zero, and memory layouts of any invertible map.
fn tensor() -> impl Strategy<Value = Layout> {
    let distributed = (Just((0..6u32).collect::<Vec<_>>()).prop_shuffle(), vec(0..8usize, 0..3), 0..4u32).prop_map(
        |(order, zeros, register)| {
            let mut columns: Vec<u64> = order.into_iter().map(|bit| 1 << bit).collect();
            zeros.into_iter().for_each(|index| columns.insert(index.min(columns.len()), 0));
            let ins = space(&[
                (Dim::REGISTER, register),
                (Dim::LANE, 2),
                (Dim::WARP, columns.len() as u32 - 2 - register),
                (Dim::BLOCK, 0),
            ]);
            let outs = space(&[(Dim::tensor(0), 2), (Dim::tensor(1), 4)]);
            Layout::Distributed(LinearLayout::from_columns(ins, outs, &columns).expect("columns fit"))
        },
    );
    let memory = invertible().prop_map(|layout| {
        let offset = layout.flatten_ins().rename_in(Dim::REGISTER, Dim::OFFSET).expect("one dim");
        let one_block = LinearLayout::zeros(1, Dim::BLOCK, Dim::tensor(0), 1).expect("a layout");
        let combined = offset.direct_sum(&one_block).expect("few bits");
        Layout::Memory(tilewright_layout::MemoryLayout::from_linear(combined))
    });
    prop_oneof![distributed, memory]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn identities_are_the_units_of_composition((layout, _) in chain()) {
        prop_assert_eq!(identity(layout.ins()).compose(&layout), Ok(layout.clone()));
        prop_assert_eq!(layout.compose(&identity(layout.outs())), Ok(layout));
    }

    #[test]
    fn an_inverse_undoes_on_either_side(layout in invertible()) {
        let inverse = layout.invert().expect("invertible");
        prop_assert_eq!(layout.compose(&inverse), Ok(identity(layout.ins())));
        prop_assert_eq!(inverse.compose(&layout), Ok(identity(layout.outs())));
    }

    #[test]
    fn the_inverse_of_a_composition_composes_the_inverses_in_reverse(a in invertible(), b in invertible()) {
        let b = b.reshape_ins(&a.outs().iter().map(|(dim, bits)| (dim, 1 << bits)).collect::<Vec<_>>()).expect("as many");
        let b = b.rename_out(Dim::tensor(0), Dim::ROW).and_then(|b| b.rename_out(Dim::tensor(1), Dim::COL)).expect("free names");
        let combined = a.compose(&b).and_then(|both| both.invert()).expect("invertible");
        let composed = b.invert().and_then(|second| second.compose(&a.invert().expect("invertible")));
        prop_assert_eq!(composed, Ok(combined));
    }

    #[test]
    fn composition_distributes_over_direct_sum((a, c) in chain(), (b, d) in chain()) {
        let after = a.direct_sum(&b).and_then(|sum| sum.compose(&c.direct_sum(&d).expect("few bits")));
        let before = a.compose(&c).and_then(|first| first.direct_sum(&b.compose(&d).expect("it fits")));
        prop_assert_eq!(after, before);
    }

    #[test]
    fn the_inverse_of_a_direct_sum_is_that_of_the_inverses(a in invertible(), b in invertible()) {
        let combined = a.direct_sum(&b).and_then(|sum| sum.invert()).expect("invertible");
        let composed = a.invert().and_then(|a| a.direct_sum(&b.invert().expect("invertible")));
        prop_assert_eq!(composed, Ok(combined));
    }

    #[test]
    fn solving_for_what_was_composed_gives_the_same_map((a, b) in chain()) {
        let both = a.compose(&b).expect("it fits");
        // Any C with both(x) = b(C(x)) is right.
        let found = both.invert_and_compose(&b).expect("a is one");
        prop_assert_eq!(found.compose(&b), Ok(both));
    }

    #[test]
    fn bases_as_a_spec_give_back_the_layout(layout in tensor()) {
        let spec = layout.to_spec().expect("a family has it");
        let shape: Vec<u64> = layout.linear().outs().iter().map(|(_, bits)| 1 << bits).collect();
        let text = AttributeSyntaxes::from_families(&NeutralFamilies).print_spec(&spec);
        for spec in [spec, parse_family_spec(&text).expect("its own text")] {
            let found = tilewright_layout::Families::resolve(&NeutralFamilies, &spec, &shape, &NeutralFamilies);
            prop_assert_eq!(found.as_ref(), Ok(&layout), "{}", text);
        }
    }

    /// The CuTe text of a layout gives the layout's value at every index, and parses to the layout.
    #[test]
    fn cute_text_is_the_layout(layout in tensor()) {
        let cute = from_tensor_layout(&layout).expect("independent or zero");
        let read: tilewright_layout::cute::ComposedLayout = cute.to_string().parse().expect("its own text");
        let linear = layout.linear();
        let shape: Vec<u64> = linear.outs().iter().map(|(_, bits)| 1 << bits).collect();
        match &layout {
            Layout::Memory(memory) => {
                for offset in 0..1 << linear.ins().total_bits() {
                    prop_assert_eq!(read.at(linear.apply_packed(offset)), Ok(offset));
                }
                prop_assert_eq!(to_memory(&read, &shape), Ok(memory.clone()));
            }
            _ => {
                let (register, bits) = (linear.in_bits(Dim::REGISTER), linear.ins().total_bits());
                for index in 0..1u64 << bits {
                    let (value, thread) = (index & ((1 << register) - 1), index >> register);
                    let at = thread | value << (bits - register);
                    prop_assert_eq!(read.at(at), Ok(linear.apply_packed(index)));
                }
                prop_assert_eq!(to_distributed(&read, &shape, 4), Ok(linear.clone()));
            }
        }
    }

    /// Every real element is in the enlarged layout, and `share` agrees with enumeration for each register.
    #[test]
    fn an_enlarged_layout_holds_what_is_real(layout in invertible(), sizes in (1..70u64, 1..70u64)) {
        let axes: Vec<u64> = layout.outs().iter().map(|(_, bits)| 1 << bits).collect();
        let real = [(sizes.0 % axes[0]).max(axes[0] / 2 + 1).min(axes[0]), (sizes.1 % axes[1]).max(axes[1] / 2 + 1).min(axes[1])];
        let enlarged = EnlargedShape::new(&real).expect("small");
        prop_assert_eq!(enlarged.shape(), &axes[..]);
        let is_real = |index: u64| {
            let at: Vec<_> = layout.outs().unpack(layout.apply_packed(index)).collect();
            let expected = at.iter().zip(real).all(|((_, at), bound)| *at < bound);
            assert_eq!(enlarged.is_real(&at), expected);
            expected
        };
        let real_count = (0..1 << layout.ins().total_bits()).filter(|&index| is_real(index)).count() as u64;
        prop_assert_eq!(real_count, real[0] * real[1]);
        prop_assert_eq!(enlarged.is_unmasked(), enlarged.mask_bounds().is_empty());
        let registers = 1u64 << layout.in_bits(Dim::REGISTER);
        for register in 0..registers {
            let mine: Vec<_> = (0..1 << layout.ins().total_bits()).filter(|index| index % registers == register).map(is_real).collect();
            match enlarged.share_at(&layout, Dim::REGISTER, register) {
                MaskRequirement::Real => prop_assert!(mine.iter().all(|&real| real)),
                MaskRequirement::Nothing => prop_assert!(mine.iter().all(|&real| !real)),
                MaskRequirement::Mixed => prop_assert!(!mine.iter().all(|&real| real)),
            }
        }
    }

    #[test]
    fn every_spec_comes_back_from_text_and_from_json(spec in spec()) {
        let attribute_syntaxes = AttributeSyntaxes::from_families(&NeutralFamilies);
        prop_assert_eq!(spec_from_json(&spec_to_json(&spec)), Ok(spec.clone()));
        let text = attribute_syntaxes.print_spec(&spec);
        let read = parse_family_spec(&text);
        prop_assert_eq!(read.as_ref().map(|read| attribute_syntaxes.to_canonical_spec(read)), Ok(attribute_syntaxes.to_canonical_spec(&spec)), "{}", text);
        prop_assert_eq!(attribute_syntaxes.print_spec(&read.expect("checked")), text);
    }

    #[test]
    fn a_canonical_spec_is_its_own(spec in spec()) {
        let attribute_syntaxes = AttributeSyntaxes::from_families(&NeutralFamilies);
        let canonical = attribute_syntaxes.to_canonical_spec(&spec);
        prop_assert_eq!(attribute_syntaxes.to_canonical_spec(&canonical), canonical);
    }
}

/// Random specs, of families and parameters that have an attribute syntax and of others.
fn spec() -> impl Strategy<Value = FamilySpec> {
    let known = ["blocked", "dot_operand", "linear", "padded_shared", "shared_linear", "striped"];
    let name =
        prop_oneof![4 => prop::sample::select(known.to_vec()).prop_map(str::to_owned), 1 => "[a-z A-Z0-9é\"]{0,8}"];
    let words = ["order", "shape", "offset_bases", "block_bases", "k_width", "cga_layout", "reg_bases", "alignment"];
    let key = prop_oneof![4 => prop::sample::select(words.to_vec()).prop_map(str::to_owned), 2 => "[a-z_A-Z0-9é]{1,8}"];
    let key = key.prop_filter("fields of their own in JSON", |key| key != "kind" && key != "parent");
    let integer = any::<i64>().prop_map(FamilyParameterValue::Int);
    let leaf = prop_oneof![
        integer,
        any::<bool>().prop_map(FamilyParameterValue::Bool),
        ".{0,6}".prop_map(FamilyParameterValue::Text)
    ];
    let value = leaf.prop_recursive(2, 12, 4, |inner| vec(inner, 0..4).prop_map(FamilyParameterValue::List));
    let flat = (name, vec((key, value), 0..4)).prop_map(|(name, attributes)| FamilySpec {
        name,
        parent: None,
        attributes: attributes.into_iter().collect(),
    });
    (flat.clone(), prop::option::of(flat)).prop_map(|(mut spec, parent)| {
        spec.parent = parent.map(Box::new);
        spec
    })
}
