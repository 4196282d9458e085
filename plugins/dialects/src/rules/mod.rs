//! The verifier's rules for vendors' operations and for the layouts of vendors' families.
//!
//! A rule is a function that checks one operation and returns an error message if the operation is invalid. The key
//! `verify` of an entry in a dialect file refers to rules by name, with groups of operands or results as arguments,
//! such as `tensor_copy(src)`.

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

pub use rule_set::VERIFY_RULE_SETS;
