//! Checks of the direct sum of linear layouts, and of the quotient that undoes it.

use tilewright_layout::{Dim, LinearLayout, Space};

use super::super::law::{LawResult, law_failure, require};
use super::{elements, expect_layout, maps};
use crate::Verdict;

/// Checks that a direct sum stacks the coordinates of its parts, whatever dims they share, and is associative.
pub(super) fn sum(layout: &LinearLayout) -> LawResult {
    let (second, third) = others(layout)?;
    let once = expect_layout(layout.direct_sum(&second))?;
    maps("the sum of two", &once, &direct_sum_elements(layout, &second, &once)?)?;
    let left = expect_layout(once.direct_sum(&third))?;
    maps("the sum of three", &left, &direct_sum_elements(&once, &third, &left)?)?;
    let right = expect_layout(second.direct_sum(&third)).and_then(|rest| expect_layout(layout.direct_sum(&rest)))?;
    require(left == right, || format!("the sum is not associative: from the left\n{left}\nfrom the right\n{right}"))
}

/// Checks that a direct sum, divided by either part, gives the other part.
pub(super) fn division(layout: &LinearLayout) -> LawResult {
    let (other, _) = others(layout)?;
    for (inner, outer) in [(layout, &other), (&other, layout)] {
        let sum = expect_layout(inner.direct_sum(outer))?;
        // A quotient has all dims of the sum, some of them possibly with size one.
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

/// Whether two layouts are the same map, ignoring dims of size one.
fn same_map(left: &LinearLayout, right: &LinearLayout) -> bool {
    left.squeeze_ins().squeeze_outs() == right.squeeze_ins().squeeze_outs()
}

/// Returns two small layouts for direct sums with `layout`: one over the layout's first dims, one over its last dims
/// and a new dim.
fn others(layout: &LinearLayout) -> Result<(LinearLayout, LinearLayout), Verdict> {
    let ends = |dims: Option<Dim>| dims.ok_or_else(|| law_failure("the layout has no dims"));
    let (first, last) = (ends(layout.ins().dims().next())?, ends(layout.ins().dims().next_back())?);
    let (minor, major) = (ends(layout.outs().dims().next())?, ends(layout.outs().dims().next_back())?);
    let second = expect_layout(LinearLayout::identity(4, first, minor))?;
    let third = expect_layout(LinearLayout::identity(2, last, major))?;
    let beside = expect_layout(LinearLayout::identity(2, Dim::named("beside"), major))?;
    Ok((second, expect_layout(third.direct_sum(&beside))?))
}

/// Computes the elements of a direct sum by its definition: each coordinate is split in low and high bits; `inner` maps
/// the low bits, `outer` the high ones, and the images of `outer` are shifted above those of `inner`.
fn direct_sum_elements(inner: &LinearLayout, outer: &LinearLayout, sum: &LinearLayout) -> Result<Vec<u64>, Verdict> {
    let (low, high) = (elements(inner)?, elements(outer)?);
    let (ins, outs) =
        (bits_of_dims(sum.ins(), inner.ins(), outer.ins()), bits_of_dims(sum.outs(), inner.outs(), outer.outs()));
    let element = |position: u64| {
        let (a, b) = ins.iter().fold((0, 0), |(a, b), dim_bits| {
            let value = position >> dim_bits.at;
            (
                a | (value & mask(dim_bits.low_bits)) << dim_bits.low,
                b | (value >> dim_bits.low_bits & mask(dim_bits.high_bits)) << dim_bits.high,
            )
        });
        let (a, b) = (low[a as usize], high[b as usize]);
        outs.iter().fold(0, |element, dim_bits| {
            let (a, b) = (a >> dim_bits.low & mask(dim_bits.low_bits), b >> dim_bits.high & mask(dim_bits.high_bits));
            element | (a | b << dim_bits.low_bits) << dim_bits.at
        })
    };
    Ok((0..1u64 << sum.ins().total_bits()).map(element).collect())
}

/// The bits of one dim in the packed coordinates of a direct sum and of its two parts. `at`, `low` and `high` are the
/// index of the dim's first bit in the sum, the inner part and the outer part; `low_bits` and `high_bits` are its
/// number of bits in the parts.
struct DimBits {
    at: u32,
    low: u32,
    low_bits: u32,
    high: u32,
    high_bits: u32,
}

fn bits_of_dims(sum: &Space, low: &Space, high: &Space) -> Vec<DimBits> {
    let below = |space: &Space, dim: Dim| {
        let before = space.iter().take_while(|&(other, _)| other != dim);
        if space.contains(dim) { before.map(|(_, bits)| bits).sum() } else { 0 }
    };
    let dim_bits = |dim: Dim| DimBits {
        at: below(sum, dim),
        low: below(low, dim),
        low_bits: low.bits_of(dim),
        high: below(high, dim),
        high_bits: high.bits_of(dim),
    };
    sum.dims().map(dim_bits).collect()
}

fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}
