//! Contractions: a matrix product of a whole tile, made of a target's instructions.
//!
//! A [`MmaProblem`] names the shape, the types, and the warps; [`plan`] answers with a [`Contraction`]: which
//! unit multiplies (a row of the instruction table, or plain multiply-adds), how warps share the tile,
//! how registers repeat the unit, the layouts of both factors and of the sums, and what all that costs.
//! Everything follows from the rows' operand layouts; no name is looked at.
//!
//! **Layouts.** A warp's tile is the direct sum of the unit's operand layout, of warps, and of registers
//! that repeat it. A tile larger than the matrix holds copies along M and N, and zeros along K, in both
//! factors, so that nothing that is no number is multiplied by a zero.
//!
//! **Factors in shared memory.** Where a unit reads a factor from shared memory by itself, the factor has a memory
//! layout that the unit reads ([`crate::movement::DescriptorMatch`]): the block stores it there, all warps meet, and each
//! issue is told its tile by a descriptor.
//!
//! **Factors of another product.** Where registers hold a factor since another product has made it, what counts is the
//! conversion to where the unit takes it (`made`), for each way to share out the warps and each order of K.
//!
//! **Sums in tensor memory.** Where a unit has its sums there, they stay there from chunk to chunk ([`Accumulator`]), and reach
//! registers at the end by the rows that move ([`crate::movement::TensorMoves`]): each such way is a unit of its own, whose
//! sums have the layout of the registers.
//!
//! **Order of K.** A sum has no order, so both factors may be read in any one order of K (`order`): the
//! bits of K that a lane holds in registers of both come first, as many as make accesses wide.

mod accumulator;
mod choose;
mod cost;
mod described;
mod elements;
mod emit;
mod made;
mod operand_load;
mod operand_loads;
mod operands;
mod order;
mod pending;
mod plan;
mod problem;
mod row_sums;
mod scale;
mod tiling;
mod unit;
mod ways;
mod whole;

use tilewright_math::casts as cast;

pub use accumulator::Accumulator;
pub use choose::{MmaCandidate, candidates, plan};
pub use cost::ContractionCost;
pub use operand_load::places as matrix_places;
pub use operand_load::{Matrix, MatrixPart, OperandLoad, Store};
pub use plan::Contraction;
pub use problem::{ContractError, MmaProblem, WarpPartition};
pub use scale::Scale;
pub use unit::fuses;
pub use ways::ways;
pub use whole::OperandStore;
