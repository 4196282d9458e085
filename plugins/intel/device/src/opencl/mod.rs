//! Devices through OpenCL: Intel GPUs, and Intel's runtime for CPUs.
//!
//! Calls go through `cl3`, whose objects are plain numbers; `handle` owns and releases them. (`opencl3`, built on
//! `cl3`, aborts the process if an object cannot be released, and passes no context when it links programs.)

mod device;
mod found;
mod handle;
mod program;
mod runtime;

pub(super) use runtime::devices;
