//! How warps and registers repeat a unit until it covers the matrices, and the layouts that follow.

use crate::layouts;
use crate::movement::{DescriptorMatch, arranged};
use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};
use tilewright_target::MemoryOperand;

use super::operands::Operands;
use super::order::Order;
use super::scale;
use super::unit::Unit;
use super::{ContractError, MmaProblem};

/// A unit, repeated. All numbers are log2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tiling {
    /// M, N and K of the unit.
    tile: [u32; 3],
    /// Groups of warps that issue together, along M and along N.
    pub warps: [u32; 2],
    /// Elements of K that are contracted at a time.
    pub chunk: u32,
    /// M and N of the matrices.
    size: [u32; 2],
    /// Columns that a lane holds side by side, of those that registers repeat.
    beside: u32,
}

impl Tiling {
    pub(super) fn new(unit: &Unit, problem: &MmaProblem, warps: [u32; 2], chunk: u32) -> Self {
        let [m, n, _] = problem.bits();
        let beside = problem.n_width.map_or(0, u64::trailing_zeros);
        Self { tile: unit.tile, warps, chunk, size: [m, n], beside }
    }

    /// Repetitions by registers along M, N and K.
    pub(super) fn repeats(&self) -> [u32; 3] {
        let along = |axis: usize| self.size[axis].saturating_sub(self.tile[axis] + self.warps[axis]);
        [along(0), along(1), self.chunk.saturating_sub(self.tile[2])]
    }

    /// Bits of K of the unit and its repetitions.
    pub(super) fn k_bits(&self) -> u32 {
        self.chunk.max(self.tile[2])
    }

    /// The bits of K that may come first: those of the unit that lanes hold, and repetitions. None where
    /// the unit reads memory, which counts K by itself.
    pub(super) fn held(&self, unit: &Unit) -> Vec<u32> {
        if unit.reads_memory() {
            return Vec::new();
        }
        unit.held().into_iter().chain(self.tile[2]..self.k_bits()).collect()
    }

    /// The layout of the first factor, M x chunk: registers of the unit, then repetitions along K, then along M.
    /// Of a factor in memory, the layout of that, of elements narrower than a byte in bytes.
    pub(super) fn of_a(&self, unit: &Unit, order: &Order) -> Result<LinearLayout, ContractError> {
        if let Some(memory) = &unit.a.memory {
            return self.in_memory(memory, [self.size[0], self.chunk.saturating_sub(unit.a.in_byte())]);
        }
        let place = |[m, k]: [u64; 2]| [m, order.place(k)];
        let [m, _, k] = self.repeats();
        let repeats = (0..k).map(|bit| [0, 1 << (self.tile[2] + bit)]).chain(self.rows(m));
        Ok(self.layout(&unit.a, repeats, [self.along_rows(), vec![]], place, [self.size[0], self.chunk])?)
    }

    /// The layout of the second factor, chunk x N: registers of the unit, then repetitions along K, then along N.
    /// Of a factor in memory, the layout of that, of elements narrower than a byte in bytes.
    pub(super) fn of_b(&self, unit: &Unit, order: &Order) -> Result<LinearLayout, ContractError> {
        if let Some(memory) = &unit.b.memory {
            return self.in_memory(memory, [self.chunk.saturating_sub(unit.b.in_byte()), self.size[1]]);
        }
        let columns = self.column_order();
        let place = |[k, n]: [u64; 2]| [order.place(k), columns.place(n)];
        let [_, n, k] = self.repeats();
        let repeats = (0..k).map(|bit| [1 << (self.tile[2] + bit), 0]).chain(self.columns(n));
        Ok(self.layout(&unit.b, repeats, [vec![], self.along_columns()], place, [self.chunk, self.size[1]])?)
    }

    /// The layout of the sums, M x N: registers of the unit, then repetitions along N, then along M.
    pub(super) fn of_accumulator(&self, unit: &Unit) -> Result<LinearLayout, LayoutError> {
        let [m, n, _] = self.repeats();
        let repeats = self.columns(n).chain(self.rows(m));
        let columns = self.column_order();
        let place = |[m, n]: [u64; 2]| [m, columns.place(n)];
        self.layout(&unit.accumulator, repeats, [self.along_rows(), self.along_columns()], place, self.size)
    }

    /// The layouts of the scales that there are, rows x blocks of K, of factors of these layouts: those that the unit
    /// takes, repeated as its factors are, else those that follow from the factors'.
    pub(super) fn of_scales(
        &self,
        unit: &Unit,
        problem: &MmaProblem,
        factors: [&LinearLayout; 2],
    ) -> Result<[Option<LinearLayout>; 2], ContractError> {
        let of = |side: usize| -> Result<Option<LinearLayout>, ContractError> {
            let Some(scale) = problem.scales[side] else { return Ok(None) };
            let Some(scales) = &unit.scales else { return Ok(Some(scale::layout(factors[side], 1 - side, scale)?)) };
            let blocks = Unit { a: scales.a.clone(), b: scales.b.clone(), ..unit.clone() };
            let [m, n, k] = self.tile;
            let [k, chunk] = [k, self.chunk].map(|bits| bits.saturating_sub(scales.block));
            let tiling = Self { tile: [m, n, k], chunk, ..*self };
            let order = Order::identity(tiling.k_bits(), chunk);
            Ok(Some(match side {
                0 => tiling.of_a(&blocks, &order)?,
                _ => scale::turned(&tiling.of_b(&blocks, &order)?)?,
            }))
        };
        Ok([of(0)?, of(1)?])
    }

    /// The first of the operand's arrangements that a matrix of so many rows and columns (log2) fills, and of which
    /// descriptors reach every tile.
    fn in_memory(&self, operand: &MemoryOperand, size: [u32; 2]) -> Result<LinearLayout, ContractError> {
        for arrangement in &operand.arrangements {
            let Some(layout) = arranged(operand, arrangement, size.map(|bits| 1 << bits))? else { continue };
            let last =
                [0, 1].map(|axis| (1u64 << size[axis]) / operand.shape[axis].max(1)).map(|tiles| tiles.max(1) - 1);
            if DescriptorMatch::of(&layout, operand)
                .is_ok_and(|descriptor_match| descriptor_match.descriptor(operand, last).is_some())
            {
                return Ok(layout);
            }
        }
        let reasons = format!("the matrix fills no arrangement in which {} is read from memory", operand.role);
        Err(ContractError::Impossible { reasons })
    }

    /// Tiles of the first factor that the groups of warps along M, and of the second that those along N, are
    /// apart: for each bit of the group's number, as (tile of a, tile of b).
    pub(super) fn of_groups(&self) -> Vec<[u64; 2]> {
        let within = |bit: u32, axis: usize| if self.tile[axis] + bit < self.size[axis] { 1 << bit } else { 0 };
        let along_n = (0..self.warps[1]).map(|bit| [0, within(bit, 1)]);
        along_n.chain((0..self.warps[0]).map(|bit| [within(bit, 0), 0])).collect()
    }

    /// In which order columns are: those that a lane holds side by side come first.
    fn column_order(&self) -> Order {
        let first = self.tile[1] + self.warps[1];
        let held: Vec<u32> = (first..self.size[1]).collect();
        Order::new(&held, self.beside, self.size[1].max(first), self.size[1])
    }

    /// Whether registers repeat the unit along N as often as columns are wanted side by side.
    pub(super) fn has_columns_beside(&self) -> bool {
        self.repeats()[1] >= self.beside
    }

    fn rows(&self, repeats: u32) -> impl Iterator<Item = [u64; 2]> {
        let first = self.tile[0] + self.warps[0];
        (first..first + repeats).map(|bit| [1 << bit, 0])
    }

    fn columns(&self, repeats: u32) -> impl Iterator<Item = [u64; 2]> {
        let first = self.tile[1] + self.warps[1];
        (first..first + repeats).map(|bit| [0, 1 << bit])
    }

    fn along_rows(&self) -> Vec<[u64; 2]> {
        (0..self.warps[0]).map(|bit| [1 << (self.tile[0] + bit), 0]).collect()
    }

    fn along_columns(&self) -> Vec<[u64; 2]> {
        (0..self.warps[1]).map(|bit| [0, 1 << (self.tile[1] + bit)]).collect()
    }

    /// Warps of the unit come first, then those along N, then those along M. What lies beyond the matrix is a copy of what lies within.
    fn layout(
        &self,
        unit: &Operands,
        repeats: impl Iterator<Item = [u64; 2]>,
        [rows, columns]: [Vec<[u64; 2]>; 2],
        place: impl Fn([u64; 2]) -> [u64; 2],
        size: [u32; 2],
    ) -> Result<LinearLayout, LayoutError> {
        let outs = Space::of_sizes(&[(Dim::tensor(0), 1 << size[0]), (Dim::tensor(1), 1 << size[1])])?;
        let column = |coordinate: [u64; 2]| {
            let [row, column] = place(coordinate);
            (row & ((1 << size[0]) - 1)) | (column & ((1 << size[1]) - 1)) << size[0]
        };
        let registers: Vec<u64> = unit.registers.iter().copied().chain(repeats).map(column).collect();
        let (lanes, own) = (unit.lanes.iter().copied().map(column), unit.warps.iter().copied().map(column));
        let mut along_n: Vec<u64> = columns.into_iter().map(column).collect();
        along_n.resize(self.warps[1] as usize, 0);
        let mut along_m: Vec<u64> = rows.into_iter().map(column).collect();
        along_m.resize(self.warps[0] as usize, 0);
        let warps: Vec<u64> = own.chain(along_n).chain(along_m).collect();
        layouts::distributed([&registers, &lanes.collect::<Vec<_>>(), &warps], &outs)?.require_surjective()
    }
}
