//! Identities, composition, and layouts taken apart by their dims.

use tilewright_layout::{Dim, LinearLayout, Space};

use super::super::law::{Checked, require};
use super::{elements, made, maps};

/// The identities on either side, and the sum with nothing, change nothing; what the layout says of
/// each position is what its bases add up to.
pub(super) fn identity(layout: &LinearLayout) -> Checked {
    let held = elements(layout)?;
    for (position, &element) in held.iter().enumerate() {
        let said = layout.apply_packed(position as u64);
        require(said == element, || format!("position {position} is said to hold {said}, its bases say {element}"))?;
    }
    let nothing = LinearLayout::empty();
    let same = [
        ("after the identity", on(layout.ins(), |bit, _| 1 << bit).and_then(|i| made(i.compose(layout)))),
        ("before the identity", on(layout.outs(), |bit, _| 1 << bit).and_then(|i| made(layout.compose(&i)))),
        ("summed with nothing", made(layout.direct_sum(&nothing))),
        ("nothing summed with it", made(nothing.direct_sum(layout))),
    ];
    for (what, found) in same {
        let found = found?;
        maps(what, &found, &held)?;
        require(found == *layout, || format!("{what} it is\n{found}\nnot\n{layout}"))?;
    }
    Ok(())
}

/// Composition is one map after the other, and associative.
pub(super) fn composition(layout: &LinearLayout) -> Checked {
    // Neighbouring bits added, then all bits in reverse: neither is a permutation of the other.
    let mixed = on(layout.outs(), |bit, bits| 1 << bit | 1 << ((bit + 1).min(bits - 1)))?;
    let reversed = on(layout.outs(), |bit, bits| 1 << (bits - 1 - bit))?;
    let (after, last) = (elements(&mixed)?, elements(&reversed)?);
    let first = made(layout.compose(&mixed))?;
    let expected: Vec<_> = elements(layout)?.into_iter().map(|element| after[element as usize]).collect();
    maps("composed once", &first, &expected)?;
    let left = made(first.compose(&reversed))?;
    let expected: Vec<_> = expected.into_iter().map(|element| last[element as usize]).collect();
    maps("composed twice", &left, &expected)?;
    let right = made(mixed.compose(&reversed)).and_then(|inner| made(layout.compose(&inner)))?;
    require(left == right, || format!("composition is not associative: from the left\n{left}\nfrom the right\n{right}"))
}

/// The map of a space to itself with the given column for each of so many bits.
fn on(space: &Space, column: impl Fn(u32, u32) -> u64) -> Result<LinearLayout, crate::Verdict> {
    let bits = space.bits();
    let columns: Vec<_> = (0..bits).map(|bit| column(bit, bits)).collect();
    made(LinearLayout::from_columns(space.clone(), space.clone(), &columns))
}

/// A layout of some dims alone is the whole at zero elsewhere, seen in those dims; side by side again
/// the parts are the whole.
pub(super) fn parts(layout: &LinearLayout) -> Checked {
    let ins: Vec<_> = layout.ins().dims().collect();
    let outs: Vec<_> = layout.outs().dims().collect();
    let held = elements(layout)?;
    let mut whole: Option<LinearLayout> = None;
    for &dim in &ins {
        let part = made(layout.sublayout(&[dim], &outs))?;
        let shift = layout.ins().shift_of(dim).unwrap_or(0);
        let expected: Vec<_> = (0..1usize << layout.in_bits(dim)).map(|at| held[at << shift]).collect();
        maps(&format!("{dim} alone"), &part, &expected)?;
        whole = Some(match whole {
            None => part,
            Some(before) => made(before.concat_ins(&part))?,
        });
    }
    require(whole.as_ref() == Some(layout), || format!("its dims side by side are\n{whole:?}\nnot\n{layout}"))?;
    for &dim in &outs {
        let part = made(layout.sublayout(&ins, &[dim]))?;
        let expected: Vec<_> = held.iter().map(|&element| coordinate(layout, element, dim)).collect();
        maps(&format!("seen along {dim}"), &part, &expected)?;
    }
    Ok(())
}

fn coordinate(layout: &LinearLayout, element: u64, dim: Dim) -> u64 {
    let shift = layout.outs().shift_of(dim).unwrap_or(0);
    element >> shift & ((1u64 << layout.out_bits(dim)) - 1)
}
