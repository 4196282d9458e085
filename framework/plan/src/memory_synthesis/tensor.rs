//! The problem of shared-memory layout synthesis: a tensor in shared memory, and its accesses with their alternatives.

use std::borrow::Cow;
use std::fmt;

use crate::movement::{PlanContext, SharedAccessKind};
use tilewright_layout::cute::CuteLayout;
use tilewright_layout::{Dim, LinearLayout, Space};
use tilewright_target::{Direction, Instruction, InstructionKind, MemoryOperand, TensorCopyOperand};

/// A tensor in shared memory whose layout is to be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedTensor {
    /// Sizes of the tensor's axes: powers of two.
    pub shape: Vec<u64>,
    /// Number of bits of an element, at least 1.
    pub bits: u32,
    /// The layout of the elements up to a swizzle, as the program states it, with one mode for each axis; `None` if the
    /// layout is free.
    pub layout: Option<CuteLayout>,
}

impl SharedTensor {
    /// Creates a tensor whose layout is free.
    #[must_use]
    pub fn new(shape: &[u64], bits: u32) -> Self {
        Self { shape: shape.to_vec(), bits, layout: None }
    }
}

/// An alternative by which an access of the tensor can be executed: one instruction, or plain accesses.
#[derive(Debug, Clone, PartialEq)]
pub enum AccessAlternative<'a> {
    /// Each lane provides an address: plain accesses, move instructions such as `ldmatrix`, copies from global memory.
    Lanes(SharedAccessKind),
    /// A matrix unit reads the tile by a matrix descriptor, in a canonical layout.
    Operand {
        /// Name of the MMA instruction.
        row: &'a str,
        /// The canonical layouts of the operand that the matrix unit reads.
        operand: Cow<'a, MemoryOperand>,
    },
    /// A bulk tensor copy of boxes between global and shared memory.
    TensorCopy {
        /// Name of the bulk copy instruction.
        row: &'a str,
        /// The operand of the instruction that describes the box.
        operand: &'a TensorCopyOperand,
        /// The axis along which elements are contiguous in global memory.
        first: Dim,
        /// The sizes of the part of the tensor that is copied, which begins at multiples of them; `None` for all of it.
        part: Option<Space>,
    },
}

impl AccessAlternative<'_> {
    /// Returns the name of the instruction that executes the access; `None` for plain accesses.
    #[must_use]
    pub fn instruction(&self) -> Option<&str> {
        match self {
            Self::Lanes(kind) => kind.instruction.as_deref(),
            Self::Operand { row, .. } | Self::TensorCopy { row, .. } => Some(row),
        }
    }

    /// Whether the alternative can skip masked elements.
    #[must_use]
    pub fn can_be_masked(&self) -> bool {
        match self {
            Self::Lanes(kind) => kind.masked,
            Self::Operand { .. } | Self::TensorCopy { .. } => true,
        }
    }

    /// Returns the number of bytes that a lane moves in one access; zero for reads by a matrix unit and for bulk tensor
    /// copies.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Lanes(kind) => kind.bytes,
            Self::Operand { .. } | Self::TensorCopy { .. } => 0,
        }
    }
}

impl fmt::Display for AccessAlternative<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.instruction(), self) {
            (Some(row), _) => out.write_str(row),
            (None, Self::Lanes(kind)) if kind.direction == Direction::Store => {
                write!(out, "stores of {} bytes", kind.bytes)
            }
            (None, _) => write!(out, "loads of {} bytes", self.bytes()),
        }
    }
}

/// An access of the tensor: a store, a load or a copy of all elements.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorAccess<'a> {
    /// The name of the access in messages, such as an operation and its location.
    pub name: String,
    /// The register layout of the access: from registers, lanes and warps to the tensor's axes; `None` if no lane
    /// accesses the tensor.
    pub layout: Option<LinearLayout>,
    /// How often the access is executed, relative to the other accesses.
    pub weight: u64,
    /// Whether the stored data come from global memory: plain stores then need loads to registers first, asynchronous
    /// copies do not.
    pub from_global: bool,
    /// Bytes that another instruction moves by consecutive registers of a lane, in the order of the register layout: the
    /// load of a vector that is stored, or the MMA whose operand is loaded. Zero if no instruction requires consecutive
    /// registers.
    pub register_vector_bytes: u64,
    /// The alternatives by which the access can be executed, in any order.
    pub alternatives: Vec<AccessAlternative<'a>>,
}

impl<'a> TensorAccess<'a> {
    /// Creates an access that stores registers of layout `layout`, by plain stores or store instructions.
    #[must_use]
    pub fn store(name: &str, layout: LinearLayout, context: &PlanContext<'a>) -> Self {
        Self::of_registers(name, layout, Direction::Store, context)
    }

    /// Creates an access that loads registers of layout `layout`, by plain loads or load instructions.
    #[must_use]
    pub fn load(name: &str, layout: LinearLayout, context: &PlanContext<'a>) -> Self {
        Self::of_registers(name, layout, Direction::Load, context)
    }

    /// Creates a copy from global memory: lanes copy the elements of `layout`, whose registers are in the order of
    /// global memory, by copy instructions or by plain stores of loaded values.
    #[must_use]
    pub fn global_to_shared_copy(name: &str, layout: LinearLayout, context: &PlanContext<'a>) -> Self {
        let lane_bits = layout.in_bits(Dim::LANE);
        let rows = context.instructions.iter().filter(|row| row.kind == InstructionKind::AsyncCopy);
        let copies =
            rows.filter_map(|row| SharedAccessKind::from_instruction(row, lane_bits)).map(AccessAlternative::Lanes);
        let stores = SharedAccessKind::plain_accesses(context.target, Direction::Store)
            .into_iter()
            .map(AccessAlternative::Lanes);
        Self { from_global: true, alternatives: copies.chain(stores).collect(), ..Self::new(name, Some(layout)) }
    }

    /// Creates a read of the tile by a matrix unit: the instruction `row` reads its operand with the role `role`, e.g.
    /// `a`. `None` if the instruction has no such operand in memory.
    #[must_use]
    pub fn matrix_unit_read(name: &str, row: &'a Instruction, role: &str) -> Option<Self> {
        let operand = Cow::Borrowed(row.find_memory_operand(role)?);
        Some(Self {
            alternatives: vec![AccessAlternative::Operand { row: &row.name, operand }],
            ..Self::new(name, None)
        })
    }

    /// Returns the same access of the transposed tensor, for operands that a matrix unit reads.
    #[must_use]
    pub fn of_transposed_tensor(mut self) -> Self {
        for kind in &mut self.alternatives {
            if let AccessAlternative::Operand { operand, .. } = kind {
                *operand = Cow::Owned(operand.transposed());
            }
        }
        self
    }

    /// Creates a bulk tensor copy by the instruction `row`; `first` is the axis along which elements are contiguous in
    /// global memory. `None` if the instruction is no bulk tensor copy.
    #[must_use]
    pub fn tensor_copy(name: &str, row: &'a Instruction, first: Dim) -> Option<Self> {
        let operand = row.tensor_copy_operand()?;
        Some(Self {
            alternatives: vec![AccessAlternative::TensorCopy { row: &row.name, operand, first, part: None }],
            ..Self::new(name, None)
        })
    }

    /// Returns the same access of a part of the tensor with these sizes, for bulk tensor copies; the part begins at
    /// multiples of its sizes.
    #[must_use]
    pub fn of_part(mut self, sizes: &Space) -> Self {
        for kind in &mut self.alternatives {
            if let AccessAlternative::TensorCopy { part, .. } = kind {
                *part = Some(sizes.clone());
            }
        }
        self
    }

    /// Creates an access without alternatives; the caller adds them.
    #[must_use]
    pub fn without_alternatives(name: &str) -> Self {
        Self::new(name, None)
    }

    fn new(name: &str, layout: Option<LinearLayout>) -> Self {
        Self {
            name: name.to_owned(),
            layout,
            weight: 1,
            from_global: false,
            register_vector_bytes: 0,
            alternatives: Vec::new(),
        }
    }

    fn of_registers(name: &str, layout: LinearLayout, direction: Direction, context: &PlanContext<'a>) -> Self {
        let lane_bits = layout.in_bits(Dim::LANE);
        let rows = context.instructions.iter().filter(|row| row.kind == InstructionKind::SharedMove);
        let rows = rows
            .filter_map(|row| SharedAccessKind::from_instruction(row, lane_bits))
            .filter(|kind| kind.direction == direction);
        let alternatives = SharedAccessKind::plain_accesses(context.target, direction)
            .into_iter()
            .chain(rows)
            .map(AccessAlternative::Lanes)
            .collect();
        Self { alternatives, ..Self::new(name, Some(layout)) }
    }

    /// Returns the same access with this number of bytes that another instruction moves by consecutive registers.
    #[must_use]
    pub fn with_register_vectors(self, bytes: u64) -> Self {
        Self { register_vector_bytes: bytes, ..self }
    }

    /// Returns the same access with this weight.
    #[must_use]
    pub fn with_weight(self, weight: u64) -> Self {
        Self { weight, ..self }
    }

    /// Returns the same access with only the alternatives for which `keeps` returns true.
    #[must_use]
    pub fn with_retained_alternatives(mut self, keeps: impl Fn(&AccessAlternative<'_>) -> bool) -> Self {
        self.alternatives.retain(keeps);
        self
    }
}
