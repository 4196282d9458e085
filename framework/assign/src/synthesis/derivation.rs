//! The derivation of a program's layouts: the choices and constraints from which they follow, as a value that prints
//! and serializes.

use std::fmt;

use serde::Serialize;

use super::RejectedAlternative;
use super::alternatives::write_alternatives;
use super::model::{LaunchResourceCycles, PipeCycles};
use crate::DotReport;

/// The derivation of a program's layouts: the choices and constraints from which they follow, and the predicted time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Derivation {
    /// Name of the target for which the layouts are derived, e.g. `h100`.
    pub target: String,
    /// Number of warps of a block.
    pub warps: u32,
    /// Number of lanes of a warp.
    pub lanes: u32,
    /// The dots, from whose instructions register layouts follow.
    #[serde(rename = "products")]
    pub dots: Vec<DotReport>,
    /// The copies between memories.
    pub copies: Vec<CopyReport>,
    /// The tensors in registers, each with the constraint that determines its layout.
    pub registers: Vec<RegisterTensorReport>,
    /// The tensors in shared memory, with their layouts.
    pub memories: Vec<SharedTensorReport>,
    /// The pipelined loops.
    pub loops: Vec<SharedCopyLoopReport>,
    /// The copies to shared memory that cannot be bulk tensor copies, each with the reason; empty if the target has no
    /// bulk tensor copies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lane_copies: Vec<String>,
    /// The layout conversions that remain, each with the operation that requires it.
    pub conversions: Vec<String>,
    /// Bytes of shared memory of all tensors of the program.
    pub shared_bytes: u64,
    /// The predicted performance of the program.
    pub prediction: PredictedPerformance,
    /// The extent of the search among choices.
    pub search: SearchStats,
    /// The best choices that were tried and not taken, the fastest first; at most ten.
    pub alternatives: Vec<RejectedAlternative>,
}

/// A copy between memories, with its layout.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CopyReport {
    /// The operation that implements the copy.
    pub operation: String,
    /// The name of the copied value, or of the tensor that the copy fills.
    pub value: String,
    /// The distributed layout by which threads copy.
    pub layout: String,
    /// The reason why the copy has this layout, as text.
    pub constraint: String,
    /// How often the code has the copy: the prologue of a pipelined loop repeats the copies of the loop.
    pub emitted: u64,
}

/// A tensor in registers, with its layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RegisterTensorReport {
    /// Name of the tensor in the program's text, e.g. `%a`.
    pub value: String,
    /// Name of the operation that defines the tensor, e.g. `tt.load`.
    pub operation: String,
    /// The constraint that determines the tensor's layout.
    pub constraint: String,
    /// The tensor's layout.
    pub layout: String,
}

/// The predicted performance of a launch that gives each compute unit the same number of blocks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PredictedPerformance {
    /// Cycles until a compute unit has executed its blocks.
    pub cycles: f64,
    /// The same time in microseconds, at the clock of the target.
    pub microseconds: f64,
    /// Number of blocks that each compute unit executes.
    #[serde(rename = "blocks_of_a_unit")]
    pub blocks_per_compute_unit: u64,
    /// Number of blocks that are resident on a compute unit at a time.
    pub resident: u64,
    /// The resource that limits the number of resident blocks.
    pub limited_by: String,
    /// Number of 32-bit registers that a lane needs: for live tensors, and an assumed number for addresses and
    /// counters.
    pub registers: u64,
    /// Bytes of shared memory that a block takes.
    pub shared_bytes: u64,
    /// Cycles for which the launch keeps each resource of a compute unit busy.
    pub launch: LaunchResourceCycles,
    /// Cycles for which one block occupies each pipe.
    pub pipes: PipeCycles,
    /// Latency of one block in cycles.
    pub latency: f64,
    /// The bottleneck: the name of a pipe, or `latency`.
    pub bound_by: String,
}

/// A tensor in shared memory, with its layout and accesses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SharedTensorReport {
    /// The name of the tensor.
    pub tensor: String,
    /// The tensor's type before synthesis.
    pub ty: String,
    /// The tensor's layout.
    pub layout: String,
    /// The tensor's layout in CuTe notation, swizzle first.
    pub notation: String,
    /// The constraint of all accesses together: the layout in CuTe notation, with variables for the strides that no
    /// access determines. `None` if the hardware fixes the layout.
    pub term: Option<String>,
    /// The price of the tensor's layout, in shared-memory wavefronts of one warp: the sum over all accesses of the
    /// assumed number of executions times the sum of wavefronts and price of issue.
    pub price: f64,
    /// Bytes of all buffers of the tensor.
    pub bytes: u64,
    /// The accesses of the tensor.
    pub accesses: Vec<AccessReport>,
}

/// An access of a tensor in shared memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccessReport {
    /// The name of the operation that makes the access.
    pub operation: String,
    /// The operation and the value that it moves, as text.
    pub name: String,
    /// The instruction that executes the access; `None` for plain loads and stores.
    pub instruction: Option<String>,
    /// Number of bits that a lane moves in one access.
    pub vector_bits: u64,
    /// The constraint of this access: the layout in CuTe notation, with variables for the strides that it does not
    /// determine. `None` if the hardware fixes the layout.
    pub term: Option<String>,
    /// Number of access instructions that a warp issues in one execution of the access.
    pub issued: u64,
    /// Number of shared-memory wavefronts of a warp in one execution of the access.
    pub wavefronts: u64,
    /// Lower bound of `wavefronts` over all layouts of the tensor.
    pub least: u64,
    /// Number of wavefronts, of those in one execution, that are due to bank conflicts.
    pub excess: u64,
    /// How often the code has the access: the prologue of a pipelined loop repeats the copies of the loop.
    pub emitted: u64,
    /// Assumed number of executions of the access; each enclosing `scf.for` loop counts as a fixed number of
    /// iterations.
    pub weight: u64,
}

/// A loop that fills tensors in shared memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SharedCopyLoopReport {
    /// Number of stages; one less than this number of iterations is prefetched.
    pub stages: u32,
    /// Number of buffers of each tensor: one for each stage, or a single one if lanes hold the tiles of the next
    /// iteration in registers.
    pub buffers: u32,
    /// The names of the tensors that the loop fills.
    pub tensors: Vec<String>,
    /// Whether bulk tensor copies fill the tensors and complete on mbarriers.
    #[serde(rename = "boxes")]
    pub tensor_copies: bool,
    /// Number of producer warps, which only issue copies.
    pub producers: u32,
    /// Number of 32-bit registers of a lane of the other warps, and of the producer warps, which hand theirs over;
    /// `None` if all warps keep the registers of the launch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registers: Option<[u32; 2]>,
    /// Number of groups of consumer warps that alternate between the iterations of the loop around the loop (*ping-pong
    /// across tiles*); `None` without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tile_groups: Option<u32>,
    /// The exclusive sections of warp groups; `None` without ping-pong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ping_pong: Option<PingPongReport>,
    /// The names of the dots whose MMAs overlap with the next iteration.
    pub pending: Vec<String>,
    /// The reason why copies are not prefetched; `None` if they are.
    pub rejected: Option<String>,
}

/// The exclusive sections of warp groups in a loop (*ping-pong*).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PingPongReport {
    /// Number of warp groups that alternate.
    pub groups: u32,
    /// The name of the dot before which an exclusive section begins.
    pub first: String,
    /// The name of the dot after which it ends, in the same iteration or the next one.
    pub last: String,
}

/// The extent of the search among choices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SearchStats {
    /// Number of visited nodes of the tree: partial choices.
    pub nodes: usize,
    /// Number of leaves (complete choices) for which layouts were solved.
    pub leaves: usize,
    /// Number of leaves (complete choices) without a solution.
    pub unsatisfied: usize,
    /// Number of branches that were not searched. Their lower bound was not below the predicted time of the best leaf
    /// (complete choice), or the max number of leaves was reached.
    pub cut: usize,
}

impl Derivation {
    /// Returns the wavefronts of all shared-memory accesses in loops that are due to bank conflicts.
    #[must_use]
    pub fn conflict_wavefronts_in_loops(&self) -> u64 {
        let accesses = self.memories.iter().flat_map(|memory| &memory.accesses);
        accesses.filter(|access| access.weight > 1).map(|access| access.excess).sum()
    }
}

impl fmt::Display for Derivation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "for {}, {} warps of {} lanes", self.target, self.warps, self.lanes)?;
        for dot in &self.dots {
            writeln!(f, "{dot}, {:.0} cycles", dot.cycles)?;
            for (name, layout) in ["a", "b", "c"].iter().zip(&dot.layouts) {
                writeln!(f, "  {name}: {layout}")?;
            }
        }
        for copy in &self.copies {
            writeln!(f, "{}{}: {}", copy.heading(), emitted_text(copy.emitted), copy.constraint)?;
            writeln!(f, "  {}", copy.layout)?;
        }
        for line in &self.registers {
            writeln!(f, "registers {} of {}: {}", line.value, line.operation, line.constraint)?;
            writeln!(f, "  {}", line.layout)?;
        }
        for memory in &self.memories {
            write!(f, "{}, {} bytes", memory.heading(), memory.bytes)?;
            memory.term.iter().try_for_each(|term| write!(f, ", as all accesses require {term}"))?;
            writeln!(f)?;
            for access in &memory.accesses {
                let how = access.instruction.as_deref().unwrap_or("plain accesses");
                write!(f, "  {} by {how}", access.name)?;
                if access.vector_bits > 0 {
                    write!(f, " of {} bits", access.vector_bits)?;
                }
                access.term.iter().try_for_each(|term| write!(f, " requires {term}"))?;
                writeln!(f, ": {}{}", access_counts_text(access), emitted_text(access.emitted))?;
            }
        }
        self.loops.iter().try_for_each(|of| writeln!(f, "{of}"))?;
        self.lane_copies.iter().try_for_each(|of| writeln!(f, "no bulk tensor copy by {of}"))?;
        for conversion in &self.conversions {
            writeln!(f, "conversion {conversion}")?;
        }
        let SearchStats { nodes, leaves, unsatisfied, cut } = self.search;
        writeln!(f, "{} bytes of shared memory, {} registers per lane", self.shared_bytes, self.prediction.registers)?;
        write!(f, "{}", self.prediction)?;
        writeln!(f, "searched: {nodes} nodes, {leaves} leaves, {unsatisfied} without solution, {cut} branches pruned")?;
        write_alternatives(f, Some(&self.prediction), &self.alternatives)
    }
}

/// The accesses and wavefronts of a copy. Bulk copies take no wavefront, and MMAs that read shared memory no access.
fn access_counts_text(access: &AccessReport) -> String {
    let AccessReport { issued, wavefronts, least, .. } = access;
    let accesses = if *issued == 1 { "1 access".to_owned() } else { format!("{issued} accesses") };
    match (issued, wavefronts) {
        (0, 0) => "no access by lanes".to_owned(),
        (_, 0) => accesses,
        _ => format!("{accesses}, {wavefronts} wavefronts, {least} at least"),
    }
}

/// How often the code has a copy, if it has it several times.
fn emitted_text(emitted: u64) -> String {
    if emitted > 1 { format!(", emitted {emitted} times") } else { String::new() }
}

impl CopyReport {
    /// Returns the copy and the operation that implements it as text.
    pub(super) fn heading(&self) -> String {
        format!("copy {} by {}", self.value, self.operation)
    }
}

impl SharedTensorReport {
    /// Returns the tensor and its layout as text.
    pub(super) fn heading(&self) -> String {
        format!("tensor {}: {}", self.tensor, self.notation)
    }
}

impl fmt::Display for SharedCopyLoopReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "loop that fills {}: {} stage{}",
            self.tensors.join(", "),
            self.stages,
            if self.stages == 1 { "" } else { "s" }
        )?;
        if self.buffers < self.stages {
            write!(f, " with one buffer, refilled from registers")?;
        }
        if self.tensor_copies {
            write!(f, ", by bulk tensor copies that complete on mbarriers")?;
        }
        if self.producers > 0 {
            write!(f, ", issued by {} producer warp", self.producers)?;
        }
        if let Some([own, of_producers]) = self.registers {
            write!(f, " of {of_producers} registers, which leaves {own} to the others")?;
        }
        if let Some(groups) = self.tile_groups {
            write!(f, ", {groups} groups of consumer warps alternate between tiles")?;
        }
        if let Some(PingPongReport { groups, first, last }) = &self.ping_pong {
            write!(f, ", {groups} warp groups alternate from {first} to {last}")?;
        }
        if !self.pending.is_empty() {
            write!(f, ", {} overlaps with the next iteration", self.pending.join(", "))?;
        }
        self.rejected.iter().try_for_each(|reason| write!(f, "; {reason}"))
    }
}

impl fmt::Display for PredictedPerformance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cycles, blocks_per_compute_unit, resident, limited_by, latency, bound_by, .. } = self;
        writeln!(
            f,
            "predicted: {cycles:.0} cycles for {blocks_per_compute_unit} blocks per compute unit, {resident} resident (limited by {limited_by}); \
             {latency:.0} cycles of latency per block; bound by {bound_by}"
        )
    }
}
