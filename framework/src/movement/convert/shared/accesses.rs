//! What one side of a conversion does to scratch memory of a given layout: first the figures by which
//! layouts are compared, then, for the layout that is chosen, the accesses themselves.

use smallvec::SmallVec;

use crate::f2::{Columns, Solver, Subspace, multiply};
use crate::target::TargetDescription;

use super::super::super::Conversion;
use super::super::swizzle::Swizzle;
use super::coordinates::{Coordinates, Located};

/// A layout of scratch memory with the solution of "which offset holds this element".
pub(super) struct Memory<'a> {
    pub(super) layout: &'a Swizzle,
    offsets: Solver,
}

impl<'a> Memory<'a> {
    pub(super) fn new(layout: &'a Swizzle) -> Self {
        Self { layout, offsets: Solver::new(&layout.columns) }
    }

    pub(super) fn offset(&self, vector: u64) -> u64 {
        self.offsets.solve(vector).unwrap_or(0)
    }
}

/// The figures of one side.
#[derive(Debug, Clone)]
pub(in super::super) struct Figures {
    /// For each thread bit, what it adds to the offset whose address it gives, in elements.
    pub(super) thread_columns: Columns,
    /// Bits that tell threads with the same elements apart: of these one makes each access.
    pub(super) idle: u64,
    /// Log2 of the elements of an access.
    pub(in super::super) width: u32,
    /// Accesses of all rounds, at all blocks.
    pub(super) accesses: u64,
    /// Wavefronts that one access takes.
    pub(in super::super) each: u64,
    /// Bits of warps that hold the same: bit `i` of an access's number says which of the two warps that
    /// differ in the `i`-th of these makes it.
    pub(super) shared_by: SmallVec<[u32; 4]>,
    /// The instruction by which registers move; plain accesses where there is none.
    pub(super) by: Option<Move>,
}

/// An instruction that moves a tile.
#[derive(Debug, Clone)]
pub(in super::super) struct Move {
    /// The name of its row.
    pub(super) name: String,
    /// The element that each bit of a place in its registers adds.
    pub(super) elements: Columns,
    /// What numbers accesses.
    pub(super) steps: Columns,
}

impl Figures {
    /// Wavefronts of the accesses that a warp makes.
    pub(super) fn wavefronts(&self) -> u64 {
        (self.accesses * self.each) >> self.shared_by.len()
    }
}

/// The accesses of one side. Accesses of a round and rounds are numbered; what a number's bit adds is
/// listed.
#[derive(Debug, Clone)]
pub(in super::super) struct Accesses {
    pub(in super::super) figures: Figures,
    /// For each element bit of an access the register.
    elements: Columns,
    /// For each bit of an access's number the offset, in elements, and the register.
    steps: SmallVec<[(u64, u64); 16]>,
    /// For each bit of a round's number the register.
    rounds: Columns,
}

/// One access: a constant part of the offset, in elements, and the registers of the vector.
#[derive(Debug, Clone)]
pub(super) struct Access {
    pub(super) offset: u64,
    pub(super) registers: SmallVec<[u64; 16]>,
    /// The bits of [`Accesses::idle`] in the threads that make it.
    pub(super) made_by: u64,
}

/// The figures of a side on a layout; `None` where the target has no access of the element's width.
pub(super) fn figures(
    conversion: &Conversion,
    coordinates: &Coordinates,
    side: &Located,
    memory: &Memory<'_>,
    idle: u64,
    target: &TargetDescription,
) -> Option<Figures> {
    let thread_columns: Columns = side.threads.iter().map(|&column| memory.offset(column)).collect();
    let width = vector_width(conversion, side, memory.layout, &thread_columns, target)?;
    let row = target.bank_row(side.direction, conversion.element.bits() << width)?;
    let bytes = conversion.element_bytes();
    let lanes: Columns = thread_columns[..conversion.lane_bits as usize].iter().map(|column| column * bytes).collect();
    let each = side.wavefronts(row, &lanes, idle, (bytes as u32) << width);
    let numbered = side.span.dimension() - width;
    let accesses = 1u64 << (numbered + coordinates.rounds + side.reach.times);
    let copies = (conversion.lane_bits..thread_columns.len() as u32)
        .filter(|&bit| idle >> bit & 1 == 1 && thread_columns[bit as usize] == 0);
    let shared_by = copies.take(numbered as usize).collect();
    Some(Figures { thread_columns, idle, width, accesses, each, shared_by, by: None })
}

/// Log2 of the elements of one access: as many as lie together in memory and in one thread, at the
/// same place of the vector in all threads.
fn vector_width(
    conversion: &Conversion,
    side: &Located,
    layout: &Swizzle,
    thread_columns: &[u64],
    target: &TargetDescription,
) -> Option<u32> {
    let apart = thread_columns.iter().fold(0, |all, column| all | column).trailing_zeros();
    let together = layout.columns.iter().take_while(|&&column| side.span.contains(column)).count() as u32;
    (0..=together.min(apart)).rev().find(|&width| {
        let bits = conversion.element.bits().checked_shl(width).unwrap_or(0);
        target.shared.access_bits.contains(&bits) && target.bank_row(side.direction, bits).is_some()
    })
}

impl Accesses {
    /// The accesses that the figures count.
    pub(super) fn new(figures: Figures, coordinates: &Coordinates, side: &Located, memory: &Memory<'_>) -> Self {
        let registers = Solver::new(&side.registers);
        let register = |vector: u64| registers.solve(vector).unwrap_or(0);
        let step = |whole: u64| (memory.offset(whole), register(whole));
        let vector = &memory.layout.columns[..figures.width as usize];
        let (elements, steps) = match &figures.by {
            Some(by) => (&by.elements[..], by.steps.iter().map(|&whole| step(whole)).collect()),
            None => (vector, apart(side, memory, vector).map(step).collect()),
        };
        let elements = elements.iter().map(|&column| register(column)).collect();
        let rounds = (0..coordinates.rounds).map(|round| register(1 << (coordinates.kept + round))).collect();
        Self { figures, elements, steps, rounds }
    }

    /// Accesses of a round.
    pub(super) fn of_round(&self, round: u64) -> impl Iterator<Item = Access> {
        let in_round = multiply(&self.rounds, round);
        (0..1u64 << self.steps.len()).map(move |number| {
            let (mut offset, mut register) = (0, in_round);
            for (bit, step) in self.steps.iter().enumerate() {
                if number >> bit & 1 == 1 {
                    offset ^= step.0;
                    register ^= step.1;
                }
            }
            let registers = (0..self.vector_elements()).map(|element| register ^ multiply(&self.elements, element));
            let shared = self.figures.shared_by.iter().enumerate();
            let made_by = shared.fold(0, |bits, (at, by)| bits | (number >> at & 1) << by);
            Access { offset, registers: registers.collect(), made_by }
        })
    }

    /// Elements of one access.
    pub(in super::super) fn vector_elements(&self) -> u64 {
        1 << self.figures.width
    }

    /// Elements that one lane moves; of warps that share the work, one does.
    pub(super) fn elements(&self) -> u64 {
        (self.figures.accesses << self.figures.width) >> self.figures.shared_by.len()
    }

    /// The instruction by which registers move; plain accesses where there is none.
    pub(super) fn instruction(&self) -> Option<&str> {
        self.figures.by.as_ref().map(|by| by.name.as_str())
    }

    /// Bits that tell threads with the same elements apart: of these one makes each access.
    pub(super) fn idle(&self) -> u64 {
        self.figures.idle
    }

    /// For each thread bit, what it adds to the offset, in elements.
    pub(super) fn thread_columns(&self) -> &[u64] {
        &self.figures.thread_columns
    }
}

/// Register vectors that number plain accesses: whole vectors apart, within one round.
fn apart(side: &Located, memory: &Memory<'_>, vector: &[u64]) -> impl Iterator<Item = u64> {
    let low = (1u64 << vector.len()) - 1;
    let mut space = Subspace::span(vector.iter().copied());
    side.kept.iter().filter_map(move |&kept| {
        let whole = kept ^ multiply(vector, memory.offset(kept) & low);
        space.insert(whole).then_some(whole)
    })
}

impl Located {
    /// The columns of the lanes that are served together at an access width.
    pub(super) fn phase(&self, lane_bits: u32, access_bits: u32, target: &TargetDescription) -> Option<Columns> {
        let row = target.bank_row(self.direction, access_bits)?;
        let lanes = &self.threads[..lane_bits as usize];
        Some(row.phase.iter().map(|&lane| multiply(lanes, lane)).collect())
    }
}
