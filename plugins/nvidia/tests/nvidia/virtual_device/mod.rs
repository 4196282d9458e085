//! The virtual device: results of instructions, rejected texts, and whole kernels of this and other compilers.

pub mod bench;
mod bit_reductions;
mod bulk;
mod byte_casts;
mod emitted;
mod faults;
mod first_level_cache;
mod foreign;
mod foreign_forms;
mod fragments;
mod integer_casts;
mod optimizations;
mod predicated;
mod programs;
mod rows;
mod text;
mod vector_atomics;
mod wgmma;
