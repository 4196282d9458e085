//! Tensor maps that a launch derives from its other arguments: the buffer behind a pointer, viewed as a tensor.

use serde::{Deserialize, Serialize};

use super::{MemorySpace, TensorMap, TensorMapBinding, TensorMapError, Type};

/// A view of the buffer behind a pointer as a tensor, for a tensor map that the launch fills in. If the view states no
/// sizes, the size along an axis is the next axis's stride divided by this axis's stride; along the last axis it is the
/// size of the buffer divided by the axis's stride.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LaunchDerivedTensorMap {
    /// Index of the kernel parameter that points to the tensor's first element.
    pub pointer: u32,
    /// Stride along each axis of the map, in elements, ascending; 1 along the first axis.
    pub strides: Vec<LaunchTimeElementCount>,
    /// Size along each axis of the map, in elements; empty if the strides and the buffer determine the sizes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<LaunchTimeElementCount>,
}

/// A stride or a size as a number of elements: a constant, or the argument of a kernel parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaunchTimeElementCount {
    /// A constant number of elements.
    Number(u64),
    /// The argument of the kernel parameter with this index.
    Parameter(u32),
}

impl LaunchDerivedTensorMap {
    /// Checks whether a launch can derive the tensor map `map` from its other arguments. `parameters` returns the type
    /// of the kernel parameter with an index, `None` if there is no such parameter.
    ///
    /// # Errors
    /// [`TensorMapError`] if the view does not have one stride for each axis of the map and one size or none, if the
    /// first stride is not 1, or if a parameter is missing or of the wrong type.
    pub fn check_derivable(
        &self,
        map: &TensorMap,
        parameters: impl Fn(u32) -> Option<Type>,
    ) -> Result<(), TensorMapError> {
        if self.strides.len() != map.rank() || self.strides.first() != Some(&LaunchTimeElementCount::Number(1)) {
            return Err(TensorMapError::Strides { strides: self.strides.clone(), rank: map.rank() });
        }
        if !self.sizes.is_empty() && self.sizes.len() != map.rank() {
            return Err(TensorMapError::Sizes { sizes: self.sizes.clone(), rank: map.rank() });
        }
        if parameters(self.pointer) != Some(Type::Pointer(MemorySpace::Global)) {
            return Err(TensorMapError::Pointer { parameter: self.pointer });
        }
        let wrong = self.strides.iter().chain(&self.sizes).find_map(|extent| match *extent {
            LaunchTimeElementCount::Parameter(number) if !matches!(parameters(number), Some(Type::Scalar(_))) => {
                Some(number)
            }
            _ => None,
        });
        wrong.map_or(Ok(()), |parameter| Err(TensorMapError::StrideParameter { parameter }))
    }

    /// Returns the tensor that the view describes in the given buffer of `bytes` bytes. `given` returns the integer
    /// argument of the kernel parameter with an index, `None` if there is no such argument.
    ///
    /// # Errors
    /// [`TensorMapError`]: a stride or size without an argument; without sizes also strides that do not ascend or are
    /// no multiple of the next smaller one, or a buffer that ends within a step along the last axis, where the map
    /// would read zeros.
    pub fn derive_tensor<Buffer>(
        &self,
        map: &TensorMap,
        (buffer, bytes): (Buffer, u64),
        given: impl Fn(u32) -> Option<u64>,
    ) -> Result<TensorMapBinding<Buffer>, TensorMapError> {
        let element = u64::from(map.element_bits / 8).max(1);
        let number = |extent: &LaunchTimeElementCount| match *extent {
            LaunchTimeElementCount::Number(number) => Some(number),
            LaunchTimeElementCount::Parameter(number) => given(number),
        };
        let numbers = |all: &[LaunchTimeElementCount]| -> Result<Vec<u64>, TensorMapError> {
            all.iter().map(number).collect::<Option<_>>().ok_or(TensorMapError::MissingStride)
        };
        let strides = numbers(&self.strides)?;
        if !self.sizes.is_empty() {
            let sizes = numbers(&self.sizes)?;
            return TensorMapBinding::strided(buffer, &sizes, &strides, element)
                .ok_or(TensorMapError::TensorRank { axes: sizes.len() });
        }
        let mut sizes = Vec::with_capacity(strides.len());
        for pair in strides.windows(2) {
            match pair[1].checked_div(pair[0]) {
                Some(size) if size > 0 && pair[1] % pair[0] == 0 => sizes.push(size),
                _ => return Err(TensorMapError::StrideOrder { strides }),
            }
        }
        let last = strides.last().copied().unwrap_or(1).saturating_mul(element).max(1);
        if bytes == 0 || !bytes.is_multiple_of(last) {
            return Err(TensorMapError::BufferBytes { bytes, step: last });
        }
        sizes.push(bytes / last);
        let packed = TensorMapBinding::contiguous(buffer, &sizes, element);
        packed.ok_or(TensorMapError::TensorRank { axes: sizes.len() })
    }
}
