//! Checks for tests and for the conformance suite; no product code depends on them.
//!
//! A [`TestCase`] is a value: a kernel, its launch, the contents of every buffer before and after, and the counts that
//! a plan predicts. The `*_case` functions build a test case around one operation ([`kernels`]) from layouts and table
//! rows. [`check`] runs it on a device, [`check_emulated`] on the emulator, which also is a device
//! ([`EmulatedDevice`]). A [`case::ProgramCase`] is a tile program with inputs and expected results, in files.

mod bulk_case;
pub mod case;
mod check;
mod check_failure;
pub mod dot_list;
mod emulated_device;
mod exact;
mod expected_counts;
mod instruction_case;
mod issue_operands;
pub mod kernels;
mod mma_case;
mod mma_inputs;
mod mma_operand_memory;
mod movement;
mod tensor_case;
mod test_case;
mod tolerance;

pub use bulk_case::{box_copy_case, box_origins, bulk_copy_1d_case};
pub use check::{check, check_all_emulated, check_emulated, check_launch, check_loaded};
pub use check_failure::CheckFailure;
pub use emulated_device::{EmulatedDevice, kernel_ir};
pub use expected_counts::{ExpectedCounts, PlannedSectors};
pub use instruction_case::{check_row, instruction_case};
pub use mma_case::mma_cases;
pub use movement::{
    BlockTile, Repeated, block_load_case, conversion_case, copy_case, gather_case, load_case, prefetch_case,
    reduction_case, scan_case, shared_copy_case, store_case, strided_copy_case, tensor_copy_case,
};
pub use test_case::{ElementBits, Legend, Predicted, TestBuffer, TestCase, TestLaunch};
