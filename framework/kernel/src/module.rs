//! Modules and kernels, with their launches, parameters and shared buffers.

use serde::{Deserialize, Serialize};

use super::{LaunchDerivedTensorMap, Region, Statement, TensorMap, Type};

/// Maximum number of blocks in a cluster.
pub const MAX_CLUSTER_BLOCKS: u32 = 64;

/// A set of kernels that are compiled together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Module {
    /// The kernels; their names differ.
    pub kernels: Vec<Kernel>,
}

/// A kernel: one entry point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// Name of the kernel: letters, digits and underscores, not beginning with a digit.
    pub name: String,
    /// The launch that the kernel is compiled for.
    pub launch: StaticLaunchConfig,
    /// The parameters, which are values 0, 1, ... of the body; all are uniform.
    pub parameters: Vec<Parameter>,
    /// Static buffers in shared memory.
    pub shared: Vec<SharedBuffer>,
    /// The code that every lane executes.
    pub body: Region,
    /// The source locations of statements, in the notation of MLIR: `"file.py":3:8`. The text of a kernel omits them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<String>,
}

/// The launch configuration that a kernel is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StaticLaunchConfig {
    /// Number of lanes in a warp.
    pub lanes: u32,
    /// Number of warps in a block.
    pub warps: u32,
    /// Number of blocks in a cluster, which run together and can access each other's shared memory; 1 without clusters.
    /// Absent in bytes from writers that predate clusters.
    #[serde(default = "one_block")]
    pub blocks: u32,
    /// Number of 32-bit registers of a lane that the kernel is compiled for; 0 for the target's default. Absent in
    /// bytes from writers that predate register modes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub registers: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
fn is_default(registers: &u32) -> bool {
    *registers == 0
}

fn one_block() -> u32 {
    1
}

impl StaticLaunchConfig {
    /// A launch of `warps` warps of `lanes` lanes per block, without clusters.
    #[must_use]
    pub const fn new(lanes: u32, warps: u32) -> Self {
        Self { lanes, warps, blocks: 1, registers: 0 }
    }

    /// The same launch in clusters of `blocks` blocks, adjacent along axis 0 of the grid.
    #[must_use]
    pub const fn with_blocks(self, blocks: u32) -> Self {
        Self { blocks, ..self }
    }

    /// The same launch with `registers` 32-bit registers of a lane; 0 for the target's default.
    #[must_use]
    pub const fn with_registers(self, registers: u32) -> Self {
        Self { registers, ..self }
    }
}

/// A parameter of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Name of the parameter, used in text and messages only.
    pub name: String,
    /// Type of the parameter: a scalar, a pointer to global memory, or a tensor map.
    pub ty: Type,
    /// The tensor map that the kernel is compiled for; `None` if the type is no tensor map.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<TensorMap>,
    /// How the launch derives the tensor of the tensor map from its other arguments (`rows of` in text); `None` if the
    /// caller gives the tensor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<LaunchDerivedTensorMap>,
}

impl Parameter {
    /// A parameter that is a scalar or a pointer.
    #[must_use]
    pub fn scalar_or_pointer(name: &str, ty: Type) -> Self {
        Self { name: name.to_owned(), ty, map: None, rows: None }
    }

    /// A parameter that is a tensor map.
    #[must_use]
    pub fn tensor_map(name: &str, map: TensorMap) -> Self {
        Self { name: name.to_owned(), ty: Type::TensorMap, map: Some(map), rows: None }
    }
}

/// A static buffer in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedBuffer {
    /// Size of the buffer in bytes.
    pub bytes: u32,
    /// Alignment of the buffer's address in bytes, a power of two.
    pub alignment: u32,
    /// Byte address of the buffer in the block's shared memory, if it is already allocated; buffers that are not live
    /// at the same time may overlap. `None`: the buffer follows the one before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u32>,
}

impl SharedBuffer {
    /// Creates a buffer without an address: it follows the buffers before it.
    #[must_use]
    pub const fn new(bytes: u32, alignment: u32) -> Self {
        Self { bytes, alignment, at: None }
    }
}

impl Kernel {
    /// Returns the number of bytes of shared memory that a block needs. Buffers without an address follow each other in
    /// order, each at its alignment.
    #[must_use]
    pub fn shared_bytes(&self) -> u64 {
        self.shared_offsets().1
    }

    /// Returns the byte offset of each shared buffer, in their order, and the greatest end offset of all buffers.
    #[must_use]
    pub fn shared_offsets(&self) -> (Vec<u64>, u64) {
        let (mut behind, mut end) = (0u64, 0u64);
        let mut offsets = Vec::with_capacity(self.shared.len());
        for buffer in &self.shared {
            let next = behind.next_multiple_of(u64::from(buffer.alignment.max(1)));
            let start = buffer.at.map_or(next, u64::from);
            offsets.push(start);
            behind = start + u64::from(buffer.bytes);
            end = end.max(behind);
        }
        (offsets, end)
    }

    /// Returns all statements in the order of the text; the statements of a region follow the operation that has the
    /// region. Operation number `n` of a message is `statements()[n]`.
    #[must_use]
    pub fn statements(&self) -> Vec<&Statement> {
        let mut statements = Vec::new();
        self.body.collect_statements(&mut statements);
        statements
    }

    /// Returns one more than the highest number of a value in the kernel.
    #[must_use]
    pub fn value_number_limit(&self) -> u32 {
        let parameters = self.parameters.len() as u32;
        self.body.value_limit().max(parameters)
    }
}
