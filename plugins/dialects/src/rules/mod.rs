//! Rules of the verifier for vendors' operations, and for the layouts that vendors' families name.
//!
//! A rule is a function that checks one operation and returns an error message if the operation breaks the rule. The
//! key `verify` of a row in a dialect file names rules, with groups of operands or results as arguments:
//! `tensor_copy(src)`.

mod buffers;
mod cache_policies;
mod launch_control;
mod matrix_dots;
mod matrix_layouts;
mod mbarriers;
mod packed_arithmetic;
mod packed_loads;
mod partitions;
mod register_parts;
mod rule_set;
mod scaled_casts;
mod shared_layouts;
mod tensor_copies;
mod tensor_data_mover;
mod tensor_memory;
mod tensor_memory_layouts;

pub use rule_set::RULE_SETS;
