//! PTX memory spaces, and the range of generic addresses (window) of each.

use std::fmt;

/// A memory space of PTX, as modifiers such as `.shared` name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PtxSpace {
    /// Generic addresses: the address selects one of the other spaces.
    Generic,
    /// Global memory, shared by all blocks.
    Global,
    /// Shared memory, one for each block.
    Shared,
    /// Local memory, one for each lane.
    Local,
    /// Parameter memory, which holds the kernel's arguments.
    Parameter,
}

impl fmt::Display for PtxSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Generic => "generic",
            Self::Global => "global",
            Self::Shared => "shared",
            Self::Local => "local",
            Self::Parameter => "parameter",
        })
    }
}

impl PtxSpace {
    /// Returns the space that a modifier without its dot names, such as `global`; `None` for other modifiers.
    pub(crate) fn named(word: &str) -> Option<Self> {
        Some(match word {
            "global" | "const" => Self::Global,
            "shared" | "shared::cta" => Self::Shared,
            "local" => Self::Local,
            "param" | "param::entry" | "param::func" => Self::Parameter,
            _ => return None,
        })
    }

    /// Returns the first generic address of the range (window) that maps to this space.
    pub(crate) fn window(self) -> u64 {
        match self {
            Self::Generic | Self::Global => 0,
            Self::Shared => 1 << WINDOW_BITS,
            Self::Local => 2 << WINDOW_BITS,
            Self::Parameter => 3 << WINDOW_BITS,
        }
    }

    /// Returns the space of a generic address, and the address in that space.
    pub(crate) fn of_generic(address: u64) -> (Self, u64) {
        let space = match address >> WINDOW_BITS {
            1 => Self::Shared,
            2 => Self::Local,
            3 => Self::Parameter,
            _ => return (Self::Global, address),
        };
        (space, address - space.window())
    }
}

/// Log2 of the size in bytes of each space's window of generic addresses. Windows lie far above all buffers of global
/// memory.
pub(super) const WINDOW_BITS: u32 = 56;
