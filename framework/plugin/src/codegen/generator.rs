//! The trait of code generators, called by the walk over a kernel's statements.

use tilewright_kernel::{CollectiveScope, Op, Type, Value};

use super::{TypedValue, ValueMap};
use crate::CompileError;

/// A code generator for one kernel: it appends code at a current position, like an LLVM `IRBuilder`.
///
/// # Errors
/// Methods that emit code return [`CompileError`] if the kernel is invalid here or the generator does not support it.
/// [`generate_body`](super::generate_body) puts the statement in front of the message.
pub trait CodeGenerator {
    /// A value of the generated code, such as an LLVM value.
    type Value: TypedValue;
    /// A basic block of the generated code.
    type Block: Copy;
    /// The state of a loop whose body is being generated.
    type Loop;

    /// Returns the map from the kernel's values in scope to generated values.
    fn values(&mut self) -> &mut ValueMap<Self::Value>;

    /// Sets the source location of the code that is appended next, an index into
    /// [`tilewright_kernel::Kernel::locations`]; `None` if it is not known. Generators without line tables ignore it.
    fn set_location(&mut self, _location: Option<u32>) {}

    /// Rejects a type that no value of the generated code can have.
    fn check_type(&self, ty: Type) -> Result<(), CompileError>;

    /// Appends an operation without regions and returns its generated results, whose types the walk checks. `results`
    /// has the kernel's values for them, with their types; an operation with a single result has exactly one entry.
    fn operation(&mut self, op: &Op, results: &[(Value, Type)]) -> Result<Vec<Self::Value>, CompileError>;

    /// Returns the value, which is equal in all lanes of `scope`, in a form that the compiler behind the generator knows to
    /// be uniform; the value itself if there is no such form.
    fn assume_uniform(&mut self, value: Self::Value, _scope: CollectiveScope) -> Result<Self::Value, CompileError> {
        Ok(value)
    }

    /// Branches on an `i1`; returns the blocks for true, for false, and their join.
    fn branch_on(&mut self, condition: &Self::Value) -> Result<[Self::Block; 3], CompileError>;

    /// Moves the current position to the beginning of a block.
    fn begin_block(&mut self, block: Self::Block) -> Result<(), CompileError>;

    /// Returns the block that the current position is in.
    fn current_block(&self) -> Result<Self::Block, CompileError>;

    /// Ends the current block with a branch to `to`.
    fn branch(&mut self, to: Self::Block) -> Result<(), CompileError>;

    /// Appends a phi of type `ty`: it selects a value by the predecessor block.
    fn phi(&mut self, ty: Type, incoming: [(&Self::Value, Self::Block); 2]) -> Result<Self::Value, CompileError>;

    /// Moves the position into the body of a new loop and returns the values of the body's arguments. For a `for` loop,
    /// `range` has the start, bound and step, three `i32`s, and the index is the body's first argument; for a `while`
    /// loop, `range` is `None`.
    fn begin_loop(
        &mut self,
        range: Option<[Self::Value; 3]>,
        carried: &[Self::Value],
    ) -> Result<(Self::Loop, Vec<Self::Value>), CompileError>;

    /// Ends the body of a loop and returns the values that it carries, after the loop. The body of a `while` loop
    /// yields the condition of the next iteration, an `i1`, before the carried values.
    fn end_loop(
        &mut self,
        started: Self::Loop,
        carried: Vec<Self::Value>,
        yielded: Vec<Self::Value>,
    ) -> Result<Vec<Self::Value>, CompileError>;
}
