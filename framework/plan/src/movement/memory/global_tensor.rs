//! Tensors in global memory: sizes, strides and alignment.

use tilewright_layout::{Dim, Space};

/// Stride of an axis, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AxisStride {
    /// A known stride, as a number of elements.
    Elements(u64),
    /// A run-time stride that is a multiple of this number of elements.
    MultipleOf(u64),
}

/// The known properties of a tensor in global memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GlobalTensor {
    /// The axes, each with its size (a power of two) and its stride. An axis that occurs several times is split into
    /// segments: they number consecutive bits of its coordinate, the lowest first.
    pub axes: Vec<(Dim, u64, AxisStride)>,
    /// Alignment of the tensor's first element, in bytes.
    pub alignment: u64,
    /// Max bytes of a lane's access: its elements have one mask value. The maximum if only alignment limits accesses.
    pub max_access_bytes: u64,
}

impl GlobalTensor {
    /// Describes a contiguous tensor of this shape, the last axis fastest; its address is a multiple of `alignment`
    /// bytes.
    #[must_use]
    pub fn row_major(shape: &[u64], alignment: u64) -> Self {
        let mut stride = 1;
        let mut axes: Vec<_> = (shape.iter().enumerate().rev())
            .map(|(axis, &size)| {
                let own = AxisStride::Elements(stride);
                stride *= size;
                (Dim::tensor(axis), size, own)
            })
            .collect();
        axes.reverse();
        Self::new(axes, alignment)
    }

    /// Describes a tensor with these axes, whose address is a multiple of `alignment` bytes. No mask limits accesses.
    #[must_use]
    pub fn new(axes: Vec<(Dim, u64, AxisStride)>, alignment: u64) -> Self {
        Self { axes, alignment, max_access_bytes: u64::MAX }
    }

    /// Returns the axes with their sizes, each axis once.
    #[must_use]
    pub fn axis_sizes(&self) -> Vec<(Dim, u64)> {
        let mut sizes: Vec<(Dim, u64)> = Vec::new();
        for &(dim, size, _) in &self.axes {
            match sizes.iter_mut().find(|(known, _)| *known == dim) {
                Some((_, all)) => *all = all.saturating_mul(size),
                None => sizes.push((dim, size)),
            }
        }
        sizes
    }

    /// Returns the segments of all axes; a segment is consecutive coordinate bits of an axis with one stride.
    pub(super) fn segments(&self) -> Vec<Segment> {
        let mut segments: Vec<Segment> = Vec::new();
        for &(dim, size, stride) in &self.axes {
            let below = segments.iter().filter(|segment| segment.dim == dim).map(|segment| segment.bits);
            segments.push(Segment { dim, first: below.sum(), bits: size.max(1).trailing_zeros(), stride });
        }
        segments
    }

    /// Returns the segments that together are contiguous in memory without a gap (the run), the fastest first, and
    /// separately all other segments.
    pub(super) fn run(&self) -> (Vec<Segment>, Vec<Segment>) {
        let (mut run, mut length, mut others) = (Vec::new(), 1u64, self.segments());
        let is_next = |segment: &Segment, length| segment.bits > 0 && segment.stride == AxisStride::Elements(length);
        while let Some(next) = others.iter().position(|segment| is_next(segment, length)) {
            let segment = others.remove(next);
            length = length.saturating_mul(1 << segment.bits);
            run.push(segment);
        }
        (run, others)
    }

    /// Returns the largest power of two of bytes that divides the tensor's alignment and the strides outside of the
    /// run. The run consists of segments, of one or more dims, that are contiguous in memory ([`Self::run`]). The
    /// address of every vector is a multiple of this number.
    pub(super) fn divisibility(&self, element_bytes: u64) -> u64 {
        let (_, others) = self.run();
        let strides = others.iter().filter(|segment| segment.bits > 0).map(|segment| match segment.stride {
            AxisStride::Elements(stride) | AxisStride::MultipleOf(stride) => 1u64 << stride.trailing_zeros().min(62),
        });
        let strides = strides.map(|stride| stride.saturating_mul(element_bytes));
        strides.fold(lowest_bit(self.alignment), u64::min)
    }

    /// Returns the byte offset of an element from the tensor's first element. Axes of unknown stride are spread so far
    /// apart that they share no transaction.
    pub(in crate::movement) fn address(&self, coordinates: &[(Dim, u64)], element_bytes: u64) -> u64 {
        let along = |segment: &Segment| {
            let at = coordinates.iter().find(|(known, _)| *known == segment.dim).map_or(0, |(_, at)| *at);
            segment.distance(at >> segment.first & ((1 << segment.bits) - 1))
        };
        self.segments().iter().map(along).fold(0u64, u64::wrapping_add).wrapping_mul(element_bytes)
    }

    /// Returns, for each bit of a packed coordinate, the distance in bytes that it adds to the address.
    pub(super) fn distances(&self, outs: &Space, element_bytes: u64) -> Vec<u64> {
        let mut distances = vec![0; outs.total_bits() as usize];
        for segment in self.segments() {
            for (bit, unit) in (0..segment.bits).zip(segment.units(outs)) {
                if let Some(distance) = distances.get_mut(unit.trailing_zeros() as usize) {
                    *distance = segment.distance(1 << bit).wrapping_mul(element_bytes);
                }
            }
        }
        distances
    }
}

/// Consecutive bits of the coordinate of an axis, with one stride.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub(super) dim: Dim,
    /// Index of the segment's lowest bit among the bits of the axis's coordinate.
    pub(super) first: u32,
    pub(super) bits: u32,
    /// The stride of the lowest bit; each further bit has twice the stride.
    pub(super) stride: AxisStride,
}

impl Segment {
    /// Returns the distance in elements in memory of the coordinate `at` within the segment from its start. Segments of
    /// unknown stride are spread so far apart that they share no transaction.
    pub(super) fn distance(self, at: u64) -> u64 {
        match self.stride {
            AxisStride::Elements(stride) => at.wrapping_mul(stride),
            AxisStride::MultipleOf(divisibility) => at.wrapping_mul(divisibility.max(1)).wrapping_mul(1 << 32),
        }
    }

    /// Returns the packed coordinates of the segment's bits, the lowest first.
    pub(super) fn units(self, outs: &Space) -> impl Iterator<Item = u64> {
        let shift = outs.shift_of(self.dim).unwrap_or(0) + self.first;
        (0..self.bits).map(move |bit| 1u64 << (shift + bit))
    }
}

fn lowest_bit(number: u64) -> u64 {
    if number == 0 { 1 << 62 } else { number & number.wrapping_neg() }
}
