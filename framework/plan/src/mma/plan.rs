//! The plan of an MMA: an atom, its repetitions, and the layouts that follow from them.

use tilewright_layout::{Dim, LinearLayout, Space};
use tilewright_target::{Queue, TargetDescription};

use super::cast::NativeCasts;
use super::cost::{self, MmaCost};
use super::elements::in_byte;
use super::mma_atom::MmaAtom;
use super::operand_load;
use super::operands::Operands;
use super::order::Order;
use super::tiling::Tiling;
use super::{MmaError, MmaProblem};

/// Number of 32-bit registers of a lane that a plan leaves for addresses and indices.
const ADDRESS_REGISTERS: u64 = 32;

/// Log2 of the max number of times that a warp's code for one chunk of K issues the atom, fully unrolled (for plain
/// multiply-adds: the multiply-adds of one lane). An MMA that needs more issues is divided into smaller chunks of K,
/// and a loop iterates over them.
const MOST_WRITTEN: u32 = 10;

/// The plan by which a block multiplies two matrices: the MMA atom, its repetitions, layouts and cost.
#[derive(Debug, Clone, PartialEq)]
pub struct MmaPlan {
    /// The MMA problem that the plan solves: shape, element types, warps and constraints.
    pub problem: MmaProblem,
    /// The layout of `a`, M x K of a chunk: from registers, lanes and warps, or from offsets if the atom reads `a` from
    /// shared memory. Offsets count elements of the atom's type, or bytes if these are narrower.
    pub a: LinearLayout,
    /// The layout of `b`, K of a chunk x N: from registers, lanes and warps, or from offsets if the atom reads `b` from
    /// shared memory.
    pub b: LinearLayout,
    /// The layout of the accumulator, M x N.
    pub c: LinearLayout,
    /// Layouts of the scales of `a`, M x blocks of K in a chunk, and of `b`, N x blocks; a block is the elements of K
    /// that share a scale. `None` for an operand without scales.
    pub scales: [Option<LinearLayout>; 2],
    /// The cost of the plan, in cycles and registers.
    pub cost: MmaCost,
    pub(super) atom: MmaAtom,
    pub(super) tiling: Tiling,
    pub(super) order: Order,
    /// Cast instructions of the target, by which the plan converts operands to the atom's element types.
    pub(super) native_casts: NativeCasts,
    width: u32,
    spilled: u64,
    /// The register mode: 32-bit registers of a lane that the kernel must be compiled for; 0 for the target's default.
    registers: u32,
    /// For operands A and B in the program's own shared memory, the index of the first tile along dim0 and dim1: not
    /// zero if the operand is a part of the tensor there.
    pub(super) first_tiles: [[u64; 2]; 2],
}

impl MmaPlan {
    /// Plans an MMA by an atom with 2^`warps[0]` warp groups along M and 2^`warps[1]` along N. The chunk (the part of K
    /// that is multiplied at a time) is the largest whose operands and accumulator take at most half of a lane's
    /// registers, else the smallest that the atom takes. A chunk may take all registers but [`ADDRESS_REGISTERS`] if the
    /// atom reads both operands from shared memory, since they take registers only until they are stored, or if it reads
    /// one that the program has there, since it then reads all of K at once. A larger register mode is taken only if no
    /// chunk fits the default mode, since fewer threads then fit on a compute unit.
    pub(super) fn new(
        problem: &MmaProblem,
        atom: &MmaAtom,
        warps: [u32; 2],
        target: &TargetDescription,
    ) -> Result<Self, MmaError> {
        let unknown = || format!("a lane cannot have {} registers", problem.registers.unwrap_or_default());
        let mut refused = Err(MmaError::Impossible { reasons: unknown() });
        let limits = cost::limits(problem, target);
        for (index, &limit) in limits.iter().enumerate() {
            let may_spill = problem.may_spill && index + 1 == limits.len();
            let plan = Self::within_registers(problem, atom, warps, (limit, may_spill), target);
            let is_stated = problem.registers.is_some() || limit > target.limits.registers_per_lane;
            match plan {
                Ok(plan) => return Ok(Self { registers: if is_stated { limit } else { 0 }, ..plan }),
                Err(error) => refused = Err(error),
            }
        }
        refused
    }

    /// Plans the MMA for kernels whose lanes have at most `limit` 32-bit registers. If `may_spill`, the smallest chunk
    /// may need more.
    fn within_registers(
        problem: &MmaProblem,
        atom: &MmaAtom,
        warps: [u32; 2],
        (limit, may_spill): (u32, bool),
        target: &TargetDescription,
    ) -> Result<Self, MmaError> {
        let k = problem.bits()[2];
        let limit = u64::from(limit);
        let within = target.tensor.as_ref().map_or(0, |memory| memory.columns);
        let (mut smallest, mut reason) = (None, "the matrices have no elements".to_owned());
        if !Tiling::new(atom, problem, warps, k).has_columns_beside() {
            let reasons = "registers repeat it along N fewer times than the requested columns need".to_owned();
            return Err(MmaError::Impossible { reasons });
        }
        // A chunk contains whole bytes.
        let least = problem.operand_types().map(in_byte).into_iter().fold(atom.tile[2], u32::max);
        for chunk in (least.min(k)..=k).rev() {
            let tiling = Tiling::new(atom, problem, warps, chunk);
            let plan = Self::of_tiling(problem, atom, tiling, natural_width(problem, atom, &tiling), target)?;
            let columns = plan.tensor_memory_columns();
            if columns > within {
                // A shorter chunk has fewer scales.
                reason = format!("it needs {columns} columns of tensor memory, there are {within}");
                continue;
            }
            let is_possible = plan.shared_bytes() <= u64::from(target.shared.bytes)
                && tiling.repeats().iter().sum::<u32>() <= MOST_WRITTEN;
            if is_possible && plan.cost.registers <= plan.most_registers(limit) {
                return Ok(plan);
            }
            // Among chunks that spill equally many registers, the largest spills them the fewest times. Operands in
            // shared memory take registers only if the program does not have them there yet.
            let is_kept = |(kept, is_possible): &(Self, bool)| {
                *is_possible && (kept.reads_all_k() || kept.cost.registers <= plan.cost.registers)
            };
            if !(may_spill && smallest.as_ref().is_some_and(is_kept)) {
                smallest = Some((plan, is_possible));
            }
        }
        match smallest {
            Some((plan, _)) if plan.cost.registers <= limit => Ok(plan),
            Some((plan, _)) if may_spill => {
                let spilled = plan.cost.registers - limit;
                Ok(plan.with_spilled(spilled, target))
            }
            Some((plan, _)) => Err(MmaError::Registers { needed: plan.cost.registers, limit }),
            None => Err(MmaError::Impossible { reasons: reason }),
        }
    }

    /// Returns the most registers that a chunk may take of the `limit` registers of a lane ([`MmaPlan::new`]).
    fn most_registers(&self, limit: u64) -> u64 {
        if self.reads_all_k() { limit.saturating_sub(ADDRESS_REGISTERS).max(limit / 2) } else { limit / 2 }
    }

    /// Whether the atom reads all of K from shared memory at once: both operands, or one that the program has there.
    fn reads_all_k(&self) -> bool {
        let in_memory = [&self.a, &self.b].map(|layout| layout.ins().contains(Dim::OFFSET));
        in_memory == [true; 2] || in_memory.contains(&true) && !self.problem.stores_operands
    }

    /// Returns the plan with the cost of spilling `spilled` registers of each lane, once for each chunk.
    fn with_spilled(self, spilled: u64, target: &TargetDescription) -> Self {
        let costs = &target.costs;
        let each = costs.shared_store_wavefront.cycles + costs.shared_load_wavefront.cycles;
        let count = spilled * self.chunk_count() * u64::from(self.problem.warps);
        Self { cost: MmaCost { spill_cycles: count as f64 * each, ..self.cost }, spilled, ..self }
    }

    fn of_tiling(
        problem: &MmaProblem,
        atom: &MmaAtom,
        tiling: Tiling,
        width: u32,
        target: &TargetDescription,
    ) -> Result<Self, MmaError> {
        let natural = Order::identity(tiling.k_bits(), tiling.chunk);
        let order = match atom.scales {
            // An instruction that takes scales fixes which elements of K form a block.
            Some(_) => natural.clone(),
            None => Order::new(&tiling.in_registers(atom, problem.k_permuted), width, tiling.k_bits(), tiling.chunk),
        };
        let orders = problem.k_permuted.map(|k_permuted| if k_permuted { &natural } else { &order });
        let (a, b, c) =
            (tiling.layout_a(atom, orders[0])?, tiling.layout_b(atom, orders[1])?, tiling.accumulator_layout(atom)?);
        let mut in_registers = [tiling.layout_a(atom, &order)?, tiling.layout_b(atom, &order)?];
        for (side, operands) in [&atom.a, &atom.b].into_iter().enumerate() {
            // An operand that is stored to shared memory is scaled before, in the registers from which it is stored.
            if operands.memory.is_some() && problem.scales[side].is_some() {
                in_registers[side] = operand_load::stored_from(problem, tiling.chunk, side, target)?;
            }
        }
        let scales = tiling.scale_layouts(atom, problem, [&in_registers[0], &in_registers[1]])?;
        let cost = MmaCost::new(problem, (atom, &tiling), ([&a, &b], &c), &scales, target);
        let (problem, atom, native_casts) = (problem.clone(), atom.clone(), NativeCasts::from_target(target));
        let first_tiles = [[0; 2]; 2];
        let (spilled, registers) = (0, 0);
        Ok(Self {
            problem,
            a,
            b,
            c,
            scales,
            cost,
            atom,
            tiling,
            order,
            native_casts,
            width,
            spilled,
            registers,
            first_tiles,
        })
    }

    /// Returns the same plan with 2^`width` consecutive elements of K in a lane.
    pub(super) fn with_width(&self, width: u32, target: &TargetDescription) -> Result<Self, MmaError> {
        let plan = Self::of_tiling(&self.problem, &self.atom, self.tiling, width, target)?;
        Ok(Self { registers: self.registers, ..plan.with_spilled(self.spilled, target) })
    }

    /// Returns log2 of the possible numbers of consecutive elements of K in a lane, the atom's own first.
    pub(super) fn widths(&self) -> Vec<u32> {
        let natural = natural_width(&self.problem, &self.atom, &self.tiling);
        let is_padded = self.atom.tile[2] > self.tiling.chunk;
        if self.atom.scales.is_some() || self.problem.k_permuted.contains(&true) && is_padded {
            return vec![natural];
        }
        let most = (self.tiling.in_registers(&self.atom, self.problem.k_permuted).len() as u32).min(self.tiling.chunk);
        std::iter::once(natural).chain((0..=most).filter(|&width| width != natural)).collect()
    }

    /// Returns the name of the MMA instruction; `None` for plain multiply-adds.
    #[must_use]
    pub fn instruction(&self) -> Option<&str> {
        self.atom.row.as_deref()
    }

    /// Returns the name of the MMA atom: of its instruction, or `multiply-adds`.
    #[must_use]
    pub fn atom_name(&self) -> &str {
        self.atom.name()
    }

    /// Whether A and B are swapped: the atom's first operand is `b`, C^T = B^T A^T.
    #[must_use]
    pub fn is_transposed(&self) -> bool {
        self.atom.transposed
    }

    /// Number of warps along M and along N. Warps that issue together are along M.
    #[must_use]
    pub fn warp_partition(&self) -> [u64; 2] {
        let [m, n] = self.tiling.warps;
        [1 << (m + self.atom.group), 1 << n]
    }

    /// Returns the queue (PTX: async group) that a wait must drain to complete the MMAs; `None` if they complete at
    /// once.
    #[must_use]
    pub fn completion_queue(&self) -> Option<Queue> {
        self.atom.queue
    }

    /// Returns the size in bytes of the shared memory that holds one chunk of the operands that the atom reads from
    /// there; 0 if both operands are in registers.
    #[must_use]
    pub fn shared_bytes(&self) -> u64 {
        let bytes = |(layout, operands): (&LinearLayout, &Operands)| match &operands.memory {
            Some(memory) => u64::from(memory.bits / 8) << layout.in_bits(Dim::OFFSET),
            None => 0,
        };
        [(&self.a, &self.atom.a), (&self.b, &self.atom.b)].map(bytes).iter().sum()
    }

    /// Returns the register mode: the number of 32-bit registers of a lane that the kernel must be compiled for; 0 for
    /// the target's default. [`MmaPlan::emit_prologue`] requires it of the kernel.
    #[must_use]
    pub fn register_mode(&self) -> u32 {
        self.registers
    }

    /// Number of 32-bit registers of a lane that operands and accumulator need beyond those that it has; they are
    /// spilled. 0 unless [`MmaProblem::may_spill`].
    #[must_use]
    pub fn spilled_registers(&self) -> u64 {
        self.spilled
    }

    /// Number of elements of K that are loaded and multiplied at a time.
    #[must_use]
    pub fn chunk_elements(&self) -> u64 {
        1 << self.tiling.chunk
    }

    /// Number of chunks along K; a chunk is the part of K that is multiplied at a time.
    #[must_use]
    pub fn chunk_count(&self) -> u64 {
        self.problem.shape[2] / self.chunk_elements()
    }

    /// Number of steps along K, each of as many elements of K as the atom takes.
    #[must_use]
    pub fn k_steps(&self) -> u64 {
        (self.problem.shape[2] >> self.atom.tile[2]).max(1)
    }

    /// Number of bits of an element of operand A (`side` 0) or B (1) in the instruction.
    #[must_use]
    pub fn instruction_element_bits(&self, side: usize) -> u32 {
        [&self.atom.a, &self.atom.b][side.min(1)].element_type.bits()
    }

    /// Number of consecutive elements of K that a lane holds.
    #[must_use]
    pub fn k_width(&self) -> u64 {
        1 << self.width
    }

    /// Returns the K permutation of a pre-shuffled operand: the layout maps a position along K in the operand's memory
    /// to the position along K in the matrix.
    ///
    /// # Errors
    /// Plans of this module have a valid permutation, so no error occurs for them.
    pub fn k_permutation(&self) -> Result<LinearLayout, MmaError> {
        let [_, _, k] = self.problem.bits();
        let own = |bit: u32| if bit < self.tiling.chunk { self.order.position(1 << bit) } else { 1 << bit };
        let columns: Vec<u64> = (0..k).map(own).collect();
        let [ins, outs] = [Dim::OFFSET, Dim::tensor(0)].map(|dim| Space::from_sizes(&[(dim, 1 << k)]));
        Ok(LinearLayout::from_columns(ins?, outs?, &columns)?)
    }
}

/// Returns log2 of the consecutive elements of K that a lane holds in the atom's own order of K.
fn natural_width(problem: &MmaProblem, atom: &MmaAtom, tiling: &Tiling) -> u32 {
    let in_registers = tiling.in_registers(atom, problem.k_permuted);
    (0..).zip(&in_registers).take_while(|(bit, in_registers)| bit == *in_registers).count() as u32
}
