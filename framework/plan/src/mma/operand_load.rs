//! Loads an operand of an MMA from global memory to its operand layout.
//!
//! Operands in registers are loaded directly in their layout, or in a coalesced layout with a conversion after it.
//! Operands in shared memory are loaded coalesced, cast and scaled in registers, and stored.

use crate::cost::{GlobalWork, WarpWork};
use crate::movement::{
    AxisStride, Block2dLoadPlan, BlockLoadSource, ConversionPlan, DescriptorMatch, GlobalAccessPlan, GlobalTensor,
    LinearAddressEmitter, MovementError, PlanContext, PlanStats, PredicatedGlobalAddress, SharedAccessPlan,
    ThreadIndices, find_coalesced_layout, plan_conversion, plan_global_access, plan_shared_access,
};
use tilewright_kernel::{Binary, Builder, Counts, Value};
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_target::{Direction, MemoryOperand, TargetDescription};

use super::MmaProblem;
use super::elements::{ElementConversion, in_byte};
use super::scale;

/// The size and position of a part of a matrix in global memory. All numbers are in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GlobalMatrixChunk {
    /// Numbers of rows and columns of the part.
    pub shape: [u64; 2],
    /// Strides between rows and between columns of the matrix, in elements: powers of two.
    pub strides: [u64; 2],
    /// A power of two, in elements, that divides the offset at which each part begins.
    pub divisibility: u64,
    /// Numbers of rows and columns of the whole matrix.
    pub full_shape: [u64; 2],
}

/// The address of one part of a matrix (a chunk of K that is loaded at a time), as kernel IR values.
#[derive(Debug, Clone, Copy)]
pub struct GlobalKChunkAddress {
    /// Global-memory address of the first element of the part.
    pub base: Value,
    /// Global-memory address of the first element of the whole matrix.
    pub matrix: Value,
    /// Index of the part along the axis that is divided into parts (K); `None` if the matrix consists of one part.
    pub index: Option<Value>,
}

/// Assumed alignment of matrices in global memory, in bytes.
const ALIGNMENT: u64 = 16;

/// Assumed alignment of matrices that are loaded by instructions that address 2-D blocks, in bytes.
const BLOCK_ALIGNMENT: u64 = 64;

/// The plan by which a block loads an operand of an MMA from global memory to its operand layout.
#[derive(Debug, Clone)]
pub struct OperandLoad {
    /// Register layout of the elements as they are loaded from global memory, before any conversion or store.
    pub loaded: LinearLayout,
    /// Plan of the loads from global memory by lane addresses; unused if `blocks` is set.
    pub access: GlobalAccessPlan,
    /// The loads by instructions that address 2-D blocks of the matrix; `None` if `access` is used.
    pub blocks: Option<Block2dLoadPlan>,
    /// The conversion to the operand's layout; `None` if the operand is loaded in that layout, or stored to shared
    /// memory.
    pub conversion: Option<ConversionPlan>,
    /// The stores to shared memory; `None` if the atom takes the operand from registers.
    pub store: Option<LoadedOperandStore>,
    matrix: GlobalMatrixChunk,
    element_bytes: u64,
}

/// The stores of a loaded operand to the shared memory from which the MMA atom reads it.
#[derive(Debug, Clone)]
pub struct LoadedOperandStore {
    /// Plan of the stores from registers to shared memory.
    pub access: SharedAccessPlan,
    /// Size in bytes of the operand's shared memory, for one chunk of K.
    pub bytes: u32,
    alignment: u32,
    /// Register layout of the elements that are stored, after conversion of the loaded values to the atom's type.
    elements: LinearLayout,
    element_conversion: ElementConversion,
}

impl OperandLoad {
    /// Plans the quickest load of an operand to the register layout `layout`, by the cost model.
    pub(super) fn new(
        layout: &LinearLayout,
        matrix: GlobalMatrixChunk,
        bits: u32,
        context: PlanContext<'_>,
    ) -> Result<Self, MovementError> {
        let tensor = matrix.tensor(bits);
        let of = |loaded: LinearLayout, conversion| -> Result<Self, MovementError> {
            let access = plan_global_access(&loaded, &tensor, bits, Direction::Load, context.target)?;
            let element_bytes = u64::from(bits / 8);
            Ok(Self { loaded, access, blocks: None, conversion, store: None, matrix, element_bytes })
        };
        let mut straight = of(layout.clone(), None)?;
        if let Some(blocks) = Block2dLoadPlan::new(layout, &matrix.source(), bits, context) {
            let by_blocks = Self { blocks: Some(blocks), ..straight.clone() };
            if by_blocks.warp_cycles(context.target) < straight.warp_cycles(context.target) {
                straight = by_blocks;
            }
        }
        let threads = [Dim::LANE, Dim::WARP].map(|dim| 1 << layout.in_bits(dim));
        let coalesced = context.find_coalesced_layout(&tensor, bits, threads)?;
        let mut staged = of(coalesced, None)?;
        let is_faster = |load: &Self| load.warp_cycles(context.target) < straight.warp_cycles(context.target);
        // The conversion only adds cycles, so it is not planned if coalesced loads alone gain nothing.
        if !is_faster(&staged) {
            return Ok(straight);
        }
        staged.conversion = plan_conversion(&staged.loaded, layout, bits, context).ok();
        Ok(if staged.conversion.is_some() && is_faster(&staged) { staged } else { straight })
    }

    /// Plans the load of an operand to shared memory in a layout that an instruction reads: coalesced loads, the
    /// conversion of the elements, and the cheapest stores. `elements` is the register layout that [`stored_from`]
    /// returns.
    pub(super) fn stored(
        (layout, operand): (&LinearLayout, &MemoryOperand),
        matrix: GlobalMatrixChunk,
        (elements, element_conversion): (LinearLayout, ElementConversion),
        context: PlanContext<'_>,
    ) -> Result<Self, MovementError> {
        let descriptor_match = DescriptorMatch::find(layout, operand).map_err(MovementError::memory)?;
        let bits = element_conversion.from.stored_bits().max(8);
        let loaded = scale::grouped(&elements, element_conversion.k_axis, in_byte(element_conversion.from))?;
        let access = plan_global_access(&loaded, &matrix.tensor(bits), bits, Direction::Load, context.target)?;
        let store = LoadedOperandStore {
            access: plan_shared_access(
                &elements,
                &MemoryLayout::from_linear(layout.clone()),
                operand.bits,
                Direction::Store,
                context,
            )?,
            bytes: (operand.bits / 8) << layout.in_bits(Dim::OFFSET),
            alignment: descriptor_match.alignment,
            elements,
            element_conversion,
        };
        let element_bytes = u64::from(bits / 8);
        Ok(Self { loaded, access, blocks: None, conversion: None, store: Some(store), matrix, element_bytes })
    }

    /// Returns the work of a warp for the load: accesses of global memory, and the conversion or the stores.
    fn work(&self) -> WarpWork {
        let warps = 1u32 << self.loaded.in_bits(Dim::WARP);
        let counts = |stats: Option<&PlanStats>| stats.map_or_else(Counts::default, |stats| stats.counts);
        let converted = counts(self.conversion.as_ref().map(|plan| &plan.stats));
        let stored = counts(self.store.as_ref().map(|store| &store.access.stats));
        let global = match &self.blocks {
            Some(blocks) => {
                let sectors = blocks.transactions as f64 / f64::from(warps);
                GlobalWork { accesses: blocks.accesses as f64, loaded_sectors: sectors, ..GlobalWork::default() }
            }
            None => GlobalWork::from_access(&self.access, Direction::Load, warps),
        };
        WarpWork { global, ..WarpWork::from_counts(converted.add_counts(stored), 1) }
    }

    /// Returns the cycles that the load takes of a warp. They do not include latency, which is hidden by the work on
    /// other chunks of K.
    #[must_use]
    pub fn warp_cycles(&self, target: &TargetDescription) -> f64 {
        self.work().predict_time(1 << self.loaded.in_bits(Dim::WARP), target).throughput_cycles()
    }

    /// Emits the kernel IR that loads a part of the matrix; returns one integer for each register of the operand's
    /// layout, or the address of the shared memory that holds the operand. `scales` has one value for each register of
    /// the scales' layout; it is used for elements that are scaled before the store.
    pub fn emit(&self, builder: &mut Builder, matrix_chunk: GlobalKChunkAddress, scales: &[Value]) -> Vec<Value> {
        let values = self.loads(builder, matrix_chunk);
        if let Some(store) = &self.store {
            let packed_elements = store.element_conversion.emit(builder, &store.elements, &values, scales);
            let values: Vec<Value> =
                packed_elements.into_iter().map(|packed_element| packed_element.low(builder)).collect();
            let buffer = builder.shared_buffer(store.bytes, store.alignment);
            store.access.emit_store(builder, buffer, &values);
            return vec![buffer];
        }
        self.conversion.as_ref().map_or_else(|| values.clone(), |plan| plan.emit(builder, &values))
    }

    fn loads(&self, builder: &mut Builder, matrix_chunk: GlobalKChunkAddress) -> Vec<Value> {
        let Some(blocks) = &self.blocks else {
            let mut row_addresses = global_matrix_address_emitter(
                builder,
                &self.loaded,
                matrix_chunk.base,
                self.matrix.strides,
                self.element_bytes,
            );
            return self.access.emit_load(builder, &mut row_addresses);
        };
        let begin = [0, 1].map(|axis| match matrix_chunk.index {
            Some(index) if self.matrix.shape[axis] < self.matrix.full_shape[axis] => {
                builder.binary_const(Binary::Mul, index, self.matrix.shape[axis] as u32)
            }
            _ => builder.i32(0),
        });
        blocks.emit(builder, matrix_chunk.matrix, begin)
    }

    /// Whether the load uses shared memory, so that a block barrier must precede the next use of that memory.
    #[must_use]
    pub fn uses_shared(&self) -> bool {
        self.store.is_some() || self.conversion.as_ref().is_some_and(|plan| plan.stats.shared_bytes > 0)
    }
}

/// Returns the register layout from which operand A (`side` 0) or B (1) is stored to shared memory, for a chunk of
/// 2^`chunk` elements of K. It is the layout of the coalesced loads ([`stored_bytes`]); if elements are narrower than a
/// byte, the registers of each loaded byte are replaced by the registers of its elements, along K.
pub(super) fn stored_from(
    problem: &MmaProblem,
    chunk: u32,
    side: usize,
    target: &TargetDescription,
) -> Result<LinearLayout, MovementError> {
    let bytes = stored_bytes(problem, chunk, side, target)?;
    let within = in_byte(problem.operand_types()[side]).min(chunk);
    Ok(scale::ungrouped(&bytes, 1 - side, within)?)
}

/// Returns the coalesced register layout of the loads of operand A (`side` 0) or B (1), for a chunk of 2^`chunk`
/// elements of K; the layout of bytes if elements are narrower than a byte.
pub(super) fn stored_bytes(
    problem: &MmaProblem,
    chunk: u32,
    side: usize,
    target: &TargetDescription,
) -> Result<LinearLayout, MovementError> {
    let bits = problem.operand_types()[side].stored_bits().max(8);
    let tensor = GlobalMatrixChunk::of_operand(problem, chunk, side).tensor(bits);
    let [lanes, warps] = [problem.lanes, problem.warps].map(u64::from);
    find_coalesced_layout(&tensor, bits, lanes, warps, target)
}

impl GlobalMatrixChunk {
    /// Describes one chunk (2^`chunk` elements of K) of operand A (`side` 0) or B (1) as a part of a matrix in global
    /// memory; elements narrower than a byte are counted in bytes along K.
    pub(super) fn of_operand(problem: &MmaProblem, chunk: u32, side: usize) -> Self {
        let element_type = problem.operand_types()[side];
        let [m, n, k] = problem.shape;
        let bytes_of = |elements: u64| (elements >> in_byte(element_type)).max(1);
        let (chunk, k) = (bytes_of(1 << chunk), bytes_of(k));
        match (side, problem.along_k[side]) {
            (0, true) => Self { shape: [m, chunk], strides: [k, 1], divisibility: chunk, full_shape: [m, k] },
            (0, false) => Self { shape: [m, chunk], strides: [1, m], divisibility: chunk * m, full_shape: [m, k] },
            (_, false) => Self { shape: [chunk, n], strides: [n, 1], divisibility: chunk * n, full_shape: [k, n] },
            (_, true) => Self { shape: [chunk, n], strides: [1, k], divisibility: chunk, full_shape: [k, n] },
        }
    }

    /// Describes the whole matrix for instructions that address its 2-D blocks.
    fn source(self) -> BlockLoadSource {
        let minor = usize::from(self.strides[1] == 1);
        BlockLoadSource { shape: self.full_shape, minor, pitch: self.strides[1 - minor], alignment: BLOCK_ALIGNMENT }
    }

    fn tensor(self, bits: u32) -> GlobalTensor {
        let axis = |axis: usize| (Dim::tensor(axis), self.shape[axis], AxisStride::Elements(self.strides[axis]));
        let axes = vec![axis(0), axis(1)];
        GlobalTensor::new(axes, ALIGNMENT.min(self.divisibility * u64::from(bits / 8)))
    }
}

/// Returns a function that emits the global address of the element of a register of `layout`, in a matrix at `base`.
/// `strides` are those of rows and columns in elements; they must be powers of two, since coordinate bits are added
/// over F2.
pub fn global_matrix_address_emitter(
    builder: &mut Builder,
    layout: &LinearLayout,
    base: Value,
    strides: [u64; 2],
    element_bytes: u64,
) -> impl FnMut(&mut Builder, usize) -> PredicatedGlobalAddress + use<> {
    let at = |column: u64| {
        let [row, column] = [0, 1].map(|axis| layout.outs().coordinate(column, Dim::tensor(axis)));
        row * strides[0] + column * strides[1]
    };
    let columns = |dim| layout.columns_of(dim).iter().map(|&column| at(column));
    let threads: Vec<u64> = columns(Dim::LANE).chain(columns(Dim::WARP)).map(|index| index * element_bytes).collect();
    let registers: Vec<u64> = columns(Dim::REGISTER).collect();
    let thread = ThreadIndices::new(builder, layout.in_bits(Dim::LANE));
    let mut addresses = LinearAddressEmitter::new(builder, thread, base, &threads, element_bytes);
    move |builder, register| {
        let (pointer, offset) =
            addresses.emit_offset(builder, tilewright_layout::f2::multiply_vector(&registers, register as u64));
        PredicatedGlobalAddress { pointer, offset, predicate: None }
    }
}
