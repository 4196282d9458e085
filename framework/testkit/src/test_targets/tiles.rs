//! Invented instructions, like `ldmatrix`, that move tiles between registers and shared memory.

use super::LANE_BITS;
use tilewright_layout::{Dim, DimBases, LinearLayout};
use tilewright_target::{Completion, Instruction, InstructionKind, InstructionOperand, Semantics};

/// The source of one bit of the index of a memory segment, or of one bit of the byte offset in it.
#[derive(Debug, Clone, Copy)]
pub enum Source {
    /// A bit of the index of a byte among the bytes that a lane holds.
    Byte(u32),
    /// A bit of the lane index.
    Lane(u32),
}
use Source::{Byte, Lane};

/// An invented move instruction: each lane gives the address of at most one memory segment, and receives bytes of the
/// segments. `in_segment` and `segments` state which byte each lane receives.
#[derive(Debug, Clone, Copy)]
pub struct Tile {
    pub name: &'static str,
    /// Log2 of the lanes of the target's warps.
    pub lane_bits: u32,
    /// The source of each bit of the byte offset in a segment.
    pub in_segment: &'static [Source],
    /// The source of each bit of the segment index.
    pub segments: &'static [Source],
    /// For each lane bit, its contribution to the index of the segment that the lane addresses.
    pub address: &'static [u64],
}

const fn of_eight(
    name: &'static str,
    in_segment: &'static [Source],
    segments: &'static [Source],
    address: &'static [u64],
) -> Tile {
    Tile { name, lane_bits: LANE_BITS as u32, in_segment, segments, address }
}

/// The tiles of the invented instructions. There are a load and a store for each tile, but only a load for the tile
/// `copies`.
pub const TILES: [Tile; 8] = [
    // Eight segments of eight bytes. A pair of lanes has the two words of a segment.
    of_eight("rows", &[Byte(0), Byte(1), Lane(0)], &[Lane(1), Lane(2), Byte(2)], &[1, 2, 4]),
    // In each of its words a lane has one 16-bit element of each of two segments.
    of_eight("columns", &[Byte(0), Lane(1), Lane(2)], &[Byte(1), Lane(0), Byte(2)], &[1, 2, 4]),
    // A lane has one byte of every segment. The segment whose address it gives is an xor over the bits of the lane
    // index.
    of_eight("bytes", &[Lane(0), Lane(1), Lane(2)], &[Byte(0), Byte(1), Byte(2)], &[3, 1, 6]),
    // Two segments of sixteen bytes, which only the first two lanes address.
    of_eight("wide", &[Byte(0), Lane(0), Lane(1), Lane(2)], &[Byte(1)], &[1, 0, 0]),
    // Sixteen bits for each lane.
    of_eight("halves", &[Byte(0), Lane(2), Lane(1)], &[Lane(0)], &[1, 1, 0]),
    // Lanes that differ in the lowest bit of their index get the same bytes.
    of_eight("copies", &[Byte(0), Byte(1), Byte(2)], &[Lane(1), Lane(2)], &[0, 1, 2]),
    // An instruction for warps of sixteen lanes.
    Tile {
        name: "sixteen",
        lane_bits: 4,
        in_segment: &[Byte(0), Byte(1)],
        segments: &[Lane(0), Lane(1), Lane(2), Lane(3)],
        address: &[1, 2, 4, 8],
    },
    // Requires an alignment of sixteen bytes, which consecutive segments of four bytes do not have.
    of_eight("aligned", &[Byte(0), Byte(1)], &[Lane(0), Lane(1), Lane(2)], &[1, 2, 4]),
];

impl Tile {
    /// Returns the entry of the instruction table: a load if `loads`, else a store.
    pub fn row(&self, loads: bool) -> Instruction {
        let (segment, byte) = (Dim::named("slot"), Dim::named("byte"));
        let bytes_per_lane_log2 =
            self.in_segment.iter().chain(self.segments).filter(|from| matches!(from, Byte(_))).count() as u32;
        let image = |required: Source| {
            let at = |from: &[Source]| from.iter().position(|&from| same(from, required));
            let of = |bit: Option<usize>| bit.map_or(0, |bit| 1u64 << bit);
            vec![of(at(self.segments)), of(at(self.in_segment))]
        };
        // A register holds four bytes, or all bytes of a lane if the instruction moves fewer than four bytes per lane.
        let byte_bits = bytes_per_lane_log2.min(2);
        let bytes: DimBases = (0..byte_bits).map(|bit| image(Byte(bit))).collect();
        let registers = (byte_bits..bytes_per_lane_log2).map(|bit| image(Byte(bit))).collect();
        let lanes = (0..self.lane_bits).map(|bit| image(Lane(bit))).collect();
        let sizes = [(segment, 1 << self.segments.len()), (byte, 1 << self.in_segment.len())];
        let data = [(Dim::REGISTER, registers), (Dim::LANE, lanes), (byte, bytes)];
        let address: DimBases = self.address.iter().map(|&segment| vec![segment]).collect();
        let memory = InstructionOperand::Access {
            data: LinearLayout::from_bases(&data, &sizes).expect("sizes fit"),
            address: LinearLayout::from_bases(&[(Dim::LANE, address)], &sizes[..1]).expect("sizes fit"),
            alignment: if self.name == "aligned" { 16 } else { 1 << self.in_segment.len() },
        };
        let registers = InstructionOperand::Register {
            role: if loads { "d" } else { "a" }.to_owned(),
            element: "b8".to_owned(),
            bits: 8,
            layout: bytes_by_lane(bytes_per_lane_log2, self.lane_bits),
        };
        Instruction {
            name: format!("{}_{}", if loads { "load" } else { "store" }, self.name),
            kind: InstructionKind::SharedMove,
            operands: if loads { vec![registers, memory] } else { vec![memory, registers] },
            cycles: None,
            semantics: Semantics::Move,
            completion: Completion::Immediate,
            numerics: None,
            source: "invented".to_owned(),
        }
    }
}

fn same(a: Source, b: Source) -> bool {
    matches!((a, b), (Byte(a), Byte(b)) | (Lane(a), Lane(b)) if a == b)
}

/// Returns the layout of a register operand of bytes: byte `b` of lane `l` is element `b + l * n` of a vector, with `n`
/// bytes a lane.
fn bytes_by_lane(bytes_per_lane_log2: u32, lane_bits: u32) -> LinearLayout {
    let bytes = LinearLayout::identity(1 << bytes_per_lane_log2, Dim::REGISTER, Dim::tensor(0)).expect("sizes fit");
    let lanes = LinearLayout::identity(1 << lane_bits, Dim::LANE, Dim::tensor(0)).expect("sizes fit");
    bytes.direct_sum(&lanes).expect("sizes fit")
}

/// Returns the entries of all invented instructions, loads and stores.
pub fn rows() -> Vec<Instruction> {
    let stored = |tile: &&Tile| tile.name != "copies";
    TILES.iter().map(|tile| tile.row(true)).chain(TILES.iter().filter(stored).map(|tile| tile.row(false))).collect()
}
