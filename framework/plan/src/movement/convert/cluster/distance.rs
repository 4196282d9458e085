//! How far away what a block needs is: the source's blocks by their distance (xor) from the own one, and
//! the elements within the block that holds them.

use tilewright_layout::f2::{Columns, Solver, Subspace, multiply};

use super::super::super::Conversion;
use super::super::super::conversion::Side;

/// A conversion across blocks, seen from each block: where every destination bit leads.
///
/// Position `x` of a block's destination finds its element in the block at distance `D x`, at
/// element `E x` of what that block holds; both are linear.
#[derive(Debug, Clone)]
pub(super) struct Distances {
    /// Elements and distances of the register bits.
    registers: Vec<Step>,
    /// Of the lane bits, then the warp bits, then the bits of the block.
    threads: Vec<Step>,
}

#[derive(Debug, Clone, Copy)]
struct Step {
    element: u64,
    distance: u64,
}

impl Distances {
    /// `None` where no block holds what some block needs.
    pub(super) fn of(conversion: &Conversion) -> Option<Self> {
        let (src, dst) = (&conversion.src, &conversion.dst);
        let own = Subspace::span(src.registers.iter().chain(&src.threads).copied());
        let blocks: Columns = src.blocks.iter().map(|&column| own.reduce(column)).collect();
        let solver = Solver::new(&blocks);
        // Unknowns that are free stay zero: of several blocks with the element the own one, if it has it.
        let step = |column: u64| {
            let distance = solver.solve(own.reduce(column))?;
            Some(Step { element: column ^ multiply(&src.blocks, distance), distance })
        };
        // Distances are counted from the own block, which holds what the source says.
        let of_blocks = dst.blocks.iter().zip(&src.blocks).map(|(required, there)| required ^ there);
        Some(Self {
            registers: dst.registers.iter().map(|&column| step(column)).collect::<Option<_>>()?,
            threads: dst.threads.iter().copied().chain(of_blocks).map(step).collect::<Option<_>>()?,
        })
    }

    /// Whether every block has what it needs.
    pub(super) fn are_zero(&self) -> bool {
        self.registers.iter().chain(&self.threads).all(|step| step.distance == 0)
    }

    /// For each lane bit, then warp bit, then bit of the block the distance.
    pub(super) fn of_threads(&self) -> Columns {
        self.threads.iter().map(|step| step.distance).collect()
    }

    /// The registers by the blocks that they come from.
    pub(super) fn groups(&self) -> Groups {
        let distances: Columns = self.registers.iter().map(|step| step.distance).collect();
        let solver = Solver::new(&distances);
        let free = solver.free_columns();
        let elements: Columns = self.registers.iter().map(|step| step.element).collect();
        let element = |registers: u64| multiply(&elements, registers);
        let (mut near, mut apart) = (Vec::new(), Vec::new());
        for (bit, &distance) in distances.iter().enumerate() {
            if free >> bit & 1 == 1 {
                let registers = 1 << bit ^ solver.solve(distance).unwrap_or(0);
                near.push((registers, element(registers)));
            } else {
                apart.push((1 << bit, element(1 << bit), distance));
            }
        }
        Groups { near, apart }
    }

    /// The question within one block's memory: what the block holds, to what is loaded from one block for
    /// one group of registers. After the bits of the block come those of the group's number: to
    /// an address, both are as threads are.
    pub(super) fn within_block(&self, conversion: &Conversion, groups: &Groups) -> Conversion {
        let elements = |steps: &[Step]| steps.iter().map(|step| step.element).collect::<Vec<_>>();
        let threads = elements(&self.threads).into_iter().chain(groups.apart.iter().map(|&(_, element, _)| element));
        let src = Side { blocks: Columns::new(), ..conversion.src.clone() };
        let registers = groups.near.iter().map(|&(_, element)| element).collect();
        let dst = Side { registers, threads: threads.collect(), blocks: Columns::new() };
        Conversion { src, dst, origin: None, ..*conversion }
    }
}

/// Destination registers in groups: the registers of a group come from blocks of one distance, but for
/// what their thread adds.
#[derive(Debug, Clone)]
pub(super) struct Groups {
    /// The registers that number those of a group, with their elements. Each is one bit, plus bits that
    /// lead away and back.
    near: Vec<(u64, u64)>,
    /// Register bits that lead to another group, with their elements and distances.
    apart: Vec<(u64, u64, u64)>,
}

impl Groups {
    /// Log2 of how many groups there are.
    pub(super) fn bits(&self) -> u32 {
        self.apart.len() as u32
    }

    /// The distance of a group.
    pub(super) fn distance(&self, group: u64) -> u64 {
        let distances: Columns = self.apart.iter().map(|&(_, _, distance)| distance).collect();
        multiply(&distances, group)
    }

    /// The group that a register is in, and its number there.
    pub(super) fn of(&self, register: u64) -> (u64, u64) {
        let leading_away = self.apart.iter().fold(0, |all, (bit, ..)| all | bit);
        let (mut rest, mut number) = (register, 0);
        for (bit, &(registers, _)) in self.near.iter().enumerate() {
            if register & registers & !leading_away != 0 {
                rest ^= registers;
                number |= 1 << bit;
            }
        }
        let group = self.apart.iter().enumerate().filter(|(_, (registers, ..))| rest & registers != 0);
        (group.fold(0, |group, (bit, _)| group | 1 << bit), number)
    }
}
