//! Devices of Intel's targets through OpenCL and Level Zero, opened at run time.
//!
//! Two kinds of device run the plugin's code: Intel's GPUs, found by the model's name or PCI device id, and Intel's
//! OpenCL runtime for processors, which stands in for any GPU model. That runtime lacks the builtins for MMA and 2-D
//! block loads, which are linked from `matrix_mad.cl` and `block_read.cl`. A device's name shows its kind.
//!
//! This crate generates no code: devices load artifacts from any source.

mod devices;
mod gpu_model;
mod level_zero;
mod limits;
mod opencl;
mod register_mode;

pub use devices::list_devices;
pub use register_mode::{OPENCL_LARGE_GRF_OPTION, needs_large_mode};
