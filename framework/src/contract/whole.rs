//! Factors that are in registers as a whole, and not brought from global memory chunk by chunk.
//!
//! All chunks are held at once: the chunk is the highest part of a register's number, or of an offset in shared memory.

use crate::kernel::{Builder, Value};
use crate::layout::{Dim, LayoutError, LinearLayout, MemoryLayout};
use crate::movement::{Means, MovementError, Reading, SharedAccess, store_shared};

use super::cast::cast;
use super::elements::in_byte;
use super::plan::Contraction;
use super::scale::grouped;
use super::sums::Sums;

/// How a factor in registers is stored to the shared memory from which a unit reads it.
#[derive(Debug, Clone)]
pub struct FactorStore {
    /// The stores.
    pub access: SharedAccess,
    /// Bytes of shared memory for the whole factor.
    pub bytes: u32,
    alignment: u32,
    side: usize,
}

impl Contraction {
    /// In which layout the registers of factor 0 or 1 are wanted, M x K or K x N; of elements narrower than a byte that of
    /// their bytes, in which registers of one byte are copies of each other. `None` where the unit reads the factor from shared
    /// memory: then any will do.
    ///
    /// # Errors
    /// None for plans that were made here.
    pub fn whole_factor(&self, side: usize) -> Result<Option<LinearLayout>, LayoutError> {
        let (layout, operands) = self.side(side);
        if operands.memory.is_some() {
            return Ok(None);
        }
        let bits = in_byte(self.question.factors()[side]);
        let layout = grouped(layout, 1 - side, bits)?;
        self.over_chunks(&layout, 1 - side, Dim::REGISTER, bits).map(Some)
    }

    /// In which layout the registers of the scales of a factor are wanted, rows x blocks of K, for each chunk as many as the
    /// factor has; `None` of factors without.
    ///
    /// # Errors
    /// None for plans that were made here.
    pub fn whole_scales(&self, side: usize) -> Result<Option<LinearLayout>, LayoutError> {
        let (Some(layout), Some(scale)) = (&self.scales[side], self.question.scales[side]) else { return Ok(None) };
        let held = layout.out_bits(Dim::tensor(1));
        let blocks = (self.question.shape[2] / scale.block).max(1).trailing_zeros();
        extended(layout, 1, Dim::REGISTER, [held, blocks.max(held)]).map(Some)
    }

    /// How a factor, in any layout of registers, is stored to where the unit reads it; `None` where it does not.
    ///
    /// # Errors
    /// [`MovementError`].
    pub fn factor_store(
        &self,
        side: usize,
        registers: &LinearLayout,
        means: Means<'_>,
    ) -> Result<Option<FactorStore>, MovementError> {
        let (layout, operands) = self.side(side);
        let Some(operand) = &operands.memory else { return Ok(None) };
        let reading = Reading::of(layout, operand).map_err(|reason| MovementError::Memory { reason })?;
        let whole = self.over_chunks(layout, 1 - side, Dim::OFFSET, 0)?;
        let bytes = (operand.bits / 8) << whole.in_bits(Dim::OFFSET);
        let access = store_shared(registers, &MemoryLayout::linear(whole), operand.bits, means)?;
        Ok(Some(FactorStore { access, bytes, alignment: reading.alignment, side }))
    }

    /// Writes the kernel IR that stores a factor's registers, integers as wide as the question's elements, and gives where
    /// each chunk of it begins. The block must meet before it is read.
    pub fn emit_factor_store(&self, builder: &mut Builder, store: &FactorStore, registers: &[Value]) -> Vec<Value> {
        let (from, to) = (self.question.factors()[store.side], self.side(store.side).1.number);
        let values: Vec<Value> = registers.iter().map(|&value| cast(builder, value, from, to)).collect();
        let buffer = builder.shared_buffer(store.bytes, store.alignment);
        store.access.emit_store(builder, buffer, &values);
        let step = store.bytes / self.chunks() as u32;
        let place = |builder: &mut Builder, chunk: u32| match chunk {
            0 => buffer,
            _ => {
                let bytes = builder.i32(chunk * step);
                builder.advance(buffer, bytes)
            }
        };
        (0..self.chunks() as u32).map(|chunk| place(builder, chunk)).collect()
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
        mut sums: Sums,
    ) -> Sums {
        for chunk in 0..self.chunks() as usize {
            let part = |values: &'_ [Value], chunks: usize| {
                let count = values.len() / chunks.max(1);
                let at = chunk * chunks / self.chunks() as usize;
                at * count..(at + 1) * count
            };
            let own = [0, 1].map(|side| &factors[side][part(factors[side], self.chunks() as usize)]);
            let scales = [0, 1].map(|side| {
                let held = self.scales[side].as_ref().map_or(1, |layout| 1usize << layout.in_bits(Dim::REGISTER));
                &scales[side][part(scales[side], (scales[side].len() / held).max(1))]
            });
            sums = self.emit(builder, own, scales, &sums);
        }
        sums
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
        let of_k = [self.tiling.chunk, self.question.bits()[2]].map(|of_k| of_k.saturating_sub(bits));
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
