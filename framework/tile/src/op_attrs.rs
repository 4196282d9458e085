//! Names the attributes that record how to lower an operation, set by transformations and layout assignment.
//!
//! No dialect row defines these attributes: they do not change the semantics of a program.

/// Number of stages of a software-pipelined loop, which the program states.
pub const NUM_STAGES: &str = "tt.num_stages";

/// The attributes by which `tw.mma` states choices, each with the attribute by which `tt.dot` states the same choice.
pub const MMA_TO_DOT_ATTRIBUTES: [(&str, &str); 5] = [
    ("instruction", INSTRUCTION),
    ("kWidth", K_WIDTH),
    ("nWidth", DOT_COLUMNS_PER_LANE),
    ("contiguousWarpColumns", CONTIGUOUS_WARP_COLUMNS),
    ("warps", WARP_COUNTS_M_N),
];

/// Names the MMA instruction that executes a dot, an entry of the target's instruction table.
pub const INSTRUCTION: &str = "tw.instruction";

/// Number of adjacent elements along K that a lane holds of each operand of a dot.
pub const K_WIDTH: &str = "tw.kWidth";

/// For each of a dot's operands A and B, 1 if adjacent elements in memory are adjacent along K, 0 if along M or N.
pub const CONTIGUOUS_ALONG_K: &str = "tw.alongK";

/// Number of adjacent columns that a lane holds of a dot's result.
pub const DOT_COLUMNS_PER_LANE: &str = "tw.columnsPerLane";

/// Marks a dot for whose result each warp holds consecutive columns; otherwise warps along N alternate.
pub const CONTIGUOUS_WARP_COLUMNS: &str = "tw.contiguousWarpColumns";

/// Numbers of warps along M and along N of a dot (Triton `warpsPerCTA`).
pub const WARP_COUNTS_M_N: &str = "tw.warpsAlong";

/// Marks a dot with [`WARP_COUNTS_M_N`] whose operands are swapped, so that the instruction's operand A is `b`.
pub const SWAP_AB: &str = "tw.swapAB";

/// Number of lanes along M of a dot with [`WARP_COUNTS_M_N`] that is lowered to FMAs.
pub const FMA_DOT_LANES_ALONG_M: &str = "tw.lanesAlong";

/// Marks a dot whose warps are all along M, so that each warp has entire rows of the result; with the value `false`, a
/// dot whose warps may divide N too, although its result is an operand of another dot.
pub const ALL_WARPS_ALONG_M: &str = "tw.warpsAlongM";

/// Marks an asynchronous `tt.dot`: its result is used only after a `tw.mma_wait` (Triton `warp_group_dot_wait`). Marks
/// a `tw.copy` to shared memory that is a group of its own, for which the program waits by `ttg.async_wait`.
pub const IS_PENDING: &str = "tw.pending";

/// Marks a dot in a loop before which an exclusive section of the warp group begins (*ping-pong*); the value is the
/// number of warp groups that alternate.
pub const BEGINS_EXCLUSIVE: &str = "tw.beginsExclusive";

/// Marks a dot in a loop whose MMA is the last one of a warp group's exclusive section; the value is as for
/// [`BEGINS_EXCLUSIVE`].
pub const ENDS_EXCLUSIVE: &str = "tw.endsExclusive";

/// Marks a loop over tiles whose iterations several groups of consumer warps alternate between (*ping-pong across tiles*);
/// the value is the number of groups. The loop of a group has the step of the program's loop times this number.
pub const TILE_GROUP_COUNT: &str = "tw.tileGroups";

/// Marks a `ttg.local_load` whose result is an MMA operand that stays in shared memory (CuTe SS/RS): no load is
/// emitted.
pub const OPERAND_STAYS_IN_SMEM: &str = "tw.smemOperand";

/// Marks a load that prefetches for a later iteration: nothing waits for it at the issue point.
pub const IS_PREFETCH: &str = "tw.prefetch";

/// Marks a store to shared memory that needs no barrier of its own.
///
/// No other operation accesses its buffer between the block barriers before and after the store.
pub const DISJOINT: &str = "tw.disjoint";
