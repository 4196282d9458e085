//! A virtual NVIDIA device: an interpreter of PTX, on any machine.
//!
//! It takes PTX from anywhere: what this plugin emits, or another compiler, as long as it keeps to the instructions that
//! `rows` has; everything else is refused by name, with the line. All warps and lanes of all blocks are executed, one
//! after another, the same in every run. It checks what the emulator of the kernel IR checks, and counts what that counts,
//! on the other side of code generation, so that the two can be compared. `docs/virtual-device.md` says what is known,
//! what is checked, and what stays unseen.
//!
//! - `text` reads the grammar,
//! - `program` makes names places and instructions operations,
//! - `rows` is the table of instructions,
//! - `machine` has registers, memories, warps and blocks,
//! - `number` rounds,
//! - `device` is all of it behind the framework's trait of devices.
//!
//! The device shares no code with the emulator of the kernel IR but the rounding of sums of matrix instructions, nor with
//! the code generator: two independent executions of one kernel that agree are evidence.

mod device;
mod machine;
mod number;
mod program;
mod rows;
mod text;

pub use device::VirtualDevice;
pub use machine::{DeviceFault, DeviceFaultKind, LaunchReport, PtxSpace};
pub use text::{PtxError, PtxModule, parse};
