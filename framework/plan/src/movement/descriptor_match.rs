//! Matches shared-memory layouts against the canonical layouts of an instruction's matrix descriptor (wgmma, tcgen05).
//!
//! The memory layout is divided from the left by the operand's tile. After the XOR swizzle is undone, each coordinate
//! bit within the tile must move the address by the stride that the descriptor has for it. Each bit above the tile must
//! move it by a power of two, which the descriptor's start address then includes. Addresses are sums without carries,
//! so they are also sums over F2.

use thiserror::Error;

use crate::layouts;
use tilewright_kernel::{Binary, Builder, Cast, Element, Type, Value};
use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};
use tilewright_target::{CanonicalLayout, CanonicalLayoutStride, DescriptorFields, MemoryOperand};

/// The values of the matrix descriptor's fields for a memory layout that consists of tiles of an instruction's operand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescriptorMatch {
    /// Index of the matching canonical layout in `MemoryOperand::layouts`.
    pub canonical_layout: usize,
    /// The strides in the descriptor, in bytes, in the order of its stride fields.
    pub strides: Vec<u64>,
    /// For dim0 and dim1, the bytes that each bit of the tile index adds to the start address, before the XOR swizzle.
    pub starts: [Vec<u64>; 2],
    /// Alignment of the memory in bytes that the canonical layout requires.
    pub alignment: u32,
}

/// The reason why a memory layout matches no canonical layout of an operand; an error of the caller.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DescriptorMismatch {
    /// The elements are narrower than a byte, which memory layouts cannot express.
    #[error("memory layouts have elements of whole bytes; the operand's are narrower")]
    NarrowElements,
    /// The memory layout cannot be inverted: it maps two offsets to one element, or lacks elements.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The memory layout is not that of a matrix: it has other axes than dim0 and dim1.
    #[error("the memory has other axes than dim0 and dim1")]
    Axes,
    /// The memory layout matches none of the operand's canonical layouts.
    #[error("{}", reasons.iter().map(|(name, reason)| format!("{name}: {reason}")).collect::<Vec<_>>().join("; "))]
    NoLayout {
        /// The name of each canonical layout, and the reason why the memory layout does not match it.
        reasons: Vec<(String, String)>,
    },
}

impl DescriptorMatch {
    /// Matches the operand against the layout of a matrix in shared memory, which maps offsets in elements to dim0 x
    /// dim1.
    ///
    /// # Errors
    /// [`DescriptorMismatch`] if the memory layout matches no canonical layout of the operand; it has the reason for
    /// each.
    pub fn find(memory: &LinearLayout, operand: &MemoryOperand) -> Result<Self, DescriptorMismatch> {
        if operand.bits < 8 {
            return Err(DescriptorMismatch::NarrowElements);
        }
        let memory_map = memory.invert()?;
        let offset = |dim: Dim| -> Vec<u64> {
            let columns = memory_map.columns_of(dim).iter();
            columns.map(|&column| memory_map.outs().coordinate(column, Dim::OFFSET) * bytes(operand)).collect()
        };
        let axes = [0, 1].map(|axis| offset(Dim::tensor(axis)));
        if axes.iter().map(Vec::len).sum::<usize>() != memory.outs().total_bits() as usize {
            return Err(DescriptorMismatch::Axes);
        }
        let mut reasons = Vec::new();
        for (index, canonical_layout) in operand.layouts.iter().enumerate() {
            match divide_by_tile(&axes, operand, canonical_layout) {
                Ok((strides, starts)) => {
                    return Ok(Self {
                        canonical_layout: index,
                        strides,
                        starts,
                        alignment: canonical_layout.alignment,
                    });
                }
                Err(reason) => reasons.push((canonical_layout.name.clone(), reason)),
            }
        }
        Err(DescriptorMismatch::NoLayout { reasons })
    }

    /// Returns the byte offset, from the start of the memory and before the XOR swizzle, of the tile with the index
    /// `tile` along dim0 and dim1.
    #[must_use]
    pub fn tile_offset(&self, tile: [u64; 2]) -> u64 {
        let [rows, columns] = [0, 1].map(|axis| tilewright_layout::f2::multiply_vector(&self.starts[axis], tile[axis]));
        rows ^ columns
    }

    /// Emits the value of the descriptor's start field, an `i32`, from an address in shared memory (an `i32`).
    pub fn emit_start_field(builder: &mut Builder, operand: &MemoryOperand, address: Value) -> Value {
        let field = operand.descriptor.start;
        let units = builder.binary_const(Binary::ShrU, address, field.granularity.trailing_zeros());
        builder.binary_const(Binary::And, units, (1u32 << field.width) - 1)
    }

    /// Emits a descriptor: `start`, of [`Self::emit_start_field`], is added to the start field of the descriptor
    /// `others`. The sum must not exceed the field. If the low half of the descriptor has the field, 32-bit arithmetic
    /// computes it.
    pub fn emit_descriptor(builder: &mut Builder, operand: &MemoryOperand, start: Value, others: u64) -> Value {
        let (field, wide) = (operand.descriptor.start, Type::Scalar(Element::I64));
        if field.at + field.width <= u32::BITS {
            let placed = builder.binary_const(Binary::Shl, start, field.at);
            let low = builder.binary_const(Binary::Add, placed, others as u32);
            let (low, high) = (builder.cast(Cast::ExtendU, low, wide), builder.constant(wide, others >> 32 << 32));
            return builder.binary(Binary::Or, low, high);
        }
        let (units, at) = (builder.cast(Cast::ExtendU, start, wide), builder.constant(wide, u64::from(field.at)));
        let (placed, others) = (builder.binary(Binary::Shl, units, at), builder.constant(wide, others));
        builder.binary(Binary::Add, placed, others)
    }

    /// Returns the matrix descriptor of the tile with the index `tile` along dim0 and dim1, for memory at address zero;
    /// the caller adds the address of the memory in units of the start field. `None` if a field cannot encode its
    /// value.
    #[must_use]
    pub fn encode_tile_descriptor(&self, operand: &MemoryOperand, tile: [u64; 2]) -> Option<u64> {
        let mode = operand.layouts.get(self.canonical_layout)?.mode;
        operand.descriptor.encode(&DescriptorFields {
            start: self.tile_offset(tile),
            strides: self.strides.clone(),
            mode,
        })
    }
}

fn bytes(operand: &MemoryOperand) -> u64 {
    u64::from(operand.bits / 8)
}

/// Returns the strides of the descriptor's fields in bytes, and for dim0 and dim1 the bytes that each bit of the tile
/// index adds. `offsets_of_bits` has the byte offset of each coordinate bit in the memory. The error gives the reason
/// why the canonical layout does not fit.
fn divide_by_tile(
    offsets_of_bits: &[Vec<u64>; 2],
    operand: &MemoryOperand,
    canonical_layout: &CanonicalLayout,
) -> Result<(Vec<u64>, [Vec<u64>; 2]), String> {
    let fields = &operand.descriptor.strides;
    let mut strides: Vec<Option<u64>> = vec![None; fields.len()];
    let mut starts = [Vec::new(), Vec::new()];
    for axis in 0..2 {
        let mut unswizzled =
            offsets_of_bits[axis].iter().map(|&byte_offset| canonical_layout.swizzle.apply(byte_offset));
        for step in &canonical_layout.axes[axis] {
            let bits = power(step.count)?;
            for bit in 0..bits {
                let byte_offset =
                    unswizzled.next().ok_or_else(|| format!("the matrix has less than a tile along dim{axis}"))?;
                let stride = match step.stride {
                    CanonicalLayoutStride::Bytes(stride) => stride,
                    CanonicalLayoutStride::Field(field) => {
                        let known = strides.get_mut(field as usize).ok_or("the descriptor has no such stride field")?;
                        *known.get_or_insert(byte_offset >> bit)
                    }
                };
                if byte_offset != stride << bit {
                    let found = format!("bit {bit} of a step along dim{axis} moves the address by {byte_offset:#x}");
                    return Err(format!("{found}, not {:#x}", stride << bit));
                }
            }
        }
        starts[axis] = unswizzled.collect();
    }
    let single = |distance: &u64| distance.is_power_of_two() && operand.descriptor.start.can_represent(*distance);
    if let Some(distance) = starts.iter().flatten().find(|distance| !single(distance)) {
        return Err(format!("tiles would start {distance:#x} bytes apart"));
    }
    let mut known = strides.iter().zip(fields).filter_map(|(stride, field)| Some(((*stride)?, field)));
    match known.find(|(stride, field)| !field.can_represent(*stride) || !stride.is_power_of_two()) {
        Some((stride, _)) => Err(format!("no descriptor can encode a stride of {stride:#x} bytes")),
        // Unused stride fields are zero: the low half of such a descriptor is the start field alone.
        None => Ok((strides.into_iter().map(Option::unwrap_or_default).collect(), starts)),
    }
}

fn power(count: u64) -> Result<u32, String> {
    if count.is_power_of_two() {
        Ok(count.trailing_zeros())
    } else {
        Err(format!("{count} steps are not a power of two"))
    }
}

/// Builds the memory layout of a matrix of `shape` in a canonical layout of the operand. Neighbours along the
/// contiguous axis fill the gaps in the tile's addresses; above the tile, the other axis comes first. `None` if the
/// matrix is smaller than a tile, the tile size is no power of two, or elements are narrower than a byte.
///
/// # Errors
/// [`LayoutError`] if a size in `shape` is not a power of two.
pub fn build_operand_memory_layout(
    operand: &MemoryOperand,
    canonical_layout: &CanonicalLayout,
    shape: [u64; 2],
) -> Result<Option<LinearLayout>, LayoutError> {
    if operand.bits < 8 || operand.shape.iter().any(|size| !size.is_power_of_two()) {
        return Ok(None);
    }
    let outs = Space::from_sizes(&[(Dim::tensor(0), shape[0]), (Dim::tensor(1), shape[1])])?;
    let sizes = shape.map(u64::trailing_zeros);
    let Some((fixed, free)) = assigned(operand, canonical_layout, sizes) else { return Ok(None) };
    let element = operand.bits.trailing_zeros() - 3;
    let total = sizes[0] + sizes[1];
    let contiguous = fixed.iter().find(|(position, _)| *position == element).map_or(1, |&(_, (axis, _))| axis);
    let gaps_end = fixed.iter().map(|(position, _)| position + 1).max().unwrap_or(element);
    let mut free = free;
    let mut by_position = Vec::new();
    for position in element..element + total {
        let own = fixed.iter().position(|(at, _)| *at == position);
        by_position.push(match own {
            Some(own) => fixed[own].1,
            None => {
                let first = if position < gaps_end { contiguous } else { 1 - contiguous };
                let next = free.iter().position(|&(axis, _)| axis == first);
                if next.is_none() && position < gaps_end {
                    return Ok(None);
                }
                free.remove(next.unwrap_or(0))
            }
        });
    }
    let coordinate = |packed: u64| {
        let bits = (0..total).filter(|bit| packed >> (bit + element) & 1 == 1);
        bits.fold(0, |sum, bit| {
            let (axis, bit) = by_position[bit as usize];
            sum ^ 1u64 << (bit + if axis == 0 { 0 } else { sizes[0] })
        })
    };
    let columns: Vec<u64> =
        (0..total).map(|bit| coordinate(canonical_layout.swizzle.apply(1 << (bit + element)))).collect();
    layouts::in_memory(&columns, &outs).map(Some)
}

/// A coordinate bit: axis and bit index.
type Bit = (usize, u32);

/// A coordinate bit with log2 of the byte offset that it adds: (log2, bit).
type PlacedBit = (u32, Bit);

/// Returns the coordinate bits whose byte offset the canonical layout fixes, each with log2 of this offset, and
/// separately the other coordinate bits. `sizes` are log2 of the matrix's sizes. `None` if the matrix does not fit.
fn assigned(
    operand: &MemoryOperand,
    canonical_layout: &CanonicalLayout,
    sizes: [u32; 2],
) -> Option<(Vec<PlacedBit>, Vec<Bit>)> {
    let (mut fixed, mut free) = (Vec::new(), Vec::new());
    for (axis, &size) in sizes.iter().enumerate() {
        let mut next = 0;
        for step in &canonical_layout.axes[axis] {
            for bit in 0..power(step.count).ok()? {
                match step.stride {
                    CanonicalLayoutStride::Bytes(stride) => fixed.push((power(stride).ok()? + bit, (axis, next))),
                    CanonicalLayoutStride::Field(_) => free.push((axis, next)),
                }
                next += 1;
            }
        }
        if next > size || operand.shape[axis] != 1 << next {
            return None;
        }
        free.extend((next..size).map(|bit| (axis, bit)));
    }
    Some((fixed, free))
}
