//! Level Zero: the vendor's own interface to its GPUs, through the loader that is opened at run time.

mod device;
mod found;
mod functions;
mod owned;
mod runtime;

pub(super) use runtime::devices;
