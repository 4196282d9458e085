//! The rules that a module can break, and where.

use thiserror::Error;

use crate::{MAX_BLOCKS, MAX_DEPTH, MAX_VALUES, Type, Value};

/// Where a module breaks a rule. The fault of whoever made the module.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("kernel `{kernel}`{}: {violation}", place(*.operation, .name))]
pub struct VerifyError {
    /// The kernel.
    pub kernel: String,
    /// The operation, numbered from zero in the order of the text, as `Kernel::statements`;
    /// absent where the kernel's head is wrong.
    pub operation: Option<usize>,
    /// The operation's name; empty where the kernel's head is wrong.
    pub name: &'static str,
    /// The rule that is broken.
    pub violation: Violation,
}

fn place(operation: Option<usize>, name: &str) -> String {
    operation.map(|number| format!(", operation {number} ({name})")).unwrap_or_default()
}

/// A broken rule.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Violation {
    /// A kernel's name is no identifier.
    #[error("a kernel's name must be letters, digits and underscores, not beginning with a digit")]
    KernelName,
    /// Two kernels of one name.
    #[error("another kernel of the module has this name")]
    DuplicateKernel,
    /// An impossible number of lanes.
    #[error("{found} lanes in a warp; expected a power of two from 1 to 64")]
    Lanes {
        /// The number.
        found: u32,
    },
    /// An impossible number of warps.
    #[error("{found} warps in a block; expected 1 to 1024")]
    Warps {
        /// The number.
        found: u32,
    },
    /// An impossible number of blocks.
    #[error("{found} blocks in a cluster; expected 1 to {MAX_BLOCKS}")]
    Blocks {
        /// The number.
        found: u32,
    },
    /// A parameter of a type that cannot be passed.
    #[error("parameter {parameter} is {found}; expected a scalar of 8 bits or more, ptr.global or map")]
    ParameterType {
        /// Its number.
        parameter: usize,
        /// Its type.
        found: Type,
    },
    /// The map of a tensor that there can't be.
    #[error("parameter {parameter}: {message}")]
    TensorMap {
        /// Its number.
        parameter: usize,
        /// What is wrong, what was expected.
        message: String,
    },
    /// A map that is no parameter.
    #[error("%{} is a map; only parameters are", .value.0)]
    MapDefined {
        /// The value.
        value: Value,
    },
    /// The body of a kernel has arguments.
    #[error("the body of a kernel takes no arguments; its parameters are values 0, 1, ... already")]
    BodyArguments,
    /// The alignment of a shared buffer.
    #[error("shared buffer {buffer} has alignment {found}; expected a power of two")]
    SharedAlignment {
        /// The buffer's number.
        buffer: usize,
        /// Its alignment.
        found: u32,
    },
    /// The address of a shared buffer.
    #[error("shared buffer {buffer} is at {found}; expected a multiple of its alignment, {alignment}")]
    SharedPlace {
        /// Its number.
        buffer: usize,
        /// The address.
        found: u32,
        /// The alignment.
        alignment: u32,
    },
    /// More shared memory than addresses reach.
    #[error("{found} bytes of shared memory; expected at most 2147483647, which offsets can reach")]
    SharedBytes {
        /// How many.
        found: u64,
    },
    /// A value's number is too high to index tables with.
    #[error("value %{}; numbers must be below {MAX_VALUES}", .value.0)]
    ValueNumber {
        /// The value.
        value: Value,
    },
    /// A value is defined again.
    #[error("%{} is defined a second time; every value is defined once", .value.0)]
    DefinedTwice {
        /// The value.
        value: Value,
    },
    /// A vector of an impossible number of elements.
    #[error("%{} is a vector of {found}; expected a power of two from 2 to 128", .value.0)]
    VectorCount {
        /// The value.
        value: Value,
        /// The number of its elements.
        found: u32,
    },
    /// A value is used where it isn't defined.
    #[error("%{} is not defined here; values are visible after their definition, to the end of its region", .value.0)]
    NotVisible {
        /// The value.
        value: Value,
    },
    /// An operand of the wrong type.
    #[error("operand %{} is {found}; expected {expected}", .value.0)]
    Operand {
        /// The operand.
        value: Value,
        /// Its type.
        found: Type,
        /// What the operation takes.
        expected: String,
    },
    /// The wrong number of results.
    #[error("{found} results; expected {expected}")]
    ResultCount {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A result of the wrong type.
    #[error("result %{} is {found}; expected {expected}", .value.0)]
    Result {
        /// The result.
        value: Value,
        /// Its type.
        found: Type,
        /// What the operation gives.
        expected: String,
    },
    /// A constant with bits that its element does not have.
    #[error("constant {bits:#x} does not fit into the elements of {ty}")]
    Constant {
        /// The bits.
        bits: u64,
        /// The type of the constant.
        ty: Type,
    },
    /// An axis that no grid has.
    #[error("axis {found} of the grid; expected 0, 1 or 2")]
    Axis {
        /// The axis.
        found: u8,
    },
    /// A shared buffer that the kernel does not have.
    #[error("shared buffer {found}; the kernel has {count}")]
    SharedBuffer {
        /// The number asked for.
        found: u32,
        /// How many there are.
        count: usize,
    },
    /// A function of another number of operands.
    #[error("{found} operands; {function} takes {expected}")]
    MathOperands {
        /// The function's name.
        function: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// Assembly without text.
    #[error("the assembly text is empty; expected a vendor's assembly")]
    AssemblyText,
    /// A vector packed of an impossible number of elements.
    #[error("{found} elements packed; expected a power of two from 2 to 128")]
    PackCount {
        /// How many.
        found: usize,
    },
    /// An element that a vector doesn't have.
    #[error("element {found} of {ty}")]
    ElementIndex {
        /// Which.
        found: u32,
        /// The vector.
        ty: Type,
    },
    /// A byte that two `i32`s don't have.
    #[error("selector {found:#06x}; every nibble must be 0 to 7")]
    Selector {
        /// The selector.
        found: u16,
    },
    /// A bit that lane indices don't have.
    #[error("lanes that differ by {found}; expected a power of two below {lanes}, the lanes of a warp")]
    Lane {
        /// The bit, as its power of two.
        found: u32,
        /// Lanes of a warp.
        lanes: u32,
    },
    /// Lanes of an exchange that differ by a number that no two lanes of a warp differ by.
    #[error("lanes differ by {found}; expected 1 to one less than the {lanes} lanes of a warp")]
    LaneXor {
        /// The number.
        found: u32,
        /// Lanes of a warp.
        lanes: u32,
    },
    /// An alignment that is no power of two.
    #[error("alignment {found}; expected a power of two")]
    Alignment {
        /// The alignment.
        found: u32,
    },
    /// An mbarrier that nobody arrives at.
    #[error("an mbarrier of no arrivals; expected at least one")]
    Arrivals,
    /// A barrier of more warps than there are, or none.
    #[error("barrier {number} of {found} warps; expected 1 to {most}, those of the block")]
    GroupWarps {
        /// The number of the barrier.
        number: u32,
        /// How many warps meet.
        found: u32,
        /// How many there are.
        most: u32,
    },
    /// Columns of tensor memory that nobody can have.
    #[error("{found} columns of tensor memory; expected a power of two")]
    TensorColumns {
        /// How many.
        found: u32,
    },
    /// An instruction without a name.
    #[error("the instruction's name is empty; expected the name of a row of the target's table")]
    InstructionName,
    /// A vendor instruction that does not fit its row.
    #[error("instruction `{name}`: {message}")]
    Instruction {
        /// The row's name.
        name: String,
        /// What does not fit.
        message: String,
    },
    /// Regions nested too deep.
    #[error("regions nest deeper than {MAX_DEPTH}")]
    TooDeep,
    /// A region doesn't end in `yield`.
    #[error("region {region} does not end in yield")]
    YieldMissing {
        /// Which of the operation's regions, from zero.
        region: usize,
    },
    /// A `yield` that does not end a region of an operation.
    #[error("yield stands only at the end of the regions of operations")]
    YieldMisplaced,
    /// A `yield` of the wrong number of values.
    #[error("{found} values yielded; expected {expected}")]
    YieldCount {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A region with the wrong arguments.
    #[error("region {region} takes ({found}); expected ({expected})")]
    RegionArguments {
        /// Which of the operation's regions, from zero.
        region: usize,
        /// The types of its arguments.
        found: String,
        /// What they should be.
        expected: String,
    },
    /// A collective under control that is not uniform over its scope.
    #[error("stands under control that may differ between the {scope}; all of them must reach it together")]
    DivergentControl {
        /// Between whom control may differ: `lanes of a warp`, `warps of a block` or `blocks of a cluster`.
        scope: &'static str,
    },
}
