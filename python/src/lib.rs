//! The native module of the Python package `tilewright`: sessions, compiled kernels, and their runs on the emulator.
//!
//! The module is narrow: layouts and plans are JSON requests, as of `tilewright batch`, and the package in Python gives
//! them names and types. Errors are the exceptions of `tilewright.errors`.

mod errors;
mod kernel;
mod session;

use pyo3::prelude::*;
// The vendors' targets register themselves.
use {tilewright_amd as _, tilewright_intel as _, tilewright_nvidia as _};

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<session::Session>()?;
    module.add_class::<kernel::Kernel>()
}
