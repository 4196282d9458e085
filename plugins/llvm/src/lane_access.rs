//! One lane's access to memory.

use tilewright_kernel::Value;

/// A load or store of the kernel IR by one lane: address, predicate, and offset and alignment in bytes.
#[derive(Clone, Copy)]
pub(crate) struct LaneAccess {
    pub pointer: Value,
    pub predicate: Option<Value>,
    pub offset: i32,
    pub alignment: u32,
}

impl LaneAccess {
    pub(crate) fn new(pointer: Value, predicate: Option<Value>, offset: i32, alignment: u32) -> Self {
        Self { pointer, predicate, offset, alignment }
    }
}
