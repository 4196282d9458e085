//! Checks: what the tests and the conformance suite run, and no product needs.
//!
//! A [`TestCase`] is a value: a kernel, its launch, what every buffer holds before and must hold after, and the counts that
//! a plan predicts. The `*_case` functions build one around one operation ([`kernels`]), from what the layouts and rows say.
//! [`check`] runs it on a device, [`check_emulated`] on the emulator, which is a device too ([`EmulatedDevice`]). A
//! [`case::ProgramCase`] is a tile program with inputs and expected results, in files.

mod bulk_case;
pub mod case;
mod check;
mod check_failure;
mod contraction_case;
mod contraction_factors;
mod contraction_memory;
pub mod dot_list;
mod emulated_device;
mod exact;
mod expected_counts;
mod instruction_case;
mod issue_operands;
pub mod kernels;
mod loaded_launch;
mod movement;
mod tensor_case;
mod test_case;
mod tolerance;

pub use bulk_case::{box_copy_case, box_origins, span_copy_case};
pub use check::{check, check_all_emulated, check_emulated, check_launch, check_loaded};
pub use check_failure::CheckFailure;
pub use contraction_case::contraction_cases;
pub use emulated_device::{EmulatedDevice, kernel_ir};
pub use expected_counts::{ExpectedCounts, PlannedSectors};
pub use instruction_case::{check_row, instruction_case};
pub use loaded_launch::LoadedLaunch;
pub use movement::{
    BlockTile, Repeated, block_load_case, box_tiles_case, conversion_case, copy_case, gather_case, load_case,
    prefetch_case, reduction_case, scan_case, shared_copy_case, store_case, strided_copy_case,
};
pub use test_case::{ElementBits, Legend, Predicted, TestBuffer, TestCase, TestLaunch};
