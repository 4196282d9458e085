//! The layout of a copy that begins a chain: who accesses what of a tensor in global memory, so that threads follow each
//! other there (seed 003, section 5.1).
//!
//! Axes are taken by their strides: the widest vector that strides, contiguity and alignment allow is a lane's, then lanes
//! and warps follow each other in memory, then a lane's further accesses. Elements narrower than a byte are bytes first.
//! Axes along which nothing moves (stride zero) are given last: to threads that would be left over, which read the same
//! addresses, then to registers, which repeat what was read.

use tilewright_layout::{Dim, LinearLayout, Space};
use tilewright_plan::movement::{AxisStride, GlobalTensor, MovementError, access_global, coalesced_layout};
use tilewright_target::{Direction, TargetDescription};

/// A copy between registers, or shared memory, and global memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Coalesced {
    /// Who holds what: the first registers are a vector in the order of memory.
    pub layout: LinearLayout,
    /// Elements that a lane moves at a time.
    pub vector_elements: u64,
    /// Accesses of a warp, each element once.
    pub accesses: u64,
    /// Units of `global.transaction_bytes` of all warps.
    pub transactions: u64,
    /// Why vectors are not wider.
    pub limited_by: String,
}

/// Who copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threads {
    /// Lanes of a warp.
    pub lanes: u64,
    /// Warps of a block.
    pub warps: u64,
}

/// The layout of the fewest accesses, then of the fewest units of memory, for elements of `bits` bits; `widths` are the
/// accesses that there are, in bits a lane, of those of the target: all of them where none are said.
///
/// # Errors
/// [`MovementError`]: sizes that are no powers of two, accesses that the target does not have, elements narrower than a
/// byte that do not fill bytes along any axis.
pub fn coalesced(
    global: &GlobalTensor,
    bits: u32,
    threads: Threads,
    widths: Option<&[u32]>,
    target: &TargetDescription,
) -> Result<Coalesced, MovementError> {
    let mut target = target.clone();
    if let Some(widths) = widths {
        target.global.access_bits.retain(|bits| widths.contains(bits));
    }
    let packed = Packed::of(global, bits)?;
    let bytes = packed.tensor(global);
    let still = |axis: &(Dim, u64, AxisStride)| axis.2 == AxisStride::Elements(0) && axis.1 > 1;
    let moving: Vec<_> = bytes.axes.iter().filter(|axis| !still(axis)).copied().collect();
    let moving = GlobalTensor { axes: moving, alignment: bytes.alignment };
    let width = bits.max(8);
    let own = coalesced_layout(&moving, width, threads.lanes, threads.warps, &target)?;
    let access = access_global(&own, &moving, width, Direction::Load, &target)?;
    Ok(Coalesced {
        layout: packed.whole(&own, global)?,
        vector_elements: access.vector_elements << packed.bits,
        accesses: access.accesses,
        transactions: access.transactions,
        limited_by: access.limited_by.clone(),
    })
}

/// Elements narrower than a byte: along which axis they share bytes.
struct Packed {
    axis: Option<Dim>,
    /// Log2 of the elements of a byte.
    bits: u32,
}

impl Packed {
    fn of(global: &GlobalTensor, bits: u32) -> Result<Self, MovementError> {
        if bits >= 8 {
            return Ok(Self { axis: None, bits: 0 });
        }
        if !bits.is_power_of_two() {
            return Err(MovementError::ElementBits(bits));
        }
        let (together, refused) = ((8 / bits).ilog2(), |reason: String| MovementError::Memory { reason });
        let first =
            global.axes.iter().find(|(_, size, stride)| *stride == AxisStride::Elements(1) && size >> together > 0);
        let &(axis, ..) = first.ok_or_else(|| {
            refused(format!(
                "along no axis {} elements of {bits} bits follow each other, so none fill a byte",
                8 / bits
            ))
        })?;
        let apart = |stride: AxisStride| match stride {
            AxisStride::Elements(stride) | AxisStride::MultipleOf(stride) => stride.is_multiple_of(1 << together),
        };
        match global.axes.iter().find(|(dim, size, stride)| *dim != axis && *size > 1 && !apart(*stride)) {
            None => Ok(Self { axis: Some(axis), bits: together }),
            Some((dim, ..)) => {
                Err(refused(format!("neighbours along {dim} lie within a byte: pad rows to whole bytes")))
            }
        }
    }

    /// The tensor of bytes.
    fn tensor(&self, global: &GlobalTensor) -> GlobalTensor {
        let narrowed = |&(dim, size, stride): &(Dim, u64, AxisStride)| match (Some(dim) == self.axis, stride) {
            (true, stride) => (dim, size >> self.bits, stride),
            (false, AxisStride::Elements(stride)) => (dim, size, AxisStride::Elements(stride >> self.bits)),
            (false, AxisStride::MultipleOf(stride)) => {
                (dim, size, AxisStride::MultipleOf((stride >> self.bits).max(1)))
            }
        };
        GlobalTensor { axes: global.axes.iter().map(narrowed).collect(), alignment: global.alignment }
    }

    /// The layout over all axes and elements.
    fn whole(&self, own: &LinearLayout, global: &GlobalTensor) -> Result<LinearLayout, MovementError> {
        let sizes: Vec<(Dim, u64)> = global.axes.iter().map(|&(dim, size, _)| (dim, size)).collect();
        let outs = Space::of_sizes(&sizes)?;
        let shift = |dim: Dim| outs.shift_of(dim).unwrap_or(0);
        let place = |column: &u64| {
            let parts = own.outs().unpack(*column);
            parts.fold(0u64, |all, (dim, at)| {
                let by = if Some(dim) == self.axis { self.bits } else { 0 };
                all | at << (shift(dim) + by)
            })
        };
        let of = |dim: Dim| -> Vec<u64> { own.columns_of(dim).iter().map(place).collect() };
        let (mut lanes, mut warps) = (of(Dim::LANE), of(Dim::WARP));
        let still = global.axes.iter().filter(|(_, size, stride)| *size > 1 && *stride == AxisStride::Elements(0));
        let mut still = still.flat_map(|&(dim, ..)| (0..outs.bits_of(dim)).map(move |bit| (dim, bit)));
        for column in lanes.iter_mut().chain(&mut warps).filter(|column| **column == 0) {
            *column = still.next().map_or(0, |(dim, bit)| 1 << (shift(dim) + bit));
        }
        let within = self.axis.iter().flat_map(|&axis| (0..self.bits).map(move |bit| 1u64 << (shift(axis) + bit)));
        let left: Vec<u64> = still.map(|(dim, bit)| 1 << (shift(dim) + bit)).collect();
        let registers: Vec<u64> = within.chain(of(Dim::REGISTER)).chain(left).collect();
        let mut ins = Space::default();
        for (dim, columns) in [(Dim::REGISTER, &registers), (Dim::LANE, &lanes), (Dim::WARP, &warps)] {
            ins.push(dim, columns.len() as u32)?;
        }
        ins.push(Dim::BLOCK, 0)?;
        Ok(LinearLayout::from_columns(ins, outs, &[registers, lanes, warps].concat())?)
    }
}
