//! Stretches of a row of cells along which numbers count up, and their names.

use std::collections::BTreeMap;

use crate::Run;

/// The numbers of cells, from which runs are made.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    cells: BTreeMap<(usize, usize), Vec<u64>>,
}

impl Runs {
    /// Adds the cell at a row and column.
    pub fn add(&mut self, row: usize, column: usize, numbers: Vec<u64>) {
        self.cells.insert((row, column), numbers);
    }

    /// The longest runs of neighbours. `begins` says of a column whether a run must begin there; `follows`
    /// of a run's first and last numbers whether the next ones belong to it; `name` names a run by its
    /// first and last numbers.
    pub fn named(
        &self,
        begins: impl Fn(usize) -> bool,
        follows: impl Fn(&[u64], &[u64], &[u64]) -> bool,
        name: impl Fn(&[u64], &[u64]) -> String,
    ) -> Vec<Run> {
        let mut runs: Vec<(Run, &[u64], &[u64])> = Vec::new();
        for (&(row, column), numbers) in &self.cells {
            match runs.last_mut() {
                Some((run, first, last))
                    if (run.row, run.end) == (row, column) && !begins(column) && follows(first, last, numbers) =>
                {
                    run.end = column + 1;
                    *last = numbers;
                }
                _ => runs.push((Run { row, start: column, end: column + 1, name: String::new() }, numbers, numbers)),
            }
        }
        let named = runs.into_iter().map(|(run, first, last)| Run { name: name(first, last), ..run });
        named.collect()
    }
}

/// Whether, from the first on, one coordinate counts up by one and the others stay.
pub(crate) fn one_axis_counts_up(first: &[u64], last: &[u64], next: &[u64]) -> bool {
    let mut moved = (0..first.len()).filter(|&axis| first[axis] != next[axis]);
    match (moved.next(), moved.next()) {
        (Some(axis), None) => {
            next[axis] == last[axis] + 1 && (0..first.len()).all(|a| a == axis || last[a] == first[a])
        }
        _ => false,
    }
}

/// Elements from one to another along one axis: `3,8-15`.
pub(crate) fn range_of_elements(first: &[u64], last: &[u64]) -> String {
    let parts: Vec<_> = first.iter().zip(last).map(|(&first, &last)| from_to(first, last)).collect();
    parts.join(",")
}

/// A range of numbers: `8-15`, or `8` where it is one.
pub(crate) fn from_to(first: u64, last: u64) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// Ascending numbers with ranges for stretches of them: `0-3,8`.
pub(crate) fn ranges(numbers: &[u64]) -> String {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let parts: Vec<_> =
        sorted.chunk_by(|a, b| a + 1 == *b).map(|part| from_to(part[0], part[part.len() - 1])).collect();
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_follow_each_other_are_ranges() {
        assert_eq!(ranges(&[4, 0, 2, 1, 9, 8]), "0-2,4,8-9");
        assert_eq!(ranges(&[]), "");
    }

    #[test]
    fn a_run_goes_along_one_axis_and_stops_at_gaps() {
        let mut runs = Runs::default();
        let cells = [(0, 0, [0, 6]), (0, 1, [0, 7]), (0, 2, [1, 7]), (0, 4, [2, 7]), (1, 0, [3, 7])];
        cells.iter().for_each(|&(row, column, at)| runs.add(row, column, at.to_vec()));
        let named = runs.named(|_| false, one_axis_counts_up, range_of_elements);
        let names: Vec<_> = named.iter().map(|run| (run.row, run.start, run.end, run.name.as_str())).collect();
        assert_eq!(names, [(0, 0, 2, "0,6-7"), (0, 2, 3, "1,7"), (0, 4, 5, "2,7"), (1, 0, 1, "3,7")]);
    }
}
