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
        self.later_index(index, 1, buffers)
    }

    /// Emits the index of the previous buffer, modulo `buffers`.
    pub(super) fn previous_index(&mut self, index: Value, buffers: u32) -> Result<Value, BuildError> {
        self.later_index(index, buffers.saturating_sub(1), buffers)
    }

    /// Emits the index of the buffer that is `distance` places after `index`, modulo `buffers`; `distance` is less than
    /// `buffers`.
    ///
    /// With two buffers, it flips the lowest bit of the index, so that the placement of barriers can see that the
    /// buffers are disjoint. With another power of two, it clears the high bits of a sum. Otherwise it selects one of
    /// two sums, or zero after the last buffer.
    pub(super) fn later_index(&mut self, index: Value, distance: u32, buffers: u32) -> Result<Value, BuildError> {
        if distance == 0 {
            return Ok(index);
        }
        if buffers == 2 {
            return self.with_constant(arith::XORI, index, 1);
        }
        if buffers.is_power_of_two() {
            let sum = self.with_constant(arith::ADDI, index, distance)?;
            return self.with_constant(arith::ANDI, sum, buffers - 1);
        }
        let before_end = buffers - distance;
        let bound = self.constant_i32(before_end)?;
        if distance == 1 {
            let first = self.constant_i32(0)?;
            let is_last = self.compare("eq", index, bound)?;
            let next = self.with_constant(arith::ADDI, index, 1)?;
            return self.select(is_last, first, next);
        }
        let stays = self.compare("ult", index, bound)?;
        let later = self.with_constant(arith::ADDI, index, distance)?;
        let wrapped = self.with_constant(arith::SUBI, index, before_end)?;
        self.select(stays, later, wrapped)
    }

    fn with_constant(&mut self, name: &str, index: Value, constant: u32) -> Result<Value, BuildError> {
        let constant = self.constant_i32(constant)?;
        self.binary(name, index, constant)
    }
}
