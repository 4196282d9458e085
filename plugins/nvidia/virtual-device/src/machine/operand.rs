//! Operands of an operation: registers that it writes, and addresses.

use super::space::PtxSpace;

/// A register that is written: its number, and the bits that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) register: u32,
    pub(crate) mask: u64,
}

/// An address operand: a register and an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) base: u32,
    pub(crate) offset: u64,
    /// Whether the register has 64 bits; else addresses are of 32.
    pub(crate) is_wide: bool,
    /// The space of a variable that is named.
    pub(crate) space: Option<PtxSpace>,
}
