//! Operands that are resident over all of K: they come from registers, not from global memory chunk by chunk.
//!
//! All chunks are held at once: the highest register bits, or offset bits in shared memory, select the chunk.

use crate::movement::{DescriptorMatch, MovementError, PlanContext, SharedAccessPlan, plan_shared_access};
use tilewright_kernel::{Builder, Value};
use tilewright_layout::{Dim, LayoutError, LinearLayout, MemoryLayout};
use tilewright_target::{Direction, MemoryOperand};

use super::MmaError;
use super::accumulator::Accumulator;
use super::cast::emit_casts;
use super::elements::in_byte;
use super::plan::MmaPlan;
use super::scale::grouped;

/// The stores of an operand in registers to the shared memory from which the atom reads it.
#[derive(Debug, Clone)]
pub struct OperandStore {
    /// Plan of the stores from registers to shared memory.
    pub access: SharedAccessPlan,
    /// Size in bytes of the operand's shared memory, over all of K.
    pub bytes: u32,
    alignment: u32,
    side: usize,
    /// The register layout of a chunk's elements after unpacking or scaling; `None` if the registers are stored without
    /// either.
    converted_elements: Option<LinearLayout>,
}

impl MmaPlan {
    /// Returns the register layout of operand A (`side` 0, M x K) or B (1, K x N) over all of K. If elements are
    /// narrower than a byte, it is the layout of their bytes, and registers with elements of the same byte are
    /// replicas. `None` if any layout will do, because the atom reads the operand from shared memory and registers can
    /// be stored one by one.
    ///
    /// # Errors
    /// [`MovementError`] if the target has no coalesced layout for the operand, or the layout cannot be extended to all
    /// of K.
    pub fn resident_operand_layout(
        &self,
        side: usize,
        context: PlanContext<'_>,
    ) -> Result<Option<LinearLayout>, MovementError> {
        let (layout, operands) = self.side(side);
        let bits = in_byte(self.problem.operand_types()[side]);
        let layout = match &operands.memory {
            None => grouped(layout, 1 - side, bits)?,
            Some(_) if self.is_unpacked_or_scaled(side) => {
                grouped(&self.chunk_register_layout(side, context)?, 1 - side, bits)?
            }
            Some(_) => return Ok(None),
        };
        Ok(Some(self.over_chunks(&layout, 1 - side, Dim::REGISTER, bits)?))
    }

    /// Whether an element of operand A (`side` 0) or B (1) is computed from more than one loaded value, because it is
    /// unpacked from a byte or scaled.
    fn is_unpacked_or_scaled(&self, side: usize) -> bool {
        self.element_conversion(side).from.bits() < 8 || self.element_conversion(side).scale.is_some()
    }

    /// Returns the register layout of one chunk's elements from which operand A (`side` 0) or B (1) is stored to shared
    /// memory.
    fn chunk_register_layout(&self, side: usize, context: PlanContext<'_>) -> Result<LinearLayout, MovementError> {
        self.stored_from(side, context.target)
    }

    /// Returns the register layout of the scales of operand A (`side` 0, M x blocks of K) or B (1, N x blocks) over all
    /// of K. A block is the elements of K that share a scale. In each chunk of K, the scales have the layout in
    /// [`MmaPlan::scales`]; the highest register bits select the chunk. `Ok(None)` if the operand has no scales.
    ///
    /// # Errors
    /// [`LayoutError`] if the extended layout is invalid; this does not happen for plans that this module returned.
    pub fn resident_scale_layout(&self, side: usize) -> Result<Option<LinearLayout>, LayoutError> {
        let (Some(layout), Some(scale)) = (&self.scales[side], self.problem.scales[side]) else { return Ok(None) };
        let per_chunk = layout.out_bits(Dim::tensor(1));
        let blocks = (self.problem.shape[2] / scale.block).max(1).trailing_zeros();
        extended(layout, 1, Dim::REGISTER, [per_chunk, blocks.max(per_chunk)]).map(Some)
    }

    /// Plans the stores of an operand to the shared memory from which the atom reads it; `None` if the atom takes the
    /// operand from registers. The registers have the layout of [`MmaPlan::resident_operand_layout`], or `registers` if
    /// that is `None`.
    ///
    /// # Errors
    /// [`MovementError`] if the atom cannot read the plan's memory layout, or no plan stores the registers there.
    pub fn plan_operand_store(
        &self,
        side: usize,
        registers: &LinearLayout,
        context: PlanContext<'_>,
    ) -> Result<Option<OperandStore>, MovementError> {
        let (layout, operands) = self.side(side);
        let Some(operand) = &operands.memory else { return Ok(None) };
        let descriptor_match = DescriptorMatch::find(layout, operand).map_err(MovementError::memory)?;
        let all_chunks = self.over_chunks(layout, 1 - side, Dim::OFFSET, operands.in_byte())?;
        let bytes = (operand.bits / 8) << all_chunks.in_bits(Dim::OFFSET);
        let converted_elements =
            if self.is_unpacked_or_scaled(side) { Some(self.chunk_register_layout(side, context)?) } else { None };
        let access = match &converted_elements {
            Some(elements) => plan_shared_access(
                elements,
                &MemoryLayout::from_linear(layout.clone()),
                operand.bits,
                Direction::Store,
                context,
            )?,
            None => plan_shared_access(
                registers,
                &MemoryLayout::from_linear(all_chunks),
                operand.bits,
                Direction::Store,
                context,
            )?,
        };
        Ok(Some(OperandStore { access, bytes, alignment: descriptor_match.alignment, side, converted_elements }))
    }

    /// Returns the same plan with operand A (`side` 0) or B (1), over all of K, read from the program's own shared
    /// memory. `memory` is the layout of a tensor there. The operand is the tensor, or its part that begins at the
    /// coordinates `first` (dim0 and dim1; missing ones are zero).
    ///
    /// # Errors
    /// [`MmaError::Impossible`] if the atom takes the operand from registers, if the operand has another element type
    /// than the atom's, if the atom cannot read this layout, or if a part has no whole tiles of the atom or does not
    /// begin at a multiple of its sizes.
    pub fn with_operand_memory(&self, side: usize, memory: &LinearLayout, first: &[u64]) -> Result<Self, MmaError> {
        let refused = |reasons: String| MmaError::Impossible { reasons };
        let operand = self.check_operand_type_in_shared(side)?;
        let (own, _) = self.side(side);
        let axes: Vec<Dim> = own.outs().dims().collect();
        let memory = memory.transpose_outs(&axes)?;
        let first_tile = self.find_first_tile(side, operand, first)?;
        let descriptor_match = DescriptorMatch::find(&memory, operand).map_err(|error| refused(error.to_string()))?;
        let [rows, columns] = [0, 1].map(|axis: usize| 1u64 << descriptor_match.starts[axis].len());
        let has_descriptor = |tile| descriptor_match.encode_tile_descriptor(operand, tile).is_some();
        if !(0..rows).all(|row| (0..columns).all(|column| has_descriptor([row, column]))) {
            return Err(refused("descriptors do not reach all tiles of the operand".to_owned()));
        }
        let mut plan = self.clone();
        *[&mut plan.a, &mut plan.b][side] = memory;
        plan.first_tiles[side] = first_tile;
        Ok(plan)
    }

    /// Returns the index along dim0 and dim1 of the first tile of an operand that begins at the coordinates `first` of
    /// a tensor in shared memory. All indices of its tiles are sums over F2 of this index and the index within it.
    fn find_first_tile(&self, side: usize, operand: &MemoryOperand, first: &[u64]) -> Result<[u64; 2], MmaError> {
        let refused = |reasons: String| Err(MmaError::Impossible { reasons });
        let (_, operands) = self.side(side);
        let [m, n, k] = self.problem.shape;
        let other = [m, n][side];
        let mut sizes = [other, other];
        sizes[1 - side] = k >> operands.in_byte();
        let mut tile = [0; 2];
        for axis in 0..2 {
            let (size, of_tile) = (sizes[axis], operand.shape[axis]);
            let begin = first.get(axis).copied().unwrap_or(0);
            if size < of_tile {
                return refused(format!("the atom reads {of_tile} elements along dim{axis}, the operand has {size}"));
            }
            if !begin.is_multiple_of(size) {
                return refused(format!("the part begins at {begin} along dim{axis}, not at a multiple of {size}"));
            }
            tile[axis] = begin / of_tile;
        }
        Ok(tile)
    }

    /// Emits the address of each chunk of K of an operand in the program's own shared memory at `address`; the plan is
    /// one of [`Self::with_operand_memory`].
    pub fn emit_operand_chunks(&self, builder: &mut Builder, side: usize, address: Value) -> Vec<Value> {
        let (layout, operands) = self.side(side);
        let found = operands.memory.as_deref().map(|operand| DescriptorMatch::find(layout, operand));
        let Some(Ok(descriptor_match)) = found else { return vec![address] };
        let tiles = self.tiling.repeats()[2];
        let start = |chunk: u64| {
            let mut tile = [0; 2];
            tile[1 - side] = chunk << tiles;
            descriptor_match.tile_offset(tile)
        };
        let chunks = (1..self.chunk_count()).map(|chunk| {
            let bytes = builder.i32(start(chunk) as u32);
            builder.ptr_add(address, bytes)
        });
        std::iter::once(address).chain(chunks).collect()
    }

    /// Checks that the atom can read all of K of operand A (`side` 0) or B (1) at once from the program's own shared
    /// memory. Returns the operand of the atom.
    ///
    /// # Errors
    /// [`MmaError::Impossible`] if the atom takes the operand from registers, or if the operand has another element
    /// type than the atom's or several chunks of K.
    pub fn check_operand_in_shared(&self, side: usize) -> Result<&MemoryOperand, MmaError> {
        let operand = self.check_operand_type_in_shared(side)?;
        match self.chunk_count() {
            1 => Ok(operand),
            chunks => Err(MmaError::Impossible {
                reasons: format!(
                    "the atom reads all of K from shared memory at once, and registers suffice only for one of {chunks} \
                     chunks: use a smaller tile or more warps"
                ),
            }),
        }
    }

    /// Checks that the atom reads operand A (`side` 0) or B (1) from shared memory, with the element type that the
    /// operand has there. Returns the operand of the atom.
    fn check_operand_type_in_shared(&self, side: usize) -> Result<&MemoryOperand, MmaError> {
        let refused = |reasons: String| Err(MmaError::Impossible { reasons });
        let (_, operands) = self.side(side);
        let Some(operand) = &operands.memory else {
            return refused(format!("{} takes the operand from registers", self.atom_name()));
        };
        let own = self.problem.operand_types()[side];
        if own != operands.element_type || self.is_unpacked_or_scaled(side) {
            let name = operands.element_type;
            return refused(format!("the atom reads elements of {name} from shared memory, the operand has {own}"));
        }
        Ok(operand)
    }

    /// Emits the kernel IR that stores an operand's registers (integers as wide as the problem's elements) to shared
    /// memory; returns the address of each chunk. `scales` are the registers of the operand's scales. A block barrier
    /// must follow before the operand is read.
    pub fn emit_operand_store(
        &self,
        builder: &mut Builder,
        store: &OperandStore,
        registers: &[Value],
        scales: &[Value],
    ) -> Vec<Value> {
        let buffer = builder.shared_buffer(store.bytes, store.alignment);
        let chunks = self.chunk_count() as usize;
        let step = store.bytes / chunks as u32;
        let mut addresses = vec![buffer];
        for chunk in 1..chunks as u32 {
            let bytes = builder.i32(chunk * step);
            addresses.push(builder.ptr_add(buffer, bytes));
        }
        let element_conversion = self.element_conversion(store.side);
        let Some(elements) = &store.converted_elements else {
            let types = (element_conversion.from, element_conversion.to);
            let values = emit_casts(builder, element_conversion.native, registers, types);
            store.access.emit_store(builder, buffer, &values);
            return addresses;
        };
        for (chunk, &address) in addresses.iter().enumerate() {
            let own = &registers[self.chunk_range(registers, chunk, chunks)];
            let scales = &scales[self.chunk_range(scales, chunk, self.scale_chunks(store.side, scales))];
            let packed_elements = element_conversion.emit(builder, elements, own, scales);
            let values: Vec<Value> =
                packed_elements.into_iter().map(|packed_element| packed_element.low(builder)).collect();
            store.access.emit_store(builder, address, &values);
        }
        addresses
    }

    /// Returns the range of indices in `values` that belongs to the plan's chunk `chunk` of K. `values` consists of
    /// `total_chunks` equal parts along K, one after the other; if these are fewer than the plan's chunks, several
    /// chunks share a part.
    fn chunk_range(&self, values: &[Value], chunk: usize, total_chunks: usize) -> std::ops::Range<usize> {
        let count = values.len() / total_chunks.max(1);
        let at = chunk * total_chunks / self.chunk_count() as usize;
        at * count..(at + 1) * count
    }

    /// Returns the number of equal parts along K in the registers `scales` of operand A (`side` 0) or B (1); fewer than
    /// the plan's chunks if a scale covers several chunks.
    fn scale_chunks(&self, side: usize, scales: &[Value]) -> usize {
        let per_chunk = self.scales[side].as_ref().map_or(1, |layout| 1usize << layout.in_bits(Dim::REGISTER));
        (scales.len() / per_chunk).max(1)
    }

    /// Emits the kernel IR that multiplies the operands over all of K, chunk by chunk, and adds the result to the
    /// accumulator. An operand is given by its registers in the layout of a chunk, one chunk after the other, or by the
    /// address of each chunk in shared memory. Scales are given by their registers in the same order. MMAs that
    /// accumulate in tensor memory are waited for once, after the last chunk, unless their scales are in tensor memory
    /// too.
    ///
    /// # Panics
    /// If the number of values differs from the registers of the layouts.
    pub fn emit_all_chunks(
        &self,
        builder: &mut Builder,
        operands: [&[Value]; 2],
        scales: [&[Value]; 2],
        mut accumulator: Accumulator,
    ) -> Accumulator {
        let chunks = self.chunk_count() as usize;
        let is_waited_for_once = accumulator.next_group_index().is_some() && !self.has_scales_in_tensor_memory();
        for chunk in 0..chunks {
            let own = [0, 1].map(|side| &operands[side][self.chunk_range(operands[side], chunk, chunks)]);
            let scales = [0, 1].map(|side| {
                &scales[side][self.chunk_range(scales[side], chunk, self.scale_chunks(side, scales[side]))]
            });
            accumulator = match is_waited_for_once && chunk + 1 < chunks {
                true => self.issue_chunk(builder, own, scales, &accumulator, false),
                false => self.emit_chunk(builder, own, scales, &accumulator),
            };
        }
        accumulator
    }

    fn side(&self, side: usize) -> (&LinearLayout, &super::operands::Operands) {
        if side == 0 { (&self.a, &self.atom.a) } else { (&self.b, &self.atom.b) }
    }

    /// Extends a layout of one chunk to all of K, along the axis `k_axis`; new highest bits of the input dim `dim`
    /// select the chunk. If `bits` is not 0, the layout maps groups of 2^`bits` elements along K (elements that share a
    /// byte).
    fn over_chunks(
        &self,
        layout: &LinearLayout,
        k_axis: usize,
        dim: Dim,
        bits: u32,
    ) -> Result<LinearLayout, LayoutError> {
        let of_k = [self.tiling.chunk, self.problem.bits()[2]].map(|of_k| of_k.saturating_sub(bits));
        extended(layout, k_axis, dim, of_k)
    }
}

/// Extends a layout along `axis` by new highest bits of the input dim `dim`, one for each of the coordinate bits
/// `first` to `end - 1` of the axis.
fn extended(layout: &LinearLayout, axis: usize, dim: Dim, [first, end]: [u32; 2]) -> Result<LinearLayout, LayoutError> {
    let axis = Dim::tensor(axis);
    let outs: Vec<(Dim, u64)> = (layout.outs().iter())
        .map(|(dim, bits)| (dim, 1u64 << if dim == axis { bits.max(end) } else { bits }))
        .collect();
    let mut bases: Vec<_> = layout.ins().dims().map(|dim| (dim, layout.bases_of(dim))).collect();
    let step = |bit: u32| outs.iter().map(|(dim, _)| u64::from(*dim == axis) << bit).collect::<Vec<_>>();
    if let Some((_, own)) = bases.iter_mut().find(|(known, _)| *known == dim) {
        own.extend((first..end).map(step));
    }
    LinearLayout::from_bases(&bases, &outs)
}
