//! Registers of each lane, renamed.

use tilewright_kernel::Value;

/// For every destination register the source register that it is.
#[derive(Debug, Clone)]
pub(super) struct Renaming {
    pub(super) source: Vec<usize>,
}

impl Renaming {
    pub(super) fn emit(&self, registers: &[Value]) -> Vec<Value> {
        self.source.iter().map(|&register| registers[register]).collect()
    }
}
