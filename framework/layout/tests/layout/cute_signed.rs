//! Layouts with negative strides, against the definition: the sum of digit times stride over all modes.

use proptest::prelude::*;
use tilewright_layout::cute::*;

/// Random flat or nested layouts, often with strides that divide each other.
fn signed_layout() -> impl Strategy<Value = SignedLayout> {
    let size = prop::sample::select(vec![1u64, 2, 2, 3, 4, 4, 6, 8]);
    let stride = prop::sample::select(vec![0i64, 1, -1, 2, -2, 3, -4, 4, -8, 8, -12, 16, -24, 48]);
    let leaf = (size, stride).prop_map(|(shape, stride)| Tree::leaf(SignedLeaf { shape, stride }));
    let tree = leaf.prop_recursive(2, 5, 3, |inner| {
        prop::collection::vec(inner, 1..=3).prop_map(|modes| Tree::tuple(modes).expect("shallow"))
    });
    tree.prop_map(|tree| SignedLayout::from_tree(tree).expect("small"))
}

fn inner_layout() -> impl Strategy<Value = CuteLayout> {
    let mode = (prop::sample::select(vec![1u64, 2, 3, 4, 8]), prop::sample::select(vec![0u64, 1, 2, 3, 4, 8, 16]));
    prop::collection::vec(mode, 1..=3).prop_map(|modes| {
        let leaves = modes.into_iter().map(|(shape, stride)| CuteLeaf { shape, stride });
        CuteLayout::from_tree(Tree::flat(leaves)).expect("small")
    })
}

/// The value at an integer coordinate: the index in the last mode is not reduced modulo its size.
fn defined_value(layout: &SignedLayout, index: u64) -> i64 {
    let modes: Vec<SignedLeaf> = layout.tree().leaves().into_iter().copied().collect();
    let (last, others) = modes.split_last().expect("a mode");
    let mut rest = index;
    let mut value = 0;
    for mode in others {
        value += (rest % mode.shape) as i64 * mode.stride;
        rest /= mode.shape;
    }
    value + rest as i64 * last.stride
}

fn negated(layout: &CuteLayout) -> SignedLayout {
    let modes = layout.tree().map(|mode| SignedLeaf { shape: mode.shape, stride: -(mode.stride as i64) });
    SignedLayout::from_tree(modes).expect("small")
}

proptest! {
    #[test]
    fn values_are_those_of_the_definition(layout in signed_layout()) {
        prop_assert_eq!(layout.to_string().parse::<SignedLayout>().expect("its text"), layout.clone());
        let coalesced = layout.coalesce().expect("valid");
        let flat = layout.flatten().expect("valid");
        for index in 0..layout.size() {
            let value = defined_value(&layout, index);
            prop_assert_eq!(layout.at(index).expect("small"), value);
            prop_assert_eq!(coalesced.at(index).expect("small"), value);
            prop_assert_eq!(flat.at(index).expect("small"), value);
        }
        let modes = coalesced.tree().leaves();
        for pair in modes.windows(2) {
            prop_assert!(pair[0].shape as i64 * pair[0].stride != pair[1].stride, "{} of {}", coalesced, layout);
        }
    }

    #[test]
    fn compositions_are_those_of_the_values(outer in signed_layout(), inner in inner_layout()) {
        if let Ok(composed) = outer.compose(&inner) {
            prop_assert_eq!(composed.size(), inner.size());
            // The last mode of the outer layout continues, even if its size is 1.
            for (index, inside) in (0..).zip(inner.values()) {
                let (found, expected) = (composed.at(index).expect("small"), defined_value(&outer, inside));
                prop_assert_eq!(found, expected, "{} of {} and {}", composed, outer, inner);
            }
        }
    }

    #[test]
    fn a_negated_layout_has_the_negated_composition(outer in inner_layout(), inner in inner_layout()) {
        let expected = composition(&outer, &inner).ok().map(|composed| negated(&composed));
        prop_assert_eq!(negated(&outer).compose(&inner).ok(), expected);
    }
}

/// Checks known results: a reversed vector, a matrix with reversed rows, and the refusals of other layouts.
#[test]
fn known_answers() {
    let signed = |text: &str| text.parse::<SignedLayout>().expect("a layout");
    let cute = |text: &str| text.parse::<CuteLayout>().expect("a layout");
    let composed = |outer: &str, inner: &str| signed(outer).compose(&cute(inner)).map(|layout| layout.to_string());
    assert_eq!(composed("8:-1", "4:2").as_deref(), Ok("4:-2"));
    assert_eq!(composed("(4,8):(-8,1)", "(2,8):(2,4)").as_deref(), Ok("(2,8):(-16,1)"));
    assert_eq!(composed("(4,8):(8,-1)", "8:2").as_deref(), Ok("(2,4):(16,-1)"));
    assert!(composed("(6,4):(-4,1)", "(2,3):(4,1)").is_err());
    assert_eq!(
        signed("(2,(2,4)):(-1,(-2,4))").coalesce().map(|layout| layout.to_string()).as_deref(),
        Ok("(4,4):(-1,4)")
    );
    let error = "(4,8):(-8,1)".parse::<CuteLayout>().expect_err("a negative stride").to_string();
    assert!(error.contains("negative stride") && error.contains("reverse the axis"), "{error}");
    assert!("2:-9223372036854775807".parse::<SignedLayout>().is_err());
}
