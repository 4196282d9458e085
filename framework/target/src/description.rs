//! A GPU model as data.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{BankRow, CostTable, Direction, Evidence, LaneXors, MatrixUnit, NativeFunction, TensorMemory, Throughput};

/// The description of one GPU model. Read from TOML with [`TargetDescription::from_toml`]; `docs/targets.md` describes
/// the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct TargetDescription {
    /// Name of the target: lower-case letters, digits, `-` and `_`.
    #[cfg_attr(test, schemars(regex(pattern = r"^[a-z0-9_-]+$")))]
    pub name: String,
    /// Names that other compilers use for targets of this kind, such as their name of its architecture. Several targets
    /// may share one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Name of the GPU model as its vendor sells it, for people to read.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    #[serde(rename = "product")]
    pub gpu_model: String,
    /// Architecture as the tool chain names it; selects the plugin that serves the target.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub architecture: String,
    /// Numbers of lanes that a warp can have.
    pub lanes: Lanes,
    /// Limits on the size and the resources of a block and of a lane.
    pub limits: Limits,
    /// Properties of shared memory.
    pub shared: Shared,
    /// Properties of global memory.
    pub global: Global,
    /// The shuffle instructions of a warp.
    #[serde(rename(serialize = "exchanges"), alias = "exchanges")]
    pub shuffles: Vec<ShufflePrimitive>,
    /// Costs of operations.
    pub costs: CostTable,
    /// Throughput of MMA instructions; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix: Option<MatrixUnit>,
    /// Throughput of the whole device; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput: Option<Throughput>,
    /// Properties of tensor memory; `None` if the GPU model has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tensor: Option<TensorMemory>,
    /// Floating-point functions and casts that the hardware computes, such as `exp2`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<NativeFunction>,
}

/// The numbers of lanes that a warp can have; some hardware lets a kernel choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct Lanes {
    /// Number of lanes in a warp of a kernel that does not choose one.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub default: u32,
    /// The supported numbers of lanes in a warp.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub choices: Vec<u32>,
    /// Evidence for the values.
    pub evidence: Evidence,
    /// Source of the values.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

/// Limits of a block and of a lane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct Limits {
    /// Maximum number of lanes in a block.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub lanes_per_block: u32,
    /// Maximum number of 32-bit registers of a lane; if the target has register modes, of a kernel that chooses none.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub registers_per_lane: u32,
    /// The numbers of 32-bit registers of a lane among which a kernel can choose, ascending; empty if the hardware
    /// gives every kernel as many as it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub register_modes: Vec<u32>,
    /// Maximum number of 32-bit registers of all lanes of a block together.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub registers_per_block: u32,
    /// Maximum number of blocks in a cluster; 1 if the target has no clusters.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub blocks_per_cluster: u32,
    /// Number of named barriers of a block (PTX `barrier.sync a, b`), at which only some of its warps wait; zero if the
    /// target has only barriers of all warps.
    #[serde(default, skip_serializing_if = "is_none")]
    #[serde(rename(serialize = "group_barriers"), alias = "group_barriers")]
    pub named_barriers: u32,
    /// Evidence for the values.
    pub evidence: Evidence,
    /// Source of the values.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

impl Limits {
    /// Returns the register budgets of a lane, in 32-bit registers, for blocks of `threads` threads: first the budget
    /// of a kernel that chooses no register mode, then each larger mode that fits the block's registers.
    pub fn lane_registers(&self, threads: u32) -> impl Iterator<Item = u32> + '_ {
        let share = self.registers_per_block / threads.max(1);
        let larger =
            self.register_modes.iter().copied().filter(move |&mode| mode > self.registers_per_lane && mode <= share);
        std::iter::once(self.registers_per_lane.min(share)).chain(larger)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
fn is_none(count: &u32) -> bool {
    *count == 0
}

/// Properties of the shared memory of a block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct Shared {
    /// Maximum bytes of shared memory of a block.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub bytes: u32,
    /// Maximum bytes of shared memory that a block may declare statically.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub static_bytes: u32,
    /// Granularity of shared-memory allocations in bytes.
    #[cfg_attr(test, schemars(range(min = 1)))]
    #[serde(rename(serialize = "grain_bytes"), alias = "grain_bytes")]
    pub granularity_bytes: u32,
    /// Widths of plain loads and stores in bits per lane.
    #[cfg_attr(test, schemars(length(min = 1), inner(range(min = 8, max = 8192))))]
    pub access_bits: Vec<u32>,
    /// The bank table: an entry for each combination of direction and width of accesses.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub banks: Vec<BankRow>,
    /// Whether the lanes of a warp see loads and stores of their own warp in program order without a barrier.
    pub warp_ordered: bool,
    /// Whether asynchronous operations on whole tiles access shared memory through a proxy of their own, so that plain
    /// stores need a proxy fence before them. False by default.
    #[serde(default)]
    pub asynchronous_proxy: bool,
    /// Evidence for the values except `banks`.
    pub evidence: Evidence,
    /// Source of the values.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

fn usual_stages() -> u32 {
    3
}

/// Properties of global memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct Global {
    /// Widths of plain loads and stores in bits per lane.
    #[cfg_attr(test, schemars(length(min = 1), inner(range(min = 8, max = 8192))))]
    pub access_bits: Vec<u32>,
    /// Bytes of a memory transaction (a sector).
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub transaction_bytes: u32,
    /// Number of stages (buffers) of pipelined copies if neither the launch nor the loop sets one: one buffer is read,
    /// the copies to the others are in flight. Three by default.
    #[serde(default = "usual_stages")]
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub stages: u32,
    /// Evidence for the values.
    pub evidence: Evidence,
    /// Source of the values.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

/// A shuffle instruction: lanes of a warp pass values to each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
#[cfg_attr(
    test,
    schemars(extend(
        "if" = { "properties": { "kind": { "const": "swap" } } },
        "then" = { "required": ["lanes"] },
    ))
)]
pub struct ShufflePrimitive {
    /// Kind of the shuffle.
    pub kind: ShuffleKind,
    /// Number of bits that every lane gives and receives in one issue.
    #[cfg_attr(test, schemars(range(min = 8, max = 8192)))]
    pub bits: u32,
    /// Supported xor differences between the indices of communicating lanes; empty if any lane can be the source, or
    /// any difference is supported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lanes: Vec<u32>,
    /// Evidence for the values.
    pub evidence: Evidence,
    /// Source of the values.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

/// Kind of a shuffle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ShuffleKind {
    /// Every lane names its source lane.
    Index,
    /// Lanes that differ in one index bit swap one word for another: the lanes with the bit set swap their first word
    /// for the others' second.
    Swap,
    /// Every lane reads from the lane whose index differs by an immediate xor mask.
    Xor,
}

impl TargetDescription {
    /// Finds the hardware's function with this name and element type; `None` if the hardware computes no such function.
    #[must_use]
    pub fn function(&self, name: &str, element: &str) -> Option<&NativeFunction> {
        self.functions.iter().find(|native| native.function == name && native.element == element)
    }

    /// Returns the bank entry for plain accesses of the given direction and of `bits` bits per lane; `None` if there is
    /// none.
    #[must_use]
    pub fn bank_row(&self, direction: Direction, bits: u32) -> Option<&BankRow> {
        self.shared.banks.iter().find(|row| {
            row.instruction.is_none() && row.directions.contains(&direction) && row.access_bits.contains(&bits)
        })
    }

    /// Returns the bank entry for accesses by the instruction `name`, of the given direction and of `bits` bits per
    /// lane: the instruction's own entry, or else the entry for plain accesses. `None` if there is neither.
    #[must_use]
    pub fn instruction_bank_row(&self, name: &str, direction: Direction, bits: u32) -> Option<&BankRow> {
        let own = self.shared.banks.iter().find(|row| {
            row.instruction.as_deref() == Some(name)
                && row.directions.contains(&direction)
                && row.access_bits.contains(&bits)
        });
        own.or_else(|| self.bank_row(direction, bits))
    }

    /// Returns the number of bits that one indexed shuffle moves for each lane; `None` if the target has no indexed
    /// shuffle.
    #[must_use]
    pub fn index_shuffle_bits(&self) -> Option<u32> {
        self.shuffles.iter().filter(|row| row.kind == ShuffleKind::Index).map(|row| row.bits).max()
    }

    /// Returns the powers of two `2^b` for each bit `b` of the lane index across which the target swaps words of `bits`
    /// bits ([`ShuffleKind::Swap`]).
    pub fn swapped_lanes(&self, bits: u32) -> impl Iterator<Item = u32> + '_ {
        let rows = self.shuffles.iter().filter(move |row| row.kind == ShuffleKind::Swap && row.bits == bits);
        rows.flat_map(|row| row.lanes.iter().copied())
    }

    /// The XOR masks by which lanes can read words of `bits` bits from each other ([`ShuffleKind::Xor`]); all lanes use
    /// one mask.
    #[must_use]
    pub fn lane_xors(&self, bits: u32) -> LaneXors {
        let rows = self.shuffles.iter().filter(|row| row.kind == ShuffleKind::Xor && row.bits == bits);
        let of_row = |row: &ShufflePrimitive| match row.lanes.as_slice() {
            [] => LaneXors::ALL,
            masks => masks.iter().copied().collect(),
        };
        rows.map(of_row).fold(LaneXors::default(), LaneXors::union)
    }

    /// Returns the bytes of shared memory that the hardware allocates to a block that needs `bytes`: rounded up to the
    /// allocation granularity.
    #[must_use]
    pub fn shared_allocation(&self, bytes: u64) -> u64 {
        bytes.next_multiple_of(u64::from(self.shared.granularity_bytes.max(1)))
    }
}

/// An error in a target file; the error of the file's author.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct TargetFileError {
    /// Name of the file, as the caller gave it.
    pub file: String,
    /// Line, from one.
    pub line: usize,
    /// Column, from one.
    pub column: usize,
    /// The error in the file, and the expected text.
    pub message: String,
}
