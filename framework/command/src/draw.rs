//! `tilewright draw`: pictures of layouts, on the terminal or in a file.
//!
//! Each subcommand is a file that builds a picture; `destination` draws it.

mod compose;
mod conversion;
pub mod destination;
mod difference;
mod divide;
mod global;
mod instruction;
mod layout;
mod matrix;
mod memory;
pub mod request;

use clap::Subcommand;

use crate::GlobalOptions;
use crate::failure::CommandError;
pub use instruction::draw_by_name as draw_instruction;

/// Subcommands of `draw`.
#[derive(Debug, Subcommand)]
pub enum DrawCommand {
    /// The tensor, and the hardware or memory that holds its elements, side by side.
    Layout(layout::Options),
    /// The matrix of a layout over F2.
    Matrix(matrix::Options),
    /// A memory layout in the banks of a target, and the conflicts of accesses to it.
    Memory(memory::Options),
    /// The bytes, sectors and lines of global memory that a warp's accesses touch.
    Global(global::Options),
    /// The lane and register of each element of an instruction's operands.
    Instruction(instruction::Options),
    /// How the elements of a tensor move from one layout to another.
    Conversion(conversion::Options),
    /// The elements that differ between two layouts of one tensor.
    Difference(difference::Options),
    /// The composition of two layouts, step by step.
    Compose(compose::Options),
    /// The left division of a layout by a tile.
    Divide(divide::Options),
}

/// Runs a subcommand of `tilewright draw`.
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
