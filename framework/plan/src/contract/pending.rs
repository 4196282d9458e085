//! Products whose sums are not waited for where they are issued: what they give is pending until a wait of the queue, and goes
//! into the next product as it is.
//!
//! Both factors lie in shared memory that is not the plan's own: whoever issues the product says when it may change.

use tilewright_kernel::{Builder, Op, Type, Value};
use tilewright_layout::Dim;
use tilewright_target::Queue;

use super::accumulator::unpacked;
use super::elements::{self, Part};
use super::plan::Contraction;
use super::unit::Role;

impl Contraction {
    /// The queue on which sums are pending, where they are in registers while they are, and both factors are read from
    /// shared memory.
    #[must_use]
    pub fn pending_queue(&self) -> Option<Queue> {
        let unit = &self.unit;
        let reads = unit.a.memory.is_some() && unit.b.memory.is_some();
        unit.queue.filter(|_| unit.tensor.is_none() && unit.scales.is_none() && reads)
    }

    /// Whether what one product leaves pending is what the other adds to.
    #[must_use]
    pub fn hands_on_to(&self, other: &Self) -> bool {
        self.c == other.c && self.unit.accumulator == other.unit.accumulator && self.unit.queue == other.unit.queue
    }

    /// How many pending values the sums are.
    #[must_use]
    pub fn pending_values(&self) -> usize {
        (1usize << self.c.in_bits(Dim::REGISTER)) >> self.unit.accumulator.registers.len()
    }

    /// Sums, one integer for each register of their layout, as ones that are pending.
    pub fn begin_pending(&self, builder: &mut Builder, c: &[Value]) -> Vec<Value> {
        let Some(queue) = self.unit.queue else { return Vec::new() };
        let parts: Vec<Part> = c.iter().copied().map(Part::whole).collect();
        let own = 1 << self.unit.accumulator.registers.len();
        let words: Vec<Value> =
            parts.chunks(own).map(|own| elements::packed(builder, own, &self.unit.accumulator)).collect();
        words.into_iter().map(|word| builder.pend(queue, word)).collect()
    }

    /// Issues the product of factors that begin at these addresses, and closes its group. Gives the sums, which are pending.
    pub fn emit_pending(&self, builder: &mut Builder, addresses: [Value; 2], accumulator: &[Value]) -> Vec<Value> {
        let (Some(queue), Some(row)) = (self.unit.queue, &self.unit.row) else { return Vec::new() };
        let [a, b] = [0, 1].map(|side| self.tiles(builder, &[Part::whole(addresses[side])], side));
        let mut accumulator = accumulator.to_vec();
        self.each_issue(|at_a, at_b, at_accumulator| {
            let value = |role: &Role| match role {
                Role::A => a[at_a],
                Role::B => b[at_b],
                _ => accumulator[at_accumulator],
            };
            let operands = self.unit.order.iter().map(value).collect();
            let ty: Type = builder.type_of(accumulator[at_accumulator]);
            accumulator[at_accumulator] = builder.value(ty, Op::Instruction { name: row.clone(), operands });
        });
        builder.commit(queue);
        accumulator
    }

    /// What a wait has given of pending sums, as one integer for each register of their layout.
    pub fn end_pending(&self, builder: &mut Builder, words: &[Value]) -> Vec<Value> {
        unpacked(builder, words, 1 << self.unit.accumulator.registers.len(), &self.unit.accumulator)
    }
}
