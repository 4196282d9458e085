//! Allocates the buffers of a tensor in shared memory, and computes the index of an iteration's buffer.

use std::sync::Arc;

use crate::op::name::{arith, ttg};
use crate::{BuildError, FunctionBuilder, LayoutAttribute, MemDescType, TileType, Value};
use tilewright_layout::FamilySpec;

/// The buffers (stages) of a tensor in shared memory.
#[derive(Debug, Clone)]
pub(in crate::transform) struct Buffers {
    /// The allocation in shared memory that contains all buffers.
    pub all: Value,
    one: TileType,
    /// Number of buffers.
    pub count: u32,
}

impl Buffers {
    /// Allocates `count` buffers of type `one`; if `count` is 1, the allocation has no axis that counts buffers.
    pub fn emit_allocation(one: MemDescType, count: u32, to: &mut FunctionBuilder<'_>) -> Result<Self, BuildError> {
        let mut all = one.clone();
        if count > 1 {
            all.shape.insert(0, count.into());
        }
        let all = to.build_op(ttg::LOCAL_ALLOC).result(TileType::Memory(Arc::new(all))).value()?;
        Ok(Self { all, one: TileType::Memory(Arc::new(one)), count })
    }

    /// Emits a view of the buffer with this index; `None` if there are several buffers and `index` is `None`.
    pub fn emit_view(&self, index: Option<Value>, to: &mut FunctionBuilder<'_>) -> Result<Option<Value>, BuildError> {
        if self.count == 1 {
            return Ok(Some(self.all));
        }
        let Some(index) = index else { return Ok(None) };
        let new_op = to.build_op(ttg::MEMDESC_INDEX).operand(self.all).operand(index);
        new_op.result(self.one.clone()).value().map(Some)
    }
}

/// Returns the name of the memory space of shared memory, `#ttg.shared_memory`.
pub(in crate::transform) fn shared_memory() -> LayoutAttribute {
    LayoutAttribute::new(FamilySpec::new("shared_memory"), "#ttg.shared_memory")
}

impl FunctionBuilder<'_> {
    /// Emits the index of the next buffer, modulo `buffers`.
    pub(super) fn next_index(&mut self, index: Value, buffers: u32) -> Result<Value, BuildError> {
        self.neighbour(index, buffers, [buffers - 1, 0], arith::ADDI)
    }

    /// Emits the index of the previous buffer, modulo `buffers`.
    pub(super) fn previous_index(&mut self, index: Value, buffers: u32) -> Result<Value, BuildError> {
        self.neighbour(index, buffers, [0, buffers - 1], arith::SUBI)
    }

    /// Emits the next or previous index by the operation `step`; after index `last` comes `first`.
    ///
    /// With two buffers, it flips the lowest bit of the index, so that the placement of barriers can see that the
    /// buffers are disjoint.
    fn neighbour(
        &mut self,
        index: Value,
        buffers: u32,
        [last, first]: [u32; 2],
        step: &str,
    ) -> Result<Value, BuildError> {
        let one = self.constant_i32(1)?;
        if buffers == 2 {
            return self.binary(arith::XORI, index, one);
        }
        let [last, first] = [self.constant_i32(last)?, self.constant_i32(first)?];
        let is_last = self.compare("eq", index, last)?;
        let next = self.binary(step, index, one)?;
        self.select(is_last, first, next)
    }
}
