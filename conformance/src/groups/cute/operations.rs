//! Checks of CuTe operations on sample layouts: each result is exact, or the operation is rejected with a coordinate
//! that no layout maps correctly.

use tilewright_layout::SampleLayout;
use tilewright_layout::cute::{
    CuteError, CuteLayout, Tiler, complement, composition, left_inverse, logical_divide, right_inverse,
};

use super::super::law::{LawResult, law_failure, require};
use super::composed;
use crate::{Context, Verdict};

/// Inner layouts for compositions. Some are valid; others have sizes that do not divide the outer layout's, overlap, or
/// exceed its size.
const INNER: [&str; 12] = [
    "8:2",
    "(4,2):(1,16)",
    "(2,(2,4)):(8,(1,32))",
    "7:3",
    "(3,5):(2,7)",
    "(2,3):(1,4)",
    "12:1",
    "(6,2):(4,96)",
    "(4,4):(1,2)",
    "5:0",
    "(8,8):(64,1)",
    "16:1000",
];

/// Checks `composition` of a sample layout with each of the layouts [`INNER`].
pub(super) fn compositions(context: &Context, sample: &SampleLayout) -> LawResult {
    let (_, composed) = composed(context, sample)?;
    for inner in INNER {
        let inner: CuteLayout = inner.parse().map_err(|error: CuteError| law_failure(error.to_string()))?;
        exact_or_refused(composed.layout(), &inner)?;
    }
    Ok(())
}

/// Checks a composition A(B(i)): the result is exact at every i, or the error gives an i with an exact value that
/// contradicts the only layout that is correct before i.
fn exact_or_refused(outer: &CuteLayout, inner: &CuteLayout) -> LawResult {
    let exact = |index: u64| inner.at(index).map(|middle| extended(outer, middle));
    match composition(outer, inner) {
        Ok(found) => {
            require(found.size() == inner.size(), || format!("{outer} o {inner} is {found}, of another size"))?;
            (0..inner.size()).try_for_each(|index| {
                require(found.at(index) == exact(index), || {
                    format!("{outer} o {inner} is {found}: {:?} at {index}, not {:?}", found.at(index), exact(index))
                })
            })
        }
        Err(CuteError::Inexact { index, exact: value, candidate, .. }) => {
            require(exact(index) == Ok(value) && value != candidate, || {
                format!("{outer} o {inner}: rejected for {value} at {index}, which is {:?}", exact(index))
            })
        }
        Err(error) => Err(law_failure(format!("{outer} o {inner}: {error}"))),
    }
}

/// Returns the layout's value at an index, possibly past its size: the last mode continues, even if it has one element,
/// as in CuTe.
fn extended(layout: &CuteLayout, index: u64) -> u64 {
    let modes = layout.leaf_modes();
    let (mut rest, mut value) = (index, 0);
    for (at, mode) in modes.iter().enumerate() {
        let coordinate = if at + 1 < modes.len() { rest % mode.shape } else { rest };
        value += coordinate * mode.stride;
        rest /= mode.shape;
    }
    value
}

/// Checks that the right inverse maps each value of the layout to a coordinate that has it, and that the left inverse
/// maps each value back to its coordinate. A left inverse may be undefined, if the error gives two coordinates with the
/// same value.
pub(super) fn inverses(context: &Context, sample: &SampleLayout) -> LawResult {
    let (_, composed) = composed(context, sample)?;
    let layout = composed.layout();
    let right = right_inverse(layout).map_err(of(layout))?;
    for index in 0..right.size() {
        let back = right.at(index).and_then(|coordinate| layout.at(coordinate));
        require(back == Ok(index), || format!("{layout}: right inverse {right} of {index} has {back:?}"))?;
    }
    match left_inverse(layout) {
        Ok(left) => (0..layout.size()).try_for_each(|index| {
            let back = layout.at(index).and_then(|value| left.at(value));
            require(back == Ok(index), || format!("{layout}: left inverse {left} leads {index} to {back:?}"))
        }),
        Err(CuteError::NotInjective { first, second, value, .. }) => {
            let values = (layout.at(first), layout.at(second));
            require(first != second && values == (Ok(value), Ok(value)), || {
                format!("{layout}: the error reports {value} at {first} and {second}, the values are {values:?}")
            })
        }
        Err(error) => Err(law_failure(format!("{layout}: left inverse: {error}"))),
    }
}

/// Checks that a layout divided by a tile has the same values tile by tile, and that a tile and its complement cover
/// the layout.
pub(super) fn divisions(context: &Context, sample: &SampleLayout) -> LawResult {
    let (_, composed) = composed(context, sample)?;
    let layout = composed.layout();
    for text in ["4:1", "8:2", "(2,2):(1,8)"] {
        let tile: CuteLayout = text.parse().map_err(|error: CuteError| law_failure(error.to_string()))?;
        let rest = complement(&tile, layout.size()).map_err(of(layout))?;
        let filled: Vec<u64> = tile.values().flat_map(|low| rest.values().map(move |high| low + high)).collect();
        require(sorted(filled).into_iter().eq(0..layout.size()), || {
            format!("{tile} and its complement {rest} do not fill {} coordinates", layout.size())
        })?;
        let divided = logical_divide(layout, &Tiler::Layout(tile.clone())).map_err(of(layout))?;
        let (first, values) = (divided.modes().first().map(|mode| mode.values().collect::<Vec<_>>()), divided.values());
        let expected: Result<Vec<u64>, _> = tile.values().map(|index| layout.at(index)).collect();
        require(first == expected.ok(), || format!("{layout} divided by {tile} is {divided}: another first tile"))?;
        require(sorted(values.collect()) == sorted(layout.values().collect()), || {
            format!("{layout} divided by {tile} is {divided}, which has other values")
        })?;
    }
    Ok(())
}

fn sorted(mut values: Vec<u64>) -> Vec<u64> {
    values.sort_unstable();
    values
}

fn of(layout: &CuteLayout) -> impl Fn(CuteError) -> Verdict {
    move |error| law_failure(format!("{layout}: {error}"))
}
