//! Modules and kernels.

use serde::{Deserialize, Serialize};

use super::{DerivedTensorMap, Region, Statement, TensorMap, Type};

/// A cluster has at most this many blocks.
pub const MAX_BLOCKS: u32 = 64;

/// A set of kernels that are compiled together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Module {
    /// The kernels; names differ.
    pub kernels: Vec<Kernel>,
}

/// One entry point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// Its name: letters, digits and underscores, not beginning with a digit.
    pub name: String,
    /// How it must be launched.
    pub launch: Launch,
    /// Parameters, which are values 0, 1, ... of the body; all uniform.
    pub parameters: Vec<Parameter>,
    /// Static shared memory.
    pub shared: Vec<SharedBuffer>,
    /// What every lane runs.
    pub body: Region,
}

/// The launch that a kernel is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Launch {
    /// Lanes of a warp.
    pub lanes: u32,
    /// Warps of a block.
    pub warps: u32,
    /// Blocks of a cluster, which run together and reach each other's shared memory; one where the
    /// kernel asks for none. Absent in the bytes of writers that know no clusters.
    #[serde(default = "one_block")]
    pub blocks: u32,
}

fn one_block() -> u32 {
    1
}

impl Launch {
    /// Blocks of so many warps of so many lanes, each block by itself.
    #[must_use]
    pub const fn new(lanes: u32, warps: u32) -> Self {
        Self { lanes, warps, blocks: 1 }
    }

    /// The same in clusters of so many blocks, neighbours along axis 0 of the grid.
    #[must_use]
    pub const fn with_blocks(self, blocks: u32) -> Self {
        Self { blocks, ..self }
    }
}

/// A parameter of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name, for people.
    pub name: String,
    /// Its type: a scalar, a pointer to global memory, or the map of a tensor there.
    pub ty: Type,
    /// What is mapped, where it is a map.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<TensorMap>,
    /// What the tensor of a map follows from, where the launch makes it of what it gives other parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<DerivedTensorMap>,
}

impl Parameter {
    /// A scalar or a pointer.
    #[must_use]
    pub fn plain(name: &str, ty: Type) -> Self {
        Self { name: name.to_owned(), ty, map: None, rows: None }
    }

    /// The map of a tensor in global memory.
    #[must_use]
    pub fn tensor(name: &str, map: TensorMap) -> Self {
        Self { name: name.to_owned(), ty: Type::TensorMap, map: Some(map), rows: None }
    }
}

/// A static buffer in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedBuffer {
    /// Size in bytes.
    pub bytes: u32,
    /// Alignment in bytes, a power of two.
    pub alignment: u32,
    /// The address of its first byte, where it is given a place: it may be that of others, which are in use at other
    /// times. Absent, it lies behind the buffer before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u32>,
}

impl SharedBuffer {
    /// A buffer without a place of its own.
    #[must_use]
    pub const fn new(bytes: u32, alignment: u32) -> Self {
        Self { bytes, alignment, at: None }
    }
}

impl Kernel {
    /// Shared memory of a block in bytes, buffers laid out in order at their alignments but for those that have a place.
    #[must_use]
    pub fn shared_bytes(&self) -> u64 {
        self.shared_offsets().1
    }

    /// Byte offset of every shared buffer, and the end of all.
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

    /// All statements in the order of their text, regions after the operation that holds them:
    /// where a message names operation number `n`, it means `statements()[n]`.
    #[must_use]
    pub fn statements(&self) -> Vec<&Statement> {
        let mut statements = Vec::new();
        self.body.collect_statements(&mut statements);
        statements
    }

    /// One more than the highest number of a value.
    #[must_use]
    pub fn value_limit(&self) -> u32 {
        let parameters = self.parameters.len() as u32;
        self.body.value_limit().max(parameters)
    }
}
