//! Maps of tensors that follow from a launch's other arguments: memory behind a pointer, seen as rows.

use serde::{Deserialize, Serialize};

use super::{MemorySpace, TensorMap, TensorMapBinding, Type};

/// Memory behind a pointer as a tensor, for a map whose parameter the launch fills by itself: along each axis there are as many
/// elements as fit into a step along the next one, along the last axis as many as the buffer holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DerivedTensorMap {
    /// The number of the parameter that points to the first element.
    pub pointer: u32,
    /// How many elements lie between neighbours along each axis of the map, ascending; along the first axis one.
    pub strides: Vec<Extent>,
}

/// A number of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// This one.
    Number(u64),
    /// What the parameter of this number is given.
    Parameter(u32),
}

impl DerivedTensorMap {
    /// Whether a parameter of a kernel can be filled so, whose parameters have these types.
    ///
    /// # Errors
    /// A sentence on what is wrong.
    pub fn check(&self, map: &TensorMap, parameters: impl Fn(u32) -> Option<Type>) -> Result<(), String> {
        if self.strides.len() != map.rank() || self.strides.first() != Some(&Extent::Number(1)) {
            let (strides, rank) = (&self.strides, map.rank());
            return Err(format!("strides {strides:?}; expected one for each of {rank} axes, of the first one element"));
        }
        if parameters(self.pointer) != Some(Type::Pointer(MemorySpace::Global)) {
            return Err(format!("parameter {} is no pointer to global memory", self.pointer));
        }
        let wrong = self.strides.iter().find_map(|stride| match *stride {
            Extent::Parameter(number) if !matches!(parameters(number), Some(Type::Scalar(_))) => Some(number),
            _ => None,
        });
        wrong.map_or(Ok(()), |number| Err(format!("parameter {number} is no number")))
    }

    /// The tensor of a launch that gives these numbers to parameters, in a buffer of so many bytes.
    ///
    /// # Errors
    /// A sentence on strides that are none: not given, not ascending, or no multiple of the next smaller one; on a buffer that
    /// ends within a step along the last axis, where a map would have zeros.
    pub fn tensor<Buffer>(
        &self,
        map: &TensorMap,
        (buffer, bytes): (Buffer, u64),
        given: impl Fn(u32) -> Option<u64>,
    ) -> Result<TensorMapBinding<Buffer>, String> {
        let element = u64::from(map.element_bits / 8).max(1);
        let stride = |extent: &Extent| match *extent {
            Extent::Number(number) => Some(number),
            Extent::Parameter(number) => given(number),
        };
        let strides: Option<Vec<u64>> = self.strides.iter().map(stride).collect();
        let strides = strides.ok_or("a stride of a map is given no number")?;
        let mut sizes = Vec::with_capacity(strides.len());
        for pair in strides.windows(2) {
            match pair[1].checked_div(pair[0]) {
                Some(size) if size > 0 && pair[1] % pair[0] == 0 => sizes.push(size),
                _ => return Err(format!("a tensor of strides {strides:?}: each must be a multiple of the one before")),
            }
        }
        let last = strides.last().copied().unwrap_or(1).saturating_mul(element).max(1);
        if bytes == 0 || !bytes.is_multiple_of(last) {
            return Err(format!("a buffer of {bytes} bytes; expected whole steps of {last} along the last axis"));
        }
        sizes.push(bytes / last);
        let packed = TensorMapBinding::packed(buffer, &sizes, element);
        packed.ok_or_else(|| format!("a tensor of {} axes", sizes.len()))
    }
}
