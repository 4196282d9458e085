//! Asynchronous MMAs (PTX `wgmma.mma_async`, `tcgen05.mma`): the accumulator is not readable until a wait for the MMAs,
//! but the next MMA can accumulate into it without a wait.
//!
//! An accumulator in registers consists of pending values while MMAs are in flight. An accumulator in tensor memory has
//! no kernel IR values; it stays in the columns that the kernel allocated.
//!
//! Both operands are in shared memory that the caller owns: the caller decides when it may be overwritten.

use tilewright_kernel::{Builder, Op, Type, Value};
use tilewright_layout::Dim;
use tilewright_target::Queue;

use super::accumulator::{Accumulator, unpacked};
use super::elements::{self, PackedElement};
use super::mma_atom::Role;
use super::plan::MmaPlan;

impl MmaPlan {
    /// Returns the queue of the plan's asynchronous MMAs; the program waits for this queue before it reads the
    /// accumulator. `None` if the MMAs are synchronous, an operand is not read from shared memory, or the atom takes
    /// scales.
    #[must_use]
    pub fn pending_queue(&self) -> Option<Queue> {
        let atom = &self.atom;
        let reads = atom.a.memory.is_some() && atom.b.memory.is_some();
        atom.queue.filter(|_| atom.scales.is_none() && reads)
    }

    /// Whether MMAs by the plan `other` can accumulate into the accumulator of this plan while its MMAs are in flight:
    /// both have the same accumulator layout, queue and warp partition.
    #[must_use]
    pub fn can_accumulate_into(&self, other: &Self) -> bool {
        let [own, other_atom] = [&self.atom, &other.atom];
        let is_same_place = own.tensor == other_atom.tensor && self.tiling.warps == other.tiling.warps;
        self.c == other.c && own.accumulator == other_atom.accumulator && own.queue == other_atom.queue && is_same_place
    }

    /// Returns the number of kernel IR values of type `pending` that hold the accumulator; 0 if it is in tensor memory.
    #[must_use]
    pub fn pending_value_count(&self) -> usize {
        if self.atom.tensor.is_some() {
            return 0;
        }
        (1usize << self.c.in_bits(Dim::REGISTER)) >> self.atom.accumulator.registers.len()
    }

    /// Emits ready async tokens (values of a `pending` type that need no wait) for an initial accumulator. `c` has one
    /// integer for each register of its layout; each token holds the registers of one issue. Empty if the MMAs are
    /// synchronous.
    pub fn emit_pending_accumulator(&self, builder: &mut Builder, c: &[Value]) -> Vec<Value> {
        let Some(queue) = self.atom.queue else { return Vec::new() };
        let packed_elements: Vec<PackedElement> = c.iter().copied().map(PackedElement::from_value).collect();
        let issue_elements = 1 << self.atom.accumulator.registers.len();
        let words: Vec<Value> = packed_elements
            .chunks(issue_elements)
            .map(|chunk| elements::packed(builder, chunk, &self.atom.accumulator))
            .collect();
        words.into_iter().map(|word| builder.ready_token(queue, word)).collect()
    }

    /// Issues the MMAs on operands A and B at these shared-memory addresses, and commits them as a group; returns the
    /// new pending accumulator.
    pub fn emit_async(&self, builder: &mut Builder, addresses: [Value; 2], accumulator: &[Value]) -> Vec<Value> {
        let (Some(queue), Some(row)) = (self.atom.queue, &self.atom.row) else { return Vec::new() };
        let [a, b] = [0, 1].map(|side| self.tiles(builder, &[PackedElement::from_value(addresses[side])], side));
        let mut accumulator = accumulator.to_vec();
        self.each_issue(|at_a, at_b, at_accumulator| {
            let value = |role: &Role| match role {
                Role::A => a[at_a],
                Role::B => b[at_b],
                _ => accumulator[at_accumulator],
            };
            let operands = self.atom.order.iter().map(value).collect();
            let ty: Type = builder.type_of(accumulator[at_accumulator]);
            accumulator[at_accumulator] = builder.value(ty, Op::Instruction { name: row.clone(), operands });
        });
        builder.commit(queue);
        accumulator
    }

    /// Issues the MMAs on operands A and B at these shared-memory addresses, which accumulate in tensor memory, and
    /// commits them as a group; returns the accumulator with its new loop-carried values.
    pub fn emit_async_in_tensor_memory(
        &self,
        builder: &mut Builder,
        addresses: [Value; 2],
        accumulator: &Accumulator,
    ) -> Accumulator {
        let [a, b] = addresses.each_ref().map(std::slice::from_ref);
        self.issue_chunk(builder, [a, b], [&[], &[]], accumulator, true)
    }

    /// Emits the unpacking of an accumulator's values `words` after the wait for its MMAs; returns one integer for each
    /// register of its layout.
    pub fn unpack_completed(&self, builder: &mut Builder, words: &[Value]) -> Vec<Value> {
        unpacked(builder, words, 1 << self.atom.accumulator.registers.len(), &self.atom.accumulator)
    }
}
