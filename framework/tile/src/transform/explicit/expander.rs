//! The state of expanding an explicit-memory program: views, tensors in shared memory, and the operations that replace others.

use super::choices::Choices;
use super::packed;
use super::tile::Tile;
use crate::transform::pipeliner::Buffers;
use crate::transform::{Copier, Rewritten, violation};
use crate::{LayoutName, MemDescType, Op, Value};
use std::collections::HashMap;
use tilewright_layout::FamilySpec;

/// The layout of a tensor in shared memory that is not chosen yet.
pub const OPEN: &str = "#tw.auto";

/// The operations that others became.
#[derive(Debug, Default)]
pub(super) struct Made {
    pub tensors: Vec<(Op, Value)>,
    pub copies: Vec<(Op, Op)>,
    pub products: Vec<(Op, Op)>,
}

pub(super) struct Expander<'c> {
    pub choices: &'c Choices,
    /// Of values of elements narrower than a byte the axis along which bytes hold neighbours.
    pub packed_axes: HashMap<Value, usize>,
    /// Views, with what they stand for in the function that is made.
    pub views: HashMap<Value, Tile>,
    /// Tensors in shared memory likewise.
    pub tensors: HashMap<Value, Shared>,
    /// Products that are still executed when the next iteration begins.
    pub pending: Vec<Op>,
    /// The tensor map that each bulk tensor copy reads.
    pub maps: HashMap<Op, Value>,
    pub made: Made,
    /// Buffers of tensors in shared memory, by the operation.
    pub stages: HashMap<Op, u32>,
}

/// A tensor in shared memory.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    buffers: Buffers,
    /// The index of the buffer that is meant, if there are several.
    pub index: Option<Value>,
}

impl Expander<'_> {
    pub fn shared_tensor(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<()> {
        let result = copier.from.op(op).results[0];
        let Some(memory) = copier.from.ty(result).as_memory().cloned() else { return Ok(()) };
        let memory = self.stored_type(result, &memory);
        let stages = self.stages.get(&op).copied().unwrap_or(1);
        let buffers = Buffers::allocate(memory, stages, copier.to)?;
        copier.bind(result, buffers.all);
        self.made.tensors.push((op, buffers.all));
        self.tensors.insert(result, Shared { buffers, index: None });
        Ok(())
    }

    /// The memory of one buffer, of bytes where elements are narrower.
    fn stored_type(&self, value: Value, memory: &MemDescType) -> MemDescType {
        let layout = LayoutName::new(FamilySpec::new("auto"), OPEN);
        let mut stored = MemDescType { layout, mutable: true, allocation: None, ..memory.clone() };
        if let Some(&axis) = self.packed_axes.get(&value) {
            let (shape, element) = packed::stored(&memory.shape, &memory.element, axis);
            (stored.shape, stored.element) = (shape, element);
        }
        stored
    }

    /// The buffer that is meant here.
    pub fn buffer(&self, value: Value, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<Value> {
        let Some(Shared { buffers, index }) = self.tensors.get(&value) else {
            return Err(violation(copier, op, "the tensor in shared memory is none of `tw.shared_tensor`"));
        };
        let buffer = buffers.at(*index, copier.to)?;
        buffer.ok_or_else(|| {
            violation(copier, op, "the tensor has several stages, and is used outside of the loop that fills them")
        })
    }
}
