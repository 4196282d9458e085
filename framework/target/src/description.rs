//! The description of a GPU model as data.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{
    BankTableEntry, CostTable, DeviceThroughput, Direction, Evidence, HardwareMathFunction, MmaThroughput,
    ShuffleXorMasks, TensorMemory,
};

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
    /// Language of the architecture's inline assembly, as import tables name it, such as `ptx`; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assembly: Option<String>,
    /// Numbers of lanes that a warp can have.
    pub lanes: SupportedWarpSizes,
    /// Limits on the size and the resources of a block and of a lane.
    pub limits: Limits,
    /// Properties of shared memory.
    pub shared: Shared,
    /// Properties of global memory.
    pub global: Global,
    /// The shuffle instructions, by which lanes of a warp read registers of other lanes.
    #[serde(rename(serialize = "exchanges"), alias = "exchanges")]
    pub shuffles: Vec<ShufflePrimitive>,
    /// Costs of the operations of data movement and of barriers.
    pub costs: CostTable,
    /// Throughput of MMA instructions; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix: Option<MmaThroughput>,
    /// Throughput of the whole device; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput: Option<DeviceThroughput>,
    /// Properties of tensor memory; `None` if the GPU model has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tensor: Option<TensorMemory>,
    /// Floating-point functions and casts that the hardware computes, such as `exp2`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<HardwareMathFunction>,
}

/// The numbers of lanes that a warp can have; some hardware lets a kernel choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct SupportedWarpSizes {
    /// Number of lanes in a warp of a kernel that does not choose one.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub default: u32,
    /// The supported numbers of lanes in a warp.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub choices: Vec<u32>,
    /// Kind of evidence for this entry's values: measured, documented or assumed.
    pub evidence: Evidence,
    /// Origin of this entry's values: a document, a measurement or an assumption.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

/// Limits on the size of a block, and on the registers of a block and of a lane.
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
    /// How warp groups of a block hand registers over to each other (PTX `setmaxnreg`); `None` if each lane keeps the
    /// registers of the launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub register_reallocation: Option<RegisterReallocation>,
    /// Kind of evidence for this entry's values: measured, documented or assumed.
    pub evidence: Evidence,
    /// Origin of this entry's values: a document, a measurement or an assumption.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

/// The numbers of registers that the lanes of a running block can change to. Released registers go to a pool of the
/// block, from which other lanes acquire them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RegisterReallocation {
    /// Number of lanes that change together: the lanes of whole, adjacent warps, aligned to this number in the block.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub lanes: u32,
    /// Minimum number of 32-bit registers of a lane.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub least: u32,
    /// Maximum number of 32-bit registers of a lane.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub most: u32,
    /// The number of registers of a lane is a multiple of this number.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub step: u32,
}

impl RegisterReallocation {
    /// Whether lanes can change to this number of 32-bit registers.
    #[must_use]
    pub fn allows(&self, registers: u32) -> bool {
        (self.least..=self.most).contains(&registers) && registers.is_multiple_of(self.step)
    }
}

impl Limits {
    /// Checks that the lanes of a block of `lanes` lanes can change to `registers` 32-bit registers.
    ///
    /// # Errors
    /// The reason as text: the target has no such change, not this number, or not in a block of this size.
    pub fn check_register_change(&self, registers: u32, lanes: u64) -> Result<(), String> {
        let Some(change) = &self.register_reallocation else {
            return Err(
                "lanes keep the registers of the launch on this target: expected no `set_max_registers`".to_owned()
            );
        };
        let RegisterReallocation { lanes: together, least, most, step } = *change;
        if !change.allows(registers) {
            return Err(format!("{registers} registers of a lane; expected {least} to {most} in steps of {step}"));
        }
        if !lanes.is_multiple_of(together.into()) {
            return Err(format!("{together} lanes change their registers together; the block has {lanes} lanes"));
        }
        Ok(())
    }

    /// Returns the register budgets of a lane, in 32-bit registers, for blocks of `threads` threads: first the budget
    /// of a kernel that chooses no register mode, then each larger mode that fits the block's registers.
    pub fn register_budgets(&self, threads: u32) -> impl Iterator<Item = u32> + '_ {
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
    /// Granularity in bytes: the hardware rounds the shared memory of a block up to a multiple of it.
    #[cfg_attr(test, schemars(range(min = 1)))]
    #[serde(rename(serialize = "grain_bytes"), alias = "grain_bytes")]
    pub granularity_bytes: u32,
    /// Supported widths of plain loads and stores of shared memory, in bits per lane.
    #[cfg_attr(test, schemars(length(min = 1), inner(range(min = 8, max = 8192))))]
    pub access_bits: Vec<u32>,
    /// The bank table: one entry for each combination of access direction, access width and, if it matters,
    /// instruction.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub banks: Vec<BankTableEntry>,
    /// Whether the lanes of a warp see loads and stores of their own warp in program order without a barrier.
    pub warp_ordered: bool,
    /// Whether bulk copies and MMA instructions access shared memory through a separate proxy (PTX async proxy), so
    /// that plain stores need a proxy fence before them. False by default.
    #[serde(default)]
    pub asynchronous_proxy: bool,
    /// Kind of evidence (measured, documented or assumed) for all values of this table except `banks`, whose entries
    /// have their own.
    pub evidence: Evidence,
    /// Origin of this table's values: a document, a measurement or an assumption.
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
    /// Supported widths of plain loads and stores of global memory, in bits per lane.
    #[cfg_attr(test, schemars(length(min = 1), inner(range(min = 8, max = 8192))))]
    pub access_bits: Vec<u32>,
    /// Size in bytes of a transaction of global memory (a sector).
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub transaction_bytes: u32,
    /// Alignment in bytes that suffices for plain loads and stores of any width; `None` if each needs the alignment of
    /// its width.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub alignment_bytes: Option<u32>,
    /// Rate of the unit that processes the addresses of a warp's access; `None` if it is unknown or never limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address_unit: Option<AddressUnitRate>,
    /// First-level cache of a compute unit that shares its capacity with shared memory; `None` if it is unknown or apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unified_cache: Option<UnifiedCache>,
    /// Atomic additions of vectors: each element is added atomically, the vector as a whole is not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vector_adds: Vec<VectorAtomicAdd>,
    /// Number of stages (buffers) of pipelined copies from which the choice of this number begins if neither the launch
    /// nor the loop sets it: one buffer is read, the copies to the others are in flight. Three by default.
    #[serde(default = "usual_stages")]
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub stages: u32,
    /// Kind of evidence for this entry's values: measured, documented or assumed.
    pub evidence: Evidence,
    /// Origin of this entry's values: a document, a measurement or an assumption.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

/// A first-level cache of global memory whose capacity the shared memory of the resident blocks reduces. Stores write
/// through, and a missing line loads only the sectors that an access touches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct UnifiedCache {
    /// Capacity in bytes of the cache and shared memory together.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub bytes: u32,
    /// Size of a cache line in bytes.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub line_bytes: u32,
    /// Kind of evidence for this entry's values: measured, documented or assumed.
    pub evidence: Evidence,
    /// Origin of this entry's values: a document, a measurement or an assumption.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

/// Widths of an atomic addition of several adjacent floating-point elements by one lane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct VectorAtomicAdd {
    /// Names of the element types.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub elements: Vec<String>,
    /// Supported widths in bits per lane. The address is aligned to the width.
    #[cfg_attr(test, schemars(length(min = 1), inner(range(min = 8, max = 8192))))]
    pub access_bits: Vec<u32>,
    /// Kind of evidence for this entry's values: measured, documented or assumed.
    pub evidence: Evidence,
    /// Origin of this entry's values: a document, a measurement or an assumption.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

impl Global {
    /// Returns the alignment in bytes that suffices for vectors: no plain load or store needs more. The maximum if each
    /// needs the alignment of its width.
    #[must_use]
    pub fn sufficient_alignment(&self) -> u64 {
        self.alignment_bytes.map_or(u64::MAX, u64::from)
    }

    /// Returns the widths in bits of atomic additions of vectors of an element type; none if there are only scalar
    /// ones.
    #[must_use]
    pub fn find_vector_add_bits(&self, element: &str) -> &[u32] {
        let row = self.vector_adds.iter().find(|row| row.elements.iter().any(|name| name == element));
        row.map_or(&[], |row| &row.access_bits)
    }
}

/// Rate of the unit that processes the addresses of accesses of global memory, group by group of consecutive lanes. A
/// group takes one cycle for each transaction that it touches, and no more cycles than if its lanes were scattered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct AddressUnitRate {
    /// Number of consecutive lanes in a group.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub group_lanes: u32,
    /// Number of lanes in a cycle if no two lanes access the same transaction.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub scattered_lanes: u32,
    /// Kind of evidence for this entry's values: measured, documented or assumed.
    pub evidence: Evidence,
    /// Origin of this entry's values: a document, a measurement or an assumption.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

impl AddressUnitRate {
    /// Returns the cycles of a group of lanes that touch this number of transactions.
    #[must_use]
    pub fn group_cycles(&self, transactions: u64) -> u64 {
        transactions.min(u64::from(self.group_lanes.div_ceil(self.scattered_lanes.max(1))))
    }
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
    /// Kind of the shuffle: how a lane's source lane is given.
    pub kind: ShuffleKind,
    /// Number of bits that every lane gives and receives in one issue.
    #[cfg_attr(test, schemars(range(min = 8, max = 8192)))]
    pub bits: u32,
    /// Supported xor masks between the index of a lane and of its source lane; powers of two for the kind `swap`. Empty
    /// if every mask is supported, and for the kind `index`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lanes: Vec<u32>,
    /// Kind of evidence for this entry's values: measured, documented or assumed.
    pub evidence: Evidence,
    /// Origin of this entry's values: a document, a measurement or an assumption.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

/// Kind of a shuffle, by how a lane's source lane is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ShuffleKind {
    /// Every lane gives the index of its source lane as an operand.
    Index,
    /// Two lanes whose indices differ in one bit swap a word: the first word of the lane with the bit set is swapped
    /// with the second word of the other lane.
    Swap,
    /// Every lane reads from the lane whose index differs by an immediate xor mask.
    Xor,
}

impl TargetDescription {
    /// Finds the hardware's instruction for the function `name` on the element type `element`; `None` if it has none.
    #[must_use]
    pub fn find_native_function(&self, name: &str, element: &str) -> Option<&HardwareMathFunction> {
        self.functions.iter().find(|native| native.function == name && native.element == element)
    }

    /// Returns the bank entry for plain accesses of the given direction and of `bits` bits per lane; `None` if the bank
    /// table has no such entry.
    #[must_use]
    pub fn find_bank_row(&self, direction: Direction, bits: u32) -> Option<&BankTableEntry> {
        self.shared.banks.iter().find(|row| {
            row.instruction.is_none() && row.directions.contains(&direction) && row.access_bits.contains(&bits)
        })
    }

    /// Returns the bank entry for accesses by the instruction `name`, of the given direction and of `bits` bits per
    /// lane: the instruction's own entry, or else the entry for plain accesses. `None` if there is neither.
    #[must_use]
    pub fn find_instruction_bank_row(&self, name: &str, direction: Direction, bits: u32) -> Option<&BankTableEntry> {
        let own = self.shared.banks.iter().find(|row| {
            row.instruction.as_deref() == Some(name)
                && row.directions.contains(&direction)
                && row.access_bits.contains(&bits)
        });
        own.or_else(|| self.find_bank_row(direction, bits))
    }

    /// Returns the number of bits per lane that one indexed shuffle moves ([`ShuffleKind::Index`]); `None` if the
    /// target has no indexed shuffle.
    #[must_use]
    pub fn index_shuffle_bits(&self) -> Option<u32> {
        self.shuffles.iter().filter(|row| row.kind == ShuffleKind::Index).map(|row| row.bits).max()
    }

    /// Returns the lane index bits across which the target swaps words of `bits` bits ([`ShuffleKind::Swap`]), each bit
    /// `b` as the number `2^b`.
    pub fn swap_lane_bits(&self, bits: u32) -> impl Iterator<Item = u32> + '_ {
        let rows = self.shuffles.iter().filter(move |row| row.kind == ShuffleKind::Swap && row.bits == bits);
        rows.flat_map(|row| row.lanes.iter().copied())
    }

    /// Returns the set of xor masks by which lanes can read words of `bits` bits from each other
    /// ([`ShuffleKind::Xor`]); one shuffle uses the same mask in all lanes.
    #[must_use]
    pub fn lane_xors(&self, bits: u32) -> ShuffleXorMasks {
        let rows = self.shuffles.iter().filter(|row| row.kind == ShuffleKind::Xor && row.bits == bits);
        let of_row = |row: &ShufflePrimitive| match row.lanes.as_slice() {
            [] => ShuffleXorMasks::ALL,
            masks => masks.iter().copied().collect(),
        };
        rows.map(of_row).fold(ShuffleXorMasks::default(), ShuffleXorMasks::union)
    }

    /// Returns the bytes of shared memory that the hardware allocates to a block that needs `bytes`: rounded up to the
    /// allocation granularity.
    #[must_use]
    pub fn allocated_shared_bytes(&self, bytes: u64) -> u64 {
        bytes.next_multiple_of(u64::from(self.shared.granularity_bytes.max(1)))
    }
}

/// An error in a target file, with its position in the file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct TargetFileError {
    /// Name of the target file, as the caller gave it.
    pub file: String,
    /// Line of the error, counted from one.
    pub line: usize,
    /// Column of the error in characters, counted from one.
    pub column: usize,
    /// The error, and the text that is expected in its place.
    pub message: String,
}
