//! Effects that asynchronous operations have when they complete.

use tilewright_target::{ElementType, MemoryReduction};

/// The effect that an asynchronous operation has when it completes.
pub(crate) enum CompletionEffect {
    /// Writes the data to shared memory, as an access of the given lane.
    Write { access_id: u64, data: Vec<u8>, lane: u8 },
    /// Ends a read of shared memory, so that the bytes may be written again.
    Read { access_id: u64 },
    /// Writes the data to global memory; dropped if no buffer has the address.
    WriteGlobal { address: u64, data: Vec<u8> },
    /// Combines each element of the data with the element in global memory; dropped if no buffer has the address.
    CombineGlobal { address: u64, data: Vec<u8>, operation: MemoryReduction, element: ElementType },
    /// Ends an access of tensor memory, so that its words may be accessed again.
    Tensor { access_id: u64 },
}
