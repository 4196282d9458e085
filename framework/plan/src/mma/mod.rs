//! Plans matrix multiplication of a whole tile from a target's instructions.
//!
//! A [`MmaProblem`] gives the shape, the element types and the warps; [`plan_mma`] returns a [`MmaPlan`]: the MMA atom
//! (an instruction, or plain multiply-adds), the warp partition, the repetitions of the atom in registers, the layouts
//! of both operands and of the accumulator, and the cost. Everything follows from the operand layouts of the
//! instructions; no instruction is known by name.
//!
//! **Layouts.** A warp's tile is the direct sum of the atom's operand layout, of warps, and of registers that repeat
//! the atom. If this tile is larger than the matrix, it repeats elements along M and N, and has zeros along K in both
//! operands, so that no NaN is multiplied by a zero.
//!
//! **Operands in shared memory.** If an atom reads an operand from shared memory, the operand has a memory layout that
//! the atom reads ([`crate::movement::DescriptorMatch`]): the block stores it there, a block barrier follows, and each
//! issue gets its tile as a matrix descriptor.
//!
//! **Operands that another MMA produced.** If an operand is the result of another MMA and still in registers, the plan
//! prices its movement (`operand_movement`) for each warp partition and each order of K: a conversion to the operand
//! layout, or stores and a barrier if the atom reads the operand from shared memory.
//!
//! **Accumulator in tensor memory.** If an atom accumulates in tensor memory, the accumulator stays there from chunk
//! (part of K that is multiplied at a time) to chunk ([`Accumulator`]). After the last chunk, the target's move
//! instructions bring it to registers ([`crate::movement::TensorMemoryMoves`]). An instruction with several possible
//! moves gives several atoms, one for each register layout that a move produces.
//!
//! **Order of K.** A sum has no order, so both operands may be read in any common permutation of K (`order`): the bits
//! of K that are register bits of a lane in both operands come first, so that a lane's elements are contiguous in
//! memory and wide accesses load them.

mod accumulator;
mod candidates;
mod choose;
mod cost;
mod descriptor;
mod elements;
mod emit;
mod mma_atom;
mod operand_load;
mod operand_loads;
mod operand_movement;
mod operands;
mod order;
mod pending;
mod plan;
mod problem;
mod resident_operand;
mod row_accumulator;
mod scale;
mod tiling;

use tilewright_math::casts as cast;

pub use accumulator::{Accumulator, AccumulatorAllocation};
pub use candidates::{CandidateSpace, DotCandidate, DotCandidates, dot_candidates};
pub use choose::{MmaCandidate, mma_candidates, plan_mma};
pub use cost::MmaCost;
pub use mma_atom::kernel_ir_has_fma;
pub use operand_load::global_matrix_address_emitter;
pub use operand_load::{GlobalKChunkAddress, GlobalMatrixChunk, LoadedOperandStore, OperandLoad};
pub use plan::MmaPlan;
pub use problem::{MmaError, MmaProblem, WarpPartition};
pub use resident_operand::OperandStore;
pub use scale::BlockScale;
