//! `tilewright draw`: pictures of layouts, to the terminal or to a file.
//!
//! Each subcommand is a file that builds a picture; `destination` decides where it goes.

mod compose;
mod conversion;
mod destination;
mod difference;
mod divide;
mod global;
mod instruction;
mod layout;
mod matrix;
mod memory;
mod request;

use clap::Subcommand;

use crate::GlobalOptions;
use crate::failure::CommandError;
pub use destination::Destination;
pub use instruction::draw as draw_instruction;
pub use request::repeated;

/// What to draw.
#[derive(Debug, Subcommand)]
pub enum DrawCommand {
    /// The tensor and the hardware or memory that holds it, side by side.
    Layout(layout::Options),
    /// The matrix over F2.
    Matrix(matrix::Options),
    /// A memory layout in the banks of a target, and the conflicts of accesses to it.
    Memory(memory::Options),
    /// The bytes, sectors and lines of global memory that a warp's accesses touch.
    Global(global::Options),
    /// Who holds each element of an instruction's operands.
    Instruction(instruction::Options),
    /// How the elements of a tensor move from one layout to another.
    Conversion(conversion::Options),
    /// Where two layouts of one tensor differ.
    Difference(difference::Options),
    /// One layout after another, step by step.
    Compose(compose::Options),
    /// A tile taken out of a layout.
    Divide(divide::Options),
}

/// Runs the command.
pub fn run(global: &GlobalOptions, command: &DrawCommand) -> Result<(), CommandError> {
    match command {
        DrawCommand::Layout(options) => layout::run(global, options),
        DrawCommand::Matrix(options) => matrix::run(global, options),
        DrawCommand::Memory(options) => memory::run(global, options),
        DrawCommand::Global(options) => global::run(global, options),
        DrawCommand::Instruction(options) => instruction::run(global, options),
        DrawCommand::Conversion(options) => conversion::run(global, options),
        DrawCommand::Difference(options) => difference::run(global, options),
        DrawCommand::Compose(options) => compose::run(global, options),
        DrawCommand::Divide(options) => divide::run(global, options),
    }
}
