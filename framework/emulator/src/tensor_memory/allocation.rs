//! One allocation of tensor memory.

/// The columns of one allocation of tensor memory.
pub(super) struct TensorMemoryBlock {
    pub(super) first: u32,
    pub(super) columns: u32,
    /// Index of the warp that allocated the columns.
    pub(super) warp: u16,
    /// Index of the operation that allocated the columns.
    pub(super) operation: u32,
}

impl TensorMemoryBlock {
    pub(super) fn holds(&self, column: u32) -> bool {
        (self.first..self.first + self.columns).contains(&column)
    }
}
