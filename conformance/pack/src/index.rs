//! The contents of a pack: the file `index.json`.

use serde::{Deserialize, Serialize};
use tilewright_kernel::{Counts, TensorMapBinding};
use tilewright_plugin::{Emit, KernelMetadata};
use tilewright_target::TargetDescription;

use crate::Figure;

/// Version of the file's format; readers accept no other.
pub const VERSION: u32 = 1;

/// The contents of a pack: metadata, cases and compiled code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PackIndex {
    /// The format's [`VERSION`] when the file was written.
    pub version: u32,
    /// Version of the conformance suite that wrote the pack.
    pub suite: String,
    /// The date that the user passed to the writer; `None` if none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The target that the code was compiled for.
    pub target: TargetDescription,
    /// The plugin that compiled the code; `None` if its target was statically linked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin: Option<Maker>,
    /// The compiled code, which cases refer to by index.
    pub codes: Vec<PackedCode>,
    /// The cases, sorted by name.
    pub cases: Vec<PackedCase>,
    /// The cases of the suite that could not be packed, with the reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

/// The plugin that compiled a pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Maker {
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

/// Compiled code of one module, in files of the pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedCode {
    /// The files, one for each form of the code.
    pub files: Vec<File>,
    /// Launch metadata of each kernel in the code.
    pub kernels: Vec<KernelMetadata>,
    /// Name of an external tool, such as an assembler, that accepted the code as valid; `None` if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_by: Option<String>,
}

/// A file with one form of the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// The form of the code, such as assembly or an object.
    pub form: Emit,
    /// The file format, by its usual extension.
    pub format: String,
    /// The file's name in the folder `code` of the pack.
    pub file: String,
}

/// A case of the suite that could not be packed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The case's name.
    pub name: String,
    /// The reason why the case could not be packed.
    pub reason: String,
}

/// A case with its launches; it passes if all launches pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PackedCase {
    /// The case's name in the suite.
    pub name: String,
    /// The launches of the case.
    #[serde(rename = "trials")]
    pub test_cases: Vec<PackedTestCase>,
    /// The figure of measurements, with point and variant, that the case belongs to; `None` if it belongs to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<Figure>,
}

/// One launch of a kernel, with buffers and expected results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PackedTestCase {
    /// Index of the code in [`PackIndex::codes`].
    pub code: usize,
    /// Name of the kernel in the code, whose metadata has the lanes and warps of a block.
    pub kernel: String,
    /// Number of blocks along each of the three axes.
    pub grid: [u32; 3],
    /// One argument for each parameter of the kernel.
    pub arguments: Vec<PackedArgument>,
    /// The buffers that the arguments refer to.
    pub buffers: Vec<PackedBuffer>,
    /// The plan's prediction for the launch; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted: Option<PackedPrediction>,
}

/// An argument of a packed launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PackedArgument {
    /// The address of the buffer with this index in the launch.
    Buffer(usize),
    /// An address within the buffer with this index in the launch.
    Pointer {
        /// Index of the buffer.
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

/// A buffer of a launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PackedBuffer {
    /// The buffer's name.
    pub name: String,
    /// Name of the buffer's element type in test case files, such as `f16`.
    pub element: String,
    /// The buffer's shape; elements are row-major.
    pub shape: Vec<u64>,
    /// The contents before the launch.
    pub before: Span,
    /// The expected contents after the launch.
    pub after: PackedExpectation,
}

/// Expected contents of a buffer after a launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PackedExpectation {
    /// The buffer must have the same bytes as before.
    Unchanged,
    /// Any contents are accepted.
    Anything,
    /// Numbers with a common tolerance: each may be off by `absolute` plus `relative` times its magnitude.
    Expected {
        /// The expected numbers, in the buffer's element type.
        numbers: Span,
        /// Tolerance relative to the magnitude.
        relative: f64,
        /// Absolute tolerance.
        absolute: f64,
    },
    /// Bytes that are compared only in the bits under a mask.
    Masked {
        /// The expected bytes.
        bytes: Span,
        /// The mask: a set bit is compared.
        mask: Span,
    },
    /// Numbers with a separate tolerance for each.
    Near {
        /// The expected numbers, binary64.
        values: Span,
        /// The tolerance of each number, binary64.
        allowed: Span,
    },
}

/// A range of the file `buffers.bin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Offset of the first byte.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// The plan's prediction for a launch, made before code was emitted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PackedPrediction {
    /// Number of times that the kernel repeats the planned work.
    pub rounds: u32,
    /// Predicted cycles of a block for one repetition, by the target's costs.
    pub cycles: f64,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u64,
    /// Operations and wavefronts of a warp in one repetition; `None` if they were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
}
