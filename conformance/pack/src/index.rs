//! What is in a pack: the file `index.json`.

use serde::{Deserialize, Serialize};
use tilewright_kernel::{Counts, TensorMapBinding};
use tilewright_plugin::{Emit, KernelMetadata};
use tilewright_target::TargetDescription;

use crate::Figure;

/// The version of the format that is written here, and the only one that is read.
pub const VERSION: u32 = 1;

/// All that a pack holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PackIndex {
    /// [`VERSION`] of who wrote it.
    pub version: u32,
    /// Version of the suite.
    pub suite: String,
    /// When it was made, in the words of whoever asked for it; nobody's where not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The target that it is for.
    pub target: TargetDescription,
    /// Who compiled it; nobody known by name where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin: Option<Maker>,
    /// The compiled kernels.
    pub codes: Vec<PackedCode>,
    /// The cases, by name.
    pub cases: Vec<PackedCase>,
    /// Cases of which there is no code, with the reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

/// The plugin that compiled a pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Maker {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What makes its code, such as `LLVM 22`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub built_with: Vec<String>,
    /// SHA-256 of its library in hexadecimal digits; empty where it could not be read.
    pub sha256: String,
}

/// Compiled code, in files of the folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedCode {
    /// One file for each form.
    pub files: Vec<File>,
    /// What a launcher must know of each kernel in it.
    pub kernels: Vec<KernelMetadata>,
    /// The tool that took it as valid, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_by: Option<String>,
}

/// One form of code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Which form.
    pub form: Emit,
    /// The format by its usual extension.
    pub format: String,
    /// The file's name in the folder `code` of the pack.
    pub file: String,
}

/// A case that could not be packed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// A case: its runs, all of which must be right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PackedCase {
    /// Its name in the suite.
    pub name: String,
    /// The runs.
    pub trials: Vec<Trial>,
    /// Its place in a figure, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<Figure>,
}

/// One launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Number of the code.
    pub code: usize,
    /// The entry: a kernel's name in the code, which says how many lanes and warps a block has.
    pub kernel: String,
    /// Blocks along the three axes.
    pub grid: [u32; 3],
    /// One for each parameter.
    pub arguments: Vec<PackedArgument>,
    /// The buffers.
    pub buffers: Vec<PackedBuffer>,
    /// What the plan says of it, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted: Option<PackedPrediction>,
}

/// An argument of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PackedArgument {
    /// The address of the buffer of this number.
    Buffer(usize),
    /// A number, by its bits.
    Scalar {
        /// The bits, zero-extended.
        bits: u64,
        /// Its width in bits.
        width: u32,
    },
    /// A tensor in the buffer of this number, for a parameter that is a map of one.
    Tensor(TensorMapBinding<usize>),
}

/// A buffer of a launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PackedBuffer {
    /// Its name.
    pub name: String,
    /// What its elements are, as cases of programs call them.
    pub element: String,
    /// Its shape, row-major.
    pub shape: Vec<u64>,
    /// What it holds before.
    pub before: Span,
    /// What it must hold after.
    pub after: PackedExpectation,
}

/// What a buffer must hold after a launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PackedExpectation {
    /// The same bytes as before.
    Unchanged,
    /// Anything.
    Anything,
    /// Numbers that may be off by `absolute` and `relative` times their magnitude.
    Expected {
        /// The numbers, as the buffer's elements.
        numbers: Span,
        /// Times the magnitude.
        relative: f64,
        /// Added to it.
        absolute: f64,
    },
    /// Certain bits; the others may be anything.
    Masked {
        /// The bytes.
        bytes: Span,
        /// The bits of them that are compared.
        mask: Span,
    },
    /// Numbers that may be off by an amount of their own each.
    Near {
        /// The numbers, binary64.
        values: Span,
        /// By how much each may be off, binary64.
        allowed: Span,
    },
}

/// Bytes of the file `buffers.bin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Where they begin.
    pub offset: u64,
    /// How many there are.
    pub bytes: u64,
}

/// What was predicted of a launch before anything was emitted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PackedPrediction {
    /// How often the kernel does what is counted.
    pub rounds: u32,
    /// Cycles of a block for one round, by the target's table.
    pub cycles: f64,
    /// Bytes of shared memory.
    pub shared_bytes: u64,
    /// What a warp executes in a round, wavefronts among it, where that is counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
}
