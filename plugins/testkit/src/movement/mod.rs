//! Compares data movement in generated code with planned data movement: functions of each vendor count the accesses in
//! the code.

use tilewright_plan::movement::SharedMemoryBitsPerLane;

use crate::prelude::*;

/// Data movement of a kernel, counted in its code or planned: bits of shared memory that one lane stores and loads, and
/// counts of other operations of one warp.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Movement {
    pub stored_bits: u64,
    pub loaded_bits: u64,
    pub shuffles: u64,
    pub block_barriers: u64,
    pub warp_barriers: u64,
    /// Number of loads and stores together by instructions that move matrix tiles, such as `ldmatrix`.
    pub tiles: u64,
}

impl Movement {
    /// Returns the data movement of a plan.
    pub fn of_plan(counts: &Counts, bits: SharedMemoryBitsPerLane) -> Self {
        Self {
            stored_bits: bits.stored,
            loaded_bits: bits.loaded,
            shuffles: counts.shuffles,
            block_barriers: counts.barriers,
            warp_barriers: counts.warp_barriers,
            tiles: counts.matrix_stores + counts.matrix_loads,
        }
    }
}

/// A vendor's functions that read generated code.
pub struct Reader {
    /// Returns the mnemonics of the instructions of a kernel. Arguments: the code and the kernel's name.
    pub instructions: for<'a> fn(&'a str, &str) -> Vec<&'a str>,
    /// Returns the data movement of a kernel whose instructions are each issued once. Arguments: the code and the
    /// kernel's name.
    pub movement: fn(&str, &str) -> Movement,
    /// Panics if a kernel's code spills registers. Arguments: the name of the test case and the code.
    pub spills_nothing: fn(&str, &str),
}

/// Checks that the code has no loop: it has no branches, or, if some lanes skip stores (`some_sit_out`), only forward
/// branches.
pub fn check_no_loops(code: &str, some_sit_out: bool) {
    let lines: Vec<Vec<&str>> = code.lines().map(|line| line.split_whitespace().collect()).collect();
    let is_branch = |word: &&str| ["bra", "s_branch", "s_cbranch"].iter().any(|branch| word.starts_with(branch));
    for (at, line) in lines.iter().enumerate() {
        let Some(branch) = line.iter().position(is_branch) else { continue };
        assert!(some_sit_out, "{code}");
        let label = format!("{}:", line[branch + 1].trim_end_matches(';'));
        let is_forward = lines[at..].iter().any(|line| line.first() == Some(&label.as_str()));
        assert!(is_forward, "{line:?} branches back: {code}");
    }
}
