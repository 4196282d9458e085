//! Attributes by which transformations and layout assignment record how an operation is lowered. No dialect row defines
//! them: they do not change the semantics of a program.

/// On a dot: the name of the MMA instruction, a row of the target's instruction table.
pub const INSTRUCTION: &str = "tw.instruction";

/// On a dot: the number of adjacent elements of K in a lane.
pub const K_WIDTH: &str = "tw.kWidth";

/// On a dot: for operands A and B, 1 if adjacent elements in memory are adjacent along K, 0 if along M or N.
pub const ALONG_K: &str = "tw.alongK";

/// On a dot: the number of adjacent columns of the result in a lane.
pub const COLUMNS_PER_LANE: &str = "tw.columnsPerLane";

/// On a dot: the number of warps along M and along N (Triton `warpsPerCTA`).
pub const WARPS_ALONG: &str = "tw.warpsAlong";

/// On a dot with [`WARPS_ALONG`]: A and B are swapped, so that the instruction's operand A is `b`.
pub const SWAP_AB: &str = "tw.swapAB";

/// On a dot with [`WARPS_ALONG`] lowered to FMAs: the number of lanes along M.
pub const LANES_ALONG: &str = "tw.lanesAlong";

/// On a dot: all warps divide M, so that each has entire rows of the result.
pub const WARPS_ALONG_M: &str = "tw.warpsAlongM";

/// On a `tt.dot`: asynchronous; the result is used only after a `tw.mma_wait` (Triton `warp_group_dot_wait`).
pub const PENDING: &str = "tw.pending";

/// On a `ttg.local_load`: the result is an MMA operand that stays in shared memory (CuTe SS/RS); no load is emitted.
pub const SMEM_OPERAND: &str = "tw.smemOperand";

/// On a load: prefetch for a later iteration; no wait at the issue point.
pub const PREFETCH: &str = "tw.prefetch";

/// On a store to shared memory: disjoint. Its buffer is not accessed by others between the block barriers before and
/// after the store, so the store needs no barrier.
pub const DISJOINT: &str = "tw.disjoint";
