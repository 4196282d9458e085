//! The virtual device: what instructions compute, what is refused, and whole kernels, ours and others'.

mod bench;
mod bulk;
mod emitted;
mod faults;
mod foreign;
mod group_products;
mod programs;
mod rows;
mod text;
