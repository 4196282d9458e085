//! Why a program that states where tiles lie gets no layouts.

use thiserror::Error;

use crate::EngineError;
use crate::layouts::NoLayout;
use tilewright_layout::LayoutError;
use tilewright_plan::contract::ContractError;
use tilewright_plan::memory_synthesis as memory;
use tilewright_plan::movement::MovementError;
use tilewright_tile::TileViolation;

/// Why a program that states where tiles lie gets no layouts.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SynthesisError {
    /// The program says what has no meaning where it stands; its author's fault.
    #[error(transparent)]
    Program(#[from] TileViolation),
    /// No layouts satisfy the constraints.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The target cannot carry out a product as the program wants it.
    #[error("{operation}: {source}")]
    Product {
        /// The value that it gives.
        operation: String,
        /// Why not.
        source: ContractError,
    },
    /// No layout of a tensor in shared memory serves all that access it.
    #[error("the tensor {tensor} in shared memory: {source}")]
    Memory {
        /// The tensor.
        tensor: String,
        /// Which accesses disagree.
        source: Box<memory::MemorySynthesisError>,
    },
    /// A copy names an instruction by which it cannot go; the program's author's to mend.
    #[error("`{access}`: the target has no row `{row}` for it; expected one of {known}")]
    NoRow {
        /// The copy.
        access: String,
        /// What the program names.
        row: String,
        /// The rows by which it can go.
        known: String,
    },
    /// A loop says that a warp of its own issues its copies, and they cannot be issued so; the program's author's to mend.
    #[error(
        "a loop with `tt.warp_specialize`: all its copies to shared memory must go by boxes that arrive at mbarriers, of a target that has these, in two stages at least, and a block must have room for one more warp; on `{target}` that is not so: leave it out, or say `tt.warp_specialize = false`"
    )]
    NoProducers {
        /// The target.
        target: String,
    },
    /// Two operations want a tensor in different layouts, and nothing converts between them: a fault of what solved them.
    #[error("`{first}` and `{second}` disagree: {source}")]
    Disagree {
        /// One operation.
        first: String,
        /// The other.
        second: String,
        /// The constraint, and where it does not hold.
        source: Box<tilewright_plan::constraint::Unsatisfied>,
    },
    /// No choice of sizes makes a program; the caller's to mend.
    #[error("no sizes of tiles make a program: expected one at least of the choices to be possible")]
    NoSizes,
    /// There is no prediction of what the program takes.
    #[error(transparent)]
    Model(#[from] super::model::ModelError),
    /// Its tensors take more shared memory than a block has.
    #[error(
        "{bytes} bytes of shared memory, of which a block of `{target}` has {most}: smaller tiles, or fewer stages"
    )]
    Room {
        /// The target.
        target: String,
        /// What they take.
        bytes: u64,
        /// What there is.
        most: u64,
    },
    /// A type names a layout that is none.
    #[error(transparent)]
    Type(#[from] NoLayout),
    /// Elements cannot be moved.
    #[error(transparent)]
    Movement(#[from] MovementError),
    /// Layouts do not fit each other.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}
