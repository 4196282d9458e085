//! OpenCL: GPUs and the runtime for processors.
//!
//! Calls go through `cl3`, whose objects are numbers without an owner (`opencl3`, above it, ends the process where an
//! object cannot be released, and links programs in no context); `handle` owns them.

mod device;
mod found;
mod handle;
mod program;
mod runtime;

pub(super) use runtime::devices;
