//! Invented instructions of the invented machine, which move tiles between registers and shared memory.

use super::LANE_BITS;
use tilewright_layout::{Bases, Dim, LinearLayout};
use tilewright_target::{Completion, Instruction, InstructionKind, Operand, Semantics};

/// Where one bit of a place in memory comes from, and what names slots.
#[derive(Debug, Clone, Copy)]
pub enum Source {
    /// A bit of the byte's number among those that a lane holds.
    Held(u32),
    /// A bit of the lane.
    Lane(u32),
}
use Source::{Held, Lane};

/// An instruction by its bits.
#[derive(Debug, Clone, Copy)]
pub struct Tile {
    pub name: &'static str,
    /// Log2 of the lanes of its warps.
    pub lane_bits: u32,
    /// For each bit of the byte in a slot.
    pub in_slot: &'static [Source],
    /// For each bit of the slot's number.
    pub slots: &'static [Source],
    /// For each lane bit what it adds to the number of the slot that a lane names.
    pub address: &'static [u64],
}

const fn of_eight(
    name: &'static str,
    in_slot: &'static [Source],
    slots: &'static [Source],
    address: &'static [u64],
) -> Tile {
    Tile { name, lane_bits: LANE_BITS as u32, in_slot, slots, address }
}

/// The shapes, of which each is loaded and stored by, but for the last three.
pub const TILES: [Tile; 8] = [
    // Eight slots of eight bytes. A pair of lanes has the two words of a slot.
    of_eight("rows", &[Held(0), Held(1), Lane(0)], &[Lane(1), Lane(2), Held(2)], &[1, 2, 4]),
    // A lane has one 16-bit element of two slots in each word.
    of_eight("columns", &[Held(0), Lane(1), Lane(2)], &[Held(1), Lane(0), Held(2)], &[1, 2, 4]),
    // A lane has one byte of every slot, and names one by a sum of bits.
    of_eight("bytes", &[Lane(0), Lane(1), Lane(2)], &[Held(0), Held(1), Held(2)], &[3, 1, 6]),
    // Two slots of sixteen bytes, which only the first two lanes name.
    of_eight("wide", &[Held(0), Lane(0), Lane(1), Lane(2)], &[Held(1)], &[1, 0, 0]),
    // Sixteen bits a lane.
    of_eight("halves", &[Held(0), Lane(2), Lane(1)], &[Lane(0)], &[1, 1, 0]),
    // Every second lane gets a copy.
    of_eight("copies", &[Held(0), Held(1), Held(2)], &[Lane(1), Lane(2)], &[0, 1, 2]),
    // Of another machine's warps.
    Tile {
        name: "sixteen",
        lane_bits: 4,
        in_slot: &[Held(0), Held(1)],
        slots: &[Lane(0), Lane(1), Lane(2), Lane(3)],
        address: &[1, 2, 4, 8],
    },
    // Addresses that slots one after the other have not.
    of_eight("aligned", &[Held(0), Held(1)], &[Lane(0), Lane(1), Lane(2)], &[1, 2, 4]),
];

impl Tile {
    /// The row of the instruction table.
    pub fn row(&self, loads: bool) -> Instruction {
        let (slot, byte) = (Dim::named("slot"), Dim::named("byte"));
        let held_bits = self.in_slot.iter().chain(self.slots).filter(|from| matches!(from, Held(_))).count() as u32;
        let image = |required: Source| {
            let at = |from: &[Source]| from.iter().position(|&from| same(from, required));
            let of = |bit: Option<usize>| bit.map_or(0, |bit| 1u64 << bit);
            vec![of(at(self.slots)), of(at(self.in_slot))]
        };
        // Bytes of a 16-bit register, or of a wider one.
        let byte_bits = held_bits.min(2);
        let bytes: Bases = (0..byte_bits).map(|bit| image(Held(bit))).collect();
        let registers = (byte_bits..held_bits).map(|bit| image(Held(bit))).collect();
        let lanes = (0..self.lane_bits).map(|bit| image(Lane(bit))).collect();
        let sizes = [(slot, 1 << self.slots.len()), (byte, 1 << self.in_slot.len())];
        let data = [(Dim::REGISTER, registers), (Dim::LANE, lanes), (byte, bytes)];
        let address: Bases = self.address.iter().map(|&slot| vec![slot]).collect();
        let memory = Operand::Access {
            data: LinearLayout::from_bases(&data, &sizes).expect("sizes fit"),
            address: LinearLayout::from_bases(&[(Dim::LANE, address)], &sizes[..1]).expect("sizes fit"),
            alignment: if self.name == "aligned" { 16 } else { 1 << self.in_slot.len() },
        };
        let registers = Operand::Register {
            role: if loads { "d" } else { "a" }.to_owned(),
            element: "b8".to_owned(),
            bits: 8,
            layout: held(held_bits, self.lane_bits),
        };
        Instruction {
            name: format!("{}_{}", if loads { "load" } else { "store" }, self.name),
            kind: InstructionKind::SharedMove,
            operands: if loads { vec![registers, memory] } else { vec![memory, registers] },
            cycles: None,
            semantics: Semantics::Move,
            completion: Completion::AtOnce,
            numerics: None,
            source: "invented".to_owned(),
        }
    }
}

fn same(a: Source, b: Source) -> bool {
    matches!((a, b), (Held(a), Held(b)) | (Lane(a), Lane(b)) if a == b)
}

/// Bytes of the lanes, one after the other.
fn held(held_bits: u32, lane_bits: u32) -> LinearLayout {
    let bytes = LinearLayout::identity(1 << held_bits, Dim::REGISTER, Dim::tensor(0)).expect("sizes fit");
    let lanes = LinearLayout::identity(1 << lane_bits, Dim::LANE, Dim::tensor(0)).expect("sizes fit");
    bytes.direct_sum(&lanes).expect("sizes fit")
}

/// The rows of all shapes.
pub fn rows() -> Vec<Instruction> {
    let stored = |tile: &&Tile| tile.name != "copies";
    TILES.iter().map(|tile| tile.row(true)).chain(TILES.iter().filter(stored).map(|tile| tile.row(false))).collect()
}
