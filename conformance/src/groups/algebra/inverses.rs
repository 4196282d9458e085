//! Inverses, maps from one layout into another, and what a layout says of itself.

use tilewright_layout::LinearLayout;

use super::super::law::{Checked, broken, require};
use super::{elements, made};

/// The right inverse leads each element to a position that holds it; where the layout is
/// invertible, each position back to itself.
pub(super) fn inverse(layout: &LinearLayout) -> Checked {
    let inverse = made(layout.pseudoinvert())?;
    let positions = elements(&inverse)?;
    let held = elements(layout)?;
    for (element, &position) in positions.iter().enumerate() {
        let back = held.get(position as usize).copied();
        require(back == Some(element as u64), || format!("element {element} leads to {position}, which has {back:?}"))?;
    }
    let injective = held.len() == positions.len();
    require(!injective || layout.invert().is_ok_and(|i| i == inverse), || "`invert` says otherwise".to_owned())?;
    require(injective || layout.invert().is_err(), || "`invert` inverts what holds an element twice".to_owned())
}

/// `from.invert_and_compose(to)` is a map of positions that keeps elements: each position leads to one
/// of `to` that holds the same element.
pub(super) fn witness(from: &LinearLayout, to: &LinearLayout) -> Checked {
    let map = from.invert_and_compose(to).map_err(|error| broken(format!("{error}\n{from}\nto\n{to}")))?;
    require(map.ins() == from.ins() && map.outs() == to.ins(), || format!("{map}\nleads not from\n{from}\nto\n{to}"))?;
    let (held, holders) = (elements(from)?, elements(to)?);
    for (position, image) in elements(&map)?.into_iter().enumerate() {
        let (expected, found) = (held[position], holders.get(image as usize).copied());
        require(found == Some(expected), || {
            format!("position {position} holds {expected}, leads to {image}, which holds {found:?}\n{from}\nto\n{to}")
        })?;
    }
    Ok(())
}

/// What the layout says of itself is so: whether every element is held, whether none is held twice,
/// which bits of the input move nothing new.
pub(super) fn queries(layout: &LinearLayout) -> Checked {
    let held = elements(layout)?;
    let mut holders = vec![0u64; 1 << layout.outs().bits()];
    held.iter().for_each(|&element| holders[element as usize] += 1);
    let facts = [
        ("surjective", holders.iter().all(|&count| count > 0), layout.is_surjective()),
        ("injective", holders.iter().all(|&count| count <= 1), layout.is_injective()),
        ("invertible", holders.iter().all(|&count| count == 1), layout.is_invertible()),
    ];
    for (what, is, said) in facts {
        require(is == said, || format!("whether it is {what}: it says {said}\n{layout}"))?;
    }
    let reached = holders.iter().filter(|&&count| count > 0).count() as u64;
    require(reached == 1 << layout.rank(), || format!("{reached} elements are held, of rank {}", layout.rank()))?;
    let free: u32 = layout.free_variable_masks().iter().map(|(_, mask)| mask.count_ones()).sum();
    require(free + layout.rank() == layout.ins().bits(), || {
        format!("{free} bits of input are said to be free, the rank is {}\n{layout}", layout.rank())
    })
}
