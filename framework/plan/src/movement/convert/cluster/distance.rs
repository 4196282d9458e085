//! The distance between a block and the block that holds an element it needs: the xor of their indices, and the
//! element's position in that block.

use tilewright_layout::f2::{Columns, Solver, Subspace, multiply_vector};

use super::super::super::ConversionProblem;
use super::super::super::conversion::ConversionSide;

/// The source of each destination position of a conversion across blocks, relative to the destination's block.
///
/// The element at position `x` of a block's destination is element `E x` of the block at distance `D x`. Both maps are
/// linear.
#[derive(Debug, Clone)]
pub(super) struct Distances {
    /// For each register bit of a destination position, the element and the distance (xor of block indices) that it
    /// adds over F2.
    registers: Vec<Step>,
    /// For each lane bit, then each warp bit, then each block bit of a destination position, the element and the
    /// distance (xor of block indices) that it adds over F2.
    threads: Vec<Step>,
}

#[derive(Debug, Clone, Copy)]
struct Step {
    element: u64,
    distance: u64,
}

impl Distances {
    /// Solves for the distances; `None` if some block needs an element that no block of the cluster has.
    pub(super) fn of(conversion: &ConversionProblem) -> Option<Self> {
        let (src, dst) = (&conversion.src, &conversion.dst);
        let own = Subspace::span(src.registers.iter().chain(&src.threads).copied());
        let blocks: Columns = src.blocks.iter().map(|&column| own.reduce(column)).collect();
        let solver = Solver::new(&blocks);
        // Free unknowns are zero, so a block that holds the element itself has distance zero.
        let step = |column: u64| {
            let distance = solver.solve(own.reduce(column))?;
            Some(Step { element: column ^ multiply_vector(&src.blocks, distance), distance })
        };
        // A distance is relative to the destination's own block, so the elements that its block bits add in the source
        // are subtracted.
        let of_blocks = dst.blocks.iter().zip(&src.blocks).map(|(required, there)| required ^ there);
        Some(Self {
            registers: dst.registers.iter().map(|&column| step(column)).collect::<Option<_>>()?,
            threads: dst.threads.iter().copied().chain(of_blocks).map(step).collect::<Option<_>>()?,
        })
    }

    /// Whether every block holds all elements that it needs (all distances are zero), so that no load accesses another
    /// block.
    pub(super) fn are_zero(&self) -> bool {
        self.registers.iter().chain(&self.threads).all(|step| step.distance == 0)
    }

    /// Returns, for each lane bit, then each warp bit, then each block bit, the distance (xor of block indices) that it
    /// adds over F2.
    pub(super) fn of_threads(&self) -> Columns {
        self.threads.iter().map(|step| step.distance).collect()
    }

    /// Groups the destination registers by the distance of the block from which they are loaded.
    pub(super) fn groups(&self) -> Groups {
        let distances: Columns = self.registers.iter().map(|step| step.distance).collect();
        let solver = Solver::new(&distances);
        let free = solver.free_columns();
        let elements: Columns = self.registers.iter().map(|step| step.element).collect();
        let element = |registers: u64| multiply_vector(&elements, registers);
        let (mut near, mut group_selectors) = (Vec::new(), Vec::new());
        for (bit, &distance) in distances.iter().enumerate() {
            if free >> bit & 1 == 1 {
                let registers = 1 << bit ^ solver.solve(distance).unwrap_or(0);
                near.push((registers, element(registers)));
            } else {
                group_selectors.push((1 << bit, element(1 << bit), distance));
            }
        }
        Groups { near, group_selectors }
    }

    /// Returns the conversion within one block's memory: from the elements that the block stores to the elements that
    /// one group of registers loads from it. The bits of the group index follow the block bits; for an address, both
    /// act like thread bits.
    pub(super) fn within_block(&self, conversion: &ConversionProblem, groups: &Groups) -> ConversionProblem {
        let elements = |steps: &[Step]| steps.iter().map(|step| step.element).collect::<Vec<_>>();
        let threads =
            elements(&self.threads).into_iter().chain(groups.group_selectors.iter().map(|&(_, element, _)| element));
        let src = ConversionSide { blocks: Columns::new(), ..conversion.src.clone() };
        let registers = groups.near.iter().map(|&(_, element)| element).collect();
        let dst = ConversionSide { registers, threads: threads.collect(), blocks: Columns::new() };
        ConversionProblem { src, dst, origin: None, ..*conversion }
    }
}

/// Destination registers grouped by distance: all registers of a group load from one block (before the distance that
/// the thread itself adds).
#[derive(Debug, Clone)]
pub(super) struct Groups {
    /// For each bit of a register's index in its group, the mask of the register bits that it stands for, and the
    /// element that these add together. The mask has one register bit, and those register bits of the group's index
    /// that cancel its distance.
    near: Vec<(u64, u64)>,
    /// For each bit of the group's index, its register bit, the element that this bit adds, and the distance that it
    /// adds.
    group_selectors: Vec<(u64, u64, u64)>,
}

impl Groups {
    /// Log2 of the number of groups of registers.
    pub(super) fn bits(&self) -> u32 {
        self.group_selectors.len() as u32
    }

    /// Returns the distance that the group with this index adds to the block from which its registers load.
    pub(super) fn distance(&self, group: u64) -> u64 {
        let distances: Columns = self.group_selectors.iter().map(|&(_, _, distance)| distance).collect();
        multiply_vector(&distances, group)
    }

    /// Returns the group of a register, and the register's index within the group.
    pub(super) fn of(&self, register: u64) -> (u64, u64) {
        let leading_away = self.group_selectors.iter().fold(0, |all, (bit, ..)| all | bit);
        let (mut rest, mut index) = (register, 0);
        for (bit, &(registers, _)) in self.near.iter().enumerate() {
            if register & registers & !leading_away != 0 {
                rest ^= registers;
                index |= 1 << bit;
            }
        }
        let group = self.group_selectors.iter().enumerate().filter(|(_, (registers, ..))| rest & registers != 0);
        (group.fold(0, |group, (bit, _)| group | 1 << bit), index)
    }
}
