//! The mbarriers at which MMAs complete (PTX `tcgen05.commit`).
//!
//! The groups of MMAs that a block commits are numbered from zero, and group `k` arrives at mbarrier `k` modulo the
//! number `n` of mbarriers. Up to `n - 1` later groups may be committed before the wait for a group, because a parity
//! identifies a phase of an mbarrier only until its next phase completes.

use tilewright_kernel::{Binary, Builder, CollectiveScope, Op, Queue, Value};

use super::first_warp::emit_on_first_warp;

/// Size of an mbarrier in bytes.
const BYTES: u32 = 8;

/// Mbarriers at which the MMAs of a block complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MmaBarriers {
    /// Shared-memory pointer to the first mbarrier.
    first: Value,
    /// Log2 of the number of mbarriers.
    bits: u32,
}

impl MmaBarriers {
    /// Adds a buffer of 2^`bits` mbarriers, which `emit_init` must initialize.
    pub fn declare(builder: &mut Builder, bits: u32) -> Self {
        Self { first: builder.shared_buffer(BYTES << bits, BYTES), bits }
    }

    /// Adds a buffer of 2^`bits` mbarriers, and emits their init by the first warp; a group of MMAs completes with
    /// `arrivals` commits. A block barrier makes the mbarriers visible to all warps.
    pub fn emit_declare_and_init(builder: &mut Builder, bits: u32, arrivals: u32) -> Self {
        let barriers = Self::declare(builder, bits);
        emit_on_first_warp(builder, None, |builder| barriers.emit_init(builder, arrivals));
        builder.barrier(CollectiveScope::Block);
        barriers
    }

    /// Returns the number of mbarriers, which is the max number of groups of MMAs that may be in flight after a commit.
    #[must_use]
    pub fn max_groups_in_flight(&self) -> u32 {
        1 << self.bits
    }

    /// Emits the init of all mbarriers by the running warp, and the fence that lets MMAs arrive there; a group of MMAs
    /// completes with `arrivals` commits.
    pub(super) fn emit_init(&self, builder: &mut Builder, arrivals: u32) {
        for ordinal in 0..self.max_groups_in_flight() {
            let pointer = self.of_ordinal(builder, ordinal);
            builder.effect(Op::MbarrierInit { pointer, arrivals });
        }
        builder.proxy_fence();
    }

    /// Emits the invalidation of all mbarriers by the running warp.
    pub(super) fn emit_invalidate(&self, builder: &mut Builder) {
        for ordinal in 0..self.max_groups_in_flight() {
            let pointer = self.of_ordinal(builder, ordinal);
            builder.mbarrier_invalidate(pointer);
        }
    }

    /// Emits a block barrier, after which no warp waits for the mbarriers, and then the invalidation of all mbarriers
    /// by the first warp.
    pub fn emit_invalidate_after_barrier(self, builder: &mut Builder) {
        builder.barrier(CollectiveScope::Block);
        emit_on_first_warp(builder, None, |builder| self.emit_invalidate(builder));
    }

    /// Emits the running warp's commit of its MMAs as a part of the group with the index `group`.
    pub fn emit_commit(&self, builder: &mut Builder, queue: Queue, group: Value) {
        let pointer = self.of_group(builder, group);
        builder.mbarrier_commit(queue, pointer);
    }

    /// Emits a wait for the group with the index `group`; a wait for a negative index returns immediately. Returns the
    /// parity of the mbarrier's phase for which it waits.
    pub fn emit_wait(&self, builder: &mut Builder, group: Value) -> Value {
        let pointer = self.of_group(builder, group);
        let phase = if self.bits == 0 { group } else { builder.binary_const(Binary::ShrU, group, self.bits) };
        let parity = builder.binary_const(Binary::And, phase, 1);
        builder.mbarrier_wait(pointer, parity);
        parity
    }

    fn of_ordinal(&self, builder: &mut Builder, ordinal: u32) -> Value {
        if ordinal == 0 {
            return self.first;
        }
        let bytes = builder.i32(ordinal * BYTES);
        builder.ptr_add(self.first, bytes)
    }

    fn of_group(&self, builder: &mut Builder, group: Value) -> Value {
        if self.bits == 0 {
            return self.first;
        }
        let ordinal = builder.binary_const(Binary::And, group, self.max_groups_in_flight() - 1);
        let bytes = builder.binary_const(Binary::Mul, ordinal, BYTES);
        builder.ptr_add(self.first, bytes)
    }
}
