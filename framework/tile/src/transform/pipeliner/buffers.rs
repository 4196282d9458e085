//! Buffers of a tensor in shared memory, and the index of the one that an iteration uses.

use std::sync::Arc;

use crate::op::name::{arith, ttg};
use crate::{BuildError, FunctionBuilder, LayoutName, MemDescType, TileType, Value};
use tilewright_layout::FamilySpec;

/// The buffers of a tensor.
#[derive(Debug, Clone)]
pub(in crate::transform) struct Buffers {
    /// The allocation.
    pub all: Value,
    one: TileType,
    count: u32,
}

impl Buffers {
    /// Allocates so many buffers; the allocation of a single one has no axis for the index.
    pub fn allocate(one: MemDescType, count: u32, to: &mut FunctionBuilder<'_>) -> Result<Self, BuildError> {
        let mut all = one.clone();
        if count > 1 {
            all.shape.insert(0, count.into());
        }
        let all = to.op(ttg::LOCAL_ALLOC).result(TileType::Memory(Arc::new(all))).value()?;
        Ok(Self { all, one: TileType::Memory(Arc::new(one)), count })
    }

    /// The buffer of an index; None if there are several and none is meant.
    pub fn at(&self, index: Option<Value>, to: &mut FunctionBuilder<'_>) -> Result<Option<Value>, BuildError> {
        if self.count == 1 {
            return Ok(Some(self.all));
        }
        let Some(index) = index else { return Ok(None) };
        let made = to.op(ttg::MEMDESC_INDEX).operand(self.all).operand(index);
        made.result(self.one.clone()).value().map(Some)
    }
}

/// Shared memory, as types name it.
pub(in crate::transform) fn shared_memory() -> LayoutName {
    LayoutName::new(FamilySpec::new("shared_memory"), "#ttg.shared_memory")
}

impl FunctionBuilder<'_> {
    /// The index of the buffer after one of so many.
    pub(super) fn next_index(&mut self, index: Value, buffers: u32) -> Result<Value, BuildError> {
        self.neighbour(index, buffers, [buffers - 1, 0], arith::ADDI)
    }

    /// The index of the buffer before one of so many.
    pub(super) fn previous_index(&mut self, index: Value, buffers: u32) -> Result<Value, BuildError> {
        self.neighbour(index, buffers, [0, buffers - 1], arith::SUBI)
    }

    /// Of two buffers the other one has the index with its lowest bit flipped: no index is that of both, which tells whoever
    /// places barriers that they are disjoint.
    fn neighbour(
        &mut self,
        index: Value,
        buffers: u32,
        [last, first]: [u32; 2],
        step: &str,
    ) -> Result<Value, BuildError> {
        let one = self.word(1)?;
        if buffers == 2 {
            return self.binary(arith::XORI, index, one);
        }
        let [last, first] = [self.word(last)?, self.word(first)?];
        let is_last = self.compare("eq", index, last)?;
        let next = self.binary(step, index, one)?;
        self.select(is_last, first, next)
    }
}
