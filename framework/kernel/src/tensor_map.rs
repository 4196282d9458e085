//! Maps of tensors in global memory: what the host encodes for a kernel, which takes it as a parameter.
//!
//! What a kernel is compiled for is said here: of how many axes, in which boxes the tensor is copied, how a box lies in
//! shared memory. Where the tensor is, its sizes and its strides, the launch says.

use serde::{Deserialize, Serialize};
use tilewright_target::{TensorCopyOperand, XorSwizzle, named_enum};

/// A tensor has at most so many axes.
pub const MAX_RANK: usize = 5;

/// What a parameter of [`super::Type::TensorMap`] maps.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TensorMap {
    /// Width of an element, 8 to 64.
    pub element_bits: u32,
    /// Elements of a box along each axis of the tensor, first the one along which elements follow each other without
    /// a gap. One to [`MAX_RANK`] axes.
    pub box_sizes: Vec<u32>,
    /// How bits of the address in shared memory are mixed: a box lies there without gaps, its first axis fastest,
    /// before they are.
    #[serde(default)]
    pub mix: XorSwizzle,
    /// What a box has where there is no tensor.
    #[serde(default)]
    pub outside: Outside,
}

named_enum! {
    /// What is read where there is no tensor. What is written there is dropped.
    #[derive(Default)]
    pub enum Outside {
        /// Zeros.
        #[default]
        Zeros = "zeros",
        /// A floating-point number that is not a number; which, nobody says. The emulator has all bits set.
        NotANumber = "not_a_number",
    }
}

/// A tensor in global memory, as a launch gives it to a parameter that is a map; buffers are named in the launcher's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorMapBinding<Buffer> {
    /// The buffer that it lies in.
    pub buffer: Buffer,
    /// Where it begins there, in bytes.
    pub offset: u64,
    /// Its size along each axis of the map, in elements; of further axes not looked at.
    pub sizes: [u64; MAX_RANK],
    /// How far neighbours along each axis lie apart, in bytes; along the first axis they follow each other, whatever is
    /// said.
    pub strides: [u64; MAX_RANK],
}

impl<Buffer> TensorMapBinding<Buffer> {
    /// A tensor without gaps, of elements of so many bytes, the first axis fastest; none of more than [`MAX_RANK`] axes.
    #[must_use]
    pub fn packed(buffer: Buffer, sizes: &[u64], element_bytes: u64) -> Option<Self> {
        let (mut all, mut strides) = ([1; MAX_RANK], [0; MAX_RANK]);
        all.get_mut(..sizes.len())?.copy_from_slice(sizes);
        let mut stride = element_bytes;
        for (size, own) in all.iter().zip(&mut strides) {
            *own = stride;
            stride = stride.saturating_mul(*size);
        }
        Some(Self { buffer, offset: 0, sizes: all, strides })
    }

    /// The same tensor in a buffer that is named otherwise.
    #[must_use]
    pub fn in_buffer<Other>(self, buffer: Other) -> TensorMapBinding<Other> {
        let Self { offset, sizes, strides, .. } = self;
        TensorMapBinding { buffer, offset, sizes, strides }
    }

    /// The bytes of its buffer up to the end of its last element, as a map of it reads them.
    ///
    /// # Errors
    /// A sentence on a size that is none, or on an end that no address reaches.
    pub fn end(&self, map: &TensorMap) -> Result<u64, String> {
        let own = self.sizes.get(..map.rank()).unwrap_or_default();
        if own.iter().any(|&size| size == 0 || size > 1 << 32) {
            return Err(format!("a tensor of sizes {own:?}; expected 1 to 2^32 along each axis"));
        }
        let element = u64::from(map.element_bits / 8);
        let first = own.first().and_then(|&size| size.checked_mul(element));
        let further = own.iter().zip(&self.strides).skip(1).map(|(&size, &stride)| (size - 1).checked_mul(stride));
        let end =
            further.fold(first.and_then(|bytes| self.offset.checked_add(bytes)), |end, more| end?.checked_add(more?));
        end.ok_or_else(|| format!("a tensor of sizes {own:?} and strides {:?} ends behind all addresses", self.strides))
    }
}

impl TensorMap {
    /// How many axes the tensor has.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.box_sizes.len()
    }

    /// Bytes of a box along its first axis.
    #[must_use]
    pub fn row_bytes(&self) -> u64 {
        let row = self.box_sizes.first().copied().unwrap_or(0);
        u64::from(row) * u64::from(self.element_bits / 8)
    }

    /// Bytes of a box.
    #[must_use]
    pub fn box_bytes(&self) -> u64 {
        let rows = self.box_sizes.iter().skip(1).fold(1u64, |rows, &size| rows.saturating_mul(u64::from(size)));
        self.row_bytes().saturating_mul(rows)
    }

    /// Whether there can be such a map at all.
    ///
    /// # Errors
    /// A sentence on what is wrong, and what was expected.
    pub fn check(&self) -> Result<(), String> {
        if !matches!(self.element_bits, 8 | 16 | 32 | 64) {
            return Err(format!("elements of {} bits; expected 8, 16, 32 or 64", self.element_bits));
        }
        if self.rank() == 0 || self.rank() > MAX_RANK {
            return Err(format!("a box of {} axes; expected 1 to {MAX_RANK}", self.rank()));
        }
        if self.box_sizes.contains(&0) {
            return Err(format!("a box of {:?} elements; expected one at least along each axis", self.box_sizes));
        }
        if self.box_bytes() > u64::from(u32::MAX) {
            return Err(format!("a box of {} bytes; shared memory has fewer addresses", self.box_bytes()));
        }
        if self.mix.mask != 0 && !(1..32).contains(&self.mix.shift) {
            return Err(format!("address bits are mixed by a shift of {}; expected 1 to 31", self.mix.shift));
        }
        Ok(())
    }

    /// Whether an instruction can copy such boxes.
    ///
    /// # Errors
    /// A sentence on what it cannot.
    pub fn check_for(&self, operand: &TensorCopyOperand) -> Result<(), String> {
        if self.rank() != operand.rank as usize {
            return Err(format!("it copies boxes of {} axes; the map's have {}", operand.rank, self.rank()));
        }
        if let Some(size) = self.box_sizes.iter().find(|&&size| size > operand.most) {
            return Err(format!("a box has {size} elements along an axis; it copies {} at most", operand.most));
        }
        let row = self.row_bytes();
        if operand.row_grain == 0 || !row.is_multiple_of(u64::from(operand.row_grain)) {
            return Err(format!("rows of a box have {row} bytes; it copies multiples of {}", operand.row_grain));
        }
        let Some(arrangement) = operand.arrangement_of(self.mix) else {
            let names: Vec<_> = operand.arrangements.iter().map(|one| one.name.as_str()).collect();
            return Err(format!("no box of it lies like this; there are: {}", names.join(", ")));
        };
        match arrangement.row_bytes {
            Some(expected) if row != u64::from(expected) => {
                Err(format!("rows of a box have {row} bytes; with {} they have {expected}", arrangement.name))
            }
            _ => Ok(()),
        }
    }
}
