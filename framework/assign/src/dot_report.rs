//! A dot with its plan, as reports show it.

use std::fmt;

use serde::Serialize;
use tilewright_plan::mma::{MmaPlan, MmaProblem, WarpPartition};

/// A dot with its plan: the instruction, the choices for it, its costs and layouts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DotReport {
    /// Name of the dot's result in the program's text, e.g. `%acc`.
    pub value: String,
    /// Name of the instruction that executes the dot.
    pub instruction: String,
    /// Number of contiguous elements along K that a lane holds of each operand; `None` if the plan does not choose it.
    pub k_width: Option<u64>,
    /// Number of contiguous elements along N (columns) that a lane holds; `None` if neither the program nor the search
    /// fixes it.
    pub n_width: Option<u64>,
    /// Whether the columns of each warp are contiguous; otherwise warps along N alternate.
    pub contiguous_warp_columns: bool,
    /// The warps along M and along N; `None` if neither the program nor the search fixes them.
    pub warps: Option<[u64; 2]>,
    /// Whether the instruction multiplies the transposed matrices: operand B is its first one.
    pub swap_ab: bool,
    /// Number of 32-bit registers of a lane that operands and accumulator take.
    pub registers: u64,
    /// Number of 32-bit registers of a lane that the dot needs beyond those that the lane has; they are spilled.
    pub spilled_registers: u64,
    /// Estimated cycles of a compute unit for one execution of the dot by a block.
    pub cycles: f64,
    /// The layouts of operand A, operand B and the accumulator; empty for an operand that the instruction reads from shared
    /// memory in a program without explicit memory.
    pub layouts: [String; 3],
}

impl DotReport {
    /// Creates the report of the dot with the result `value`, without layouts; `chosen` has the choices that are reported.
    pub(crate) fn new(value: String, plan: &MmaPlan, chosen: &MmaProblem) -> Self {
        let partition = chosen.warp_partition;
        Self {
            value,
            instruction: plan.atom_name().to_owned(),
            k_width: chosen.k_width,
            n_width: chosen.n_width,
            contiguous_warp_columns: chosen.contiguous_warp_columns,
            warps: partition.map(|WarpPartition { warps, .. }| warps),
            swap_ab: partition.is_some_and(|partition| partition.swap_ab),
            registers: plan.cost.registers,
            spilled_registers: plan.spilled_registers(),
            cycles: plan.cost.cycles(),
            layouts: Default::default(),
        }
    }
}

/// Prints the instruction and the choices, without the costs.
impl fmt::Display for DotReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mma {}: {}", self.value, self.instruction)?;
        self.k_width.iter().try_for_each(|width| write!(f, ", {width} contiguous K elements per lane"))?;
        self.n_width.iter().try_for_each(|width| write!(f, ", {width} contiguous columns per lane"))?;
        if self.contiguous_warp_columns {
            write!(f, ", contiguous columns per warp")?;
        }
        self.warps.iter().try_for_each(|[m, n]| write!(f, ", {m} x {n} warps"))?;
        if self.swap_ab {
            write!(f, ", A and B swapped")?;
        }
        match self.spilled_registers {
            0 => Ok(()),
            spilled => write!(f, ", spills {spilled} registers of a lane"),
        }
    }
}
