//! Replaces stores and reductions through tensor descriptors by bulk tensor copies (TMA) from shared memory.

use std::collections::HashMap;

use super::loads::buffer_type;
use super::{IrCloner, Rewrite, Rewritten, rewrite_function, violation};
use crate::op::Dialects;
use crate::op::name::{ttg, tw};
use crate::{Function, LayoutAttribute, Op, TileType, TileViolation};
use std::sync::Arc;

/// The shared memory from which a bulk tensor copy stores through a tensor descriptor.
#[derive(Debug, Clone)]
pub struct BulkStoreSource {
    /// The tensor in shared memory.
    pub tensor: BulkStoreTensor,
    /// Its layout in the axes of the descriptor's block.
    pub block: LayoutAttribute,
}

/// The tensor in shared memory from which a bulk tensor copy stores through a tensor descriptor.
#[derive(Debug, Clone)]
pub enum BulkStoreTensor {
    /// A new buffer of this layout, to which lanes store the value.
    Buffer(LayoutAttribute),
    /// The tensor of the program that this `ttg.local_load` reads; nothing else uses the loaded value.
    LoadedBy(Op),
}

/// Replaces each `tt.descriptor_store` and `tt.descriptor_reduce` of `stores` by a bulk tensor copy from shared memory, to which lanes store the
/// value unless the program has it there.
///
/// # Errors
/// A [`TileViolation`] if an operation of `stores` is no store through a descriptor.
pub fn store_by_bulk_copies(
    function: &Function,
    stores: &HashMap<Op, BulkStoreSource>,
    dialects: &Dialects,
) -> Result<Function, TileViolation> {
    rewrite_function(function, dialects, &mut BulkStores(stores))
}

struct BulkStores<'s>(&'s HashMap<Op, BulkStoreSource>);

impl Rewrite for BulkStores<'_> {
    fn rewrite(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let Some(BulkStoreSource { tensor, block }) = self.0.get(&op) else {
            let is_replaced = |of: &BulkStoreSource| matches!(of.tensor, BulkStoreTensor::LoadedBy(load) if load == op);
            return Ok(self.0.values().any(is_replaced));
        };
        let from = cloner.from;
        let (Some(descriptor), Some(source)) = (from.operand(op, "desc"), from.operand(op, "src")) else {
            return Err(violation(cloner, op, "a store through a descriptor is expected"));
        };
        let block = TileType::Memory(Arc::new(buffer_type(from.value_type(descriptor), block)));
        let buffer = match tensor {
            BulkStoreTensor::LoadedBy(load) => cloner.clone_of(from.op(*load).operands[0]),
            BulkStoreTensor::Buffer(memory) => {
                let memory = TileType::Memory(Arc::new(buffer_type(from.value_type(source), memory)));
                let stored = cloner.clone_of(source);
                cloner.to.build_op(ttg::LOCAL_ALLOC).operand(stored).result(memory).value()?
            }
        };
        let buffer = cloner.to.build_op(ttg::MEMDESC_REINTERPRET).operand(buffer).result(block).value()?;
        let (descriptor, indices) = (cloner.clone_of(descriptor), cloner.all(from.operands(op, "indices")));
        let copy = cloner.to.build_op(tw::BULK_TENSOR_STORE).operands("desc", &[descriptor]);
        let copy = copy.operands("indices", &indices).operands("src", &[buffer]);
        let kind = from.op(op).attributes.get("kind").cloned();
        kind.into_iter().fold(copy, |copy, kind| copy.attribute("kind", kind)).build()?;
        Ok(true)
    }
}
