//! The native module of the Python package `tilewright`: sessions, compiled kernels, and their runs on the emulator.
//!
//! The module is narrow: layouts and plans are JSON requests, as of `tilewright batch`, and the package in Python gives
//! them names and types. Errors are the exceptions of `tilewright.errors`.

mod errors;
mod kernel;
mod session;

use pyo3::prelude::*;
use tilewright_plugin::{TablesOnly, VendorTarget, register_targets};
// Linking this crate registers Intel's targets.
use tilewright_intel as _;
use {tilewright_amd_tables as amd, tilewright_nvidia_tables as nvidia};

register_targets! {
    plugin: "amd",
    architectures: amd::ARCHITECTURES,
    create: VendorTarget::<TablesOnly<amd::AmdTables>>::create_boxed,
}
register_targets! {
    plugin: "nvidia",
    architectures: nvidia::ARCHITECTURES,
    create: VendorTarget::<TablesOnly<nvidia::NvidiaTables>>::create_boxed,
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<session::Session>()?;
    module.add_class::<kernel::Kernel>()
}
