//! GPUs under CUDA, whose driver is opened at run time.
//!
//! `cudarc` looks up each driver function at its first call and panics if the library is missing, so the library's
//! presence is checked first.

mod device;
mod driver_error;
mod found;
mod maps;
mod owned;

pub(crate) use found::devices;
