//! Factors that are in registers as a whole, and not brought from global memory chunk by chunk.
//!
//! All chunks are held at once: the chunk is the highest part of a register's number, or of an offset in shared memory.

use crate::movement::{DescriptorMatch, MovementError, PlanContext, SharedAccess, access_shared};
use tilewright_kernel::{Builder, Value};
use tilewright_layout::{Dim, LayoutError, LinearLayout, MemoryLayout};
use tilewright_target::Direction;

use super::ContractError;
use super::accumulator::Accumulator;
use super::cast::cast;
use super::elements::in_byte;
use super::plan::Contraction;
use super::scale::grouped;

/// How a factor in registers is stored to the shared memory from which a unit reads it.
#[derive(Debug, Clone)]
pub struct OperandStore {
    /// The stores.
    pub access: SharedAccess,
    /// Bytes of shared memory for the whole factor.
    pub bytes: u32,
    alignment: u32,
    side: usize,
    /// The elements of the registers of a chunk, where they are made before they are stored.
    made: Option<LinearLayout>,
}

impl Contraction {
    /// In which layout the registers of factor 0 or 1 are wanted, M x K or K x N; of elements narrower than a byte that of
    /// their bytes, in which registers of one byte are copies of each other. `None` where the unit reads the factor from shared
    /// memory and registers can be stored one by one: then any will do.
    ///
    /// # Errors
    /// [`MovementError`].
    pub fn whole_factor(&self, side: usize, context: PlanContext<'_>) -> Result<Option<LinearLayout>, MovementError> {
        let (layout, operands) = self.side(side);
        let bits = in_byte(self.problem.factors()[side]);
        let layout = match &operands.memory {
            None => grouped(layout, 1 - side, bits)?,
            Some(_) if self.is_made(side) => grouped(&self.made_from(side, context)?, 1 - side, bits)?,
            Some(_) => return Ok(None),
        };
        Ok(Some(self.over_chunks(&layout, 1 - side, Dim::REGISTER, bits)?))
    }

    /// Whether the elements of a factor are made of several values: of bytes in which they lie, or with scales.
    fn is_made(&self, side: usize) -> bool {
        self.making(side).from.bits() < 8 || self.making(side).scale.is_some()
    }

    /// The elements of the registers that a chunk of a factor which is stored is made in.
    fn made_from(&self, side: usize, context: PlanContext<'_>) -> Result<LinearLayout, MovementError> {
        self.stored_from(side, context.target)
    }

    /// In which layout the registers of the scales of a factor are wanted, rows x blocks of K, for each chunk as many as the
    /// factor has; `None` of factors without.
    ///
    /// # Errors
    /// None for plans that were made here.
    pub fn whole_scales(&self, side: usize) -> Result<Option<LinearLayout>, LayoutError> {
        let (Some(layout), Some(scale)) = (&self.scales[side], self.problem.scales[side]) else { return Ok(None) };
        let held = layout.out_bits(Dim::tensor(1));
        let blocks = (self.problem.shape[2] / scale.block).max(1).trailing_zeros();
        extended(layout, 1, Dim::REGISTER, [held, blocks.max(held)]).map(Some)
    }

    /// How a factor, in the layout of [`Contraction::whole_factor`], or where that says none in any layout of registers, is
    /// stored to where the unit reads it; `None` where it does not.
    ///
    /// # Errors
    /// [`MovementError`].
    pub fn factor_store(
        &self,
        side: usize,
        registers: &LinearLayout,
        context: PlanContext<'_>,
    ) -> Result<Option<OperandStore>, MovementError> {
        let (layout, operands) = self.side(side);
        let Some(operand) = &operands.memory else { return Ok(None) };
        let descriptor_match = DescriptorMatch::of(layout, operand).map_err(MovementError::memory)?;
        let whole = self.over_chunks(layout, 1 - side, Dim::OFFSET, operands.in_byte())?;
        let bytes = (operand.bits / 8) << whole.in_bits(Dim::OFFSET);
        let made = if self.is_made(side) { Some(self.made_from(side, context)?) } else { None };
        let access = match &made {
            Some(elements) => {
                access_shared(elements, &MemoryLayout::linear(layout.clone()), operand.bits, Direction::Store, context)?
            }
            None => access_shared(registers, &MemoryLayout::linear(whole), operand.bits, Direction::Store, context)?,
        };
        Ok(Some(OperandStore { access, bytes, alignment: descriptor_match.alignment, side, made }))
    }

    /// The same plan where the unit reads factor 0 or 1 from the program's own memory, of the whole factor, as it lies there.
    ///
    /// # Errors
    /// [`ContractError::Impossible`]: the unit takes the factor from registers, or other elements, or reads no such layout.
    pub fn descriptor_match(&self, side: usize, memory: &LinearLayout) -> Result<Self, ContractError> {
        let refused = |reasons: String| ContractError::Impossible { reasons };
        let (own, operands) = self.side(side);
        let Some(operand) = &operands.memory else {
            return Err(refused(format!("{} takes the factor from registers", self.unit_name())));
        };
        if self.chunks() > 1 || self.problem.factors()[side] != operands.number || self.is_made(side) {
            return Err(refused("the unit reads the factor as it is, and all of K at once".to_owned()));
        }
        let axes: Vec<Dim> = own.outs().dims().collect();
        let memory = memory.transpose_outs(&axes)?;
        let descriptor_match = DescriptorMatch::of(&memory, operand).map_err(refused)?;
        let [rows, columns] = [0, 1].map(|axis: usize| 1u64 << descriptor_match.starts[axis].len());
        let said = |tile| descriptor_match.descriptor(operand, tile).is_some();
        if !(0..rows).all(|row| (0..columns).all(|column| said([row, column]))) {
            return Err(refused("no descriptor says where all tiles of the factor begin".to_owned()));
        }
        let mut plan = self.clone();
        *[&mut plan.a, &mut plan.b][side] = memory;
        Ok(plan)
    }

    /// Writes the kernel IR that stores a factor's registers, integers as wide as the question's elements, and gives where
    /// each chunk of it begins. `scales` are the registers of its scales. The block must meet before it is read.
    pub fn emit_factor_store(
        &self,
        builder: &mut Builder,
        store: &OperandStore,
        registers: &[Value],
        scales: &[Value],
    ) -> Vec<Value> {
        let buffer = builder.shared_buffer(store.bytes, store.alignment);
        let chunks = self.chunks() as usize;
        let step = store.bytes / chunks as u32;
        let mut places = vec![buffer];
        for chunk in 1..chunks as u32 {
            let bytes = builder.i32(chunk * step);
            places.push(builder.advance(buffer, bytes));
        }
        let making = self.making(store.side);
        let Some(elements) = &store.made else {
            let values: Vec<Value> =
                registers.iter().map(|&value| cast(builder, value, making.from, making.to)).collect();
            store.access.emit_store(builder, buffer, &values);
            return places;
        };
        for (chunk, &place) in places.iter().enumerate() {
            let own = &registers[self.part_of(registers, chunk, chunks)];
            let scales = &scales[self.part_of(scales, chunk, self.scale_chunks(store.side, scales))];
            let parts = making.emit(builder, elements, own, scales);
            let values: Vec<Value> = parts.into_iter().map(|part| part.low(builder)).collect();
            store.access.emit_store(builder, place, &values);
        }
        places
    }

    /// Which of the values of all chunks, of which there are `parts` one after the other, belong to a chunk.
    fn part_of(&self, values: &[Value], chunk: usize, parts: usize) -> std::ops::Range<usize> {
        let count = values.len() / parts.max(1);
        let at = chunk * parts / self.chunks() as usize;
        at * count..(at + 1) * count
    }

    /// How many chunks have scales of their own.
    fn scale_chunks(&self, side: usize, scales: &[Value]) -> usize {
        let held = self.scales[side].as_ref().map_or(1, |layout| 1usize << layout.in_bits(Dim::REGISTER));
        (scales.len() / held).max(1)
    }

    /// Writes the kernel IR that adds the product of whole factors, chunk by chunk. A factor is its registers in the layout
    /// of a chunk, one chunk after the other, or where each chunk of it begins in shared memory; scales likewise.
    ///
    /// # Panics
    /// Where there are not as many values as the layouts have registers.
    pub fn emit_whole(
        &self,
        builder: &mut Builder,
        factors: [&[Value]; 2],
        scales: [&[Value]; 2],
        mut accumulator: Accumulator,
    ) -> Accumulator {
        for chunk in 0..self.chunks() as usize {
            let own = [0, 1].map(|side| &factors[side][self.part_of(factors[side], chunk, self.chunks() as usize)]);
            let scales = [0, 1]
                .map(|side| &scales[side][self.part_of(scales[side], chunk, self.scale_chunks(side, scales[side]))]);
            accumulator = self.emit(builder, own, scales, &accumulator);
        }
        accumulator
    }

    fn side(&self, side: usize) -> (&LinearLayout, &super::operands::Operands) {
        if side == 0 { (&self.a, &self.unit.a) } else { (&self.b, &self.unit.b) }
    }

    /// A layout of one chunk as one of all of K, counted in groups of 2^`bits` elements: the chunk is the highest part of `dim`.
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

/// A layout with more bits of an input dim, the highest, which move along an axis by the bits `first..end` of its
/// coordinate.
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
