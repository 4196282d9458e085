//! The rules of kernel modules as kinds of violations, and the location of a violation.

use thiserror::Error;

use crate::{MAX_CLUSTER_BLOCKS, MAX_REGION_DEPTH, MAX_VALUES, Type, Value};

/// A violation of a rule of the kernel IR, with its location.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("kernel `{kernel}`{}: {violation}", location(*.operation, .name))]
pub struct VerifyError {
    /// Name of the kernel.
    pub kernel: String,
    /// Number of the operation in the order of the text, as `Kernel::statements`; `None` for an error in the kernel's
    /// header.
    pub operation: Option<usize>,
    /// The operation's name; empty for an error in the kernel's header.
    pub name: &'static str,
    /// The rule that the kernel violates.
    pub violation: Violation,
}

fn location(operation: Option<usize>, name: &str) -> String {
    operation.map(|number| format!(", operation {number} ({name})")).unwrap_or_default()
}

/// A violated rule of the kernel IR.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Violation {
    /// The name of a kernel is no identifier.
    #[error("a kernel's name must be letters, digits and underscores, not beginning with a digit")]
    KernelName,
    /// Two kernels have the same name.
    #[error("another kernel of the module has this name")]
    DuplicateKernel,
    /// The number of lanes is out of range.
    #[error("{found} lanes in a warp; expected a power of two from 1 to 64")]
    Lanes {
        /// The kernel's number of lanes in a warp.
        found: u32,
    },
    /// The number of warps is out of range.
    #[error("{found} warps in a block; expected 1 to 1024")]
    Warps {
        /// The kernel's number of warps in a block.
        found: u32,
    },
    /// The number of blocks is out of range.
    #[error("{found} blocks in a cluster; expected 1 to {MAX_CLUSTER_BLOCKS}")]
    Blocks {
        /// The kernel's number of blocks in a cluster.
        found: u32,
    },
    /// A parameter of a type that cannot be passed.
    #[error("parameter {parameter} is {found}; expected a scalar of 8 bits or more, ptr.global or map")]
    ParameterType {
        /// Index of the parameter in the kernel's list of parameters.
        parameter: usize,
        /// Type of the parameter.
        found: Type,
    },
    /// The tensor map of a parameter is invalid.
    #[error("parameter {parameter}: {message}")]
    TensorMap {
        /// Index of the parameter in the kernel's list of parameters.
        parameter: usize,
        /// The violation and the expected value.
        message: String,
    },
    /// A value other than a parameter is a tensor map.
    #[error("%{} is a map; only parameters are", .value.0)]
    MapDefined {
        /// The value that has a tensor-map type.
        value: Value,
    },
    /// The body of a kernel has arguments.
    #[error("the body of a kernel takes no arguments; its parameters are values 0, 1, ... already")]
    BodyArguments,
    /// The alignment of a shared buffer is no power of two.
    #[error("shared buffer {buffer} has alignment {found}; expected a power of two")]
    SharedAlignment {
        /// Index of the buffer among the kernel's shared buffers.
        buffer: usize,
        /// Alignment of the buffer in bytes.
        found: u32,
    },
    /// The address of a shared buffer is no multiple of its alignment.
    #[error("shared buffer {buffer} is at {found}; expected a multiple of its alignment, {alignment}")]
    MisalignedBuffer {
        /// Index of the buffer among the kernel's shared buffers.
        buffer: usize,
        /// Byte address of the buffer in the block's shared memory.
        found: u32,
        /// Alignment of the buffer in bytes.
        alignment: u32,
    },
    /// Shared memory is larger than its address range.
    #[error("{found} bytes of shared memory; expected at most 2147483647, which offsets can reach")]
    SharedBytes {
        /// The number of bytes of shared memory.
        found: u64,
    },
    /// A value number is above the limit of the verifier's tables.
    #[error("value %{}; numbers must be below {MAX_VALUES}", .value.0)]
    ValueNumber {
        /// The value with the number.
        value: Value,
    },
    /// A value is defined twice.
    #[error("%{} is defined a second time; every value is defined once", .value.0)]
    DefinedTwice {
        /// The value with two definitions.
        value: Value,
    },
    /// A vector type has an invalid number of elements.
    #[error("%{} is a vector of {found}; expected a power of two from 2 to 128", .value.0)]
    VectorCount {
        /// The value of the vector type.
        value: Value,
        /// Number of elements of the vector type.
        found: u32,
    },
    /// A use of a value outside its scope.
    #[error("%{} is not defined here; values are visible after their definition, to the end of its region", .value.0)]
    NotVisible {
        /// The value that is used.
        value: Value,
    },
    /// An operand has the wrong type.
    #[error("operand %{} is {found}; expected {expected}", .value.0)]
    Operand {
        /// The operand with the wrong type.
        value: Value,
        /// Type of the operand.
        found: Type,
        /// The types that the operation accepts.
        expected: String,
    },
    /// The number of results is wrong.
    #[error("{found} results; expected {expected}")]
    ResultCount {
        /// Number of results of the operation.
        found: usize,
        /// Number of results that it must have.
        expected: usize,
    },
    /// A result has the wrong type.
    #[error("result %{} is {found}; expected {expected}", .value.0)]
    Result {
        /// The result with the wrong type.
        value: Value,
        /// Type of the result.
        found: Type,
        /// The result types that the operation can have.
        expected: String,
    },
    /// A constant does not fit into its element type.
    #[error("constant {bits:#x} does not fit into the elements of {ty}")]
    Constant {
        /// The bits of the constant.
        bits: u64,
        /// The type of the constant.
        ty: Type,
    },
    /// An axis of the grid does not exist.
    #[error("axis {found} of the grid; expected 0, 1 or 2")]
    Axis {
        /// The axis that the operation names; axes 0 to 2 exist.
        found: u8,
    },
    /// A shared buffer does not exist.
    #[error("shared buffer {found}; the kernel has {count}")]
    SharedBuffer {
        /// Index of the buffer in the operation.
        found: u32,
        /// The number of buffers of the kernel.
        count: usize,
    },
    /// A math function has the wrong number of operands.
    #[error("{found} operands; {function} takes {expected}")]
    MathOperands {
        /// Name of the math function.
        function: &'static str,
        /// Number of operands that the operation has.
        found: usize,
        /// Number of operands that the function must have.
        expected: usize,
    },
    /// A packed vector has an invalid number of elements.
    #[error("{found} elements packed; expected a power of two from 2 to 128")]
    PackCount {
        /// Number of elements that are packed.
        found: usize,
    },
    /// A vector has no element of this index.
    #[error("element {found} of {ty}")]
    ElementIndex {
        /// Index of the element.
        found: u32,
        /// Type of the vector whose element is extracted.
        ty: Type,
    },
    /// A byte selector has a nibble above 7.
    #[error("selector {found:#06x}; every nibble must be 0 to 7")]
    Selector {
        /// The faulty byte selector.
        found: u16,
    },
    /// The lane bit of a swap is no power of two below the number of lanes.
    #[error("lanes that differ by {found}; expected a power of two below {lanes}, the lanes of a warp")]
    Lane {
        /// The bit of the lane index, as a power of two.
        found: u32,
        /// Number of lanes in a warp.
        lanes: u32,
    },
    /// The XOR mask of a shuffle is zero or reaches beyond the lanes of a warp.
    #[error("lanes differ by {found}; expected 1 to one less than the {lanes} lanes of a warp")]
    LaneXor {
        /// The faulty XOR mask.
        found: u32,
        /// Number of lanes in a warp.
        lanes: u32,
    },
    /// An alignment is no power of two.
    #[error("alignment {found}; expected a power of two")]
    Alignment {
        /// The alignment that the operation states, in bytes.
        found: u32,
    },
    /// An mbarrier expects no arrivals.
    #[error("an mbarrier of no arrivals; expected at least one")]
    Arrivals,
    /// A named barrier expects no warp, or more warps than the block has.
    #[error("a named barrier of {found} warps; expected 1 to {most}, those of the block")]
    GroupWarps {
        /// The number of warps that must arrive.
        found: u32,
        /// The number of warps of the block.
        most: u32,
    },
    /// A lane changes to no registers, or the kernel does not state the registers that it has before.
    #[error("{found} registers of a lane, of {launch} at the launch; expected both above zero")]
    Registers {
        /// Number of registers that the operation states.
        found: u32,
        /// Number of registers of a lane for which the kernel is compiled; 0 if it states none.
        launch: u32,
    },
    /// The number of tensor-memory columns is no power of two.
    #[error("{found} columns of tensor memory; expected a power of two")]
    TensorColumns {
        /// Number of columns that the operation states.
        found: u32,
    },
    /// A vendor instruction has an empty name.
    #[error("the instruction's name is empty; expected the name of an instruction of the target")]
    InstructionName,
    /// A vendor instruction does not fit its row.
    #[error("instruction `{name}`: {message}")]
    Instruction {
        /// Name of the instruction-table row.
        name: String,
        /// How the instruction violates its row.
        message: String,
    },
    /// Regions nest too deep.
    #[error("regions nest deeper than {MAX_REGION_DEPTH}")]
    TooDeep,
    /// A region does not end in `yield`.
    #[error("region {region} does not end in yield")]
    YieldMissing {
        /// Index of the region in the operation.
        region: usize,
    },
    /// A `yield` does not end a region of an operation.
    #[error("yield is allowed only at the end of a region")]
    YieldMisplaced,
    /// A `yield` has the wrong number of values.
    #[error("{found} values yielded; expected {expected}")]
    YieldCount {
        /// Number of yielded values.
        found: usize,
        /// Number of values that it must yield.
        expected: usize,
    },
    /// A region has the wrong arguments.
    #[error("region {region} takes ({found}); expected ({expected})")]
    RegionArguments {
        /// Index of the region in the operation.
        region: usize,
        /// Types of the region's arguments.
        found: String,
        /// Types that the arguments must have.
        expected: String,
    },
    /// A collective stands under control that is not uniform over its scope.
    #[error("control flow may diverge between the {scope}; all of them must reach it together")]
    DivergentControl {
        /// The sets between which the control may differ: `lanes of a warp`, `warps of a block` or `blocks of a
        /// cluster`.
        scope: &'static str,
    },
}
