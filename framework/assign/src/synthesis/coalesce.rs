//! Coalesced layout of a copy that starts a chain: neighbouring threads access neighbours in global memory (Hexcute
//! paper, section 5.1).
//!
//! Axes are ordered by stride. A lane takes the widest vector that strides, contiguity and alignment allow; lanes and
//! warps follow in memory, then further accesses of a lane. Elements narrower than a byte are packed first. Axes of
//! stride zero come last: surplus threads are distributed along them first and read the same addresses; then registers,
//! which replicate the elements.

use tilewright_layout::{Dim, LinearLayout, Space};
use tilewright_plan::movement::{AxisStride, GlobalTensor, MovementError, find_coalesced_layout, plan_global_access};
use tilewright_target::{Direction, TargetDescription};

/// The coalesced layout of a copy between global memory and registers or shared memory, with its counts.
#[derive(Debug, Clone, PartialEq)]
pub struct CoalescedLayout {
    /// The distributed layout; its first registers are a vector in memory order.
    pub layout: LinearLayout,
    /// Number of elements in one vector access.
    pub vector_elements: u64,
    /// Number of accesses that a warp issues to access each of its elements once.
    pub accesses: u64,
    /// Number of sectors of `global.transaction_bytes` bytes that all warps access.
    pub transactions: u64,
    /// The reason why a vector has no more elements, as text.
    pub limited_by: String,
}

/// The numbers of threads that take part in a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyThreadCounts {
    /// Number of lanes of a warp.
    pub lanes: u64,
    /// Number of warps of a block.
    pub warps: u64,
}

/// Returns the layout of a global tensor's elements with the fewest accesses, then the fewest sectors. An element has
/// `bits` bits. `widths` restricts the widths of accesses to these, in bits of a lane; `None` allows all widths of the
/// target.
///
/// # Errors
/// [`MovementError`] if a size is not a power of two, if the target has none of the widths, or if elements narrower
/// than a byte fill whole bytes along no axis.
pub fn coalesce_layout(
    global: &GlobalTensor,
    bits: u32,
    threads: CopyThreadCounts,
    widths: Option<&[u32]>,
    target: &TargetDescription,
) -> Result<CoalescedLayout, MovementError> {
    let mut target = target.clone();
    if let Some(widths) = widths {
        target.global.access_bits.retain(|bits| widths.contains(bits));
    }
    let packed = Packed::of(global, bits)?;
    let bytes = packed.tensor(global);
    let still = still_axes(&bytes);
    let moving: Vec<_> = bytes.axes.iter().filter(|(dim, ..)| !still.contains(dim)).copied().collect();
    let moving = GlobalTensor { axes: moving, ..bytes };
    let width = bits.max(8);
    let coalesced = find_coalesced_layout(&moving, width, threads.lanes, threads.warps, &target)?;
    let access = plan_global_access(&coalesced, &moving, width, Direction::Load, &target)?;
    Ok(CoalescedLayout {
        layout: packed.extend_layout(&coalesced, global)?,
        vector_elements: access.vector_elements << packed.bits,
        accesses: access.accesses,
        transactions: access.transactions,
        limited_by: access.limited_by.clone(),
    })
}

/// Returns the axes of stride zero: the address does not depend on the coordinate along them.
fn still_axes(global: &GlobalTensor) -> Vec<Dim> {
    let sizes = global.axis_sizes().into_iter().filter(|(_, size)| *size > 1);
    let moves =
        |dim: Dim| global.axes.iter().any(|axis| axis.0 == dim && axis.1 > 1 && axis.2 != AxisStride::Elements(0));
    sizes.map(|(dim, _)| dim).filter(|&dim| !moves(dim)).collect()
}

/// The packing of elements narrower than a byte: bytes hold neighbours along `axis`. `None` for wider elements.
struct Packed {
    axis: Option<Dim>,
    /// Log2 of the number of elements in a byte.
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
            refused(format!("no axis has {} contiguous elements of {bits} bits to fill a byte", 8 / bits))
        })?;
        let is_byte_aligned = |stride: AxisStride| match stride {
            AxisStride::Elements(stride) | AxisStride::MultipleOf(stride) => stride.is_multiple_of(1 << together),
        };
        match global.axes.iter().find(|(dim, size, stride)| *dim != axis && *size > 1 && !is_byte_aligned(*stride)) {
            None => Ok(Self { axis: Some(axis), bits: together }),
            Some((dim, ..)) => Err(refused(format!("neighbours along {dim} share a byte: pad rows to whole bytes"))),
        }
    }

    /// Describes the tensor with packed bytes as its elements.
    fn tensor(&self, global: &GlobalTensor) -> GlobalTensor {
        let narrowed = |&(dim, size, stride): &(Dim, u64, AxisStride)| match (Some(dim) == self.axis, stride) {
            (true, stride) => (dim, size >> self.bits, stride),
            (false, AxisStride::Elements(stride)) => (dim, size, AxisStride::Elements(stride >> self.bits)),
            (false, AxisStride::MultipleOf(stride)) => {
                (dim, size, AxisStride::MultipleOf((stride >> self.bits).max(1)))
            }
        };
        GlobalTensor { axes: global.axes.iter().map(narrowed).collect(), ..*global }
    }

    /// Extends a layout of the packed bytes to the elements of the tensor, and to its axes of stride zero.
    fn extend_layout(&self, coalesced: &LinearLayout, global: &GlobalTensor) -> Result<LinearLayout, MovementError> {
        let outs = Space::from_sizes(&global.axis_sizes())?;
        let shift = |dim: Dim| outs.shift_of(dim).unwrap_or(0);
        let extend_column = |column: &u64| {
            let coordinates = coalesced.outs().unpack(*column);
            coordinates.fold(0u64, |all, (dim, at)| {
                let by = if Some(dim) == self.axis { self.bits } else { 0 };
                all | at << (shift(dim) + by)
            })
        };
        let of = |dim: Dim| -> Vec<u64> { coalesced.columns_of(dim).iter().map(extend_column).collect() };
        let (mut lanes, mut warps) = (of(Dim::LANE), of(Dim::WARP));
        let still = still_axes(global);
        let mut still = still.into_iter().flat_map(|dim| (0..outs.bits_of(dim)).map(move |bit| (dim, bit)));
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
