//! Checks: what the tests and the conformance suite run, and no product needs.
//!
//! A [`case`] is a tile program with inputs and expected results. The `prove_*` functions build a kernel around one
//! operation ([`kernels`]), run it on the emulator or on a device, and compare what it leaves with what the layouts say
//! and what the plan counted.

mod bulk_proof;
pub mod case;
mod contraction_factors;
mod contraction_memory;
mod contraction_proof;
pub mod dot_list;
mod exact;
mod instruction_proof;
pub mod kernels;
mod proof;
mod tensor_proof;
mod tolerance;
mod trial;

pub use bulk_proof::{box_copy_trial, box_origins, prove_box_copy, prove_span_copy, span_copy_trial};
pub use contraction_proof::{contraction_trials, prove_contraction, prove_contraction_on};
pub use instruction_proof::{prove_instruction, prove_instruction_on, prove_instruction_with};
pub use proof::{
    BlockTile, Disproof, Repeated, box_tiles_trial, conversion_trial, gather_trial, prove_block_loads,
    prove_block_loads_on, prove_box_tiles, prove_conversion, prove_conversion_on, prove_copy, prove_gather,
    prove_gather_on, prove_load, prove_prefetched, prove_reduction, prove_reduction_on, prove_scan, prove_scan_on,
    prove_shared_copy, prove_store, prove_strided_copy, reduction_trial, scan_trial,
};
pub use trial::{Predicted, Trial};
