//! The virtual device: what instructions compute, what is refused, and whole kernels, ours and others'.
#![allow(clippy::unwrap_used)]

mod bench;
mod emitted;
mod faults;
mod foreign;
mod programs;
mod rows;
mod text;
