//! Conversions that only rename registers within each lane, and emit no operations.

use tilewright_kernel::Value;

/// For each destination register, the source register that has its value.
#[derive(Debug, Clone)]
pub(super) struct Renaming {
    pub(super) source: Vec<usize>,
}

impl Renaming {
    pub(super) fn emit(&self, registers: &[Value]) -> Vec<Value> {
        self.source.iter().map(|&register| registers[register]).collect()
    }
}
