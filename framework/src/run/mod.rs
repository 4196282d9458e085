//! Runs kernels with the host's buffers: on the emulator, or on a device of the target.
//!
//! A [`KernelLaunch`] names the grid, the arguments and the buffers. [`run_emulated`] executes kernel IR on the CPU and
//! reports faults and counts; a [`DeviceResidentLaunch`] executes compiled code on any
//! [`Device`](tilewright_plugin::Device).

mod argument;
mod emulated;
mod launch;
mod loaded_launch;

pub use argument::{KernelArgument, bind_arguments};
pub use emulated::{EmulatedRun, EmulatedRunError, run_emulated};
pub use launch::{HostBuffer, KernelLaunch};
pub use loaded_launch::DeviceResidentLaunch;
