//! Instructions that move a tile between registers and shared memory, as left divisors.
//!
//! A row says where each byte of a lane's registers lies: in which slot (whose address some lane
//! gives) and at which byte of it. Its tile divides a side's layout where the lanes of the row are the
//! side's lanes at those places, while registers may be any: they are permuted freely.

use smallvec::SmallVec;

use crate::f2::{Columns, Subspace, multiply};
use crate::layout::{Dim, LinearLayout};
use crate::target::{Direction, Instruction, InstructionKind, Operand, TargetDescription, linear_wavefronts_without};

use super::super::super::Conversion;
use super::accesses::{Figures, Memory, Move};
use super::coordinates::{Coordinates, Located};

/// What a bit of a place in memory comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// A bit of the byte in a 32-bit register.
    Byte(u32),
    /// A bit of the register's number.
    Register(u32),
    /// A bit of the lane.
    Lane(u32),
}

/// A row as bits that go to bits.
#[derive(Debug, Clone)]
pub(super) struct Tile<'a> {
    pub(super) name: &'a str,
    pub(super) direction: Direction,
    /// For each bit of the byte in a slot.
    in_slot: SmallVec<[Source; 8]>,
    /// For each bit of the slot's number.
    slots: SmallVec<[Source; 8]>,
    /// For each bit of the slot's number the lane bit that names it.
    named_by: SmallVec<[u32; 8]>,
    /// Bits of the register's number.
    register_bits: u32,
}

const WORD_BYTE_BITS: u32 = 2;

impl<'a> Tile<'a> {
    /// The tiles of the rows whose layouts move single bits.
    pub(super) fn all(instructions: &'a [Instruction]) -> Vec<Self> {
        let moves = instructions.iter().filter(|row| row.kind == InstructionKind::SharedMove);
        moves.filter_map(Self::of).collect()
    }

    fn of(row: &'a Instruction) -> Option<Self> {
        let loads = matches!(row.operands.first(), Some(Operand::Register { .. }));
        let (data, address) = row.operands.iter().find_map(|operand| match operand {
            Operand::Access { data, address, .. } => Some((data, address)),
            _ => None,
        })?;
        if data.in_bits(Dim::named("byte")) != WORD_BYTE_BITS {
            return None;
        }
        let (slot, byte) = (Dim::named("slot"), Dim::named("byte"));
        let sources = |dim: Dim| (0..data.out_bits(dim)).map(|bit| source(data, dim, bit)).collect::<Option<_>>();
        let named_by = (0..data.out_bits(slot)).map(|bit| {
            let named = |&lane: &u32| address.apply_packed(1 << lane) == 1 << bit;
            (0..address.in_bits(Dim::LANE)).find(named)
        });
        Some(Self {
            name: &row.name,
            direction: if loads { Direction::Load } else { Direction::Store },
            in_slot: sources(byte)?,
            slots: sources(slot)?,
            named_by: named_by.collect::<Option<_>>()?,
            register_bits: data.in_bits(Dim::REGISTER),
        })
    }

    /// Log2 of the bytes of a slot.
    pub(super) fn slot_bits(&self) -> u32 {
        self.in_slot.len() as u32
    }

    /// What each bit of the element in a slot must be: a lane's column, or `None` for any register. No
    /// answer where elements are split.
    pub(super) fn vector(&self, side: &Located, element_byte_bits: u32) -> Option<SmallVec<[Option<u64>; 8]>> {
        let whole = (0..element_byte_bits).all(|bit| self.in_slot.get(bit as usize) == Some(&Source::Byte(bit)));
        if !whole {
            return None;
        }
        let column = |source: &Source| match *source {
            Source::Lane(lane) => Some(side.threads[lane as usize]),
            Source::Byte(_) | Source::Register(_) => None,
        };
        Some(self.in_slot[element_byte_bits as usize..].iter().map(column).collect())
    }

    /// Whether the memory layouts that fit this tile fit the other too.
    pub(super) fn lies_as(&self, other: &Self) -> bool {
        self.direction == other.direction && self.in_slot == other.in_slot
    }

    /// The columns of the slots that one wavefront serves, where a slot is the elements of `vector`.
    /// Registers that number slots are the side's first outside the slot, as in [`Tile::registers`].
    pub(super) fn phase(&self, side: &Located, vector: &[u64], target: &TargetDescription) -> Option<Columns> {
        let row = target.instruction_bank_row(self.name, self.direction, 8 << self.slot_bits())?;
        let mut space = Subspace::span(vector.iter().copied());
        let mut registers = side.kept.iter().copied().filter(|&column| space.insert(column));
        let column = |source: &Source| match *source {
            Source::Lane(lane) => Some(side.threads[lane as usize]),
            Source::Byte(_) | Source::Register(_) => registers.next(),
        };
        let slots: Columns = self.slots.iter().map(column).collect::<Option<_>>()?;
        let of_lane = |lane: u32| self.named_by.iter().position(|&by| by == lane).map_or(0, |slot| slots[slot]);
        let sum = |lanes: u64| {
            let set = (0..64 - lanes.leading_zeros()).filter(|bit| lanes >> bit & 1 == 1);
            set.fold(0, |sum, lane| sum ^ of_lane(lane))
        };
        Some(row.phase.iter().map(|&lanes| sum(lanes)).collect())
    }

    /// The figures of a side whose accesses are this instruction, on a layout whose vector is a slot;
    /// `None` where the tile does not divide the side.
    pub(super) fn figures(
        &self,
        conversion: &Conversion,
        coordinates: &Coordinates,
        side: &Located,
        memory: &Memory<'_>,
        idle: u64,
        target: &TargetDescription,
    ) -> Option<Figures> {
        let element_byte_bits = conversion.element_bytes().trailing_zeros();
        let vector_bits = self.vector(side, element_byte_bits)?.len() as u32;
        if memory.layout.vector_bits != vector_bits {
            return None;
        }
        let low = (1u64 << vector_bits) - 1;
        let offsets: Columns = side.threads.iter().map(|&column| memory.offset(column)).collect();
        // A warp that is left out would have to branch around the instruction.
        if idle & !conversion.lane_mask() != 0 || !self.fits(conversion, &offsets, element_byte_bits, low) {
            return None;
        }
        let registers = self.registers(side, memory, element_byte_bits, vector_bits)?;
        let mut address = Columns::from_elem(0, conversion.lane_bits as usize);
        for ((source, &lane), &register) in self.slots.iter().zip(&self.named_by).zip(&registers.slots) {
            address[lane as usize] = match *source {
                Source::Lane(own) => offsets[own as usize],
                Source::Byte(_) | Source::Register(_) => memory.offset(register),
            };
        }
        let unnamed = (0..conversion.lane_bits).filter(|lane| !self.named_by.contains(lane));
        let bytes = conversion.element_bytes();
        let row = target.instruction_bank_row(self.name, self.direction, 8 << self.slot_bits())?;
        let lanes: Columns = address.iter().map(|column| column * bytes).collect();
        let silent = unnamed.fold(0, |mask, lane| mask | 1 << lane);
        let each = linear_wavefronts_without(row, &lanes, silent, 1 << self.slot_bits());
        address.extend(offsets[conversion.lane_bits as usize..].iter().copied());
        let width = registers.order.len() as u32;
        let accesses = 1u64 << (side.span.dimension().checked_sub(width)? + coordinates.rounds);
        let by = Move { name: self.name.to_owned(), elements: registers.order, steps: registers.steps };
        Some(Figures {
            thread_columns: address,
            idle: 0,
            width,
            accesses,
            each,
            shared_by: SmallVec::new(),
            by: Some(by),
        })
    }

    /// Whether lanes in the slot are at their places, and nothing else of a thread moves inside slots.
    fn fits(&self, conversion: &Conversion, offsets: &[u64], element_byte_bits: u32, low: u64) -> bool {
        let place = |thread: usize| {
            let bit = self.in_slot.iter().position(|&source| source == Source::Lane(thread as u32))?;
            (thread < conversion.lane_bits as usize).then(|| 1u64 << (bit as u32 - element_byte_bits))
        };
        offsets.iter().enumerate().all(|(thread, &offset)| match place(thread) {
            Some(expected) => offset == expected,
            None => offset & low == 0,
        })
    }

    /// Which registers are the tile's: those that the vector asks for, and for the others the first
    /// that lie whole slots apart; and those that number accesses.
    fn registers(
        &self,
        side: &Located,
        memory: &Memory<'_>,
        element_byte_bits: u32,
        vector_bits: u32,
    ) -> Option<Registers> {
        let vector = &memory.layout.columns[..vector_bits as usize];
        let mut of_source: SmallVec<[(Source, u64); 8]> = SmallVec::new();
        for (source, &column) in self.in_slot[element_byte_bits as usize..].iter().zip(vector) {
            if !matches!(source, Source::Lane(_)) {
                of_source.push((*source, column));
            }
        }
        let mut space = Subspace::span(vector.iter().copied());
        let low = (1u64 << vector_bits) - 1;
        let whole = side.kept.iter().map(|&kept| kept ^ multiply(vector, memory.offset(kept) & low));
        let whole: Columns = whole.filter(|&column| space.insert(column)).collect();
        // Everything must be there: the vector's registers, and whole slots of all others.
        let all_held = of_source.iter().map(|(_, column)| column).chain(&whole).all(|&c| side.span.contains(c));
        if !all_held || of_source.len() + whole.len() != side.span.dimension() as usize {
            return None;
        }
        let mut others = whole.into_iter();
        let mut slots = Columns::new();
        for source in &self.slots {
            let column = if matches!(source, Source::Lane(_)) { 0 } else { others.next()? };
            of_source.push((*source, column));
            slots.push(column);
        }
        // In the order of the instruction's registers: elements of a word, then words.
        let bytes = (element_byte_bits..WORD_BYTE_BITS).map(Source::Byte);
        let order = bytes.chain((0..self.register_bits).map(Source::Register));
        let column = |source: Source| of_source.iter().find(|(of, _)| *of == source).map(|&(_, column)| column);
        Some(Registers { order: order.map(column).collect::<Option<_>>()?, slots, steps: others.collect() })
    }
}

/// The registers of one access, as columns.
struct Registers {
    order: Columns,
    /// Those that number slots, at the slots' bits; zero where a lane does.
    slots: Columns,
    /// Those that number accesses.
    steps: Columns,
}

/// The single input bit that is the given output bit.
fn source(data: &LinearLayout, dim: Dim, bit: u32) -> Option<Source> {
    let wanted = 1u64 << (data.outs().shift_of(dim)? + bit);
    type Kind = fn(u32) -> Source;
    let byte: (Dim, Kind) = (Dim::named("byte"), Source::Byte);
    let kinds = [byte, (Dim::REGISTER, Source::Register), (Dim::LANE, Source::Lane)];
    let mut found = kinds.iter().flat_map(|(dim, kind)| {
        let columns = data.columns_of(*dim).iter().enumerate();
        columns.filter(|&(_, &column)| column & wanted != 0).map(move |(at, &column)| (kind(at as u32), column))
    });
    match (found.next(), found.next()) {
        (Some((source, column)), None) if column == wanted => Some(source),
        _ => None,
    }
}
