//! Origins (first coordinates) of the 2-D blocks that an instruction accesses when several blocks cover a tile. An
//! origin is the sum of the coordinates that the register bits outside of a block add and those that the warp bits add.

use tilewright_kernel::{Binary, Builder, SpecialRegister, Value};

/// The origins (first coordinates) of the 2-D blocks that cover a tile.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BlockOrigins {
    /// Number of registers of a lane in the tile's layout.
    registers: usize,
    /// The distinct origins within a warp, as (dim0, dim1). The list before each origin has the first register of its
    /// block, and of every replica of the block.
    each: Vec<(Vec<u64>, [u64; 2])>,
    warps: Vec<[u64; 2]>,
}

impl BlockOrigins {
    /// Finds the origins of blocks of `size` (dim0, dim1). `registers` and `warps` have the coordinates that each
    /// register and warp bit adds; `block_registers` are the register bits within one block. `None` if the other
    /// register bits or the warp bits do not add multiples of the block's size.
    pub(super) fn new(
        registers: &[[u64; 2]],
        warps: &[[u64; 2]],
        block_registers: &[usize],
        size: [u64; 2],
    ) -> Option<Self> {
        let others: Vec<usize> = (0..registers.len()).filter(|register| !block_registers.contains(register)).collect();
        let is_block_aligned =
            |coordinates: &[u64; 2]| coordinates.iter().zip(size).all(|(at, size)| at.is_multiple_of(size));
        if !others.iter().map(|&other| &registers[other]).chain(warps).all(is_block_aligned) {
            return None;
        }
        let mut each: Vec<(Vec<u64>, [u64; 2])> = Vec::new();
        for index in 0..1u64 << others.len() {
            let chosen = others.iter().enumerate().filter(|(bit, _)| index >> bit & 1 == 1);
            let (mut register, mut coordinates) = (0, [0, 0]);
            for (_, &other) in chosen {
                register |= 1 << other;
                coordinates = [0, 1].map(|axis| coordinates[axis] ^ registers[other][axis]);
            }
            match each.iter_mut().find(|(_, known)| *known == coordinates) {
                Some((copies, _)) => copies.push(register),
                None => each.push((vec![register], coordinates)),
            }
        }
        Some(Self { registers: 1 << registers.len(), each, warps: warps.to_vec() })
    }

    /// Returns the number of registers of a lane in the tile's layout.
    pub(super) fn registers(&self) -> usize {
        self.registers
    }

    /// Returns the distinct blocks of a warp, each as (first registers, origin). The list has the first register of the
    /// block and of each replica of the block; the origin is (dim0, dim1).
    pub(super) fn each_register(&self) -> Vec<(Vec<u64>, [u64; 2])> {
        self.each.clone()
    }

    /// Iterates over the origins (dim0, dim1) of all blocks of all warps, relative to the tile.
    pub(super) fn all(&self) -> impl Iterator<Item = [u64; 2]> {
        let of_warp = |warp: u64| {
            let warp_begin = self.warps.iter().enumerate().filter(move |(bit, _)| warp >> bit & 1 == 1);
            warp_begin.fold([0, 0], |sum, (_, warp_begin)| [sum[0] ^ warp_begin[0], sum[1] ^ warp_begin[1]])
        };
        let coordinates = self.each.iter().map(|(_, coordinates)| *coordinates);
        (0..1u64 << self.warps.len()).flat_map(move |warp| {
            let warp_begin = of_warp(warp);
            coordinates.clone().map(move |coordinates| [warp_begin[0] ^ coordinates[0], warp_begin[1] ^ coordinates[1]])
        })
    }

    /// Emits, for dim0 and for dim1, the coordinate that the running warp's index adds to the origins; `None` for an
    /// axis along which no warp moves.
    pub(super) fn of_warp(&self, builder: &mut Builder) -> [Option<Value>; 2] {
        [0, 1].map(|axis| {
            if self.warps.iter().all(|coordinates| coordinates[axis] == 0) {
                return None;
            }
            let warp = builder.special(SpecialRegister::Warp);
            let mut sum = builder.i32(0);
            for (bit, coordinates) in (0..).zip(&self.warps).filter(|(_, coordinates)| coordinates[axis] != 0) {
                let warp_begin = builder.binary_const(Binary::ShrU, warp, bit);
                let warp_begin = builder.binary_const(Binary::And, warp_begin, 1);
                let warp_begin = builder.binary_const(Binary::Mul, warp_begin, coordinates[axis] as u32);
                sum = builder.binary(Binary::Xor, sum, warp_begin);
            }
            Some(sum)
        })
    }
}
