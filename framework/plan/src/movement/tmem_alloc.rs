//! Allocation of tensor memory for a block (PTX `tcgen05.alloc`): the first warp allocates it, initializes the mbarrier
//! for the arrivals of MMAs, and frees it at the end.

use tilewright_kernel::{Binary, Builder, Compare, Element, Op, Scope, SpecialRegister, Type, Value};

/// An allocation of columns of tensor memory, and an mbarrier.
#[derive(Debug, Clone, Copy)]
pub struct TensorMemoryAllocation {
    /// The address of the first column, an `i32`.
    pub address: Value,
    /// A pointer to the mbarrier.
    pub mbarrier: Value,
    columns: u32,
}

impl TensorMemoryAllocation {
    /// Emits the allocation of `columns` columns and the init of an mbarrier with `arrivals` arrivals, visible to all
    /// warps.
    pub fn new(builder: &mut Builder, columns: u32, arrivals: u32) -> Self {
        let (word, mbarrier) = (builder.shared_buffer(4, 4), builder.shared_buffer(8, 8));
        emit_on_first_warp(builder, None, |builder| {
            builder.tensor_allocate(word, columns);
            builder.effect(Op::MbarrierInit { pointer: mbarrier, arrivals });
            builder.proxy_fence();
        });
        builder.barrier(Scope::Block);
        let address = builder.load(Type::Scalar(Element::I32), word, 0, None);
        Self { address, mbarrier, columns }
    }

    /// Emits a block barrier, which orders the waits and accesses of all warps before the end of the mbarrier and of
    /// the allocation. Both may be created again, for example in the next iteration of a loop.
    pub fn free(self, builder: &mut Builder) {
        builder.barrier(Scope::Block);
        emit_on_first_warp(builder, None, |builder| {
            builder.mbarrier_invalidate(self.mbarrier);
            builder.tensor_free(self.address, self.columns);
        });
    }
}

/// Emits `body` for the first warp of the block only or, if `of` is given, for the first of every `of` warps (a power
/// of two).
pub fn emit_on_first_warp(builder: &mut Builder, of: Option<u32>, body: impl FnOnce(&mut Builder)) {
    let mut warp = builder.special(SpecialRegister::Warp);
    if let Some(warps) = of {
        warp = builder.binary_const(Binary::And, warp, warps - 1);
    }
    let zero = builder.i32(0);
    let is_first = builder.compare(Compare::Eq, warp, zero);
    builder.begin_region(&[]);
    body(builder);
    let then = builder.end_region(&[]);
    builder.begin_region(&[]);
    let otherwise = builder.end_region(&[]);
    builder.if_else(is_first, then, otherwise, &[]);
}
