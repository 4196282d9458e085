//! How a factor reaches its layout: registers by loads from global memory straight into it, or by loads
//! into a layout that global memory serves well, and a conversion; shared memory by such loads, casts and scales in
//! registers, and stores.

use crate::movement::{
    AxisStride, BlockLoads, BlockSource, DescriptorMatch, GlobalAccess, GlobalPlace, GlobalTensor, LinearAddress,
    MovementError, Plan, PlanContext, SharedAccess, Thread, access_global, access_shared, coalesced_layout, convert,
    slots_with_accesses,
};
use tilewright_kernel::{Binary, Builder, Value};
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_target::{Direction, MemoryOperand, TargetDescription};

use super::MmaProblem;
use super::elements::{Making, in_byte};
use super::scale;

/// A part of a matrix in global memory, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Matrix {
    /// Rows and columns.
    pub shape: [u64; 2],
    /// From row to row, and from column to column: powers of two.
    pub strides: [u64; 2],
    /// What the places are a multiple of at which parts begin.
    pub grain: u64,
    /// Rows and columns of the matrix whose part it is.
    pub whole: [u64; 2],
}

/// A part of a matrix in memory, as a kernel has it.
#[derive(Debug, Clone, Copy)]
pub struct MatrixPart {
    /// Where the part begins.
    pub base: Value,
    /// Where the matrix begins.
    pub matrix: Value,
    /// The number of the part, of which each follows the one before along the axis that parts share out; absent where
    /// there is one.
    pub number: Option<Value>,
}

/// Matrices begin at multiples of this many bytes.
const ALIGNMENT: u64 = 16;

/// Where blocks of them are named, at multiples of this many.
const BLOCK_ALIGNMENT: u64 = 64;

/// What an access of shared memory counts beside its wavefronts, in slots: as much as one of global memory. So of ways
/// with as many wavefronts the one of fewer accesses wins, such as that by an instruction that moves several
/// matrices at once.
pub(super) const ACCESS_SLOTS: f64 = 1.0;

/// The way of a factor.
#[derive(Debug, Clone)]
pub struct OperandLoad {
    /// The layout that is loaded.
    pub loaded: LinearLayout,
    /// The loads.
    pub access: GlobalAccess,
    /// The loads by instructions that name blocks of the matrix, where these are used instead.
    pub blocks: Option<BlockLoads>,
    /// The conversion to the factor's layout; absent where it is loaded straight, or stored.
    pub conversion: Option<Plan>,
    /// The stores to shared memory, where the factor is read from there.
    pub store: Option<Store>,
    matrix: Matrix,
    element_bytes: u64,
}

/// How a factor is stored to shared memory.
#[derive(Debug, Clone)]
pub struct Store {
    /// The stores.
    pub access: SharedAccess,
    /// Bytes of shared memory.
    pub bytes: u32,
    alignment: u32,
    /// The elements of each register that is stored, and how they become what is.
    elements: LinearLayout,
    making: Making,
}

impl OperandLoad {
    /// The way with the fewest wavefront slots of a warp, where an access to memory is one, and each unit
    /// of global memory that it touches another.
    pub(super) fn new(
        layout: &LinearLayout,
        matrix: Matrix,
        bits: u32,
        context: PlanContext<'_>,
    ) -> Result<Self, MovementError> {
        let tensor = matrix.tensor(bits);
        let of = |loaded: LinearLayout, conversion| -> Result<Self, MovementError> {
            let access = access_global(&loaded, &tensor, bits, Direction::Load, context.target)?;
            let element_bytes = u64::from(bits / 8);
            Ok(Self { loaded, access, blocks: None, conversion, store: None, matrix, element_bytes })
        };
        let mut straight = of(layout.clone(), None)?;
        if let Some(blocks) = BlockLoads::new(layout, &matrix.source(), bits, context) {
            let by_blocks = Self { blocks: Some(blocks), ..straight.clone() };
            if by_blocks.slots() < straight.slots() {
                straight = by_blocks;
            }
        }
        let (lanes, warps) = (1 << layout.in_bits(Dim::LANE), 1 << layout.in_bits(Dim::WARP));
        let coalesced = coalesced_layout(&tensor, bits, lanes, warps, context.target)?;
        let Ok(conversion) = convert(&coalesced, layout, bits, context.with_access_slots(ACCESS_SLOTS)) else {
            return Ok(straight);
        };
        let staged = of(coalesced, Some(conversion))?;
        Ok(if staged.slots() < straight.slots() { staged } else { straight })
    }

    /// The way to shared memory of a layout that an instruction reads: loads that global memory serves well, whatever
    /// makes the unit's elements of them, and the cheapest stores. `elements` are those of [`stored_from`].
    pub(super) fn stored(
        (layout, operand): (&LinearLayout, &MemoryOperand),
        matrix: Matrix,
        (elements, making): (LinearLayout, Making),
        context: PlanContext<'_>,
    ) -> Result<Self, MovementError> {
        let descriptor_match = DescriptorMatch::of(layout, operand).map_err(MovementError::memory)?;
        let bits = making.from.stored_bits().max(8);
        let loaded = scale::grouped(&elements, making.k_axis, in_byte(making.from))?;
        let access = access_global(&loaded, &matrix.tensor(bits), bits, Direction::Load, context.target)?;
        let store = Store {
            access: access_shared(
                &elements,
                &MemoryLayout::linear(layout.clone()),
                operand.bits,
                Direction::Store,
                context,
            )?,
            bytes: (operand.bits / 8) << layout.in_bits(Dim::OFFSET),
            alignment: descriptor_match.alignment,
            elements,
            making,
        };
        let element_bytes = u64::from(bits / 8);
        Ok(Self { loaded, access, blocks: None, conversion: None, store: Some(store), matrix, element_bytes })
    }

    /// What it takes of a warp.
    #[must_use]
    pub fn slots(&self) -> f64 {
        let warps = (1u64 << self.loaded.in_bits(Dim::WARP)) as f64;
        let moved = |counts| slots_with_accesses(counts, ACCESS_SLOTS);
        let converted = self.conversion.as_ref().map_or(0.0, |plan| moved(&plan.stats.counts));
        let stored = self.store.as_ref().map_or(0.0, |store| moved(&store.access.stats.counts));
        let (accesses, transactions) = match &self.blocks {
            Some(blocks) => (blocks.accesses, blocks.transactions),
            None => (self.access.accesses, self.access.transactions),
        };
        accesses as f64 + transactions as f64 / warps + converted + stored
    }

    /// Writes the kernel IR that loads a part of the matrix; gives one integer for each register of
    /// the factor's layout, or the address of the shared memory where it is stored. `scales`, one for each register of
    /// their layout, are for what is scaled before it is stored.
    pub fn emit(&self, builder: &mut Builder, part: MatrixPart, scales: &[Value]) -> Vec<Value> {
        let values = self.loads(builder, part);
        if let Some(store) = &self.store {
            let parts = store.making.emit(builder, &store.elements, &values, scales);
            let values: Vec<Value> = parts.into_iter().map(|part| part.low(builder)).collect();
            let buffer = builder.shared_buffer(store.bytes, store.alignment);
            store.access.emit_store(builder, buffer, &values);
            return vec![buffer];
        }
        self.conversion.as_ref().map_or_else(|| values.clone(), |plan| plan.emit(builder, &values))
    }

    fn loads(&self, builder: &mut Builder, part: MatrixPart) -> Vec<Value> {
        let Some(blocks) = &self.blocks else {
            let mut places = places(builder, &self.loaded, part.base, self.matrix.strides, self.element_bytes);
            return self.access.emit_load(builder, &mut places);
        };
        let begin = [0, 1].map(|axis| match part.number {
            Some(number) if self.matrix.shape[axis] < self.matrix.whole[axis] => {
                builder.binary_const(Binary::Mul, number, self.matrix.shape[axis] as u32)
            }
            _ => builder.i32(0),
        });
        blocks.emit(builder, part.matrix, begin)
    }

    /// Whether shared memory is used, so that the block must meet before it is used again.
    #[must_use]
    pub fn uses_shared(&self) -> bool {
        self.store.is_some() || self.conversion.as_ref().is_some_and(|plan| plan.stats.shared_bytes > 0)
    }
}

/// The elements of the registers from which a factor is stored to shared memory: bytes as global memory serves them
/// well, and of each its elements along K.
pub(super) fn stored_from(
    problem: &MmaProblem,
    chunk: u32,
    side: usize,
    target: &TargetDescription,
) -> Result<LinearLayout, MovementError> {
    let bytes = stored_bytes(problem, chunk, side, target)?;
    let within = in_byte(problem.factors()[side]).min(chunk);
    Ok(scale::ungrouped(&bytes, 1 - side, within)?)
}

/// The same in bytes, or wider elements.
pub(super) fn stored_bytes(
    problem: &MmaProblem,
    chunk: u32,
    side: usize,
    target: &TargetDescription,
) -> Result<LinearLayout, MovementError> {
    let bits = problem.factors()[side].stored_bits().max(8);
    let tensor = Matrix::of_factor(problem, chunk, side).tensor(bits);
    let [lanes, warps] = [problem.lanes, problem.warps].map(u64::from);
    coalesced_layout(&tensor, bits, lanes, warps, target)
}

impl Matrix {
    /// A chunk (log2) of a factor; of elements narrower than a byte, of its bytes.
    pub(super) fn of_factor(problem: &MmaProblem, chunk: u32, side: usize) -> Self {
        let number = problem.factors()[side];
        let [m, n, k] = problem.shape;
        let bytes_of = |elements: u64| (elements >> in_byte(number)).max(1);
        let (chunk, k) = (bytes_of(1 << chunk), bytes_of(k));
        match (side, number.bits() < 8) {
            (0, _) => Self { shape: [m, chunk], strides: [k, 1], grain: chunk, whole: [m, k] },
            (_, false) => Self { shape: [chunk, n], strides: [n, 1], grain: chunk * n, whole: [k, n] },
            (_, true) => Self { shape: [chunk, n], strides: [1, k], grain: chunk, whole: [k, n] },
        }
    }

    /// The whole matrix, as blocks of it are named.
    fn source(self) -> BlockSource {
        let minor = usize::from(self.strides[1] == 1);
        BlockSource { shape: self.whole, minor, pitch: self.strides[1 - minor], alignment: BLOCK_ALIGNMENT }
    }

    fn tensor(self, bits: u32) -> GlobalTensor {
        let axis = |axis: usize| (Dim::tensor(axis), self.shape[axis], AxisStride::Elements(self.strides[axis]));
        let axes = vec![axis(0), axis(1)];
        GlobalTensor { axes, alignment: ALIGNMENT.min(self.grain * u64::from(bits / 8)) }
    }
}

/// Where each register's element lies in a matrix; sums of what bits of its place add are taken over F2, so strides are
/// powers of two, which do not carry.
pub fn places(
    builder: &mut Builder,
    layout: &LinearLayout,
    base: Value,
    strides: [u64; 2],
    element_bytes: u64,
) -> impl FnMut(&mut Builder, usize) -> GlobalPlace + use<> {
    let at = |column: u64| {
        let [row, column] = [0, 1].map(|axis| layout.outs().coordinate(column, Dim::tensor(axis)));
        row * strides[0] + column * strides[1]
    };
    let columns = |dim| layout.columns_of(dim).iter().map(|&column| at(column));
    let threads: Vec<u64> = columns(Dim::LANE).chain(columns(Dim::WARP)).map(|index| index * element_bytes).collect();
    let registers: Vec<u64> = columns(Dim::REGISTER).collect();
    let thread = Thread::new(builder, layout.in_bits(Dim::LANE));
    let mut addresses = LinearAddress::new(builder, thread, base, &threads, element_bytes);
    move |builder, register| {
        let (pointer, offset) = addresses.at(builder, tilewright_layout::f2::multiply(&registers, register as u64));
        GlobalPlace { pointer, offset, predicate: None }
    }
}
