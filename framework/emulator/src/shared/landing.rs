//! The effects of asynchronous operations at their completion.

/// The effect of an asynchronous operation at its completion.
pub(crate) enum Landing {
    /// A write of shared memory by this lane.
    Write { flight: u64, data: Vec<u8>, lane: u8 },
    /// A read of shared memory.
    Read { flight: u64 },
    /// A write of global memory, where there is a buffer.
    WriteGlobal { address: u64, data: Vec<u8> },
    /// An access of tensor memory.
    Tensor { flight: u64 },
}
