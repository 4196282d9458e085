//! Checks of inverses of linear layouts, of maps from one layout into another, and of queries such as the rank.

use tilewright_layout::LinearLayout;

use super::super::law::{LawResult, law_failure, require};
use super::{elements, expect_layout};

/// Checks that the right inverse of a layout maps each element to a position that holds it and, for an invertible
/// layout, each position back to itself.
pub(super) fn inverse(layout: &LinearLayout) -> LawResult {
    let inverse = expect_layout(layout.pseudoinvert())?;
    let positions = elements(&inverse)?;
    let images = elements(layout)?;
    for (element, &position) in positions.iter().enumerate() {
        let back = images.get(position as usize).copied();
        require(back == Some(element as u64), || format!("element {element} maps to {position}, which has {back:?}"))?;
    }
    let injective = images.len() == positions.len();
    require(!injective || layout.invert().is_ok_and(|i| i == inverse), || {
        "`invert` differs from `pseudoinvert`".to_owned()
    })?;
    require(injective || layout.invert().is_err(), || "`invert` accepts a layout with replicated elements".to_owned())
}

/// Checks that `from.invert_and_compose(to)` preserves elements: each position of `from` is mapped to a position of
/// `to` that holds the same element.
pub(super) fn witness(from: &LinearLayout, to: &LinearLayout) -> LawResult {
    let map = from.invert_and_compose(to).map_err(|error| law_failure(format!("{error}\n{from}\nto\n{to}")))?;
    require(map.ins() == from.ins() && map.outs() == to.ins(), || {
        format!("{map}\ndoes not map from\n{from}\nto\n{to}")
    })?;
    let (images, holders) = (elements(from)?, elements(to)?);
    for (position, image) in elements(&map)?.into_iter().enumerate() {
        let (expected, found) = (images[position], holders.get(image as usize).copied());
        require(found == Some(expected), || {
            format!(
                "position {position} has element {expected}, maps to {image}, which has {found:?}\n{from}\nto\n{to}"
            )
        })?;
    }
    Ok(())
}

/// Checks a layout's queries: surjective, injective, invertible, rank, free bits of the input.
pub(super) fn queries(layout: &LinearLayout) -> LawResult {
    let images = elements(layout)?;
    let mut holders = vec![0u64; 1 << layout.outs().total_bits()];
    images.iter().for_each(|&element| holders[element as usize] += 1);
    let predicates = [
        ("surjective", holders.iter().all(|&count| count > 0), layout.is_surjective()),
        ("injective", holders.iter().all(|&count| count <= 1), layout.is_injective()),
        ("invertible", holders.iter().all(|&count| count == 1), layout.is_invertible()),
    ];
    for (what, is, reported) in predicates {
        require(is == reported, || format!("`is_{what}` returns {reported}\n{layout}"))?;
    }
    let reached = holders.iter().filter(|&&count| count > 0).count() as u64;
    require(reached == 1 << layout.rank(), || {
        format!("{reached} elements have a position, the rank is {}", layout.rank())
    })?;
    let free: u32 = layout.free_variable_masks().iter().map(|(_, mask)| mask.count_ones()).sum();
    require(free + layout.rank() == layout.ins().total_bits(), || {
        format!("{free} free bits of input, rank {}\n{layout}", layout.rank())
    })
}
