//! Devices of NVIDIA's targets: GPUs under CUDA, and the virtual device, which executes PTX on any machine.
//!
//! This crate opens the driver at run time and generates no code: devices load artifacts from any source.

mod cuda;
mod devices;

pub use devices::open_devices;
