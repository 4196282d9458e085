//! Replaces stores through tensor descriptors by bulk tensor copies (TMA) from shared memory.

use std::collections::HashMap;

use super::loads::buffer_type;
use super::{IrCloner, Rewrite, Rewritten, rewrite_function, violation};
use crate::op::Dialects;
use crate::op::name::{ttg, tw};
use crate::{Function, LayoutAttribute, Op, TileType, TileViolation};
use std::sync::Arc;

/// The layouts of the buffer in shared memory through which a store through a tensor descriptor goes.
#[derive(Debug, Clone)]
pub struct BulkStoreLayouts {
    /// The layout in the axes of the stored tensor.
    pub memory: LayoutAttribute,
    /// The layout in the axes of the descriptor's block.
    pub block: LayoutAttribute,
}

/// Replaces each `tt.descriptor_store` of `stores` by a store to shared memory and a bulk tensor copy from there.
///
/// # Errors
/// A [`TileViolation`] if an operation of `stores` is no store through a descriptor.
pub fn store_by_bulk_copies(
    function: &Function,
    stores: &HashMap<Op, BulkStoreLayouts>,
    dialects: &Dialects,
) -> Result<Function, TileViolation> {
    rewrite_function(function, dialects, &mut BulkStores(stores))
}

struct BulkStores<'s>(&'s HashMap<Op, BulkStoreLayouts>);

impl Rewrite for BulkStores<'_> {
    fn rewrite(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let Some(layouts) = self.0.get(&op) else { return Ok(false) };
        let from = cloner.from;
        let (Some(descriptor), Some(source)) = (from.operand(op, "desc"), from.operand(op, "src")) else {
            return Err(violation(cloner, op, "a store through a descriptor is expected"));
        };
        let memory = TileType::Memory(Arc::new(buffer_type(from.value_type(source), &layouts.memory)));
        let block = TileType::Memory(Arc::new(buffer_type(from.value_type(descriptor), &layouts.block)));
        let stored = cloner.clone_of(source);
        let buffer = cloner.to.build_op(ttg::LOCAL_ALLOC).operand(stored).result(memory).value()?;
        let buffer = cloner.to.build_op(ttg::MEMDESC_REINTERPRET).operand(buffer).result(block).value()?;
        let (descriptor, indices) = (cloner.clone_of(descriptor), cloner.all(from.operands(op, "indices")));
        let copy = cloner.to.build_op(tw::BULK_TENSOR_STORE).operands("desc", &[descriptor]);
        copy.operands("indices", &indices).operands("src", &[buffer]).build()?;
        Ok(true)
    }
}
