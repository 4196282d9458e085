//! AMD GPUs through the HIP runtime library, which is opened at run time.
//!
//! The library's functions are declared by hand (HIP API reference, "Modules", "Memory management", "Event
//! management"), since no binding crate builds without the development kit.
//!
//! This crate generates no code: devices load artifacts from any source.

mod functions;
mod hip;
mod runtime;

pub use runtime::open_devices;
