//! Requests for copies between global and shared memory.

use crate::movement::memory::GlobalTensor;
use tilewright_layout::{Dim, LayoutError, LinearLayout, MemoryLayout, Space};
use tilewright_target::{ElementType, MemoryReduction};

/// A request to copy a tensor between global and shared memory. [`AsyncCopySpec::new`] sets default values, `with_`
/// methods change them.
///
/// # Examples
/// ```
/// use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
/// use tilewright_plan::movement::{AsyncCopySpec, GlobalTensor};
///
/// let memory = MemoryLayout::from_linear(LinearLayout::identity(64, Dim::OFFSET, Dim::tensor(0))?);
/// let global = GlobalTensor::row_major(&[64], 16);
/// let request = AsyncCopySpec::new(&global, &memory, 32, 32, 4).with_masked(true);
/// assert!(request.masked && !request.has_tensor_map);
/// # Ok::<(), tilewright_layout::LayoutError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AsyncCopySpec<'a> {
    /// The tensor in global memory: sizes, strides and alignment.
    pub global: &'a GlobalTensor,
    /// The layout of the elements in shared memory.
    pub memory: &'a MemoryLayout,
    /// Width of an element in bits.
    pub element_bits: u32,
    /// Number of lanes of a warp.
    pub lanes: u32,
    /// Number of warps of the block.
    pub warps: u32,
    /// Whether elements may be masked off; zeros are written to shared memory for them.
    pub masked: bool,
    /// Whether the host passes a tensor map to the kernel, which bulk tensor copies (TMA) need.
    pub has_tensor_map: bool,
    /// The reduction by which a copy to global memory combines elements with those there; `None` if it overwrites them.
    pub reduction: Option<BulkReduction>,
    /// The part of the memory that is copied; `None` for all of it. Only bulk tensor copies copy parts.
    pub part: Option<TensorPart>,
}

/// A box of elements of a tensor in shared memory, which begins at multiples of its sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorPart {
    /// The coordinates of the first element along dim0, dim1, ...; missing ones are zero.
    pub first: Vec<u64>,
    /// The sizes along dim0, dim1, ...: powers of two.
    pub sizes: Vec<u64>,
}

impl TensorPart {
    /// Returns the space of the coordinates within the part, with the dims of the memory layout.
    ///
    /// # Errors
    /// [`LayoutError`] if a size is not a power of two.
    pub(super) fn space(&self, memory: &LinearLayout) -> Result<Space, LayoutError> {
        let size = |dim: Dim| dim.as_tensor_axis().and_then(|axis| self.sizes.get(axis).copied()).unwrap_or(1);
        Space::from_sizes(&memory.outs().dims().map(|dim| (dim, size(dim))).collect::<Vec<_>>())
    }

    /// Returns the offset of the first element in memory, in elements.
    ///
    /// # Errors
    /// [`LayoutError`] if the memory has no such element, or several offsets have one element.
    pub(super) fn offset(&self, memory: &LinearLayout) -> Result<u64, LayoutError> {
        let first: Vec<(Dim, u64)> = self.first.iter().enumerate().map(|(axis, &at)| (Dim::tensor(axis), at)).collect();
        let inverse = memory.invert()?;
        Ok(inverse.outs().coordinate(inverse.apply_packed(memory.outs().pack(&first)?), Dim::OFFSET))
    }
}

/// A bulk reduction (PTX `cp.reduce.async.bulk.tensor`): a bulk tensor copy to global memory that combines elements with
/// those there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BulkReduction {
    /// The operation that combines two elements.
    pub operation: MemoryReduction,
    /// The type of the elements, which the tensor map states.
    pub element: ElementType,
}

impl<'a> AsyncCopySpec<'a> {
    /// Creates a request for a copy by `warps` warps of `lanes` lanes, without masked elements and without a tensor map
    /// of the kernel.
    #[must_use]
    pub fn new(global: &'a GlobalTensor, memory: &'a MemoryLayout, element_bits: u32, lanes: u32, warps: u32) -> Self {
        let (masked, has_tensor_map) = (false, false);
        Self { global, memory, element_bits, lanes, warps, masked, has_tensor_map, reduction: None, part: None }
    }

    /// Sets whether elements may be masked off; zeros are written to shared memory for them.
    #[must_use]
    pub fn with_masked(self, masked: bool) -> Self {
        Self { masked, ..self }
    }

    /// Sets whether the host passes a tensor map to the kernel, which bulk tensor copies (TMA) need.
    #[must_use]
    pub fn with_tensor_map(self, mapped: bool) -> Self {
        Self { has_tensor_map: mapped, ..self }
    }

    /// Sets the reduction by which a copy to global memory combines elements with those there.
    #[must_use]
    pub fn with_reduction(self, reduction: Option<BulkReduction>) -> Self {
        Self { reduction, ..self }
    }

    /// Sets the part of the memory that is copied.
    #[must_use]
    pub fn with_part(self, part: Option<TensorPart>) -> Self {
        Self { part, ..self }
    }
}
