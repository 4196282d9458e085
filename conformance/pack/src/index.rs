//! The file `index.json` of a pack (a folder of compiled test cases): it lists the cases, their code and their buffers.

use serde::{Deserialize, Serialize};
use tilewright_kernel::{Counts, TensorMapBinding};
use tilewright_plugin::{CodeFormat, KernelMetadata};
use tilewright_target::TargetDescription;

use crate::FigurePoint;

/// Version of the format of `index.json`; readers accept no other, since fields differ between versions.
pub const PACK_VERSION: u32 = 1;

/// The contents of a pack (a folder of compiled test cases), as the file `index.json` lists them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PackIndex {
    /// The [`PACK_VERSION`] of the suite that wrote the file.
    pub version: u32,
    /// Version of the conformance suite that wrote the pack.
    pub suite: String,
    /// The date of the pack, as text from the user who wrote it; `None` if the user passed none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The target that the code was compiled for.
    pub target: TargetDescription,
    /// The plugin that compiled the code; `None` if the program that wrote the pack had the target linked in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin: Option<PackPlugin>,
    /// The compiled code, which cases refer to by index.
    pub codes: Vec<PackedCode>,
    /// The cases of the pack, sorted by name.
    pub cases: Vec<PackedCase>,
    /// The cases of the suite that could not be packed, with the reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<OmittedCase>,
}

/// The plugin that compiled a pack's code, as its manifest describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackPlugin {
    /// The plugin's name.
    pub name: String,
    /// The plugin's version.
    pub version: String,
    /// The tools that the plugin was built with, such as `LLVM 22`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub built_with: Vec<String>,
    /// SHA-256 of the plugin's library in hexadecimal digits; empty if the library could not be read.
    pub sha256: String,
}

/// The compiled code of one module, in one or more files of the pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedCode {
    /// The files of the code, one for each form, such as assembly and object.
    pub files: Vec<CodeFile>,
    /// Launch metadata of each kernel in the code.
    pub kernels: Vec<KernelMetadata>,
    /// Name of an external tool, such as an assembler, that accepted the code as valid; `None` if no tool examined it.
    #[serde(rename = "taken_by", default, skip_serializing_if = "Option::is_none")]
    pub accepted_by: Option<String>,
}

/// A file with one form of the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeFile {
    /// The form of the code, such as assembly or an object.
    pub form: CodeFormat,
    /// The file format, by its usual extension.
    pub format: String,
    /// The file's name in the folder `code` of the pack.
    pub file: String,
}

/// A case of the suite that could not be packed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OmittedCase {
    /// The case's name in the suite.
    pub name: String,
    /// The reason why the case could not be packed.
    pub reason: String,
}

/// A case with its launches; it passes if all launches pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PackedCase {
    /// The case's name in the suite.
    pub name: String,
    /// The launches of the case, in the order of running.
    #[serde(rename = "trials")]
    pub test_cases: Vec<PackedTestCase>,
    /// The figure of measurements, with point and variant, that the case belongs to; `None` if it belongs to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<FigurePoint>,
}

/// One launch of a kernel, with the contents of its buffers before the launch and the contents expected afterwards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PackedTestCase {
    /// Index of the code in [`PackIndex::codes`].
    pub code: usize,
    /// Name of the kernel in the code. The kernel's launch metadata gives the lanes and warps of a block.
    pub kernel: String,
    /// Number of blocks along the x, y and z axes of the grid.
    pub grid: [u32; 3],
    /// One argument for each parameter of the kernel.
    pub arguments: Vec<PackedArgument>,
    /// The buffers that the arguments refer to.
    pub buffers: Vec<PackedBuffer>,
    /// The plan's prediction of cycles and operations for the launch; `None` if the test case has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted: Option<PackedPrediction>,
}

/// An argument of a packed launch, for one parameter of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PackedArgument {
    /// The address of the buffer with this index in the launch.
    Buffer(usize),
    /// An address within the buffer with this index in the launch.
    Pointer {
        /// Index of the buffer in the launch.
        buffer: usize,
        /// Byte offset of the address in the buffer.
        offset: u64,
    },
    /// A scalar, given by its bits.
    Scalar {
        /// The scalar's bits, zero-extended.
        bits: u64,
        /// The scalar's width in bits.
        width: u32,
    },
    /// A tensor, in the buffer with this index, for a tensor map parameter.
    Tensor(TensorMapBinding<usize>),
}

/// A buffer of a launch: its contents before, and the expected contents afterwards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PackedBuffer {
    /// The buffer's name, for messages about wrong contents.
    pub name: String,
    /// Name of the buffer's element type in test case files, such as `f16`.
    pub element: String,
    /// The buffer's shape in elements; elements are row-major.
    pub shape: Vec<u64>,
    /// The contents before the launch, as a range of the file `buffers.bin`.
    pub before: ByteRange,
    /// The contents that are expected after the launch.
    pub after: PackedExpectation,
}

/// Expected contents of a buffer after a launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PackedExpectation {
    /// The buffer must have the same bytes as before.
    Unchanged,
    /// Any contents are accepted; the buffer is not compared.
    Anything,
    /// Numbers with a common tolerance: each result may be off by `absolute` plus `relative` times the expected
    /// magnitude.
    Expected {
        /// The expected numbers, in the buffer's element type.
        numbers: ByteRange,
        /// Tolerance as a fraction of the expected magnitude.
        relative: f64,
        /// Tolerance that does not depend on the magnitude, in the units of the numbers.
        absolute: f64,
    },
    /// Bytes that are compared only in bits that a mask selects, because the kernel may leave the others undefined.
    Masked {
        /// The expected bytes; bits outside of the mask are ignored.
        bytes: ByteRange,
        /// The mask: a set bit is compared.
        mask: ByteRange,
    },
    /// Numbers that each have a tolerance of their own.
    Near {
        /// The expected numbers, as binary64.
        values: ByteRange,
        /// The greatest permitted deviation of each number, as binary64.
        allowed: ByteRange,
    },
}

/// A range of `buffers.bin`, the pack's file with the contents of all buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByteRange {
    /// Offset of the range's first byte from the start of the file.
    pub offset: u64,
    /// Number of bytes in the range.
    pub bytes: u64,
}

/// The plan's prediction for a launch, made before code was emitted, to be compared with measured times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PackedPrediction {
    /// Number of times that the kernel repeats the planned operation.
    pub rounds: u32,
    /// Predicted cycles of a block for one repetition, by the costs in the target's description.
    pub cycles: f64,
    /// Bytes of shared memory that one block allocates.
    pub shared_bytes: u64,
    /// Operations of one warp, and wavefronts of its shared-memory accesses, in one repetition; `None` if they were not
    /// counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
}
