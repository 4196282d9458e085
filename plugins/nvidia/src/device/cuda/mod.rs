//! GPUs under CUDA, whose driver is opened at run time.
//!
//! `cudarc` looks up each driver function at its first call and panics if the library is missing, so the library's
//! presence is checked first.
//!
//! This module may import the crate's root and nothing of `compile`: the caller passes artifacts in.

mod device;
mod driver_error;
mod found;
mod maps;
mod owned;

pub(crate) use found::devices;
