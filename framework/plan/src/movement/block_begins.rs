//! Where blocks begin that cover the registers of a layout of two axes: what registers beyond those of a block, and warps,
//! add to a coordinate.

use tilewright_kernel::{Binary, Builder, SpecialRegister, Value};

/// The begins of the blocks of a tile.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Begins {
    /// Registers of a lane.
    registers: usize,
    /// For each distinct begin the registers that have an element there first, by which its copies are numbered.
    each: Vec<(Vec<u64>, [u64; 2])>,
    warps: Vec<[u64; 2]>,
}

impl Begins {
    /// Of registers and warps with these places, where the registers numbered `own` are a block's; `None` where others, or
    /// warps, are not whole blocks apart.
    pub(super) fn new(registers: &[[u64; 2]], warps: &[[u64; 2]], own: &[usize], size: [u64; 2]) -> Option<Self> {
        let others: Vec<usize> = (0..registers.len()).filter(|register| !own.contains(register)).collect();
        let apart = |place: &[u64; 2]| place.iter().zip(size).all(|(at, size)| at.is_multiple_of(size));
        if !others.iter().map(|&other| &registers[other]).chain(warps).all(apart) {
            return None;
        }
        let mut each: Vec<(Vec<u64>, [u64; 2])> = Vec::new();
        for number in 0..1u64 << others.len() {
            let chosen = others.iter().enumerate().filter(|(bit, _)| number >> bit & 1 == 1);
            let (mut register, mut place) = (0, [0, 0]);
            for (_, &other) in chosen {
                register |= 1 << other;
                place = [0, 1].map(|axis| place[axis] ^ registers[other][axis]);
            }
            match each.iter_mut().find(|(_, known)| *known == place) {
                Some((copies, _)) => copies.push(register),
                None => each.push((vec![register], place)),
            }
        }
        Some(Self { registers: 1 << registers.len(), each, warps: warps.to_vec() })
    }

    /// Registers of a lane.
    pub(super) fn registers(&self) -> usize {
        self.registers
    }

    /// The blocks of a warp: the registers with which each begins, one for each of its copies, and where.
    pub(super) fn each_register(&self) -> Vec<(Vec<u64>, [u64; 2])> {
        self.each.clone()
    }

    /// The begins of all blocks of all warps.
    pub(super) fn all(&self) -> impl Iterator<Item = [u64; 2]> {
        let of_warp = |warp: u64| {
            let own = self.warps.iter().enumerate().filter(move |(bit, _)| warp >> bit & 1 == 1);
            own.fold([0, 0], |sum, (_, own)| [sum[0] ^ own[0], sum[1] ^ own[1]])
        };
        let places = self.each.iter().map(|(_, place)| *place);
        (0..1u64 << self.warps.len()).flat_map(move |warp| {
            let own = of_warp(warp);
            places.clone().map(move |place| [own[0] ^ place[0], own[1] ^ place[1]])
        })
    }

    /// What the running warp adds along both axes; nothing where no warp does.
    pub(super) fn of_warp(&self, builder: &mut Builder) -> [Option<Value>; 2] {
        [0, 1].map(|axis| {
            if self.warps.iter().all(|place| place[axis] == 0) {
                return None;
            }
            let warp = builder.special(SpecialRegister::Warp);
            let mut sum = builder.i32(0);
            for (bit, place) in (0..).zip(&self.warps).filter(|(_, place)| place[axis] != 0) {
                let own = builder.binary_const(Binary::ShrU, warp, bit);
                let own = builder.binary_const(Binary::And, own, 1);
                let own = builder.binary_const(Binary::Mul, own, place[axis] as u32);
                sum = builder.binary(Binary::Xor, sum, own);
            }
            Some(sum)
        })
    }
}
