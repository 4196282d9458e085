//! Throughput of matrix (MMA) instructions: pipes of a compute unit, and the rate of each kind of instruction.

use serde::{Deserialize, Serialize};

use super::{Evidence, Instruction, InstructionOperand, TargetDescription};
use tilewright_layout::Dim;

/// MMA throughput of a compute unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct MmaThroughput {
    /// Number of matrix pipes of a compute unit, which issue in parallel, each for its own warps.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub pipes: u32,
    /// MMA rate of one pipe, for instructions that have neither cycles in the instruction table nor an entry in
    /// `rates`: multiply-adds per cycle, times the width in bits of an element of the wider operand.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub bits_per_cycle: u32,
    /// As `bits_per_cycle`, for instructions that a single warp issues; if `None`, they are as fast as instructions
    /// that several warps issue together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename(serialize = "lone_bits_per_cycle"), alias = "lone_bits_per_cycle")]
    pub single_warp_bits_per_cycle: Option<u32>,
    /// Number of further instructions that a warp issues with each MMA that reads scales from registers, which bring the
    /// scales to the matrix pipe.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub scale_instructions: u32,
    /// Evidence for the cycles in the instruction table; if `None`, the source of each instruction documents its
    /// cycles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instruction_cycles: Option<InstructionCyclesEvidence>,
    /// Rates by issuer, element types and shapes; the first entry that matches an instruction applies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<MatrixRate>,
    /// Kind of evidence for the values of this table except `rates`: measured, documented or assumed.
    pub evidence: Evidence,
    /// Origin of the values of this table except `rates`: a document, a measurement or an assumption.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

/// Whether a count that a file may omit is zero.
#[allow(clippy::trivially_copy_pass_by_ref)] // the signature that serde requires
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Evidence for the cycles in the instruction table of a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct InstructionCyclesEvidence {
    /// Kind of evidence for the cycles: measured, documented or assumed.
    pub evidence: Evidence,
    /// Origin of the cycles: a document, a measurement or an assumption.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

/// The rate of the MMA instructions of some element types.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct MatrixRate {
    /// The threads that issue the instructions: one warp, several warps together, or one thread.
    pub issuer: MmaIssuer,
    /// Element types of A and B, by their names in the instruction table: A and B each have one type of this list.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub elements: Vec<String>,
    /// Element types of the accumulator (D), by their names in the instruction table: it has one type of this list.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub accumulators: Vec<String>,
    /// Shapes (M, N, K) of the instructions; empty if the rate applies to all shapes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shapes: Vec<[u64; 3]>,
    /// Whether the instructions take block scales of A and B.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub scaled: bool,
    /// Number of multiply-adds that one pipe finishes per cycle.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub multiply_adds_per_cycle: f64,
    /// Kind of evidence for the rate: measured, documented or assumed.
    pub evidence: Evidence,
    /// Origin of the rate: a document, a measurement or an assumption.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

/// The issuer of an MMA instruction, which determines the path of its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MmaIssuer {
    /// One warp, with the accumulator in its registers.
    Warp,
    /// Several warps together, with the accumulator in their registers.
    Warpgroup,
    /// One thread, with the accumulator in tensor memory.
    TensorMemory,
}

/// The cycles for which one issue of an MMA instruction occupies its pipe, with the evidence.
///
/// If several warps issue the instruction together, it occupies the pipe of each of them for this time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MmaIssueCycles<'t> {
    /// Number of cycles for which one issue occupies its pipe.
    pub cycles: f64,
    /// Kind of evidence for the number of cycles.
    pub evidence: Evidence,
    /// Origin of the number of cycles: a document, a measurement or an assumption.
    pub source: &'t str,
}

impl TargetDescription {
    /// Returns the cycles for which one issue of an MMA instruction of this target occupies its pipe: those of its
    /// table entry, else by the first rate of `matrix.rates` that fits, else by the width of its operands. `None` if it
    /// is no MMA instruction, or if the target file has no `[matrix]`.
    ///
    /// # Examples
    /// ```
    /// use tilewright_target::{Instruction, TargetDescription};
    /// fn occupied(target: &TargetDescription, row: &Instruction) -> String {
    ///     target.issue_cycles(row).map_or_else(|| "unknown".to_owned(), |issue| issue.cycles.to_string())
    /// }
    /// ```
    #[must_use]
    pub fn issue_cycles<'t>(&'t self, row: &'t Instruction) -> Option<MmaIssueCycles<'t>> {
        if let Some(cycles) = row.cycles {
            let other = self.matrix.as_ref().and_then(|matrix| matrix.instruction_cycles.as_ref());
            let (evidence, source) =
                other.map_or((Evidence::Documented, &row.source), |cycles| (cycles.evidence, &cycles.source));
            return Some(MmaIssueCycles { cycles, evidence, source });
        }
        let matrix = self.matrix.as_ref()?;
        let work = self.work(row)?;
        let fits = |rate: &&MatrixRate| {
            rate.issuer == work.issuer
                && rate.scaled == row.takes_scales()
                && (rate.shapes.is_empty() || row.mma_shape().is_some_and(|shape| rate.shapes.contains(&shape)))
                && rate.accumulators.iter().any(|name| name == work.accumulator)
                && work.operands.iter().all(|operand| rate.elements.iter().any(|name| name == operand))
        };
        let multiply_adds = work.multiply_adds / f64::from(work.warps);
        if let Some(rate) = matrix.rates.iter().find(fits) {
            let cycles = multiply_adds / rate.multiply_adds_per_cycle;
            return Some(MmaIssueCycles { cycles, evidence: rate.evidence, source: &rate.source });
        }
        let (bits_per_cycle, source) = match (work.issuer, &self.tensor) {
            (MmaIssuer::TensorMemory, Some(tensor)) => (tensor.bits_per_cycle, &tensor.source),
            (MmaIssuer::Warp, _) => {
                (matrix.single_warp_bits_per_cycle.unwrap_or(matrix.bits_per_cycle), &matrix.source)
            }
            _ => (matrix.bits_per_cycle, &matrix.source),
        };
        let cycles = multiply_adds * f64::from(work.bits) / f64::from(bits_per_cycle.max(1));
        Some(MmaIssueCycles { cycles, evidence: Evidence::Assumed, source })
    }

    /// Returns the number of multiply-adds that the matrix pipes of a compute unit finish per cycle by an MMA
    /// instruction of this target; `None` where [`Self::issue_cycles`] returns `None`.
    #[must_use]
    pub fn mma_multiply_adds_per_cycle(&self, row: &Instruction) -> Option<f64> {
        let (work, cycles) = (self.work(row)?, self.issue_cycles(row)?.cycles);
        let pipes = self.matrix.as_ref().map_or(1, |matrix| matrix.pipes.max(1));
        Some(work.multiply_adds / f64::from(work.warps) / cycles * f64::from(pipes))
    }

    /// Returns the number of multiply-adds in `f32` that the lanes of a compute unit finish per cycle without MMA
    /// instructions.
    #[must_use]
    pub fn lane_multiply_adds_per_cycle(&self) -> f64 {
        f64::from(self.lanes.default) / self.costs.multiply_add_cycles()
    }

    /// Returns the work of one issue of an MMA instruction: its multiply-adds, operand width and issuer; `None` if it
    /// is no MMA instruction.
    fn work<'t>(&self, row: &'t Instruction) -> Option<MmaWork<'t>> {
        let [mut m, n, k] = row.mma_shape()?;
        let (mut blocks, mut warps, mut issuer) = (1, 1, MmaIssuer::Warp);
        let mut accumulator = "";
        let mut operands = ["", ""];
        let mut bits = 0;
        for operand in &row.operands {
            let (role, element, width) = match operand {
                InstructionOperand::Register { role, element, bits, .. } => (role, element, *bits),
                InstructionOperand::Memory(memory) => (&memory.role, &memory.element, memory.bits),
                InstructionOperand::Tensor(tile) => (&tile.role, &tile.element, tile.bits),
                _ => continue,
            };
            match (role.as_str(), operand) {
                ("d", InstructionOperand::Register { layout, .. }) => {
                    accumulator = element;
                    blocks = 1 << layout.out_bits(Dim::tensor(2));
                    warps = 1u32 << layout.in_bits(Dim::WARP);
                    issuer = if warps > 1 { MmaIssuer::Warpgroup } else { MmaIssuer::Warp };
                }
                ("d", InstructionOperand::Tensor(tile)) => {
                    accumulator = element;
                    issuer = MmaIssuer::TensorMemory;
                    // An accumulator that fills only some rows of tensor memory takes as many cycles as one that fills
                    // all rows.
                    m = 1 << tile.layout.in_bits(Dim::ROW);
                    warps = self.tensor.as_ref().map_or(1, |tensor| tensor.rows / tensor.warp_rows.max(1)).max(1);
                }
                ("a" | "b", _) => {
                    operands[usize::from(role == "b")] = element;
                    bits = bits.max(width);
                }
                _ => {}
            }
        }
        let multiply_adds = (m * n * k * blocks) as f64;
        Some(MmaWork { multiply_adds, bits, warps, issuer, operands, accumulator })
    }
}

/// The work of one issue of an MMA instruction: the multiply-adds of all warps that issue it together, and the
/// properties by which its rate is found.
struct MmaWork<'t> {
    multiply_adds: f64,
    /// Width of an element of the wider operand.
    bits: u32,
    /// Number of warps, each with a pipe, over which the work is divided.
    warps: u32,
    issuer: MmaIssuer,
    operands: [&'t str; 2],
    accumulator: &'t str,
}
