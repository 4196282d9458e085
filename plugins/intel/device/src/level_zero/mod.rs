//! Devices through Level Zero, Intel's low-level interface to its GPUs. The loader library is opened at run time.

mod device;
mod found;
mod functions;
mod owned;
mod runtime;

pub(super) use runtime::devices;
