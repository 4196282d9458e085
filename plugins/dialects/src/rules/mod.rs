//! Supplies the rules of the verifier that rows of the dialect files name, and the rules of vendors' layouts.

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
