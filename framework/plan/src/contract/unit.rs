//! What multiplies: an instruction of the target, or plain multiply-adds of the lanes.

use crate::movement::{TensorMoves, TensorTable};
use tilewright_kernel::Element;
use tilewright_layout::Dim;
use tilewright_target::{
    Completion, ElementType, Instruction, InstructionKind, MatrixUnit, Operand, Queue, Semantics, TargetDescription,
};

use super::MmaProblem;
use super::cast::{element, is_possible};
use super::operands::Operands;
use super::row_sums::{InTensorMemory, RowAccumulator};
use super::scale::Scale;

/// Assumed where a target says nothing of its matrix instructions: one pipe, 2048 bits in a cycle.
const ASSUMED: (u32, u32) = (1, 2048);

/// A product of small matrices by one warp, or by several that issue it together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unit {
    /// Name of the row; absent for plain multiply-adds.
    pub row: Option<String>,
    /// Whether the row's `b` takes the question's first factor: C^T = B^T A^T.
    pub transposed: bool,
    /// The first factor, M x K.
    pub a: Operands,
    /// The second factor, K x N.
    pub b: Operands,
    /// The sums, before and after, M x N.
    pub accumulator: Operands,
    /// How the sums are in tensor memory, where they are there; `accumulator` is how registers hold them at the end.
    pub tensor: Option<InTensorMemory>,
    /// The scales of both factors, where the row takes them.
    pub scales: Option<Scales>,
    /// Roles of the values that the row takes, in its order.
    pub order: Vec<Role>,
    /// Whether sums that are beyond their type become the end of it.
    pub saturates: bool,
    /// Log2 of M, N and K.
    pub tile: [u32; 3],
    /// Log2 of the warps that issue it together.
    pub group: u32,
    /// The queue on which it completes; absent where it is done at once.
    pub queue: Option<Queue>,
    /// Cycles of a pipe for one issue.
    pub cycles: f64,
    /// Pipes that issue side by side.
    pub pipes: u32,
}

/// What a value of a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    A,
    B,
    Accumulator,
    ScaleA,
    ScaleB,
    /// Whether the sums so far are added.
    Accumulate,
}

/// The scales that a unit takes: M x blocks of the first factor, blocks x N of the second.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scales {
    pub a: Operands,
    pub b: Operands,
    /// How registers bring the scales of each factor to tensor memory, where the unit reads them there.
    pub tensor: Option<[ScalesInTensorMemory; 2]>,
    /// Log2 of the elements of K that share one.
    pub block: u32,
}

/// The scales of one factor in tensor memory.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScalesInTensorMemory {
    pub moves: TensorMoves,
    /// Columns of a tile.
    pub columns: u64,
}

/// The scales of one factor of a row: as registers hold them, their sizes (log2), and how they come to tensor memory.
type RowScales = (Operands, [u32; 2], Option<ScalesInTensorMemory>);

fn row_scales(row: &Instruction, required: &str, table: &TensorTable) -> Result<RowScales, String> {
    let Some(tile) = row.tensor(required) else {
        let (operands, size) = Operands::of(row, required)?;
        return Ok((operands, size, None));
    };
    let moves = table.stores(tile).ok_or("no row of the target brings its scales to tensor memory")?;
    let (operands, size) = Operands::held(required, &tile.element, tile.bits, &moves.registers)?;
    Ok((operands, size, Some(ScalesInTensorMemory { moves, columns: tile.columns() })))
}

impl Scales {
    /// Those of a row for tiles of M, N and K; rows list those of `b` by columns of `b`.
    fn of(row: &Instruction, [m, n, k]: [u32; 3], table: &TensorTable) -> Result<Option<Self>, String> {
        if !row.takes_scales() {
            return Ok(None);
        }
        let ((a, of_a, tensor_a), (b, of_b, tensor_b)) =
            (row_scales(row, "scale_a", table)?, row_scales(row, "scale_b", table)?);
        if of_a[0] != m || of_b[0] != n || of_a[1] != of_b[1] || of_a[1] > k || a.number != b.number {
            return Err("the tiles of its scales do not fit those of its factors".to_owned());
        }
        let tensor = tensor_a.zip(tensor_b).map(|(a, b)| [a, b]);
        Ok(Some(Self { a, b: b.transposed(), tensor, block: k - of_a[1] }))
    }

    /// Whether factors with these scales, or without, can be multiplied: without, all are one.
    fn fit(&self, scale: Option<Scale>) -> bool {
        scale.is_none_or(|scale| scale.number == self.a.number && scale.bits() == self.block)
    }

    fn transposed(&self) -> Self {
        let tensor = self.tensor.clone().map(|[a, b]| [b, a]);
        Self { a: self.b.clone().transposed(), b: self.a.clone().transposed(), tensor, block: self.block }
    }
}

impl Unit {
    /// The units that a row is: one, or where it has its sums in tensor memory one for each way to registers.
    pub(super) fn of_row(
        row: &Instruction,
        problem: &MmaProblem,
        target: &TargetDescription,
        table: &mut TensorTable,
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
        if [&a, &b].iter().any(|factor| factor.memory.is_none() && factor.warps.len() != group) {
            return Err("its operands are for different numbers of warps".to_owned());
        }
        let queue = match row.completion {
            Completion::AtOnce => None,
            Completion::Queue(queue) => Some(queue),
            _ => return Err("it completes in a way that is not known here".to_owned()),
        };
        let (pipes, rate) = rate(target.matrix.as_ref(), group);
        let wide = a.number.bits().max(b.number.bits());
        let group = group as u32;
        // Sums in tensor memory take as long as if they filled its rows.
        let tensor = row.tensor("d").zip(target.tensor.as_ref());
        let (rows, rate) =
            tensor.map_or((m, rate), |(tile, memory)| (tile.layout.in_bits(Dim::ROW), memory.bits_per_cycle.max(1)));
        let assumed = f64::from(wide) * f64::from(rows + n + k - group).exp2() / f64::from(rate);
        let cycles = row.cycles.unwrap_or(assumed);
        let scales = Scales::of(row, [m, n, k], table)?;
        let (row, tile) = (Some(row.name.clone()), [m, n, k]);
        let transposed = false;
        let unit = |RowAccumulator { operands, tensor, .. }: RowAccumulator| Self {
            row: row.clone(),
            transposed,
            a: a.clone(),
            b: b.clone(),
            accumulator: operands,
            tensor,
            scales: scales.clone(),
            order: order.clone(),
            saturates,
            tile,
            group,
            queue,
            cycles,
            pipes,
        };
        Ok(accumulator.into_iter().map(unit).collect())
    }

    /// The unit with the factors exchanged: what one reads from memory lies there the other way round. None where the
    /// sums are in tensor memory, whose moves to registers were looked for one way only.
    pub(super) fn swap_ab(&self) -> Option<Self> {
        self.tensor.is_none().then(|| self.transposed())
    }

    /// Whether a factor lies in shared memory.
    pub(super) fn reads_memory(&self) -> bool {
        self.a.memory.is_some() || self.b.memory.is_some()
    }

    /// The same unit with the factors exchanged.
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

    /// Plain multiply-adds: each lane one element of a tile of lanes, 2^`rows` rows high.
    pub(super) fn plain(problem: &MmaProblem, rows: u32, target: &TargetDescription) -> Self {
        let number = problem.accumulator;
        let columns = problem.lanes.trailing_zeros() - rows;
        let lanes = |row: u64, column: u64| -> Vec<[u64; 2]> {
            let along = (0..columns).map(|bit| [0, column << bit]);
            along.chain((0..rows).map(|bit| [row << bit, 0])).collect()
        };
        let operands = |row, column| Operands {
            number,
            bits: number.bits(),
            registers: vec![],
            lanes: lanes(row, column),
            warps: vec![],
            memory: None,
        };
        let (pipes, _) = rate(target.matrix.as_ref(), 0);
        // Each operation as other plain ones on as many words.
        let words = f64::from(number.bits().div_ceil(32));
        let operations = if fuses(number) { 1.0 } else { 2.0 };
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
            tile: [rows, columns, 0],
            group: 0,
            queue: None,
            cycles: operations * words * target.costs.select.cycles * f64::from(pipes),
            pipes,
        }
    }

    /// Whether it computes what is asked; says what does not fit.
    pub(super) fn fits(&self, problem: &MmaProblem) -> Result<(), String> {
        let lanes = 1u64 << self.accumulator.lanes.len();
        let held = [&self.a, &self.b, &self.accumulator].into_iter().filter(|operand| operand.memory.is_none());
        if held.map(|operand| 1 << operand.lanes.len()).any(|lanes: u64| lanes != u64::from(problem.lanes)) {
            return Err(format!("it is for warps of {lanes} lanes"));
        }
        if problem.warps < 1 << self.group {
            return Err(format!("{} warps issue it together, the block has {}", 1 << self.group, problem.warps));
        }
        if self.scales.is_some() && problem.k_width.is_some() {
            return Err("it scales blocks of K: which elements a lane holds side by side is its own".to_owned());
        }
        if self.reads_memory() && problem.k_width.is_some() {
            return Err("it reads K from memory: no lane holds elements of it side by side".to_owned());
        }
        let larger = |(tile, size): (&u32, &u32)| tile > size;
        if (self.reads_memory() || self.scales.is_some() || self.tensor.is_some()) && problem.n_width.is_some() {
            return Err("it reads or scales columns where it has them: no lane holds any side by side".to_owned());
        }
        if self.reads_memory() && self.tile.iter().zip(&problem.bits()).any(larger) {
            let [m, n, k] = self.tile.map(|bits| 1u64 << bits);
            return Err(format!("its tile of {m}x{n}x{k} is larger than the matrices, which memory does not pad"));
        }
        if self.saturates != problem.saturating {
            let how = |saturates| if saturates { "saturate" } else { "wrap" };
            return Err(format!("its sums {}, wanted are such that {}", how(self.saturates), how(problem.saturating)));
        }
        if problem.chained && self.accumulator.warps.iter().any(|place| place[1] != 0) {
            return Err("the warps that issue it share out columns, and each is to keep whole rows".to_owned());
        }
        if self.accumulator.number != problem.accumulator {
            return Err(format!("it sums in {}, wanted is {}", self.accumulator.number, problem.accumulator));
        }
        let sides = [("a", problem.a, &self.a), ("b", problem.b, &self.b)];
        for (((what, from, to), scale), shuffled) in sides.into_iter().zip(problem.scales).zip(problem.shuffled) {
            if to.memory.is_some() && shuffled {
                return Err(format!("it reads {what} from memory, where K has its own order"));
            }
            let (in_byte, to) = (to.in_byte(), to.number);
            if in_byte > 0 && from != to {
                return Err(format!("it reads bytes of {to} for {what} as memory has them"));
            }
            match (scale, &self.scales) {
                (_, Some(own)) if !own.fit(scale) => {
                    let size = 1u64 << own.block;
                    return Err(format!("it scales {size} elements of {what} at a time by {}", own.a.number));
                }
                (Some(scale), None) if !scale.is_exact(from, to) => {
                    return Err(format!("it takes {to} for {what}, which has not all products of {from} and scales"));
                }
                (None, _) | (_, Some(_)) if !is_possible(from, to) => {
                    return Err(format!("it takes {to} for {what}, which has not all values of {from}"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether its factors and its lanes are as a question says.
    pub(super) fn is_so(&self, problem: &MmaProblem) -> bool {
        let Some(shared) = problem.warp_partition else { return true };
        let lanes = |lanes: u64| self.row.is_some() || lanes == self.lanes_along_rows();
        self.transposed == shared.swap_ab && shared.lanes.is_none_or(lanes)
    }

    /// The bits of K in a tile that a lane holds in registers of both factors.
    pub(super) fn held(&self) -> Vec<u32> {
        let held = |bit: &u32| self.a.registers.contains(&[0, 1 << bit]) && self.b.registers.contains(&[1 << bit, 0]);
        (0..self.tile[2]).filter(held).collect()
    }

    /// How many lanes lie along the rows of plain multiply-adds.
    pub(super) fn lanes_along_rows(&self) -> u64 {
        1 << self.tile[0]
    }

    /// What it is called.
    pub(super) fn name(&self) -> &str {
        self.row.as_deref().unwrap_or("multiply-adds")
    }
}

/// The roles of the values that a row takes, in its order.
fn roles(row: &Instruction) -> Result<Vec<Role>, String> {
    let mut order = Vec::new();
    for operand in &row.operands {
        let role = match operand {
            Operand::Register { role, .. } => role.as_str(),
            Operand::Memory(memory) => &memory.role,
            // Sums that are changed in place.
            Operand::Tensor(tile) if tile.role == "d" => "c",
            Operand::Tensor(tile) => &tile.role,
            Operand::Accumulate => {
                order.push(Role::Accumulate);
                continue;
            }
            Operand::Constant { .. } => continue,
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

/// The pipes, and what each multiplies in a cycle, of instructions that 2^`group` warps issue together.
fn rate(matrix: Option<&MatrixUnit>, group: usize) -> (u32, u32) {
    let Some(matrix) = matrix else { return ASSUMED };
    let lone = matrix.lone_bits_per_cycle.filter(|_| group == 0);
    (matrix.pipes.max(1), lone.unwrap_or(matrix.bits_per_cycle).max(1))
}

/// Whether a plain multiply-add of a type is one operation, rounded once.
pub fn fuses(number: ElementType) -> bool {
    number.is_float() && element(number) != Some(Element::Bf16)
}
