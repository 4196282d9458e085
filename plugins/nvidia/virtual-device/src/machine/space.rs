//! Memory spaces, and where each begins among generic addresses.

use std::fmt;

/// A memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PtxSpace {
    /// Any of the others, told by the address.
    Generic,
    /// Of all blocks.
    Global,
    /// Of a block.
    Shared,
    /// Of a lane.
    Local,
    /// The kernel's parameters.
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
    /// The space of a modifier.
    pub(crate) fn named(word: &str) -> Option<Self> {
        Some(match word {
            "global" | "const" => Self::Global,
            "shared" | "shared::cta" => Self::Shared,
            "local" => Self::Local,
            "param" | "param::entry" | "param::func" => Self::Parameter,
            _ => return None,
        })
    }

    /// Where the space begins among generic addresses.
    pub(crate) fn window(self) -> u64 {
        match self {
            Self::Generic | Self::Global => 0,
            Self::Shared => 1 << WINDOW_BITS,
            Self::Local => 2 << WINDOW_BITS,
            Self::Parameter => 3 << WINDOW_BITS,
        }
    }

    /// The space of a generic address, and the address there.
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

/// Generic addresses of a space lie in a window of so many bits, far above all buffers.
pub(super) const WINDOW_BITS: u32 = 56;
