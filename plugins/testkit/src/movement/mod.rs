//! Compares the data movement of generated code with the plan: a vendor's reader counts the accesses in the code.

use tilewright_plan::movement::SharedBits;

use crate::prelude::*;

/// Data movement of a kernel, read from its code or planned: bits of shared memory that a lane stores and loads, and
/// counts of other operations of a warp.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Movement {
    pub stored_bits: u64,
    pub loaded_bits: u64,
    pub shuffles: u64,
    pub block_barriers: u64,
    pub warp_barriers: u64,
    /// Number of accesses by instructions that move matrix tiles, loads and stores together.
    pub tiles: u64,
}

impl Movement {
    /// Returns the data movement of a plan.
    pub fn of_plan(counts: &Counts, bits: SharedBits) -> Self {
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

/// Functions with which a vendor reads its generated code.
pub struct Reader {
    /// Returns the mnemonics of the kernel of this name.
    pub instructions: for<'a> fn(&'a str, &str) -> Vec<&'a str>,
    /// Returns the data movement of the kernel of this name, each of whose instructions must be issued once.
    pub movement: fn(&str, &str) -> Movement,
    /// Checks that the code spills no registers.
    pub spills_nothing: fn(&str, &str),
}

/// Checks that every instruction is issued once: the code has no branches or, if some lanes skip stores, only forward
/// branches around them.
pub fn check_straight_line(code: &str, some_sit_out: bool) {
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
