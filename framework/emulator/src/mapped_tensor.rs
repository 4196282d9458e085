//! Tensors in global memory that kernels access through tensor maps, and the bytes of their boxes.

use std::collections::BTreeSet;

use super::memory::{BufferHandle, GlobalMemory};
use tilewright_kernel::{self as kernel, MAX_TENSOR_MAP_RANK, TensorMap};

/// A tensor in global memory that a launch binds to a tensor-map parameter.
pub type TensorMapArgument = kernel::TensorMapBinding<BufferHandle>;

/// A tensor in global memory, bound to a tensor map.
#[derive(Debug, Clone)]
pub(super) struct Tensor {
    pub(super) map: TensorMap,
    /// Global-memory address of the tensor's first element.
    pub(super) address: u64,
    pub(super) sizes: [u64; MAX_TENSOR_MAP_RANK],
    pub(super) strides: [u64; MAX_TENSOR_MAP_RANK],
}

/// A run of bytes of a box that are contiguous both in the tensor and in the box.
pub(super) struct Run {
    /// Address of the run in global memory.
    pub(super) address: u64,
    /// Offset of the run in the box, in bytes, before the XOR swizzle.
    pub(super) at: u64,
    pub(super) bytes: u64,
}

impl Tensor {
    /// Binds the tensor `given` to a tensor map; the error text is the reason why the tensor does not fit the map or
    /// the memory.
    pub(super) fn new(map: &TensorMap, given: &TensorMapArgument, memory: &GlobalMemory) -> Result<Self, String> {
        if !memory.holds(given.buffer) {
            return Err("the buffer does not belong to the memory given".to_owned());
        }
        given.end_offset(map).map_err(|error| error.to_string())?;
        let TensorMapArgument { buffer, offset, sizes, strides } = *given;
        Ok(Self { map: map.clone(), address: memory.address(buffer).wrapping_add(offset), sizes, strides })
    }

    /// Checks that the address and the strides are multiples of `alignment` bytes.
    pub(super) fn check_alignment(&self, alignment: u64) -> Result<(), String> {
        let strides = self.strides.iter().take(self.map.rank()).skip(1);
        match strides.chain([&self.address]).find(|bytes| !bytes.is_multiple_of(alignment.max(1))) {
            None => Ok(()),
            Some(bytes) => {
                Err(format!("the tensor's address or a stride is {bytes:#x}; expected a multiple of {alignment} bytes"))
            }
        }
    }

    /// Returns the contiguous runs of bytes of a box that are inside of the tensor; `origin` are the coordinates of the
    /// box's first element, which may be negative.
    pub(super) fn runs(&self, origin: &[i64]) -> Vec<Run> {
        let (row_size, row_bytes) = (self.map.box_sizes.first().copied().unwrap_or(0), self.map.box_row_bytes());
        let bytes = u64::from(self.map.element_bits / 8);
        let Some((&first, others)) = origin.split_first() else { return Vec::new() };
        let begin = first.max(0);
        let end = (first + i64::from(row_size)).min(self.sizes[0] as i64);
        if end <= begin || row_bytes == 0 {
            return Vec::new();
        }
        let mut runs = Vec::new();
        for row in 0..self.map.box_bytes() / row_bytes {
            let Some(address) = self.row(row, others) else { continue };
            let along = begin as u64 * bytes;
            runs.push(Run {
                address: address.wrapping_add(along),
                at: row * row_bytes + (begin - first) as u64 * bytes,
                bytes: (end - begin) as u64 * bytes,
            });
        }
        runs
    }

    /// Returns the address of the tensor row that contains row `row` of a box, at coordinate zero along axis 0;
    /// `origin` are the box's coordinates along the axes from 1 on. `None` if the row is outside of the tensor.
    fn row(&self, row: u64, origin: &[i64]) -> Option<u64> {
        let (mut rest, mut address) = (row, self.address);
        for (axis, &origin) in (1..).zip(origin) {
            let size = u64::from(*self.map.box_sizes.get(axis)?);
            let at = origin + (rest % size) as i64;
            rest /= size;
            let at = u64::try_from(at).ok().filter(|&at| at < self.sizes[axis])?;
            address = address.wrapping_add(at.wrapping_mul(self.strides[axis]));
        }
        Some(address)
    }
}

/// Counts the distinct sectors of global memory (`sector_bytes` bytes each) that the runs touch.
pub(super) fn sectors(runs: &[Run], sector_bytes: u64) -> u64 {
    let of = |run: &Run| run.address / sector_bytes..run.address.saturating_add(run.bytes).div_ceil(sector_bytes);
    runs.iter().flat_map(of).collect::<BTreeSet<_>>().len() as u64
}
