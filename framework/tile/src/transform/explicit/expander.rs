//! Keeps the state of expanding an explicit-memory program: views, tensors in shared memory, and replacements of
//! operations.

use super::choices::{ExplicitMemoryChoices, PingPongChoice};
use super::packed;
use super::pending_copies::{MbarrierRing, PendingCopies};
use super::tile::Tile;
use crate::transform::pipeliner::Buffers;
use crate::transform::{IrCloner, Rewritten, violation};
use crate::{LayoutAttribute, MemDescType, Op, Value, ValueUses};
use std::collections::HashMap;
use tilewright_layout::FamilySpec;

/// The layout of tensors in shared memory whose layout is still to be chosen.
pub const UNRESOLVED_LAYOUT: &str = "#tw.auto";

/// The operations and values after expansion that replace those of the program, for [`super::LoweredExplicitFunction`].
#[derive(Debug, Default)]
pub(super) struct Replacements {
    pub tensors: Vec<(Op, Value)>,
    pub copies: Vec<(Op, Op)>,
    pub dots: Vec<(Op, Op)>,
}

pub(super) struct Expander<'c> {
    pub choices: &'c ExplicitMemoryChoices,
    /// The uses of the values of the function before expansion.
    pub uses: ValueUses,
    /// For each value with elements narrower than a byte, the axis along which a byte of memory packs adjacent
    /// elements.
    pub packed_axes: HashMap<Value, usize>,
    /// For each view, its tile of global memory, with values of the function after expansion.
    pub views: HashMap<Value, Tile>,
    /// For each tensor in shared memory, its buffers.
    pub tensors: HashMap<Value, Shared>,
    /// For each part of a tensor in shared memory, the operation that selects it.
    pub parts: HashMap<Value, Op>,
    /// Dots whose MMAs are still in flight when the next iteration of the loop begins.
    pub pending: Vec<Op>,
    /// The exclusive sections of warp groups that begin or end with dots of the loops that were expanded.
    pub ping_pong: Vec<PingPongChoice>,
    /// For each bulk tensor copy, the tensor map from which it reads.
    pub maps: HashMap<Op, Value>,
    /// The pending copies that become bulk tensor copies; none if they do not.
    pub pending_copies: PendingCopies,
    /// The mbarriers of pending copies; `None` before the first one.
    pub ring: Option<MbarrierRing>,
    pub replacements: Replacements,
    /// The number of buffers of each tensor in shared memory, by the operation that creates the tensor.
    pub stages: HashMap<Op, u32>,
    /// The tensors whose tiles no iteration hands to the next one, with the loop that fills them.
    pub of_iteration: HashMap<Op, Op>,
    /// The tensors that are allocated where an iteration first accesses them, with their operations.
    pub deferred: HashMap<Value, Op>,
}

/// The buffers of a tensor in shared memory.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    buffers: Buffers,
    /// The index of the buffer that the current iteration accesses; `None` outside the loop, or if there is only one.
    pub index: Option<Value>,
}

impl Expander<'_> {
    /// Allocates a tensor in shared memory, unless that was done before: here, or in the loop if each iteration fills
    /// it.
    pub fn shared_tensor(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let tensor = cloner.from.op(op).results[0];
        // A tensor without accesses takes no memory, and nothing determines its layout.
        if self.uses.of_value(tensor).is_empty() {
            return Ok(());
        }
        if self.of_iteration.contains_key(&op) {
            self.deferred.insert(tensor, op);
            return Ok(());
        }
        self.allocate(op, cloner)
    }

    /// Lets each iteration of the loop `of` allocate the tensors whose tiles do not outlive it, so that other tensors
    /// and scratch memory have their addresses in the rest of the iteration.
    pub fn defer_allocations(&mut self, of: Op, cloner: &IrCloner<'_, '_, '_>) {
        for (&tensor, _) in self.of_iteration.iter().filter(|(_, filled_by)| **filled_by == of) {
            let value = cloner.from.op(tensor).results[0];
            self.tensors.remove(&value);
            self.deferred.insert(value, tensor);
        }
    }

    fn allocate(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let result = cloner.from.op(op).results[0];
        if self.tensors.contains_key(&result) {
            return Ok(());
        }
        let Some(memory) = cloner.from.value_type(result).as_memory().cloned() else { return Ok(()) };
        let memory = self.stored_type(result, &memory);
        let stages = self.stages.get(&op).copied().unwrap_or(1);
        let buffers = Buffers::emit_allocation(memory, stages, cloner.to)?;
        cloner.bind(result, buffers.all);
        self.replacements.tensors.push((op, buffers.all));
        self.tensors.insert(result, Shared { buffers, index: None });
        Ok(())
    }

    /// The type of one buffer of the tensor `value`; bytes pack elements narrower than a byte.
    fn stored_type(&self, value: Value, memory: &MemDescType) -> MemDescType {
        let layout = LayoutAttribute::new(FamilySpec::new("auto"), UNRESOLVED_LAYOUT);
        let mut stored = MemDescType { layout, mutable: true, allocation: None, ..memory.clone() };
        if let Some(&axis) = self.packed_axes.get(&value) {
            let (shape, element) = packed::stored(&memory.shape, &memory.element, axis);
            (stored.shape, stored.element) = (shape, element);
        }
        stored
    }

    /// Emits a view of the shared-memory tensor `value`, or of the part `value` of one, in the buffer that the current
    /// iteration accesses; errors are reported at `op`.
    pub fn emit_buffer_view(&mut self, value: Value, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Value> {
        if let Some(tensor) = self.deferred.remove(&value) {
            self.allocate(tensor, cloner)?;
        }
        if let Some(&part) = self.parts.get(&value) {
            return self.view_of_part(part, op, cloner);
        }
        let Some(Shared { buffers, index }) = self.tensors.get(&value) else {
            return Err(violation(cloner, op, "the tensor in shared memory is none of `tw.shared_tensor`"));
        };
        let buffer = buffers.emit_view(*index, cloner.to)?;
        buffer.ok_or_else(|| {
            violation(cloner, op, "the tensor has several stages, and is used outside of the loop that fills them")
        })
    }
}
