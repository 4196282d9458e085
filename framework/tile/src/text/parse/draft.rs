//! A partially parsed operation.

use crate::op::{GroupTypes, OpDefinition};
use crate::{Attributes, Region, Value};

use std::sync::Arc;

/// A use of a value as an operand, and its byte offset in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Used {
    pub value: Value,
    pub at: usize,
}

/// A partially parsed operation. Types are `None` until the text gives them.
#[derive(Debug)]
pub(super) struct Draft {
    pub definition: Arc<OpDefinition>,
    /// Byte offset in the text at which the operation's name starts.
    pub at: usize,
    pub operands: Vec<Vec<Used>>,
    pub types: GroupTypes,
    pub attributes: Attributes,
    pub regions: Vec<Region>,
    /// Each successor block, with the number of its block arguments. The arguments are the last operands, in this
    /// order.
    pub successors: Vec<(crate::Block, usize)>,
}

impl Draft {
    pub fn new(definition: Arc<OpDefinition>, at: usize) -> Self {
        Self {
            at,
            operands: vec![Vec::new(); definition.operands.len()],
            types: GroupTypes::new(&definition),
            definition,
            attributes: Attributes::default(),
            regions: Vec::new(),
            successors: Vec::new(),
        }
    }
}
