//! GPUs under CUDA, whose driver is opened at run time.
//!
//! The driver's functions come from `cudarc`, which looks each up when it is first called and panics where the library is
//! missing: that it is there is asked before anything else.
//!
//! May import the crate's root, and nothing of `compile`: what a device is handed comes from outside.

mod device;
mod driver_error;
mod found;
mod maps;
mod owned;

pub(crate) use found::devices;
