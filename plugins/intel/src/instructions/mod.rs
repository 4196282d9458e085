//! Instruction rows of this vendor: the systolic dot product `dpas`, loads and prefetches of blocks.

mod block;
mod block_read;
mod dpas;
mod prefetch;

use tilewright_target::Instruction;

pub use dpas::unused;

/// The instructions of an architecture; products for sub-groups as wide as the instruction, the narrowest that there
/// are. None for architectures that this plugin does not serve.
#[must_use]
pub fn rows(architecture: &str) -> Vec<Instruction> {
    let mut all = dpas::rows(architecture);
    all.extend(prefetch::rows(architecture));
    all.extend(block_read::rows(architecture));
    all
}
