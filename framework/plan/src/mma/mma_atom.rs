//! MMA atoms: a matrix instruction of the target, or plain multiply-adds of the lanes.

use crate::movement::{TensorMemoryMoveTable, TensorMemoryMoves};
use tilewright_kernel::Element;
use tilewright_target::{
    Completion, ElementType, Instruction, InstructionKind, InstructionOperand, Queue, Semantics, TargetDescription,
};

use super::MmaProblem;
use super::cast::{is_cast_supported, kernel_element};
use super::operands::Operands;
use super::row_accumulator::{InTensorMemory, RowAccumulator};
use super::scale::{BlockScale, has_subnormals_in};

/// The assumed rate of a matrix pipe for targets without data on matrix instructions: multiply-adds per cycle, times
/// the bits of an element of the wider operand type.
const ASSUMED_BITS_PER_CYCLE: f64 = 2048.0;

/// An MMA atom: a multiplication of small matrices by one warp, or by several warps that issue it together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MmaAtom {
    /// Name of the instruction; `None` for plain multiply-adds.
    pub row: Option<String>,
    /// Whether A and B are swapped: the instruction's `b` takes the problem's `a`, C^T = B^T A^T.
    pub transposed: bool,
    /// The layout of operand A, M x K.
    pub a: Operands,
    /// The layout of operand B, K x N.
    pub b: Operands,
    /// The layout of the accumulator in registers, M x N.
    pub accumulator: Operands,
    /// The accumulator in tensor memory; `None` if it is in registers. If set, `accumulator` is its layout in registers
    /// after the last MMA.
    pub tensor: Option<InTensorMemory>,
    /// The scales of both operands; `None` if the instruction takes no scales.
    pub scales: Option<Scales>,
    /// The roles of the instruction's operands, in the order of the instruction.
    pub order: Vec<Role>,
    /// Whether an integer accumulator saturates on overflow; otherwise it wraps.
    pub saturates: bool,
    /// Whether the instruction replaces subnormal elements of A and B by zero.
    pub flushes_subnormals: bool,
    /// Log2 of the atom's M, N and K.
    pub tile: [u32; 3],
    /// Log2 of the number of warps that issue the atom together.
    pub group: u32,
    /// The queue (PTX: async group) that a wait must drain to complete the MMA; `None` if the MMA is synchronous.
    pub queue: Option<Queue>,
    /// Cycles that one issue of the atom occupies a matrix pipe.
    pub cycles: f64,
    /// Number of matrix pipes of a compute unit, which work in parallel.
    pub pipes: u32,
}

/// The role of an instruction's operand in the MMA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    A,
    B,
    Accumulator,
    ScaleA,
    ScaleB,
    /// The predicate that selects whether the MMA adds to the accumulator or overwrites it.
    Accumulate,
}

/// The layouts of the scales that an atom takes: M x blocks for operand A, blocks x N for operand B. A block is the
/// elements of K that share a scale.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scales {
    pub a: Operands,
    pub b: Operands,
    /// The moves of each operand's scales from registers to tensor memory; `None` if the atom reads scales from
    /// registers.
    pub tensor: Option<[ScalesInTensorMemory; 2]>,
    /// Log2 of the number of elements of K that share a scale.
    pub block: u32,
}

/// The scales of one operand in tensor memory.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScalesInTensorMemory {
    pub moves: TensorMemoryMoves,
    /// Number of tensor-memory columns that the scales of one tile of the atom take.
    pub columns: u64,
}

/// A check of the element types of instructions' operands, which caches its last result: a table lists hundreds of
/// shapes with the same types one after the other.
#[derive(Default)]
pub(super) struct TypeChecks<'a> {
    last: Option<(OperandTypes<'a>, Result<(), String>)>,
}

/// Element types of an instruction's operands, as the vendor names them.
#[derive(Default, PartialEq)]
struct OperandTypes<'a> {
    a: Option<&'a str>,
    b: Option<&'a str>,
    result: Option<&'a str>,
    takes_scales: bool,
}

impl<'a> TypeChecks<'a> {
    /// Checks whether an instruction's operand types, or these with A and B swapped, can represent the values of the
    /// problem; no layouts are built. The error is the reason why the unswapped types do not fit.
    pub(super) fn check(&mut self, row: &'a Instruction, problem: &MmaProblem) -> Result<(), String> {
        let types = OperandTypes::of(row);
        if let Some((last, result)) = &self.last
            && *last == types
        {
            return result.clone();
        }
        let result = types.check(problem);
        self.last = Some((types, result.clone()));
        result
    }
}

impl<'a> OperandTypes<'a> {
    fn of(row: &'a Instruction) -> Self {
        let mut types = Self::default();
        for operand in &row.operands {
            let own = match operand.role() {
                Some("a") => &mut types.a,
                Some("b") => &mut types.b,
                Some("d") => &mut types.result,
                Some("scale_a" | "scale_b") => {
                    types.takes_scales = true;
                    continue;
                }
                _ => continue,
            };
            *own = own.or(operand.element());
        }
        types
    }

    fn check(&self, problem: &MmaProblem) -> Result<(), String> {
        let [a, b, result] = [self.a, self.b, self.result].map(|name| name.and_then(ElementType::from_name));
        let (Some(a), Some(b), Some(result)) = (a, b, result) else { return Ok(()) };
        check_accumulator(result, problem)?;
        let both = |a, b| {
            check_type("a", [problem.a, a], problem.scales[0], self.takes_scales)?;
            check_type("b", [problem.b, b], problem.scales[1], self.takes_scales)
        };
        both(a, b).or_else(|reason| both(b, a).map_err(|_| reason))
    }
}

/// The scales of one operand of an instruction: their layout in registers, log2 of their numbers of rows and columns,
/// and their moves to tensor memory (`None` if the instruction reads them from registers).
type RowScales = (Operands, [u32; 2], Option<ScalesInTensorMemory>);

fn row_scales(row: &Instruction, required: &str, table: &TensorMemoryMoveTable) -> Result<RowScales, String> {
    let Some(tile) = row.find_tensor_memory_operand(required) else {
        let (operands, size) = Operands::of(row, required)?;
        return Ok((operands, size, None));
    };
    let moves = table.cheapest_store(tile).ok_or("no instruction of the target stores its scales to tensor memory")?;
    let (operands, size) = Operands::in_registers(required, &tile.element, tile.bits, &moves.registers)?;
    Ok((operands, size, Some(ScalesInTensorMemory { moves, columns: tile.columns() })))
}

impl Scales {
    /// Returns the scales of an instruction whose tile has these sizes (log2 of M, N and K); `None` if it takes no
    /// scales. An instruction's table entry has the scales of `b` as columns of `b` x blocks; here they are transposed.
    fn of(row: &Instruction, [m, n, k]: [u32; 3], table: &TensorMemoryMoveTable) -> Result<Option<Self>, String> {
        if !row.takes_scales() {
            return Ok(None);
        }
        let ((a, of_a, tensor_a), (b, of_b, tensor_b)) =
            (row_scales(row, "scale_a", table)?, row_scales(row, "scale_b", table)?);
        if of_a[0] != m || of_b[0] != n || of_a[1] != of_b[1] || of_a[1] > k || a.element_type != b.element_type {
            return Err("the tiles of its scales do not fit those of its operands".to_owned());
        }
        let tensor = tensor_a.zip(tensor_b).map(|(a, b)| [a, b]);
        Ok(Some(Self { a, b: b.transposed(), tensor, block: k - of_a[1] }))
    }

    /// Whether the atom can multiply an operand with scales of this type and block, because its own scales have the
    /// same. `None`: the operand has no scales, and the atom gets scales of one.
    fn fit(&self, scale: Option<BlockScale>) -> bool {
        scale.is_none_or(|scale| scale.element_type == self.a.element_type && scale.bits() == self.block)
    }

    fn transposed(&self) -> Self {
        let tensor = self.tensor.clone().map(|[a, b]| [b, a]);
        Self { a: self.b.clone().transposed(), b: self.a.clone().transposed(), tensor, block: self.block }
    }
}

impl MmaAtom {
    /// Returns the atoms of an instruction: one, or one for each move to registers if the instruction accumulates in
    /// tensor memory.
    pub(super) fn of_row(
        row: &Instruction,
        problem: &MmaProblem,
        target: &TargetDescription,
        table: &mut TensorMemoryMoveTable,
    ) -> Result<Vec<Self>, String> {
        let saturates = match row.semantics {
            Semantics::Contract if row.kind == InstructionKind::Matrix => false,
            Semantics::ContractSaturating if row.kind == InstructionKind::Matrix => true,
            _ => return Err("it multiplies no matrices".to_owned()),
        };
        let ((a, [m, k]), (b, [k_of_b, n])) = (Operands::of(row, "a")?, Operands::of(row, "b")?);
        let accumulator = RowAccumulator::of(row, problem, target, table)?;
        if accumulator.iter().any(|accumulator| accumulator.size != [m, n]) || k != k_of_b {
            return Err("the tiles of its operands do not fit each other".to_owned());
        }
        let order = roles(row)?;
        let group = accumulator.first().map_or(0, |accumulator| accumulator.operands.warps.len());
        if [&a, &b].iter().any(|operand| operand.memory.is_none() && operand.warps.len() != group) {
            return Err("its operands are for different numbers of warps".to_owned());
        }
        let queue = match row.completion {
            Completion::Immediate => None,
            Completion::Queue(queue) => Some(queue),
            _ => return Err("it completes in an unknown manner".to_owned()),
        };
        let pipes = pipes(target);
        let wide = a.element_type.bits().max(b.element_type.bits());
        let group = group as u32;
        let assumed = || f64::from(wide) * f64::from(m + n + k - group).exp2() / ASSUMED_BITS_PER_CYCLE;
        let cycles = target.issue_cycles(row).map_or_else(assumed, |issue| issue.cycles);
        let scales = Scales::of(row, [m, n, k], table)?;
        let flushes_subnormals = row.numerics.as_ref().is_some_and(|numerics| numerics.summation.flushes_subnormals());
        let (row, tile) = (Some(row.name.clone()), [m, n, k]);
        let transposed = false;
        let atom = |RowAccumulator { operands, tensor, .. }: RowAccumulator| Self {
            row: row.clone(),
            transposed,
            a: a.clone(),
            b: b.clone(),
            accumulator: operands,
            tensor,
            scales: scales.clone(),
            order: order.clone(),
            saturates,
            flushes_subnormals,
            tile,
            group,
            queue,
            cycles,
            pipes,
        };
        Ok(accumulator.into_iter().map(atom).collect())
    }

    /// Returns the atom with A and B swapped; an operand in memory is transposed there. `None` if the accumulator is in
    /// tensor memory, because its moves to registers are found for one orientation only.
    pub(super) fn swap_ab(&self) -> Option<Self> {
        self.tensor.is_none().then(|| self.transposed())
    }

    /// Whether the atom reads some operand from shared memory.
    pub(super) fn reads_memory(&self) -> bool {
        self.a.memory.is_some() || self.b.memory.is_some()
    }

    /// Returns the same atom with A and B swapped.
    fn transposed(&self) -> Self {
        let swap_ab = |role: &Role| match role {
            Role::A => Role::B,
            Role::B => Role::A,
            Role::Accumulator => Role::Accumulator,
            Role::ScaleA => Role::ScaleB,
            Role::ScaleB => Role::ScaleA,
            Role::Accumulate => Role::Accumulate,
        };
        let [m, n, k] = self.tile;
        Self {
            transposed: true,
            a: self.b.clone().transposed(),
            b: self.a.clone().transposed(),
            accumulator: self.accumulator.clone().transposed(),
            scales: self.scales.as_ref().map(Scales::transposed),
            order: self.order.iter().map(swap_ab).collect(),
            tile: [n, m, k],
            ..self.clone()
        }
    }

    /// Builds the atom of plain multiply-adds: each lane has one element of a tile, and the lanes form a tile with
    /// 2^`rows` rows.
    pub(super) fn of_multiply_adds(problem: &MmaProblem, rows: u32, target: &TargetDescription) -> Self {
        let element_type = problem.accumulator;
        let columns = problem.lanes.trailing_zeros() - rows;
        let lanes = |row: u64, column: u64| -> Vec<[u64; 2]> {
            let along = (0..columns).map(|bit| [0, column << bit]);
            along.chain((0..rows).map(|bit| [row << bit, 0])).collect()
        };
        let operands = |row, column| Operands {
            element_type,
            bits: element_type.bits(),
            registers: vec![],
            lanes: lanes(row, column),
            warps: vec![],
            memory: None,
        };
        let pipes = pipes(target);
        let words = f64::from(element_type.bits().div_ceil(32));
        let operations = if kernel_ir_has_fma(element_type) { 1.0 } else { 2.0 };
        Self {
            row: None,
            transposed: false,
            a: operands(1, 0),
            b: operands(0, 1),
            accumulator: operands(1, 1),
            tensor: None,
            scales: None,
            order: vec![Role::A, Role::B, Role::Accumulator],
            saturates: false,
            flushes_subnormals: false,
            tile: [rows, columns, 0],
            group: 0,
            queue: None,
            cycles: operations * words * target.costs.multiply_add_cycles() * f64::from(pipes),
            pipes,
        }
    }

    /// Checks that the atom can compute the problem; the error gives the reason why not.
    pub(super) fn check(&self, problem: &MmaProblem) -> Result<(), String> {
        let lanes = 1u64 << self.accumulator.lanes.len();
        let in_registers = [&self.a, &self.b, &self.accumulator].into_iter().filter(|operand| operand.memory.is_none());
        if in_registers.map(|operand| 1 << operand.lanes.len()).any(|lanes: u64| lanes != u64::from(problem.lanes)) {
            return Err(format!("it is for warps of {lanes} lanes"));
        }
        if problem.warps < 1 << self.group {
            return Err(format!("{} warps issue it together, the block has {}", 1 << self.group, problem.warps));
        }
        if let Some(warps) = problem.warp_partition.map(|partition| partition.warps)
            && warps[0] < 1 << self.group
        {
            let together = 1 << self.group;
            return Err(format!("{together} warps along M issue it together, the problem has {} there", warps[0]));
        }
        if self.scales.is_some() && problem.k_width.is_some() {
            return Err("it scales blocks of K, so `k_width` cannot be set".to_owned());
        }
        if self.reads_memory() && problem.k_width.is_some() {
            return Err("it reads its operands from memory, so `k_width` cannot be set".to_owned());
        }
        let larger = |(tile, size): (&u32, &u32)| tile > size;
        let fixes_columns = self.reads_memory() || self.scales.is_some() || self.tensor.is_some();
        if fixes_columns && (problem.n_width.is_some() || problem.contiguous_warp_columns) {
            return Err("it reads operands from memory or scales them, so their columns cannot be chosen".to_owned());
        }
        if self.reads_memory() && self.tile.iter().zip(&problem.bits()).any(larger) {
            let [m, n, k] = self.tile.map(|bits| 1u64 << bits);
            return Err(format!("its tile of {m}x{n}x{k} is larger than the matrices, which memory does not pad"));
        }
        if self.saturates != problem.saturating {
            let how = |saturates| if saturates { "saturate" } else { "wrap" };
            return Err(format!("its accumulator {}s and must {}", how(self.saturates), how(problem.saturating)));
        }
        if problem.chained && self.accumulator.warps.iter().any(|position| position[1] != 0) {
            return Err("its warps divide the columns, but a chained operand needs whole rows per warp".to_owned());
        }
        check_accumulator(self.accumulator.element_type, problem)?;
        (0..2).try_for_each(|side| self.check_operand(problem, side))
    }

    /// Checks that the atom can read operand A (0) or B (1) of the problem.
    fn check_operand(&self, problem: &MmaProblem, side: usize) -> Result<(), String> {
        let (what, from, to) = [("a", problem.a, &self.a), ("b", problem.b, &self.b)][side];
        let scale = problem.scales[side];
        if to.memory.is_some() && !problem.in_shared[side] && !problem.stores_operands {
            return Err(format!("it reads operand {what} from shared memory, and the program does not store it there"));
        }
        let (in_byte, to) = (to.in_byte(), to.element_type);
        if in_byte > 0 && from != to {
            return Err(format!("it reads bytes of {to} for {what} as memory has them"));
        }
        check_type(what, [from, to], scale, self.scales.is_some())?;
        match (scale, &self.scales) {
            (_, Some(operand_scales)) if !operand_scales.fit(scale) => {
                let size = 1u64 << operand_scales.block;
                Err(format!("it scales {size} elements of {what} at a time by {}", operand_scales.a.element_type))
            }
            _ if self.flushes_subnormals && has_subnormals_in(from, scale, to) => Err(format!(
                "it takes {to} for {what} and replaces subnormal numbers by zero, among them values of {from}"
            )),
            _ => Ok(()),
        }
    }

    /// Whether the atom fits the warp partition that the problem fixes, if any: the orientation (A and B swapped or
    /// not), and the lanes along M of plain multiply-adds.
    pub(super) fn has_partition(&self, problem: &MmaProblem) -> bool {
        let Some(shared) = problem.warp_partition else { return true };
        let lanes = |lanes: u64| self.row.is_some() || lanes == self.lanes_along_rows();
        self.transposed == shared.swap_ab && shared.lanes.is_none_or(lanes)
    }

    /// Returns the bits of K in the atom's tile that are register bits in both operands. An operand in shared memory
    /// restricts nothing.
    pub(super) fn in_registers(&self) -> Vec<u32> {
        let holds = |operand: &Operands, at: [u64; 2]| operand.memory.is_some() || operand.registers.contains(&at);
        let in_registers = |bit: &u32| holds(&self.a, [0, 1 << bit]) && holds(&self.b, [1 << bit, 0]);
        (0..self.tile[2]).filter(in_registers).collect()
    }

    /// Whether the plan may permute K: at least one operand is in registers, and an operand that is read from memory is
    /// permuted there (`k_permuted`).
    pub(super) fn has_free_order(&self, k_permuted: [bool; 2]) -> bool {
        let sides = [&self.a, &self.b];
        let is_free = |(operand, k_permuted): (&&Operands, bool)| operand.memory.is_none() || k_permuted;
        sides.iter().zip(k_permuted).all(is_free) && sides.iter().any(|operand| operand.memory.is_none())
    }

    /// Returns the number of lanes along M of the tile of plain multiply-adds.
    pub(super) fn lanes_along_rows(&self) -> u64 {
        1 << self.tile[0]
    }

    /// Returns the atom's name, for messages and for [`MmaProblem::atom`].
    pub(super) fn name(&self) -> &str {
        self.row.as_deref().unwrap_or("multiply-adds")
    }
}

/// Returns the roles of an instruction's operands, in the order of the instruction.
fn roles(row: &Instruction) -> Result<Vec<Role>, String> {
    let mut order = Vec::new();
    for operand in &row.operands {
        let role = match operand {
            InstructionOperand::Register { role, .. } => role.as_str(),
            InstructionOperand::Memory(memory) => &memory.role,
            // MMAs in tensor memory update the accumulator in place, so `d` is the operand `c` as well.
            InstructionOperand::Tensor(tile) if tile.role == "d" => "c",
            InstructionOperand::Tensor(tile) => &tile.role,
            InstructionOperand::Accumulate => {
                order.push(Role::Accumulate);
                continue;
            }
            InstructionOperand::Constant { .. } => continue,
            _ => return Err("it takes operands that are neither in registers nor tiles in memory".to_owned()),
        };
        match role {
            "a" => order.push(Role::A),
            "b" => order.push(Role::B),
            "c" => order.push(Role::Accumulator),
            "scale_a" => order.push(Role::ScaleA),
            "scale_b" => order.push(Role::ScaleB),
            "d" => {}
            other => return Err(format!("it takes an operand `{other}` too")),
        }
    }
    Ok(order)
}

/// Returns the number of matrix pipes of a compute unit; one if the target file has no data on them.
fn pipes(target: &TargetDescription) -> u32 {
    target.matrix.as_ref().map_or(1, |matrix| matrix.pipes.max(1))
}

/// Whether the kernel IR has a fused multiply-add for this element type, which rounds once; otherwise a plain
/// multiply-add is a multiply and an add.
pub fn kernel_ir_has_fma(element_type: ElementType) -> bool {
    element_type.is_float() && kernel_element(element_type) != Some(Element::Bf16)
}

fn check_accumulator(element: ElementType, problem: &MmaProblem) -> Result<(), String> {
    match problem.accumulator {
        required if required == element => Ok(()),
        required => Err(format!("it accumulates in {element}, not in {required}")),
    }
}

/// Checks that the type `to`, which an instruction takes for the operand `what`, represents all values of the problem's
/// type `from`. If the operand has scales and the instruction does not take them (`takes_scales`), `to` must represent
/// all products with the scales instead.
fn check_type(
    what: &str,
    [from, to]: [ElementType; 2],
    scale: Option<BlockScale>,
    takes_scales: bool,
) -> Result<(), String> {
    match scale {
        Some(scale) if !takes_scales => match scale.is_exact(from, to) {
            true => Ok(()),
            false => Err(format!("it reads {what} as {to}, which cannot represent all products of {from} and scales")),
        },
        _ if is_cast_supported(from, to) => Ok(()),
        _ => Err(format!("it takes {to} for {what}, which lacks some values of {from}")),
    }
}
