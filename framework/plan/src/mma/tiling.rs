//! Repeats an MMA atom over warps and registers until it covers the matrices; derives the layouts.

use crate::layouts;
use crate::movement::{DescriptorMatch, build_operand_memory_layout};
use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};
use tilewright_target::MemoryOperand;

use super::mma_atom::MmaAtom;
use super::operands::Operands;
use super::order::Order;
use super::scale;
use super::{MmaError, MmaProblem};

/// An MMA atom repeated over warps and registers. All numbers are log2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tiling {
    /// Log2 of the atom's M, N and K.
    tile: [u32; 3],
    /// Log2 of the number of warp groups along M and along N; a group is the warps that issue the atom together.
    pub warps: [u32; 2],
    /// Log2 of the elements of K that are multiplied at a time.
    pub chunk: u32,
    /// Log2 of the M and N of the matrices.
    size: [u32; 2],
    /// Log2 of the number of consecutive columns of the result that a lane holds (`n_width`); they belong to different
    /// repetitions of the atom along N.
    beside: u32,
    /// Whether the columns of a warp are consecutive: its repetitions of the atom lie side by side.
    contiguous_warp_columns: bool,
}

impl Tiling {
    pub(super) fn new(atom: &MmaAtom, problem: &MmaProblem, warps: [u32; 2], chunk: u32) -> Self {
        let [m, n, _] = problem.bits();
        let beside = problem.n_width.map_or(0, u64::trailing_zeros);
        let contiguous_warp_columns = problem.contiguous_warp_columns;
        Self { tile: atom.tile, warps, chunk, size: [m, n], beside, contiguous_warp_columns }
    }

    /// Log2 of the repetitions of the atom in registers along M, N and K.
    pub(super) fn repeats(&self) -> [u32; 3] {
        let along = |axis: usize| self.size[axis].saturating_sub(self.tile[axis] + self.warps[axis]);
        [along(0), along(1), self.chunk.saturating_sub(self.tile[2])]
    }

    /// Number of bits of K that the atom and its repetitions cover.
    pub(super) fn k_bits(&self) -> u32 {
        self.chunk.max(self.tile[2])
    }

    /// Returns the bits of K that may come first in the order of K: register bits of the atom's operands, then the bits
    /// of its repetitions. Empty if the atom reads an operand from memory in the order of the matrices, which fixes the
    /// order of K; an operand that is permuted in memory (`k_permuted`) does not.
    pub(super) fn in_registers(&self, atom: &MmaAtom, k_permuted: [bool; 2]) -> Vec<u32> {
        if !atom.has_free_order(k_permuted) {
            return Vec::new();
        }
        atom.in_registers().into_iter().chain(self.tile[2]..self.k_bits()).collect()
    }

    /// Returns the layout of operand A, M x K of a chunk: registers of the atom, then repetitions along K, then along
    /// M. For an operand in shared memory it is the memory layout; elements narrower than a byte are counted in bytes.
    pub(super) fn layout_a(&self, atom: &MmaAtom, order: &Order) -> Result<LinearLayout, MmaError> {
        if let Some(memory) = &atom.a.memory {
            return self.in_memory(memory, [self.size[0], self.chunk.saturating_sub(atom.a.in_byte())]);
        }
        let position = |[m, k]: [u64; 2]| [m, order.position(k)];
        let [m, _, k] = self.repeats();
        let repeats = (0..k).map(|bit| [0, 1 << (self.tile[2] + bit)]).chain(self.rows(m));
        Ok(self.layout(&atom.a, repeats, [self.along_rows(), vec![]], position, [self.size[0], self.chunk])?)
    }

    /// Returns the layout of operand B, K of a chunk x N: registers of the atom, then repetitions along K, then along
    /// N. For an operand in shared memory it is the memory layout; elements narrower than a byte are counted in bytes.
    pub(super) fn layout_b(&self, atom: &MmaAtom, order: &Order) -> Result<LinearLayout, MmaError> {
        if let Some(memory) = &atom.b.memory {
            return self.in_memory(memory, [self.chunk.saturating_sub(atom.b.in_byte()), self.size[1]]);
        }
        let columns = self.column_order();
        let position = |[k, n]: [u64; 2]| [order.position(k), columns.position(n)];
        let [_, n, k] = self.repeats();
        let repeats = (0..k).map(|bit| [1 << (self.tile[2] + bit), 0]).chain(self.columns(n));
        Ok(self.layout(&atom.b, repeats, [vec![], self.along_columns()], position, [self.chunk, self.size[1]])?)
    }

    /// Returns the layout of the accumulator, M x N: registers of the atom, then repetitions along N, then along M.
    pub(super) fn accumulator_layout(&self, atom: &MmaAtom) -> Result<LinearLayout, LayoutError> {
        let [m, n, _] = self.repeats();
        let repeats = self.columns(n).chain(self.rows(m));
        let columns = self.column_order();
        let position = |[m, n]: [u64; 2]| [m, columns.position(n)];
        self.layout(&atom.accumulator, repeats, [self.along_rows(), self.along_columns()], position, self.size)
    }

    /// Returns the layouts of the scales, rows x blocks of K, for operands of these layouts: the scales that the atom
    /// takes, repeated like the operands; if the atom takes none, layouts derived from those of the operands.
    pub(super) fn scale_layouts(
        &self,
        atom: &MmaAtom,
        problem: &MmaProblem,
        operands: [&LinearLayout; 2],
    ) -> Result<[Option<LinearLayout>; 2], MmaError> {
        let of = |side: usize| -> Result<Option<LinearLayout>, MmaError> {
            let Some(scale) = problem.scales[side] else { return Ok(None) };
            let Some(scales) = &atom.scales else { return Ok(Some(scale::layout(operands[side], 1 - side, scale)?)) };
            let blocks = MmaAtom { a: scales.a.clone(), b: scales.b.clone(), ..atom.clone() };
            let [m, n, k] = self.tile;
            let [k, chunk] = [k, self.chunk].map(|bits| bits.saturating_sub(scales.block));
            let tiling = Self { tile: [m, n, k], chunk, ..*self };
            let order = Order::identity(tiling.k_bits(), chunk);
            Ok(Some(match side {
                0 => tiling.layout_a(&blocks, &order)?,
                _ => scale::transposed(&tiling.layout_b(&blocks, &order)?)?,
            }))
        };
        Ok([of(0)?, of(1)?])
    }

    /// Returns the memory layout of a matrix with 2^`size[0]` rows and 2^`size[1]` columns: the first canonical layout
    /// of the operand that it fills, if matrix descriptors reach all its tiles.
    fn in_memory(&self, operand: &MemoryOperand, size: [u32; 2]) -> Result<LinearLayout, MmaError> {
        for canonical_layout in &operand.layouts {
            let Some(layout) = build_operand_memory_layout(operand, canonical_layout, size.map(|bits| 1 << bits))?
            else {
                continue;
            };
            let last =
                [0, 1].map(|axis| (1u64 << size[axis]) / operand.shape[axis].max(1)).map(|tiles| tiles.max(1) - 1);
            if DescriptorMatch::find(&layout, operand)
                .is_ok_and(|descriptor_match| descriptor_match.encode_tile_descriptor(operand, last).is_some())
            {
                return Ok(layout);
            }
        }
        let reasons = format!("the matrix fills no canonical layout of {} in memory", operand.role);
        Err(MmaError::Impossible { reasons })
    }

    /// Returns, for each bit of the index of a warp group, the distance in tiles that it adds to the group's tiles:
    /// along M for operand A, along N for operand B.
    pub(super) fn warpgroup_tiles(&self) -> Vec<[u64; 2]> {
        let within = |bit: u32, axis: usize| if self.tile[axis] + bit < self.size[axis] { 1 << bit } else { 0 };
        let along_n = (0..self.warps[1]).map(|bit| [0, within(bit, 1)]);
        along_n.chain((0..self.warps[0]).map(|bit| [within(bit, 0), 0])).collect()
    }

    /// Returns the order of the result's columns that has the consecutive columns of a lane (`n_width`) first, or those
    /// of a warp.
    fn column_order(&self) -> Order {
        let first = self.tile[1] + self.warps[1];
        let (bits, size) = (self.size[1].max(first), self.size[1]);
        if self.contiguous_warp_columns {
            let last: Vec<u32> = (self.tile[1]..first).collect();
            return Order::new(&last, 0, bits, size);
        }
        let in_registers: Vec<u32> = (first..size).collect();
        Order::new(&in_registers, self.beside, bits, size)
    }

    /// Whether registers repeat the atom along N at least `n_width` times, or, for consecutive columns of a warp, more
    /// than once.
    pub(super) fn has_columns_beside(&self) -> bool {
        self.repeats()[1] >= self.beside.max(self.contiguous_warp_columns.into())
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

    /// Builds the layout of an operand from the atom's layout, its repetitions in registers, and the warps: those that
    /// issue the atom together come first, then those along N (`columns`), then those along M (`rows`). `position` maps
    /// a coordinate of the atom and its repetitions to one of the matrix; positions beyond the matrix alias positions
    /// within it.
    fn layout(
        &self,
        atom: &Operands,
        repeats: impl Iterator<Item = [u64; 2]>,
        [rows, columns]: [Vec<[u64; 2]>; 2],
        position: impl Fn([u64; 2]) -> [u64; 2],
        size: [u32; 2],
    ) -> Result<LinearLayout, LayoutError> {
        let outs = Space::from_sizes(&[(Dim::tensor(0), 1 << size[0]), (Dim::tensor(1), 1 << size[1])])?;
        let column = |coordinate: [u64; 2]| {
            let [row, column] = position(coordinate);
            (row & ((1 << size[0]) - 1)) | (column & ((1 << size[1]) - 1)) << size[0]
        };
        let registers: Vec<u64> = atom.registers.iter().copied().chain(repeats).map(column).collect();
        let (lanes, own) = (atom.lanes.iter().copied().map(column), atom.warps.iter().copied().map(column));
        let mut along_n: Vec<u64> = columns.into_iter().map(column).collect();
        along_n.resize(self.warps[1] as usize, 0);
        let mut along_m: Vec<u64> = rows.into_iter().map(column).collect();
        along_m.resize(self.warps[0] as usize, 0);
        let warps: Vec<u64> = own.chain(along_n).chain(along_m).collect();
        layouts::distributed([&registers, &lanes.collect::<Vec<_>>(), &warps], &outs)?.require_surjective()
    }
}
