//! Tiles: access instructions of shared memory as maps from the bits of lanes and their bytes to the bits of offsets in
//! memory.

use smallvec::SmallVec;

use super::{LocatedAccessor, Phase, Reach};
use tilewright_kernel::{Element, is_result_operand};
use tilewright_layout::f2::{Columns, Subspace, rank};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{BankTableEntry, Direction, Instruction, InstructionKind, TargetDescription};

/// Log2 of the max number of bytes of a slot (contiguous memory at one address). It is more than any memory has.
const MAX_SEGMENT_BITS: usize = 24;

/// The source of one bit of an offset in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Source {
    /// A bit of the index of a byte among the bytes that a lane holds.
    Byte(u32),
    /// The bit of the lane index with this number.
    Lane(u32),
}

/// An access instruction as a map from (byte that a lane holds, lane) to (slot, byte of the slot). A slot is contiguous
/// memory at one address.
#[derive(Debug, Clone)]
pub(in super::super) struct Tile<'a> {
    /// The name of the instruction; `None` for plain accesses.
    pub(in super::super) name: Option<&'a str>,
    pub(in super::super) direction: Direction,
    /// The source of each bit of the byte index in a slot (contiguous memory at one address), lowest bit first.
    pub(super) in_segment: SmallVec<[Source; 8]>,
    /// The source of each bit of the slot index, lowest bit first; a slot is contiguous memory at one address.
    pub(super) segments: SmallVec<[Source; 8]>,
    /// For each lane bit, the slot index that it adds. A lane gives the address of the slot (contiguous memory) whose
    /// index its bits add up to.
    pub(super) address: Columns,
    /// Log2 of the number of bytes that a lane moves in one access.
    pub(super) bytes_per_lane_log2: u32,
}

impl<'a> Tile<'a> {
    /// Returns the plain accesses of a target that move at least one element of type `element` per lane, the widest
    /// first.
    pub(in super::super) fn plain(
        target: &TargetDescription,
        direction: Direction,
        element: Element,
        lane_bits: u32,
    ) -> SmallVec<[Self; 5]> {
        let offered = |bits: &u32| *bits >= element.bits() && target.find_bank_row(direction, *bits).is_some();
        let mut widths: SmallVec<[u32; 8]> = target.shared.access_bits.iter().copied().filter(offered).collect();
        widths.sort_unstable_by(|a, b| b.cmp(a));
        let of_width = |bits: u32| {
            let bytes_per_lane_log2 = (bits / 8).ilog2();
            Self {
                name: None,
                direction,
                in_segment: (0..bytes_per_lane_log2).map(Source::Byte).collect(),
                segments: (0..lane_bits).map(Source::Lane).collect(),
                address: (0..lane_bits).map(|lane| 1 << lane).collect(),
                bytes_per_lane_log2,
            }
        };
        widths.into_iter().map(of_width).collect()
    }

    /// Returns the data-movement instructions for warps of 2^`lane_bits` lanes whose layouts map single bits to single
    /// bits, and whose addresses need no more alignment than the length of a slot.
    pub(in super::super) fn of_rows(instructions: &'a [Instruction], lane_bits: u32) -> Vec<Self> {
        let moves = instructions.iter().filter(|row| row.kind == InstructionKind::SharedMove);
        moves.filter_map(Self::of).filter(|tile| tile.address.len() == lane_bits as usize).collect()
    }

    fn of(row: &'a Instruction) -> Option<Self> {
        let (data, address, alignment) = row.access_operand()?;
        let (segment, byte) = (Dim::named("slot"), Dim::named("byte"));
        let lane_bits = data.in_bits(Dim::LANE);
        let bytes_per_lane_log2 = data.in_bits(byte) + data.in_bits(Dim::REGISTER);
        let sources = |dim: Dim| (0..data.out_bits(dim)).map(|bit| source(data, dim, bit)).collect::<Option<_>>();
        let (in_segment, segments): (SmallVec<[Source; 8]>, SmallVec<[Source; 8]>) =
            (sources(byte)?, sources(segment)?);
        let named = |&column: &u64| address.outs().coordinate(column, segment);
        let address: Columns = address.columns_of(Dim::LANE).iter().map(named).collect();
        let sound = in_segment.len() <= MAX_SEGMENT_BITS
            && alignment <= 1 << in_segment.len()
            && data.ins().total_bits() == lane_bits + bytes_per_lane_log2
            && address.len() == lane_bits as usize
            && rank(&address) as usize == segments.len()
            && (0..bytes_per_lane_log2)
                .all(|bit| in_segment.iter().chain(&segments).any(|&source| source == Source::Byte(bit)));
        sound.then_some(Self {
            name: Some(&row.name),
            direction: if row.operands.iter().any(is_result_operand) { Direction::Load } else { Direction::Store },
            in_segment,
            segments,
            address,
            bytes_per_lane_log2,
        })
    }

    /// Returns the source of each bit of the byte index in a slot (contiguous memory at one address), and of each bit
    /// of the slot index.
    pub(in super::super) fn sources(&self) -> [&[Source]; 2] {
        [&self.in_segment, &self.segments]
    }

    /// Returns the number of bytes that a lane moves in one access.
    pub(in super::super) fn bytes_per_lane(&self) -> u64 {
        1 << self.bytes_per_lane_log2
    }

    /// Log2 of the number of lanes of a warp.
    pub(in super::super) fn lane_bits(&self) -> u32 {
        self.address.len() as u32
    }

    /// Log2 of the number of bytes of a slot, the contiguous memory at one address.
    pub(in super::super) fn segment_bits(&self) -> u32 {
        self.in_segment.len() as u32
    }

    /// Whether the accesses can reach the memories of `reach`: only plain accesses can access the memory of another
    /// block.
    pub(in super::super) fn reaches(&self, reach: &Reach) -> bool {
        !reach.leaves || self.name.is_none()
    }

    /// Returns the target's bank model for these accesses; `None` if it has none.
    pub(in super::super) fn bank_row<'t>(&self, target: &'t TargetDescription) -> Option<&'t BankTableEntry> {
        let bits = 8 << self.segment_bits();
        match self.name {
            Some(name) => target.find_instruction_bank_row(name, self.direction, bits),
            None => target.find_bank_row(self.direction, bits),
        }
    }

    /// Whether elements of 2^`byte_bits` bytes are contiguous in a slot and held by one lane.
    pub(super) fn keeps_elements(&self, byte_bits: u32) -> bool {
        (0..byte_bits).all(|bit| self.in_segment.get(bit as usize) == Some(&Source::Byte(bit)))
    }

    /// Returns, for each bit of the element's index in a slot (contiguous memory at one address), the element that the
    /// layout must have there: that of a lane bit if the tile puts one there; `None` in the list if any element in the
    /// lane's registers will do. Returns `None` if the slot would split an element.
    pub(in super::super) fn vector(&self, side: &LocatedAccessor) -> Option<SmallVec<[Option<u64>; 8]>> {
        let byte_bits = side.byte_bits();
        if !self.keeps_elements(byte_bits) {
            return None;
        }
        let column = |source: &Source| match *source {
            Source::Lane(lane) => Some(side.threads[lane as usize]),
            Source::Byte(_) => None,
        };
        Some(self.in_segment[byte_bits as usize..].iter().map(column).collect())
    }

    /// Returns the kinds of accesses in a direction: `None` for plain accesses, and one tile for each distinct slot
    /// format of `tiles`.
    pub(in super::super) fn kinds(tiles: &[Self], direction: Direction) -> Vec<Option<&Self>> {
        let mut kinds: Vec<Option<&Self>> = vec![None];
        for tile in tiles.iter().filter(|tile| tile.direction == direction) {
            if !kinds.iter().flatten().any(|known| known.in_segment == tile.in_segment) {
                kinds.push(Some(tile));
            }
        }
        kinds
    }

    /// Returns log2 of the number of elements that a lane moves in one access; `None` if an access moves less than an
    /// element.
    pub(in super::super) fn width(&self, side: &LocatedAccessor) -> Option<u32> {
        self.bytes_per_lane_log2.checked_sub(side.byte_bits())
    }

    /// Returns log2 of the min number of wavefronts of an access of a warp: one for each phase (the slots that are
    /// served together). `None` if the target has no bank model for the access.
    pub(in super::super) fn phases(&self, target: &TargetDescription) -> Option<u32> {
        Some((self.segments.len() as u32).saturating_sub(self.bank_row(target)?.phase.len() as u32))
    }

    /// Whether some memory layout allows these accesses: a lane holds enough elements, lanes that have elements in
    /// slots share them with no other thread, and lanes that only give addresses hold no elements of their own.
    pub(in super::super) fn may_divide(&self, side: &LocatedAccessor) -> bool {
        let is_wide_enough = self.width(side).is_some_and(|width| width <= side.span.dimension());
        let lanes = |sources: &[Source], lane: usize| sources.contains(&Source::Lane(lane as u32));
        let (mut inside, mut outside) = (Subspace::zero(), Subspace::zero());
        let are_exclusive = side.threads.iter().enumerate().all(|(thread, &column)| {
            let lane = thread < side.lane_bits as usize;
            match lane && lanes(&self.in_segment, thread) {
                true => inside.insert(column),
                false => {
                    outside.insert(column);
                    !lane || lanes(&self.segments, thread) || column == 0
                }
            }
        });
        is_wide_enough
            && are_exclusive
            && self.keeps_elements(side.byte_bits())
            && inside.intersection(&outside).dimension() == 0
    }

    /// Returns one phase (the slots that one wavefront serves), for slots that begin with the elements `vector`. The
    /// accessor's first register bits outside of the slot select the slot, as in [`super::PlacedAccessor::by`]. `None`
    /// if the target has no bank model for the access, or the accessor too few registers.
    pub(in super::super) fn phase(
        &self,
        side: &LocatedAccessor,
        vector: &[u64],
        target: &TargetDescription,
    ) -> Option<Phase> {
        let row = self.bank_row(target)?;
        let mut space = Subspace::span(vector.iter().copied());
        let mut registers = side.kept.iter().copied().filter(|&column| space.insert(column));
        let column = |source: &Source| match *source {
            Source::Lane(lane) => Some(side.threads[lane as usize]),
            Source::Byte(_) => registers.next(),
        };
        let segments: Columns = self.segments.iter().map(column).collect::<Option<_>>()?;
        Some(Phase::new(row, &segments))
    }
}

/// Returns the single bit of a lane index or of a lane's byte index that moves the output bit `bit` of `dim`, if it
/// moves no other output bit; `None` if there is no such bit.
fn source(data: &LinearLayout, dim: Dim, bit: u32) -> Option<Source> {
    let required = 1u64 << (data.outs().shift_of(dim)? + bit);
    let byte = Dim::named("byte");
    let bytes = data.in_bits(byte);
    let kinds = [
        (byte, Source::Byte as fn(u32) -> Source, 0),
        (Dim::REGISTER, Source::Byte, bytes),
        (Dim::LANE, Source::Lane, 0),
    ];
    let mut found = kinds.iter().flat_map(|&(dim, kind, first)| {
        let columns = data.columns_of(dim).iter().zip(first..);
        columns.filter(|&(&column, _)| column & required != 0).map(move |(&column, at)| (kind(at), column))
    });
    match (found.next(), found.next()) {
        (Some((source, column)), None) if column == required => Some(source),
        _ => None,
    }
}
