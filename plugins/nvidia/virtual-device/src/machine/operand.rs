//! Decoded operands of an instruction (destination registers and addresses), and functions of operands.

use super::space::PtxSpace;

/// A destination register: its index, and the mask of the bits that the register's type has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Destination {
    pub(crate) register: u32,
    pub(crate) mask: u64,
}

/// An address operand: a base register and a constant offset in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) base: u32,
    pub(crate) offset: u64,
    /// Whether the base register has 64 bits. If false, addresses wrap around at 32 bits.
    pub(crate) is_wide: bool,
    /// The memory space of the variable that the operand names; `None` if the base is a register in the text.
    pub(crate) space: Option<PtxSpace>,
}

/// A function that computes a lane's result from at most four operands.
pub(crate) type Compute = Box<dyn Fn([u64; 4]) -> u64 + Send + Sync>;
