//! What is looked at in the code of a movement: it comes from the plan, and is read from the code.

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
