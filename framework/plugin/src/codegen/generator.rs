//! The interface between the walk over a kernel and a code generator.

use tilewright_kernel::{Op, Type, Value};

use super::{TypedValue, ValueMap};
use crate::CompileError;

/// A code generator of one kernel: it appends code at its current position.
///
/// # Errors
/// Every method may refuse; [`generate`](super::generate) puts the statement in front of the message.
pub trait CodeGenerator {
    /// A value of the generated code.
    type Value: TypedValue;
    /// A basic block.
    type Block: Copy;
    /// A loop whose body is being generated.
    type Loop;

    /// The values in scope.
    fn values(&mut self) -> &mut ValueMap<Self::Value>;

    /// Refuses types that no value can have.
    fn check_type(&self, ty: Type) -> Result<(), CompileError>;

    /// Appends an operation that has no regions and gives its results, whose types the walk checks. An operation with a
    /// single result has one declared in `results`.
    fn operation(&mut self, op: &Op, results: &[(Value, Type)]) -> Result<Vec<Self::Value>, CompileError>;

    /// Branches on an `i1`; gives the blocks for true, for false, and where the two join.
    fn branch_on(&mut self, condition: &Self::Value) -> Result<[Self::Block; 3], CompileError>;

    /// Moves the position to the beginning of a block.
    fn begin_block(&mut self, block: Self::Block) -> Result<(), CompileError>;

    /// The block of the position.
    fn current_block(&self) -> Result<Self::Block, CompileError>;

    /// Ends the current block with a branch.
    fn branch(&mut self, to: Self::Block) -> Result<(), CompileError>;

    /// A phi: the value that belongs to the block from which control came.
    fn phi(&mut self, ty: Type, incoming: [(&Self::Value, Self::Block); 2]) -> Result<Self::Value, CompileError>;

    /// Moves the position into the body of a loop, and gives the values of the body's arguments. `range` has start, bound and
    /// step of a `for`, three `i32`s, whose index comes first among the arguments; it is `None` for a `while`.
    fn begin_loop(
        &mut self,
        range: Option<[Self::Value; 3]>,
        carried: &[Self::Value],
    ) -> Result<(Self::Loop, Vec<Self::Value>), CompileError>;

    /// Ends the body of a loop and gives the carried values after the loop. The body of a `while` has yielded whether there is
    /// another iteration, an `i1`, before the carried values.
    fn end_loop(
        &mut self,
        started: Self::Loop,
        carried: Vec<Self::Value>,
        yielded: Vec<Self::Value>,
    ) -> Result<Vec<Self::Value>, CompileError>;
}
