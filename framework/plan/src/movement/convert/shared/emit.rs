//! Emits stores to and loads from scratch memory.

use tilewright_kernel::{Builder, CollectiveScope, Value};

use super::super::super::address::ThreadIndices;
use super::super::super::tile::{Loads, Stores};
use super::Scratch;

impl Scratch {
    pub(in super::super) fn emit(&self, builder: &mut Builder, registers: &[Value]) -> Vec<Value> {
        let buffer = self.buffer(builder);
        let thread = ThreadIndices::new(builder, self.lane_bits);
        let stores = self.stores(builder, thread, buffer);
        let mut loads = self.loads(builder, thread, buffer);
        self.filled(builder, self.scope, registers, stores, std::slice::from_mut(&mut loads));
        loads.finish()
    }

    /// Declares the scratch memory as a shared buffer of the kernel; returns its address.
    pub(in super::super) fn buffer(&self, builder: &mut Builder) -> Value {
        builder.shared_buffer(self.bytes as u32, 16)
    }

    /// Returns the emitter of the stores of a source thread.
    pub(in super::super) fn stores(&self, builder: &mut Builder, thread: ThreadIndices, buffer: Value) -> Stores<'_> {
        Stores::new(builder, &self.store, thread, buffer, &[])
    }

    /// Returns the emitter of the loads of a destination thread from `memory`.
    pub(in super::super) fn loads(&self, builder: &mut Builder, thread: ThreadIndices, memory: Value) -> Loads<'_> {
        Loads::new(builder, &self.load, thread, memory, &[])
    }

    /// Emits all rounds (fillings of scratch memory), with barriers of the given scope between stores and loads.
    pub(in super::super) fn filled(
        &self,
        builder: &mut Builder,
        scope: CollectiveScope,
        registers: &[Value],
        mut stores: Stores<'_>,
        loads: &mut [Loads<'_>],
    ) {
        for round in 0..self.rounds() {
            if round > 0 {
                builder.barrier(scope);
            }
            stores.round(builder, round, registers);
            builder.barrier(scope);
            loads.iter_mut().for_each(|loads| loads.round(builder, round));
        }
    }
}
