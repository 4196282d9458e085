//! Checks of identity layouts, of composition, and of splitting layouts by their dims.

use tilewright_layout::{Dim, LinearLayout, Space};

use super::super::law::{LawResult, require};
use super::{elements, expect_layout, maps};

/// Checks that composition with an identity and the direct sum with the empty layout change nothing, and that each
/// position is mapped to the xor of its bases.
pub(super) fn identity(layout: &LinearLayout) -> LawResult {
    let images = elements(layout)?;
    for (position, &element) in images.iter().enumerate() {
        let applied = layout.apply_packed(position as u64);
        require(applied == element, || format!("position {position} maps to {applied}, by its bases to {element}"))?;
    }
    let nothing = LinearLayout::empty();
    let same = [
        (
            "after the identity",
            square_map(layout.ins(), |bit, _| 1 << bit).and_then(|i| expect_layout(i.compose(layout))),
        ),
        (
            "before the identity",
            square_map(layout.outs(), |bit, _| 1 << bit).and_then(|i| expect_layout(layout.compose(&i))),
        ),
        ("direct sum with the empty layout", expect_layout(layout.direct_sum(&nothing))),
        ("direct sum of the empty layout with it", expect_layout(nothing.direct_sum(layout))),
    ];
    for (what, found) in same {
        let found = found?;
        maps(what, &found, &images)?;
        require(found == *layout, || format!("{what} it is\n{found}\nnot\n{layout}"))?;
    }
    Ok(())
}

/// Checks that composition applies one map after the other and is associative.
pub(super) fn composition(layout: &LinearLayout) -> LawResult {
    // Two maps of the coordinates to themselves: `mixed` adds each bit to the next one (over F2), `reversed` reverses
    // the bits.
    let mixed = square_map(layout.outs(), |bit, bits| 1 << bit | 1 << ((bit + 1).min(bits - 1)))?;
    let reversed = square_map(layout.outs(), |bit, bits| 1 << (bits - 1 - bit))?;
    let (after, last) = (elements(&mixed)?, elements(&reversed)?);
    let first = expect_layout(layout.compose(&mixed))?;
    let expected: Vec<_> = elements(layout)?.into_iter().map(|element| after[element as usize]).collect();
    maps("composed once", &first, &expected)?;
    let left = expect_layout(first.compose(&reversed))?;
    let expected: Vec<_> = expected.into_iter().map(|element| last[element as usize]).collect();
    maps("composed twice", &left, &expected)?;
    let right = expect_layout(mixed.compose(&reversed)).and_then(|inner| expect_layout(layout.compose(&inner)))?;
    require(left == right, || format!("composition is not associative: from the left\n{left}\nfrom the right\n{right}"))
}

/// Returns the map of a space to itself whose image of input bit `bit` is `column(bit, bits)`, where `bits` is the
/// number of bits of the space.
fn square_map(space: &Space, column: impl Fn(u32, u32) -> u64) -> Result<LinearLayout, crate::Verdict> {
    let bits = space.total_bits();
    let columns: Vec<_> = (0..bits).map(|bit| column(bit, bits)).collect();
    expect_layout(LinearLayout::from_columns(space.clone(), space.clone(), &columns))
}

/// Checks that a layout restricted to some dims equals the layout with zero in the others, and that the sum of the
/// restrictions is the layout.
pub(super) fn sublayouts(layout: &LinearLayout) -> LawResult {
    let ins: Vec<_> = layout.ins().dims().collect();
    let outs: Vec<_> = layout.outs().dims().collect();
    let images = elements(layout)?;
    let mut concatenated: Option<LinearLayout> = None;
    for &dim in &ins {
        let restricted = expect_layout(layout.sublayout(&[dim], &outs))?;
        let shift = layout.ins().shift_of(dim).unwrap_or(0);
        let expected: Vec<_> = (0..1usize << layout.in_bits(dim)).map(|at| images[at << shift]).collect();
        maps(&format!("{dim} alone"), &restricted, &expected)?;
        concatenated = Some(match concatenated {
            None => restricted,
            Some(before) => expect_layout(before.concat_ins(&restricted))?,
        });
    }
    require(concatenated.as_ref() == Some(layout), || {
        format!("its concatenated dims are\n{concatenated:?}\nnot\n{layout}")
    })?;
    for &dim in &outs {
        let restricted = expect_layout(layout.sublayout(&ins, &[dim]))?;
        let expected: Vec<_> = images.iter().map(|&element| coordinate(layout, element, dim)).collect();
        maps(&format!("seen along {dim}"), &restricted, &expected)?;
    }
    Ok(())
}

fn coordinate(layout: &LinearLayout, element: u64, dim: Dim) -> u64 {
    let shift = layout.outs().shift_of(dim).unwrap_or(0);
    element >> shift & ((1u64 << layout.out_bits(dim)) - 1)
}
