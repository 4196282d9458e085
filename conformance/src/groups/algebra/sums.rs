//! Direct sums and what divides them.

use tilewright_layout::{Dim, LinearLayout, Space};

use super::super::law::{Checked, broken, require};
use super::{elements, made, maps};
use crate::Verdict;

/// A sum holds the parts' coordinates one above the other, whatever dims they share, and is
/// associative.
pub(super) fn sum(layout: &LinearLayout) -> Checked {
    let (second, third) = others(layout)?;
    let once = made(layout.direct_sum(&second))?;
    maps("the sum of two", &once, &summed(layout, &second, &once)?)?;
    let left = made(once.direct_sum(&third))?;
    maps("the sum of three", &left, &summed(&once, &third, &left)?)?;
    let right = made(second.direct_sum(&third)).and_then(|rest| made(layout.direct_sum(&rest)))?;
    require(left == right, || format!("the sum is not associative: from the left\n{left}\nfrom the right\n{right}"))
}

/// A sum divides back into its parts from either side.
pub(super) fn division(layout: &LinearLayout) -> Checked {
    let (other, _) = others(layout)?;
    for (inner, outer) in [(layout, &other), (&other, layout)] {
        let sum = made(inner.direct_sum(outer))?;
        // Quotients keep all dims of the sum, some with one position.
        let quotient = sum.divide_left(inner);
        require(quotient.as_ref().is_some_and(|q| same_map(q, outer)), || {
            format!("divided from the left\n{sum}\nby\n{inner}\nis {quotient:?}")
        })?;
        let quotient = sum.divide_right(outer);
        require(quotient.as_ref().is_some_and(|q| same_map(q, inner)), || {
            format!("divided from the right\n{sum}\nby\n{outer}\nis {quotient:?}")
        })?;
    }
    Ok(())
}

/// Whether two layouts agree, dims of one position aside.
fn same_map(left: &LinearLayout, right: &LinearLayout) -> bool {
    left.squeeze_ins().squeeze_outs() == right.squeeze_ins().squeeze_outs()
}

/// Two small layouts to add: one over the first dims, one over the last ones and one more.
fn others(layout: &LinearLayout) -> Result<(LinearLayout, LinearLayout), Verdict> {
    let ends = |dims: Option<Dim>| dims.ok_or_else(|| broken("the layout has no dims"));
    let (first, last) = (ends(layout.ins().dims().next())?, ends(layout.ins().dims().next_back())?);
    let (minor, major) = (ends(layout.outs().dims().next())?, ends(layout.outs().dims().next_back())?);
    let second = made(LinearLayout::identity(4, first, minor))?;
    let third = made(LinearLayout::identity(2, last, major))?;
    let beside = made(LinearLayout::identity(2, Dim::named("beside"), major))?;
    Ok((second, made(third.direct_sum(&beside))?))
}

/// The elements of a sum by its definition: each coordinate is split, the low part goes through
/// `inner`, the high one through `outer`, whose images lie above.
fn summed(inner: &LinearLayout, outer: &LinearLayout, sum: &LinearLayout) -> Result<Vec<u64>, Verdict> {
    let (low, high) = (elements(inner)?, elements(outer)?);
    let (ins, outs) = (parts_of(sum.ins(), inner.ins(), outer.ins()), parts_of(sum.outs(), inner.outs(), outer.outs()));
    let element = |position: u64| {
        let (a, b) = ins.iter().fold((0, 0), |(a, b), part| {
            let value = position >> part.at;
            (
                a | (value & mask(part.low_bits)) << part.low,
                b | (value >> part.low_bits & mask(part.high_bits)) << part.high,
            )
        });
        let (a, b) = (low[a as usize], high[b as usize]);
        outs.iter().fold(0, |element, part| {
            let (a, b) = (a >> part.low & mask(part.low_bits), b >> part.high & mask(part.high_bits));
            element | (a | b << part.low_bits) << part.at
        })
    };
    Ok((0..1u64 << sum.ins().bits()).map(element).collect())
}

/// Where a dim of a sum is packed, and its two parts where they come from.
struct Part {
    at: u32,
    low: u32,
    low_bits: u32,
    high: u32,
    high_bits: u32,
}

fn parts_of(sum: &Space, low: &Space, high: &Space) -> Vec<Part> {
    let below = |space: &Space, dim: Dim| {
        let before = space.iter().take_while(|&(other, _)| other != dim);
        if space.contains(dim) { before.map(|(_, bits)| bits).sum() } else { 0 }
    };
    let part = |dim: Dim| Part {
        at: below(sum, dim),
        low: below(low, dim),
        low_bits: low.bits_of(dim),
        high: below(high, dim),
        high_bits: high.bits_of(dim),
    };
    sum.dims().map(part).collect()
}

fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}
