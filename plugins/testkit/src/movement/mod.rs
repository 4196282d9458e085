//! The code of a movement beside its plan: the plan says what the code must do, and a vendor's reader what it does.

use tilewright_plan::movement::SharedBits;

use crate::prelude::*;

/// What the code of a kernel around a movement does, or must do: for one lane, or for its warp.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Movement {
    pub stored_bits: u64,
    pub loaded_bits: u64,
    pub exchanges: u64,
    pub block_barriers: u64,
    pub warp_barriers: u64,
    /// Accesses by instructions that move tiles, both ways.
    pub tiles: u64,
}

impl Movement {
    /// The movement of a plan.
    pub fn of_plan(counts: &Counts, bits: SharedBits) -> Self {
        Self {
            stored_bits: bits.stored,
            loaded_bits: bits.loaded,
            exchanges: counts.exchanges,
            block_barriers: counts.barriers,
            warp_barriers: counts.warp_barriers,
            tiles: counts.matrix_stores + counts.matrix_loads,
        }
    }
}

/// How a vendor's code is read.
pub struct Reader {
    /// The mnemonics of a kernel of this name.
    pub instructions: for<'a> fn(&'a str, &str) -> Vec<&'a str>,
    /// The data movement of a kernel of this name, if each of its instructions is issued once.
    pub movement: fn(&str, &str) -> Movement,
    /// Checks that no register of the code lies in memory.
    pub spills_nothing: fn(&str, &str),
}

/// Every instruction is issued once, so that the code does what it says: no branch at all, or, if some lanes sit out
/// stores, branches forward around these stores.
pub fn goes_straight(code: &str, some_sit_out: bool) {
    let lines: Vec<Vec<&str>> = code.lines().map(|line| line.split_whitespace().collect()).collect();
    let is_branch = |word: &&str| ["bra", "s_branch", "s_cbranch"].iter().any(|branch| word.starts_with(branch));
    for (at, line) in lines.iter().enumerate() {
        let Some(branch) = line.iter().position(is_branch) else { continue };
        assert!(some_sit_out, "{code}");
        let label = format!("{}:", line[branch + 1].trim_end_matches(';'));
        let is_ahead = lines[at..].iter().any(|line| line.first() == Some(&label.as_str()));
        assert!(is_ahead, "{line:?} goes back: {code}");
    }
}
