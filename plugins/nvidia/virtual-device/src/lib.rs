//! A virtual NVIDIA device: an interpreter of PTX, on any machine.
//!
//! The virtual device runs PTX of this plugin or of another compiler, within the instructions that `rows` implements;
//! an unknown instruction is an error with its name and line. All warps and lanes of all blocks execute one after
//! another, in the same order in each run. The virtual device checks and counts the same things as the emulator of the
//! kernel IR, but on generated code, so that the two can be compared. `docs/devices.md` lists what is
//! implemented, what is checked, and what is not modelled.
//!
//! - `text` parses PTX;
//! - `program` resolves names to registers, variables and steps, and instructions to operations;
//! - `rows` is the table of instructions;
//! - `machine` has registers, memories, warps and blocks;
//! - `float` rounds floating-point results;
//! - `device` implements the framework's `Device` trait.
//!
//! The virtual device shares no code with the code generator, and none with the emulator of the kernel IR except the
//! rounding of MMAs. So if two executions of a kernel agree, they do so independently.

mod device;
mod float;
mod machine;
mod program;
mod rows;
mod text;

pub use device::VirtualDevice;
pub use machine::{DeviceFault, DeviceFaultKind, LaunchReport, PtxSpace};
pub use text::{PtxError, PtxModule, parse_ptx};
