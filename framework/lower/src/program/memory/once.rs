//! What one thread found out, for all that hold the same element.

use tilewright_kernel::{Cast, Element, Op as KernelOp, Scope, Type, Value};
use tilewright_layout::f2;
use tilewright_layout::{Dim, LinearLayout};

use super::super::error::Lowered;
use super::super::lowering::Lowering;
use super::super::places::{idle_threads, thread_columns};
use super::super::types::{integer, stored};
use super::load::from_memory;
use super::store::to_memory;

impl Lowering<'_> {
    /// The registers of a tensor where those that act ([`Lowering::active`]) have their values: other threads get them
    /// through shared memory, other registers of the same thread from the one that stands for them.
    pub(in super::super) fn handed_out(
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
        let all = (bytes << layout.outs().bits()) as u32;
        let buffer = self.builder.shared_buffer(all, element.bits() / 8);
        let base = self.own_part(&thread_columns(layout, |column| column * bytes));
        let registers: Vec<u64> = layout.columns_of(Dim::REGISTER).iter().map(|&column| column * bytes).collect();
        let mut places = Vec::with_capacity(values.len());
        for register in 0..values.len() {
            let part = f2::multiply(&registers, register as u64);
            let moved = match part {
                0 => base,
                _ => self.builder.binary_const(tilewright_kernel::Binary::Xor, base, part as u32),
            };
            places.push(self.builder.advance(buffer, moved));
        }
        for (&place, &value) in places.iter().zip(values) {
            let word = to_memory(&mut self.builder, value);
            let alignment = element.bits() / 8;
            self.builder.effect(KernelOp::Store {
                pointer: place,
                value: word,
                predicate: active,
                offset: 0,
                alignment,
            });
        }
        self.builder.barrier(Scope::Block);
        Ok(places.iter().map(|&place| self.loaded(place, element, ty)).collect())
    }

    /// The running thread's part of an address, in bytes.
    fn own_part(&mut self, columns: &[u64]) -> Value {
        let thread = self.thread();
        thread.product(&mut self.builder, columns)
    }

    fn loaded(&mut self, place: Value, element: Type, ty: Type) -> Value {
        let word = self.builder.load(element, place, 0, None);
        from_memory(&mut self.builder, word, ty)
    }

    /// A scalar that the first thread of the block has, for all; what they read behind comes behind.
    pub(super) fn of_first(&mut self, is_first: Option<Value>, value: Value) -> Value {
        if is_first.is_none() {
            return value;
        }
        let ty = self.builder.type_of(value);
        let element = stored(ty);
        if self.launch.warps == 1 {
            let word = to_memory(&mut self.builder, value);
            let word = self.of_first_lane(word, element);
            self.builder.barrier(Scope::Block);
            return from_memory(&mut self.builder, word, ty);
        }
        let bytes = element.bits() / 8;
        let buffer = self.builder.shared_buffer(bytes, bytes);
        let word = to_memory(&mut self.builder, value);
        self.builder.store(buffer, 0, word, is_first);
        self.builder.barrier(Scope::Block);
        self.loaded(buffer, element, ty)
    }

    /// A number that the first lane of each warp has, for the others.
    fn of_first_lane(&mut self, value: Value, element: Type) -> Value {
        let builder = &mut self.builder;
        let lane = builder.i32(0);
        let whole = builder.cast(Cast::Bits, value, integer(element.bits()));
        let moved = if element.bits() > 32 {
            let halves = builder.cast(Cast::Bits, whole, Type::Vector(Element::I32, element.bits() / 32));
            let parts = (0..element.bits() / 32).map(|half| {
                let half = builder.extract(halves, half);
                builder.exchange(half, lane)
            });
            let parts: Vec<Value> = parts.collect();
            let parts = builder.pack(&parts);
            builder.cast(Cast::Bits, parts, integer(element.bits()))
        } else {
            let word = builder.cast(Cast::ExtendU, whole, integer(32));
            let word = builder.exchange(word, lane);
            builder.cast(Cast::Truncate, word, integer(element.bits()))
        };
        builder.cast(Cast::Bits, moved, element)
    }
}
