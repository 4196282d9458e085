//! Instructions that a vendor has and that no row stands for: known, and listed with the reason why nothing uses them.

use serde::{Deserialize, Serialize};

/// A form of an instruction, in all its sizes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnusedInstruction {
    /// Its mnemonic; `{M}`, `{N}` and `{K}` stand for sizes where there are several.
    pub name: String,
    /// M, N and K of each size, as the vendor counts them.
    pub shapes: Vec<[u64; 3]>,
    /// Element type of each operand, by its role.
    pub types: Vec<(String, String)>,
    /// Why nothing uses it.
    pub reason: String,
    /// The vendor's document or tool from which it is known.
    pub source: String,
}
