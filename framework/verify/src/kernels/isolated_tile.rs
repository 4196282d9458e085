//! A single tile of an operand in shared memory, in any of the operand's canonical layouts. Its shape need not be a
//! power of two, and its elements may be narrower than a byte.

use thiserror::Error;
use tilewright_target::{CanonicalLayout, CanonicalLayoutStride, DescriptorFields, MemoryOperand};

/// A single tile of an operand, placed at the start of shared memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedOperandTile<'a> {
    memory: &'a MemoryOperand,
    canonical_layout: &'a CanonicalLayout,
    /// Fields of the tile's matrix descriptor.
    pub fields: DescriptorFields,
    /// Number of bytes of memory that the tile takes, a power of two, including padding.
    pub bytes: u64,
}

/// The reason why an operand has no tile in shared memory; its row author's fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SharedOperandTileError {
    /// The operand has no canonical layout.
    #[error("operand `{role}` has no canonical layout")]
    NoLayout {
        /// Role of the operand, e.g. `a`.
        role: String,
    },
    /// A canonical layout names a stride that the descriptor does not have.
    #[error("its descriptor has no stride {index}")]
    NoStride {
        /// Index of the stride that the layout names.
        index: u32,
    },
    /// The tile is larger than an address can express.
    #[error("it is larger than any memory")]
    TooLarge,
    /// No descriptor encodes the strides.
    #[error("{layout}: no descriptor encodes strides of {strides:?}")]
    Strides {
        /// The name of the canonical layout.
        layout: String,
        /// The strides that the tile needs, in bytes.
        strides: Vec<u64>,
    },
}

impl<'a> SharedOperandTile<'a> {
    /// Places a tile of an operand in the canonical layout that takes the least memory.
    ///
    /// # Errors
    /// [`SharedOperandTileError`] if the operand has no canonical layout, or the tile in one of its layouts is too
    /// large or has strides that no descriptor encodes.
    pub fn find_smallest(memory: &'a MemoryOperand) -> Result<Self, SharedOperandTileError> {
        let mut smallest: Option<Self> = None;
        for canonical_layout in &memory.layouts {
            let tile = Self::with_layout(memory, canonical_layout)?;
            if smallest.as_ref().is_none_or(|smallest| tile.bytes < smallest.bytes) {
                smallest = Some(tile);
            }
        }
        smallest.ok_or_else(|| SharedOperandTileError::NoLayout { role: memory.role.clone() })
    }

    /// Places a tile in one of the operand's canonical layouts. The descriptor's strides are chosen as powers of two
    /// beyond the fixed strides, so that the XOR swizzle stays within them.
    ///
    /// # Errors
    /// [`SharedOperandTileError`] if no descriptor encodes the strides.
    pub fn with_layout(
        memory: &'a MemoryOperand,
        canonical_layout: &'a CanonicalLayout,
    ) -> Result<Self, SharedOperandTileError> {
        let steps = || canonical_layout.axes.iter().flatten();
        let fixed = steps().map(|step| match step.stride {
            CanonicalLayoutStride::Bytes(bytes) => step.count.saturating_sub(1).saturating_mul(bytes),
            CanonicalLayoutStride::Field(_) => 0,
        });
        let mut end = fixed.fold(u64::from(memory.bits / 8).max(1), u64::saturating_add);
        let encodings = &memory.descriptor.strides;
        let mut strides: Vec<u64> = encodings.iter().map(|field| field.granularity).collect();
        for step in steps() {
            let CanonicalLayoutStride::Field(index) = step.stride else { continue };
            let (Some(field), Some(stride)) = (encodings.get(index as usize), strides.get_mut(index as usize)) else {
                return Err(SharedOperandTileError::NoStride { index });
            };
            *stride = end.checked_next_power_of_two().unwrap_or(u64::MAX).max(field.granularity);
            end = step.count.saturating_sub(1).saturating_mul(*stride).saturating_add(end);
        }
        let bytes = end.checked_next_power_of_two().ok_or(SharedOperandTileError::TooLarge)?;
        let fields = DescriptorFields { start: 0, strides, mode: canonical_layout.mode };
        let tile = Self { memory, canonical_layout, fields, bytes };
        tile.descriptor().map(|_| tile)
    }

    /// Returns the descriptor of the tile for memory at address zero.
    ///
    /// # Errors
    /// [`SharedOperandTileError::Strides`] if no descriptor encodes the strides.
    pub fn descriptor(&self) -> Result<u64, SharedOperandTileError> {
        let bits = self.memory.descriptor.encode(&self.fields);
        bits.ok_or_else(|| SharedOperandTileError::Strides {
            layout: self.canonical_layout.name.clone(),
            strides: self.fields.strides.clone(),
        })
    }

    /// Returns the alignment, in bytes, that the tile's address must have.
    #[must_use]
    pub fn alignment(&self) -> u32 {
        self.canonical_layout.alignment
    }

    /// Returns the index of an element's first bit in the tile's memory.
    #[must_use]
    pub fn bit_offset(&self, element: [u64; 2]) -> u64 {
        let within = self.canonical_layout.index_in_byte(element) * u64::from(self.memory.bits);
        8 * self.canonical_layout.element_address(&self.fields, element) + within
    }
}
