//! Allocation of tensor memory for a block (PTX `tcgen05.alloc`): the first warp allocates it, initializes the
//! mbarriers for the arrivals of MMAs, and frees it at the end.

use tilewright_kernel::{Builder, CollectiveScope, Element, Type, Value};

use super::first_warp::emit_on_first_warp;
use super::mma_barriers::MmaBarriers;

/// An allocation of columns of tensor memory, and the mbarriers of the MMAs that accumulate there.
#[derive(Debug, Clone, Copy)]
pub struct TensorMemoryAllocation {
    /// Tensor-memory address of the first column, an `i32`.
    pub address: Value,
    /// Mbarriers at which the MMAs complete that accumulate in these columns.
    pub barriers: MmaBarriers,
    columns: u32,
}

impl TensorMemoryAllocation {
    /// Emits the allocation of `columns` columns, the init of 2^`bits` mbarriers that complete with `arrivals`
    /// arrivals, and a block barrier that makes both visible to all warps.
    pub fn emit_alloc(builder: &mut Builder, columns: u32, [bits, arrivals]: [u32; 2]) -> Self {
        let (word, barriers) = (builder.shared_buffer(4, 4), MmaBarriers::declare(builder, bits));
        emit_on_first_warp(builder, None, |builder| {
            builder.tensor_allocate(word, columns);
            barriers.emit_init(builder, arrivals);
        });
        builder.barrier(CollectiveScope::Block);
        let address = builder.load(Type::Scalar(Element::I32), word, 0, None);
        Self { address, barriers, columns }
    }

    /// Emits a block barrier, after which no warp waits on the mbarriers or accesses the tensor memory; then the first
    /// warp invalidates the mbarriers and frees the allocation. Afterwards the block may allocate tensor memory again,
    /// for example in the next iteration of a loop.
    pub fn emit_free(self, builder: &mut Builder) {
        builder.barrier(CollectiveScope::Block);
        emit_on_first_warp(builder, None, |builder| {
            self.barriers.emit_invalidate(builder);
            builder.tensor_free(self.address, self.columns);
        });
    }
}
