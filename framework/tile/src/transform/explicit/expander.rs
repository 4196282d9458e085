//! Keeps the state of expanding an explicit-memory program: views, tensors in shared memory, and replacements of
//! operations.

use super::choices::{ExplicitMemoryChoices, PingPongChoice};
use super::packed;
use super::tile::Tile;
use crate::transform::pipeliner::Buffers;
use crate::transform::{IrCloner, Rewritten, violation};
use crate::{LayoutAttribute, MemDescType, Op, Value};
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
    pub replacements: Replacements,
    /// The number of buffers of each tensor in shared memory, by the operation that creates the tensor.
    pub stages: HashMap<Op, u32>,
}

/// The buffers of a tensor in shared memory.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    buffers: Buffers,
    /// The index of the buffer that the current iteration accesses; `None` outside the loop, or if there is only one.
    pub index: Option<Value>,
}

impl Expander<'_> {
    pub fn shared_tensor(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let result = cloner.from.op(op).results[0];
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
    pub fn emit_buffer_view(&self, value: Value, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<Value> {
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
