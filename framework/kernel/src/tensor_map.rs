//! Tensor maps (CUDA `CUtensorMap`): the host encodes one for each tensor in global memory that a kernel accesses by
//! bulk tensor copies.
//!
//! The kernel fixes what it is compiled for: the rank, the shape of a box, and the layout of a box in shared memory.
//! The launch gives the tensor's address, sizes and strides.

use serde::{Deserialize, Serialize};
use tilewright_target::{ElementType, TensorCopyOperand, XorSwizzle, named_enum};

use super::TensorMapError;

/// Maximum number of axes of a tensor.
pub const MAX_TENSOR_MAP_RANK: usize = 5;

/// The part of a tensor map that a kernel is compiled for, in a parameter of type [`super::Type::TensorMap`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TensorMap {
    /// Width of an element in bits, 8 to 64.
    pub element_bits: u32,
    /// Name of the element type ([`ElementType::name`]) if an instruction computes with elements, as a bulk reduction
    /// does; `None` if elements are only copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
    /// Number of elements of a box along each axis, the contiguous axis first. There are one to [`MAX_TENSOR_MAP_RANK`]
    /// axes.
    pub box_sizes: Vec<u32>,
    /// XOR swizzle of the shared-memory addresses of a box, whose elements are packed, first axis fastest.
    #[serde(default)]
    #[serde(rename = "mix")]
    pub swizzle: XorSwizzle,
    /// Values that a copy reads outside of the tensor.
    #[serde(default)]
    pub outside: OutOfBoundsFill,
}

named_enum! {
    /// Values that a copy reads outside of the tensor. Writes there are dropped.
    #[derive(Default)]
    pub enum OutOfBoundsFill {
        /// Zeros.
        #[default]
        Zeros = "zeros",
        /// An unspecified NaN; the emulator sets all bits.
        NotANumber = "not_a_number",
    }
}

/// A tensor in global memory that a launch binds to a tensor-map parameter. `Buffer` is the launcher's handle of a
/// buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorMapBinding<Buffer> {
    /// The buffer in global memory that contains the tensor.
    pub buffer: Buffer,
    /// Byte offset of the tensor in the buffer.
    pub offset: u64,
    /// Size along each axis of the map, in elements; entries of further axes are ignored.
    pub sizes: [u64; MAX_TENSOR_MAP_RANK],
    /// Stride along each axis, in bytes; the entry of the first axis is ignored, since it is contiguous.
    pub strides: [u64; MAX_TENSOR_MAP_RANK],
}

impl<Buffer> TensorMapBinding<Buffer> {
    /// Creates the binding of a tensor without gaps, with elements of `element_bytes` bytes, first axis fastest; `None`
    /// if it has more than [`MAX_TENSOR_MAP_RANK`] axes.
    #[must_use]
    pub fn contiguous(buffer: Buffer, sizes: &[u64], element_bytes: u64) -> Option<Self> {
        let (mut all, mut strides) = ([1; MAX_TENSOR_MAP_RANK], [0; MAX_TENSOR_MAP_RANK]);
        all.get_mut(..sizes.len())?.copy_from_slice(sizes);
        let mut stride = element_bytes;
        for (size, own) in all.iter().zip(&mut strides) {
            *own = stride;
            stride = stride.saturating_mul(*size);
        }
        Some(Self { buffer, offset: 0, sizes: all, strides })
    }

    /// Creates the binding of a tensor with these sizes and strides, in elements of `element_bytes` bytes; `None` if it
    /// has more than [`MAX_TENSOR_MAP_RANK`] axes.
    #[must_use]
    pub fn strided(buffer: Buffer, sizes: &[u64], strides: &[u64], element_bytes: u64) -> Option<Self> {
        let (mut all, mut steps) = ([1; MAX_TENSOR_MAP_RANK], [0; MAX_TENSOR_MAP_RANK]);
        all.get_mut(..sizes.len())?.copy_from_slice(sizes);
        for (own, stride) in steps.get_mut(..strides.len())?.iter_mut().zip(strides) {
            *own = stride.saturating_mul(element_bytes);
        }
        Some(Self { buffer, offset: 0, sizes: all, strides: steps })
    }

    /// The same tensor in another buffer.
    #[must_use]
    pub fn with_buffer<Other>(self, buffer: Other) -> TensorMapBinding<Other> {
        let Self { offset, sizes, strides, .. } = self;
        TensorMapBinding { buffer, offset, sizes, strides }
    }

    /// Returns the byte offset in the buffer of the end of the tensor: behind the last element that `map` can read.
    ///
    /// # Errors
    /// [`TensorMapError::TensorSizes`] if a size is not from 1 to 2^32, [`TensorMapError::TensorEnd`] if the offset
    /// does not fit 64 bits.
    pub fn end_offset(&self, map: &TensorMap) -> Result<u64, TensorMapError> {
        let own = self.sizes.get(..map.rank()).unwrap_or_default();
        if own.iter().any(|&size| size == 0 || size > 1 << 32) {
            return Err(TensorMapError::TensorSizes { sizes: own.to_vec() });
        }
        let element = u64::from(map.element_bits / 8);
        let first = own.first().and_then(|&size| size.checked_mul(element));
        let further = own.iter().zip(&self.strides).skip(1).map(|(&size, &stride)| (size - 1).checked_mul(stride));
        let end =
            further.fold(first.and_then(|bytes| self.offset.checked_add(bytes)), |end, more| end?.checked_add(more?));
        end.ok_or_else(|| TensorMapError::TensorEnd { sizes: own.to_vec(), strides: self.strides })
    }
}

impl TensorMap {
    /// Number of axes of the tensor.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.box_sizes.len()
    }

    /// Number of bytes of a box along its first axis.
    #[must_use]
    pub fn box_row_bytes(&self) -> u64 {
        let row = self.box_sizes.first().copied().unwrap_or(0);
        u64::from(row) * u64::from(self.element_bits / 8)
    }

    /// Number of bytes of a box.
    #[must_use]
    pub fn box_bytes(&self) -> u64 {
        let rows = self.box_sizes.iter().skip(1).fold(1u64, |rows, &size| rows.saturating_mul(u64::from(size)));
        self.box_row_bytes().saturating_mul(rows)
    }

    /// Checks the tensor map alone, independent of an instruction.
    ///
    /// # Errors
    /// [`TensorMapError`] if the element width or type, the number of axes, a size of the box, its number of bytes, or the
    /// shift of the swizzle is out of range.
    pub fn check(&self) -> Result<(), TensorMapError> {
        if !matches!(self.element_bits, 8 | 16 | 32 | 64) {
            return Err(TensorMapError::ElementBits { bits: self.element_bits });
        }
        if let Some(name) = &self.element
            && ElementType::from_name(name).is_none_or(|element| element.bits() != self.element_bits)
        {
            return Err(TensorMapError::ElementType { name: name.clone(), bits: self.element_bits });
        }
        if self.rank() == 0 || self.rank() > MAX_TENSOR_MAP_RANK {
            return Err(TensorMapError::Rank { rank: self.rank() });
        }
        if self.box_sizes.contains(&0) {
            return Err(TensorMapError::EmptyBox { sizes: self.box_sizes.clone() });
        }
        if self.box_bytes() > u64::from(u32::MAX) {
            return Err(TensorMapError::BoxBytes { bytes: self.box_bytes() });
        }
        if self.swizzle.mask != 0 && !(1..32).contains(&self.swizzle.shift) {
            return Err(TensorMapError::SwizzleShift { shift: self.swizzle.shift });
        }
        Ok(())
    }

    /// Checks whether an instruction can copy the boxes of this map.
    ///
    /// # Errors
    /// [`TensorMapError`] if the instruction copies boxes of another rank, no boxes of this size, none with this
    /// swizzle, or computes with elements of other types.
    pub fn check_for_operand(&self, operand: &TensorCopyOperand) -> Result<(), TensorMapError> {
        if self.rank() != operand.rank as usize {
            return Err(TensorMapError::OtherRank { expected: operand.rank, rank: self.rank() });
        }
        if let Some(&size) = self.box_sizes.iter().find(|&&size| size > operand.most) {
            return Err(TensorMapError::BoxSize { size, most: operand.most });
        }
        if !operand.elements.is_empty() && !self.element.as_ref().is_some_and(|name| operand.elements.contains(name)) {
            return Err(TensorMapError::OtherElement {
                name: self.element.clone(),
                expected: operand.elements.clone(),
            });
        }
        let bytes = self.box_row_bytes();
        if operand.row_granularity == 0 || !bytes.is_multiple_of(u64::from(operand.row_granularity)) {
            return Err(TensorMapError::RowBytes { bytes, granularity: operand.row_granularity });
        }
        let Some(box_layout) = operand.find_layout(self.swizzle) else {
            let known = operand.layouts.iter().map(|one| one.name.clone()).collect();
            return Err(TensorMapError::BoxLayout { known });
        };
        match box_layout.row_bytes {
            Some(expected) if bytes != u64::from(expected) => {
                Err(TensorMapError::LayoutRowBytes { bytes, layout: box_layout.name.clone(), expected })
            }
            _ => Ok(()),
        }
    }
}
