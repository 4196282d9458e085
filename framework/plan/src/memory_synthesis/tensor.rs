//! The question: a tensor in shared memory and who accesses it by which ways.

use std::borrow::Cow;
use std::fmt;

use crate::movement::{AccessKind, PlanContext};
use tilewright_layout::cute::CuteLayout;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{Direction, Instruction, InstructionKind, MemoryOperand, Operand, TensorCopyOperand};

/// A tensor in shared memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedTensor {
    /// Sizes of its axes: powers of two.
    pub shape: Vec<u64>,
    /// Width of an element in bits, from 1 on.
    pub bits: u32,
    /// Where its elements lie but for a swizzle, where the program says so: a mode for each axis.
    pub layout: Option<CuteLayout>,
}

impl SharedTensor {
    /// A tensor whose layout is free.
    #[must_use]
    pub fn new(shape: &[u64], bits: u32) -> Self {
        Self { shape: shape.to_vec(), bits, layout: None }
    }
}

/// A way by which an access can go.
#[derive(Debug, Clone, PartialEq)]
pub enum AccessAlternative<'a> {
    /// Lanes give addresses: plain accesses, rows that move, rows that copy from global memory.
    Lanes(AccessKind),
    /// A matrix unit reads the tile by itself, in an arrangement of its own.
    Operand {
        /// The row of the instruction table.
        row: &'a str,
        /// What it reads.
        operand: Cow<'a, MemoryOperand>,
    },
    /// Whole boxes are copied, between global and shared memory.
    Boxes {
        /// The row of the instruction table.
        row: &'a str,
        /// The box.
        operand: &'a TensorCopyOperand,
        /// The axis along which elements lie together in global memory.
        first: Dim,
    },
}

impl AccessAlternative<'_> {
    /// The row of the instruction table; none of plain accesses.
    #[must_use]
    pub fn instruction(&self) -> Option<&str> {
        match self {
            Self::Lanes(way) => way.instruction.as_deref(),
            Self::Operand { row, .. } | Self::Boxes { row, .. } => Some(row),
        }
    }

    /// Whether it can leave out what is not there.
    #[must_use]
    pub fn leaves_out(&self) -> bool {
        match self {
            Self::Lanes(way) => way.masked,
            Self::Operand { .. } | Self::Boxes { .. } => true,
        }
    }

    /// Bytes that a lane moves at a time; zero where no lane moves any.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Lanes(way) => way.bytes,
            Self::Operand { .. } | Self::Boxes { .. } => 0,
        }
    }
}

impl fmt::Display for AccessAlternative<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.instruction(), self) {
            (Some(row), _) => out.write_str(row),
            (None, Self::Lanes(way)) if way.direction == Direction::Store => {
                write!(out, "stores of {} bytes", way.bytes)
            }
            (None, _) => write!(out, "loads of {} bytes", self.bytes()),
        }
    }
}

/// Who accesses the tensor.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorAccess<'a> {
    /// What messages call it: an operation and its place, say.
    pub name: String,
    /// What registers, lanes and warps hold, over the tensor's axes; none where no lane accesses it.
    pub layout: Option<LinearLayout>,
    /// How often it happens, against the others.
    pub weight: u64,
    /// Whether what is stored comes from global memory, so that plain stores come after loads.
    pub from_global: bool,
    /// By which ways it can go, in any order.
    pub ways: Vec<AccessAlternative<'a>>,
}

impl<'a> TensorAccess<'a> {
    /// Registers are stored, by plain stores and rows that move.
    #[must_use]
    pub fn store(name: &str, layout: LinearLayout, context: &PlanContext<'a>) -> Self {
        Self::of_registers(name, layout, Direction::Store, context)
    }

    /// Registers are loaded, by plain loads and rows that move.
    #[must_use]
    pub fn load(name: &str, layout: LinearLayout, context: &PlanContext<'a>) -> Self {
        Self::of_registers(name, layout, Direction::Load, context)
    }

    /// What global memory has is copied: lanes bring what the layout says, registers in the order of global memory; by
    /// rows that copy, or by plain stores of what was loaded.
    #[must_use]
    pub fn copy(name: &str, layout: LinearLayout, context: &PlanContext<'a>) -> Self {
        let lane_bits = layout.in_bits(Dim::LANE);
        let rows = context.instructions.iter().filter(|row| row.kind == InstructionKind::AsyncCopy);
        let copies = rows.filter_map(|row| AccessKind::of_row(row, lane_bits)).map(AccessAlternative::Lanes);
        let stores = AccessKind::plain(context.target, Direction::Store).into_iter().map(AccessAlternative::Lanes);
        Self { from_global: true, ways: copies.chain(stores).collect(), ..Self::new(name, Some(layout)) }
    }

    /// A matrix unit reads the tile by itself: the operand of this role of a row. None where the row has no such.
    #[must_use]
    pub fn operand(name: &str, row: &'a Instruction, role: &str) -> Option<Self> {
        let operand = row.operands.iter().find_map(|operand| match operand {
            Operand::Memory(memory) if memory.role == role => Some(memory),
            _ => None,
        })?;
        let operand = Cow::Borrowed(operand);
        Some(Self { ways: vec![AccessAlternative::Operand { row: &row.name, operand }], ..Self::new(name, None) })
    }

    /// The same of the transposed tensor, where a unit reads it by itself.
    #[must_use]
    pub fn transposed(mut self) -> Self {
        for way in &mut self.ways {
            if let AccessAlternative::Operand { operand, .. } = way {
                *operand = Cow::Owned(operand.transposed());
            }
        }
        self
    }

    /// Whole boxes are copied by a row; `first` is the axis along which elements lie together in global memory. None where
    /// the row copies none.
    #[must_use]
    pub fn boxes(name: &str, row: &'a Instruction, first: Dim) -> Option<Self> {
        let operand = row.operands.iter().find_map(|operand| match operand {
            Operand::Box(operand) => Some(operand),
            _ => None,
        })?;
        Some(Self { ways: vec![AccessAlternative::Boxes { row: &row.name, operand, first }], ..Self::new(name, None) })
    }

    /// An access that goes by no way yet.
    #[must_use]
    pub fn none(name: &str) -> Self {
        Self::new(name, None)
    }

    fn new(name: &str, layout: Option<LinearLayout>) -> Self {
        Self { name: name.to_owned(), layout, weight: 1, from_global: false, ways: Vec::new() }
    }

    fn of_registers(name: &str, layout: LinearLayout, direction: Direction, context: &PlanContext<'a>) -> Self {
        let lane_bits = layout.in_bits(Dim::LANE);
        let rows = context.instructions.iter().filter(|row| row.kind == InstructionKind::SharedMove);
        let rows = rows.filter_map(|row| AccessKind::of_row(row, lane_bits)).filter(|way| way.direction == direction);
        let ways = AccessKind::plain(context.target, direction)
            .into_iter()
            .chain(rows)
            .map(AccessAlternative::Lanes)
            .collect();
        Self { ways, ..Self::new(name, Some(layout)) }
    }

    /// The same, so many times.
    #[must_use]
    pub fn times(self, weight: u64) -> Self {
        Self { weight, ..self }
    }

    /// The same by those ways alone for which `keeps` holds.
    #[must_use]
    pub fn only(mut self, keeps: impl Fn(&AccessAlternative<'_>) -> bool) -> Self {
        self.ways.retain(keeps);
        self
    }
}
