//! Runs in grids: consecutive cells of a row that share a name.

use std::collections::BTreeMap;

use crate::CellRun;
use crate::text::{from_to, join};

/// Values of cells, by row and column, from which runs (consecutive cells with a common name) are computed.
pub(crate) type Values<T> = BTreeMap<(usize, usize), T>;

/// Returns the maximal runs of neighbouring cells. `follows(first, last, next)` decides whether `next` extends the run
/// `first..=last`; `name(first, last)` names the run.
pub(crate) fn runs<T>(
    values: &Values<T>,
    follows: impl Fn(&T, &T, &T) -> bool,
    name: impl Fn(&T, &T) -> String,
) -> Vec<CellRun> {
    let mut runs: Vec<(CellRun, &T, &T)> = Vec::new();
    for (&(row, column), value) in values {
        match runs.last_mut() {
            Some((run, first, last)) if (run.row, run.end) == (row, column) && follows(first, last, value) => {
                run.end = column + 1;
                *last = value;
            }
            _ => runs.push((CellRun { row, start: column, end: column + 1, name: String::new() }, value, value)),
        }
    }
    runs.into_iter().map(|(run, first, last)| CellRun { name: name(first, last), ..run }).collect()
}

/// Whether the coordinates `next` continue the run of coordinates `first..=last`: along one axis they count up by one,
/// along the others they are constant.
pub(crate) fn one_axis_counts_up(first: &[u64], last: &[u64], next: &[u64]) -> bool {
    let mut moved = (0..first.len()).filter(|&axis| first[axis] != next[axis]);
    match (moved.next(), moved.next()) {
        (Some(axis), None) => {
            next[axis] == last[axis] + 1 && (0..first.len()).all(|a| a == axis || last[a] == first[a])
        }
        _ => false,
    }
}

/// Formats elements along one axis: `3,8-15`.
pub(crate) fn range_of_elements(first: &[u64], last: &[u64]) -> String {
    join(first.iter().zip(last).map(|(&first, &last)| from_to(first, last)), ",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_follows_one_axis_and_stops_at_gaps() {
        let cells = [(0, 0, [0, 6]), (0, 1, [0, 7]), (0, 2, [1, 7]), (0, 4, [2, 7]), (1, 0, [3, 7])];
        let values: Values<_> = cells.into_iter().map(|(row, column, at)| ((row, column), at)).collect();
        let named = runs(&values, |a, b, c| one_axis_counts_up(a, b, c), |a, b| range_of_elements(a, b));
        let names: Vec<_> = named.iter().map(|run| (run.row, run.start, run.end, run.name.as_str())).collect();
        assert_eq!(names, [(0, 0, 2, "0,6-7"), (0, 2, 3, "1,7"), (0, 4, 5, "2,7"), (1, 0, 1, "3,7")]);
    }
}
