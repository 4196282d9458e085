//! Constraints on the layouts of tensors in registers, from the operations that connect them (Hexcute paper, figure
//! 12).
//!
//! The layout `f` of a tensor maps thread (lane and warp) and value (register) to an element of the tensor; the layout
//! `p` of an instruction's tile maps them to an element of the tile. [`find_tile_to_tensor_map`] maps the tile to the
//! tensor: `f . p^-1`. A copy ([`check_copy_layouts`]) has the same composite map on both sides; an MMA ([`check_mma`])
//! has one map for each of M, N and K, common to all three operands (theorem 1, as corrected); elementwise operations
//! ([`check_elementwise`]) have equal layouts; a reduction ([`check_reduction`]) removes an axis. Each constraint can
//! be checked, and solved for an unknown layout; an error names the position that violates it.

mod composite;
mod copy;
mod elementwise;
mod error;
mod mma;
mod thread_value;

pub use composite::find_tile_to_tensor_map;
pub use copy::{CopyInstructionTiles, check_copy_layouts, solve_copy};
pub use elementwise::{check_elementwise, check_reduction, solve_reduction};
pub use error::LayoutConstraintError;
pub use mma::{InstructionOperandLayouts, MmaOperandLayouts, MmaTileToTensorBases, check_mma, solve_mma_operands};
pub use thread_value::{from_thread_value, to_thread_value};
