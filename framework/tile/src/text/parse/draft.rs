//! An operation as far as it has been read.

use crate::op::{Definition, GroupTypes};
use crate::{Attributes, Region, Value};

use std::sync::Arc;

/// An operand and where it was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Used {
    pub value: Value,
    pub at: usize,
}

/// What is known of an operation that is being read. Types are known where the text has said them.
#[derive(Debug)]
pub(super) struct Draft {
    pub definition: Arc<Definition>,
    /// Where its name stands.
    pub at: usize,
    pub operands: Vec<Vec<Used>>,
    pub types: GroupTypes,
    pub attributes: Attributes,
    pub regions: Vec<Region>,
    /// Each block with how many operands it takes, which are the last of all, in order.
    pub successors: Vec<(crate::Block, usize)>,
}

impl Draft {
    pub fn new(definition: Arc<Definition>, at: usize) -> Self {
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
