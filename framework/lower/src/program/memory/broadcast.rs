//! Broadcasts one thread's result (such as the old value of an atomic operation) to every thread that holds a replica.

use tilewright_kernel::{Binary, Cast, CollectiveScope, Element, Op as KernelOp, SpecialRegister, Type, Value};
use tilewright_layout::f2;
use tilewright_layout::{Dim, LinearLayout};

use super::super::error::Lowered;
use super::super::lowering::Lowering;
use super::super::tensor_coordinates::{free_bits, idle_threads, thread_columns};
use super::super::types::{integer, stored};
use super::load::from_memory;
use super::store::to_memory;

impl Lowering<'_> {
    /// Broadcasts the values of the selected replicas ([`Lowering::active`]) to all threads that hold a replica,
    /// through shared memory. A register that is a replica of another in the same thread gets that register's value.
    pub(in super::super) fn broadcast_replicas(
        &mut self,
        layout: &LinearLayout,
        active: Option<Value>,
        values: &[Value],
    ) -> Lowered<Vec<Value>> {
        if idle_threads(layout) == 0 {
            return Ok(values.to_vec());
        }
        let Some(&first) = values.first() else { return Ok(Vec::new()) };
        let ty = self.builder.type_of(first);
        let element = stored(ty);
        let bytes = u64::from(element.bits() / 8);
        let all = (bytes << layout.outs().total_bits()) as u32;
        let buffer = self.builder.shared_buffer(all, element.bits() / 8);
        let base = self.thread_offset(&thread_columns(layout, |column| column * bytes));
        let registers: Vec<u64> = layout.columns_of(Dim::REGISTER).iter().map(|&column| column * bytes).collect();
        let mut addresses = Vec::with_capacity(values.len());
        for register in 0..values.len() {
            let constant = f2::multiply_vector(&registers, register as u64);
            let moved = match constant {
                0 => base,
                _ => self.builder.binary_const(Binary::Xor, base, constant as u32),
            };
            addresses.push(self.builder.ptr_add(buffer, moved));
        }
        for (&address, &value) in addresses.iter().zip(values) {
            let word = to_memory(&mut self.builder, value);
            let alignment = element.bits() / 8;
            self.builder.effect(KernelOp::Store {
                pointer: address,
                value: word,
                predicate: active,
                offset: 0,
                alignment,
            });
        }
        let of_block = free_bits(layout, Dim::BLOCK);
        Ok(self.loaded_from_block(of_block, &addresses, element, ty))
    }

    /// Loads elements that the selected thread has stored to the shared memory of a block. The index of that block is
    /// the index of the current block with the bits `of_block` cleared. Emits barriers after the stores, and after
    /// loads from another block.
    fn loaded_from_block(&mut self, of_block: u64, addresses: &[Value], element: Type, ty: Type) -> Vec<Value> {
        if of_block == 0 {
            self.builder.barrier(CollectiveScope::Block);
            return addresses.iter().map(|&address| self.loaded(address, element, ty)).collect();
        }
        self.builder.barrier(CollectiveScope::Cluster);
        let block = self.builder.special(SpecialRegister::Block);
        let block = self.builder.binary_const(Binary::And, block, !of_block as u32);
        let load = |&address: &Value| {
            let address = self.builder.cluster_address(address, block);
            self.loaded(address, element, ty)
        };
        let values = addresses.iter().map(load).collect();
        self.builder.barrier(CollectiveScope::Cluster);
        values
    }

    /// Emits the part of an address that depends on the thread, in bytes. `columns` has, for each bit of the thread's
    /// index (lane, then warp, then block), the offset that it adds.
    fn thread_offset(&mut self, columns: &[u64]) -> Value {
        let thread = self.thread();
        thread.emit_f2_product(&mut self.builder, columns)
    }

    fn loaded(&mut self, address: Value, element: Type, ty: Type) -> Value {
        let word = self.builder.load(element, address, 0, None);
        from_memory(&mut self.builder, word, ty)
    }

    /// Broadcasts a scalar from the first thread of the program, the only one whose `is_first` is true, to all threads;
    /// a barrier orders later reads after it. If `is_first` is `None`, there is no other thread.
    pub(super) fn of_first(&mut self, is_first: Option<Value>, value: Value) -> Value {
        if is_first.is_none() {
            return value;
        }
        let ty = self.builder.type_of(value);
        let element = stored(ty);
        if self.launch.warps == 1 && self.launch.blocks == 1 {
            let word = to_memory(&mut self.builder, value);
            let word = self.of_first_lane(word, element);
            self.builder.barrier(CollectiveScope::Block);
            return from_memory(&mut self.builder, word, ty);
        }
        let bytes = element.bits() / 8;
        let buffer = self.builder.shared_buffer(bytes, bytes);
        let word = to_memory(&mut self.builder, value);
        self.builder.store(buffer, 0, word, is_first);
        let of_block = u64::from(self.launch.blocks - 1);
        self.loaded_from_block(of_block, &[buffer], element, ty)[0]
    }

    /// Broadcasts a scalar from the first lane of each warp to all its lanes, by shuffles.
    fn of_first_lane(&mut self, value: Value, element: Type) -> Value {
        let builder = &mut self.builder;
        let lane = builder.i32(0);
        let as_integer = builder.cast(Cast::Bits, value, integer(element.bits()));
        let moved = if element.bits() > 32 {
            let word_vector = builder.cast(Cast::Bits, as_integer, Type::Vector(Element::I32, element.bits() / 32));
            let shuffled_words = (0..element.bits() / 32).map(|half| {
                let half = builder.extract(word_vector, half);
                builder.shuffle(half, lane)
            });
            let shuffled_words: Vec<Value> = shuffled_words.collect();
            let shuffled_words = builder.pack(&shuffled_words);
            builder.cast(Cast::Bits, shuffled_words, integer(element.bits()))
        } else {
            let word = builder.cast(Cast::ExtendU, as_integer, integer(32));
            let word = builder.shuffle(word, lane);
            builder.cast(Cast::Truncate, word, integer(element.bits()))
        };
        builder.cast(Cast::Bits, moved, element)
    }
}
