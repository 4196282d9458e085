//! Checks for tests and for the conformance suite; no product code depends on them.
//!
//! A [`TestCase`] is a value: a kernel, its launch, the contents of every buffer before and after, and the counts that
//! a plan predicts. The `build_*_case` functions build a test case around one operation ([`kernels`]) from layouts and
//! table rows. [`check_on_device`] runs it on a device, [`check_emulated`] on the emulator, which also is a device
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

pub use bulk_case::{build_box_copy_case, build_bulk_copy_1d_case, edge_box_origins, with_combined_element};
pub use check::{check_all_emulated, check_emulated, check_loaded, check_on_device, run_and_check_launch};
pub use check_failure::CheckFailure;
pub use emulated_device::{EmulatedDevice, build_emulator_artifact};
pub use expected_counts::{ExpectedCounts, PlannedSectorCount};
pub use instruction_case::{build_instruction_case, check_instruction_emulated};
pub use mma_case::build_mma_plan_cases;
pub use movement::{
    BlockLoadTile, RepeatedMovement, build_async_copy_case, build_block_2d_load_case, build_conversion_case,
    build_gather_case, build_global_copy_case, build_prefetch_case, build_reduction_case, build_scan_case,
    build_shared_load_case, build_shared_store_case, build_strided_copy_case, build_tensor_copy_case,
};
pub use test_case::{BufferElementField, BufferLegend, PredictedStats, TestBuffer, TestCase, TestLaunch};
