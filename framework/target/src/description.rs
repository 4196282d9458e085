//! One GPU product, as data.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{BankRow, CostTable, Direction, Evidence, LaneXors, NativeFunction, TensorMemory, Throughput};

/// One GPU product. Read from TOML with [`TargetDescription::from_toml`]; `docs/targets.md` describes the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct TargetDescription {
    /// The name that users give: lower-case letters, digits, `-` and `_`.
    #[cfg_attr(test, schemars(regex(pattern = r"^[a-z0-9_-]+$")))]
    pub name: String,
    /// What other compilers call a target of this kind, such as their word for its architecture.
    /// Several products may share one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// What the product is called, for people.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub product: String,
    /// The architecture, in the words of the tool chain; decides which plugin serves the target.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub architecture: String,
    /// Lanes of a warp.
    pub lanes: Lanes,
    /// Limits of a block and of a lane.
    pub limits: Limits,
    /// Shared memory.
    pub shared: Shared,
    /// Global memory.
    pub global: Global,
    /// How lanes of a warp can exchange values.
    pub exchanges: Vec<ExchangeRow>,
    /// What operations cost.
    pub costs: CostTable,
    /// How its matrix instructions are issued; absent where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix: Option<MatrixUnit>,
    /// How fast the whole product is; absent where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput: Option<Throughput>,
    /// Its tensor memory; absent where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tensor: Option<TensorMemory>,
    /// Functions of floating-point numbers that its hardware has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<NativeFunction>,
}

/// How fast a compute unit multiplies matrices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct MatrixUnit {
    /// Pipes of a compute unit that issue side by side, each for warps of its own.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub pipes: u32,
    /// For instructions whose rows give no cycles: multiply-adds of one pipe in a cycle, times the bits of
    /// the wider factor.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub bits_per_cycle: u32,
    /// The same of instructions that one warp issues by itself, where those that several warps issue together are faster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lone_bits_per_cycle: Option<u32>,
    /// How the figures are known.
    pub evidence: Evidence,
    /// Where they come from.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

/// Lanes of a warp; some hardware lets a kernel choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct Lanes {
    /// What a kernel gets that says nothing.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub default: u32,
    /// What it can choose from.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub choices: Vec<u32>,
    /// How the figures are known.
    pub evidence: Evidence,
    /// Where they come from.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

/// Limits of a block and of a lane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct Limits {
    /// Lanes of a block at most.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub lanes_per_block: u32,
    /// 32-bit registers of a lane at most.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub registers_per_lane: u32,
    /// 32-bit registers of all lanes of a block at most.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub registers_per_block: u32,
    /// Blocks of a cluster at most; one where there are no clusters.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub blocks_per_cluster: u32,
    /// Barriers of a block at which some of its warps may meet, by number from zero on; zero where all meet or none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub group_barriers: u32,
    /// How the figures are known.
    pub evidence: Evidence,
    /// Where they come from.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
fn is_none(count: &u32) -> bool {
    *count == 0
}

/// Shared memory of a block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct Shared {
    /// Bytes of a block at most.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub bytes: u32,
    /// Bytes of a block at most where it may only ask for them statically.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub static_bytes: u32,
    /// Allocations are rounded up to a multiple of this many bytes.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub grain_bytes: u32,
    /// Widths of plain loads and stores in bits per lane.
    #[cfg_attr(test, schemars(length(min = 1), inner(range(min = 8, max = 8192))))]
    pub access_bits: Vec<u32>,
    /// How banks serve accesses.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub banks: Vec<BankRow>,
    /// Whether loads and stores of one warp are seen in program order by its own lanes without
    /// a barrier.
    pub warp_ordered: bool,
    /// Whether asynchronous operations on whole tiles see shared memory through a proxy of their own, so that
    /// a fence must come between plain stores and their reads. Where a file says nothing there is none.
    #[serde(default)]
    pub asynchronous_proxy: bool,
    /// How the figures are known, the rows of `banks` aside.
    pub evidence: Evidence,
    /// Where they come from.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

fn usual_stages() -> u32 {
    3
}

/// Global memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct Global {
    /// Widths of plain loads and stores in bits per lane.
    #[cfg_attr(test, schemars(length(min = 1), inner(range(min = 8, max = 8192))))]
    pub access_bits: Vec<u32>,
    /// Bytes of the unit in which memory is transferred.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub transaction_bytes: u32,
    /// Buffers that what a loop copies from here has, where neither the launch nor the loop says how many: one is read, the others are
    /// under way. Where a file says nothing there are three.
    #[serde(default = "usual_stages")]
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub stages: u32,
    /// How the figures are known.
    pub evidence: Evidence,
    /// Where they come from.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

/// A primitive by which lanes of a warp exchange values.
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
pub struct ExchangeRow {
    /// What it can do.
    pub kind: ExchangeKind,
    /// Bits that every lane gives and receives in one issue.
    #[cfg_attr(test, schemars(range(min = 8, max = 8192)))]
    pub bits: u32,
    /// How the indices of lanes that exchange differ, each as a number that is added bit by bit; empty
    /// where any lane can be named, or they may differ in any way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lanes: Vec<u32>,
    /// How this is known.
    pub evidence: Evidence,
    /// Where it comes from.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

/// What an exchange primitive can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExchangeKind {
    /// Every lane names the lane that it reads from.
    Index,
    /// Lanes that differ in one bit of their index trade one word for another: those that have the
    /// bit their first for the others' second.
    Swap,
    /// Every lane reads from the lane whose index differs by a number that is the same for all lanes
    /// and part of the instruction.
    Xor,
}

impl TargetDescription {
    /// The function of this name and element, where the hardware has it.
    #[must_use]
    pub fn function(&self, name: &str, element: &str) -> Option<&NativeFunction> {
        self.functions.iter().find(|native| native.function == name && native.element == element)
    }

    /// The bank row for plain accesses of the given direction and width.
    #[must_use]
    pub fn bank_row(&self, direction: Direction, bits: u32) -> Option<&BankRow> {
        self.shared.banks.iter().find(|row| {
            row.instruction.is_none() && row.directions.contains(&direction) && row.access_bits.contains(&bits)
        })
    }

    /// The bank row for accesses by an instruction, of the given direction and width of a lane's part:
    /// its own where it has one, else that of plain accesses.
    #[must_use]
    pub fn instruction_bank_row(&self, name: &str, direction: Direction, bits: u32) -> Option<&BankRow> {
        let own = self.shared.banks.iter().find(|row| {
            row.instruction.as_deref() == Some(name)
                && row.directions.contains(&direction)
                && row.access_bits.contains(&bits)
        });
        own.or_else(|| self.bank_row(direction, bits))
    }

    /// Bits that one lane-index exchange moves; `None` where the target has none.
    #[must_use]
    pub fn index_exchange_bits(&self) -> Option<u32> {
        self.exchanges.iter().filter(|row| row.kind == ExchangeKind::Index).map(|row| row.bits).max()
    }

    /// Bits of the lane index, as powers of two, along which lanes swap words of `bits` bits.
    pub fn swapped_lanes(&self, bits: u32) -> impl Iterator<Item = u32> + '_ {
        let rows = self.exchanges.iter().filter(move |row| row.kind == ExchangeKind::Swap && row.bits == bits);
        rows.flat_map(|row| row.lanes.iter().copied())
    }

    /// Numbers by which the indices of lanes may differ that read each other's words of `bits` bits where
    /// all lanes differ alike.
    #[must_use]
    pub fn lane_xors(&self, bits: u32) -> LaneXors {
        let rows = self.exchanges.iter().filter(|row| row.kind == ExchangeKind::Xor && row.bits == bits);
        let of_row = |row: &ExchangeRow| match row.lanes.as_slice() {
            [] => LaneXors::ALL,
            masks => masks.iter().copied().collect(),
        };
        rows.map(of_row).fold(LaneXors::default(), LaneXors::union)
    }

    /// Shared memory that a block which asks for `bytes` is given.
    #[must_use]
    pub fn shared_allocation(&self, bytes: u64) -> u64 {
        bytes.next_multiple_of(u64::from(self.shared.grain_bytes.max(1)))
    }
}

/// What is wrong with a target file: always the file's author's to mend.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct TargetFileError {
    /// The file, as it was named.
    pub file: String,
    /// Line, from one.
    pub line: usize,
    /// Column, from one.
    pub column: usize,
    /// What is wrong, what was expected.
    pub message: String,
}
