//! Emits products of F2 matrices with thread indices, and addresses from them.

use smallvec::{SmallVec, smallvec};

use tilewright_kernel::{Binary, Builder, Compare, Element, SpecialRegister, Type, Value};
use tilewright_layout::Padding;
use tilewright_layout::index_arithmetic::{emit_f2_product_into_sum, emit_xor_constant};

/// The lane and warp index of the running thread, and its block's index in a cluster if there is one.
#[derive(Debug, Clone, Copy)]
pub struct ThreadIndices {
    lane: Value,
    warp: Value,
    lane_bits: u32,
    cluster: Option<ClusterBlockBits>,
}

/// The bits of a thread index above the warp, for a thread of a cluster: the index of the block, then bits that are
/// equal for all threads.
#[derive(Debug, Clone, Copy)]
pub struct ClusterBlockBits {
    /// Number of warp bits in the thread index.
    pub warp_bits: u32,
    /// The kernel IR value of the block's index in its cluster.
    pub block: Value,
    /// Number of block bits in the thread index.
    pub block_bits: u32,
    /// Constant value of the thread-index bits above the block, which number groups of registers that load from the
    /// same block.
    pub group: u64,
}

/// Index values (lane, warp, block), each with the matrix columns of its bits, lowest bit first.
type IndexTerms<'a> = SmallVec<[(Value, &'a [u64]); 3]>;

impl ThreadIndices {
    /// Emits the reads of the lane and warp index; warps have 2^`lane_bits` lanes.
    pub fn new(builder: &mut Builder, lane_bits: u32) -> Self {
        let lane = builder.special(SpecialRegister::Lane);
        let warp = builder.special(SpecialRegister::Warp);
        Self { lane, warp, lane_bits, cluster: None }
    }

    /// Returns the same thread with its block's index in a cluster.
    #[must_use]
    pub fn in_cluster(self, cluster: ClusterBlockBits) -> Self {
        Self { cluster: Some(cluster), ..self }
    }

    /// Splits the columns of a matrix among the lane, warp and block index. Also returns the product of the remaining
    /// columns with the constant thread-index bits above the block.
    fn index_terms(self, columns: &[u64]) -> (IndexTerms<'_>, u64) {
        let (lanes, warps) = columns.split_at(columns.len().min(self.lane_bits as usize));
        let Some(cluster) = self.cluster else {
            return (smallvec![(self.lane, lanes), (self.warp, warps)], 0);
        };
        let (warps, blocks) = warps.split_at(warps.len().min(cluster.warp_bits as usize));
        let (blocks, groups) = blocks.split_at(blocks.len().min(cluster.block_bits as usize));
        let index_terms = smallvec![(self.lane, lanes), (self.warp, warps), (cluster.block, blocks)];
        (index_terms, tilewright_layout::f2::multiply_vector(groups, cluster.group))
    }

    /// Emits the parity of the thread-index bits in `mask`, an `i1`.
    pub(super) fn parity(self, builder: &mut Builder, mask: u64) -> Value {
        let columns: Vec<u64> = (0..64 - mask.leading_zeros()).map(|bit| mask >> bit & 1).collect();
        let bit = self.emit_f2_product(builder, &columns);
        let zero = builder.i32(0);
        builder.compare(Compare::Ne, bit, zero)
    }

    /// Emits this lane's index with the bits of the mask `ones` set and the bits of the mask `zeros` cleared; a bit of
    /// both masks is set.
    pub(super) fn lane_with(self, builder: &mut Builder, ones: u32, zeros: u32) -> Value {
        let mut lane = self.lane;
        if ones != 0 {
            lane = builder.binary_const(Binary::Or, lane, ones);
        }
        if zeros & !ones != 0 {
            lane = builder.binary_const(Binary::And, lane, !(zeros & !ones));
        }
        lane
    }

    /// Emits the index of the lane before this one, or after it if `after`, in the numbering of lanes by the bits of
    /// `mask`, which are consecutive. The first lane (or the last) gets the index of some other lane.
    pub(super) fn lane_beyond(self, builder: &mut Builder, mask: u32, after: bool) -> Value {
        let step = 1 << mask.trailing_zeros();
        let lane = builder.binary_const(if after { Binary::Add } else { Binary::Sub }, self.lane, step);
        builder.binary_const(Binary::And, lane, (1 << self.lane_bits) - 1)
    }

    /// Emits the index of the lane whose index differs from this lane's in the bits of `mask`.
    pub(super) fn neighbour(self, builder: &mut Builder, mask: u32) -> Value {
        builder.binary_const(Binary::Xor, self.lane, mask)
    }

    /// Emits an `i1`: whether all bits of the thread index in `mask` are zero; `None` if the mask is empty.
    pub fn emit_are_bits_zero(self, builder: &mut Builder, mask: u64) -> Option<Value> {
        self.has(builder, mask, 0)
    }

    /// Emits an `i1`: whether all bits of the thread index in `mask` are one; `None` if the mask is empty.
    pub(super) fn all_ones(self, builder: &mut Builder, mask: u64) -> Option<Value> {
        self.has(builder, mask, mask)
    }

    /// Emits an `i1`: whether the bits of the thread index in `mask` equal those of `bits`; `None` if the mask is
    /// empty.
    pub(super) fn has(self, builder: &mut Builder, mask: u64, bits: u64) -> Option<Value> {
        let lane_mask = (1u64 << self.lane_bits) - 1;
        let mut index_terms: SmallVec<[_; 3]> = smallvec![(self.lane, mask & lane_mask, bits & lane_mask)];
        let (mask, bits) = (mask >> self.lane_bits, bits >> self.lane_bits);
        match self.cluster {
            Some(ClusterBlockBits { warp_bits, block, .. }) => {
                let warp_mask = (1u64 << warp_bits) - 1;
                index_terms.push((self.warp, mask & warp_mask, bits & warp_mask));
                index_terms.push((block, mask >> warp_bits, bits >> warp_bits));
            }
            None => index_terms.push((self.warp, mask, bits)),
        }
        let mut condition = None;
        for (index, mask, bits) in index_terms {
            if mask == 0 {
                continue;
            }
            let own = builder.binary_const(Binary::And, index, mask as u32);
            let required = builder.i32(bits as u32);
            let here = builder.compare(Compare::Eq, own, required);
            condition = Some(match condition {
                None => here,
                Some(before) => builder.binary(Binary::And, before, here),
            });
        }
        condition
    }

    /// Emits the product over F2 of a matrix and the thread index, an `i32`. The matrix has one column for each bit of
    /// the thread index: lanes, then warps, then blocks in a cluster.
    ///
    /// Columns with an equal distance between input and output bit share one shift and one mask, so a matrix that moves
    /// groups of bits costs one operation for each group.
    pub fn emit_f2_product(self, builder: &mut Builder, columns: &[u64]) -> Value {
        let mut sum = None;
        let (index_terms, constant) = self.index_terms(columns);
        for (index, columns) in index_terms {
            emit_f2_product_into_sum(builder, &mut sum, &index, columns);
        }
        emit_xor_constant(builder, sum, constant)
    }
}

/// Emits the product over F2 of a matrix and the bits of `value`, an `i32`; `columns` are the matrix columns of the
/// bits, lowest first.
pub fn emit_f2_product(builder: &mut Builder, value: Value, columns: &[u64]) -> Value {
    let mut sum = None;
    emit_f2_product_into_sum(builder, &mut sum, &value, columns);
    emit_xor_constant(builder, sum, 0)
}

/// Emits byte addresses: the product over F2 of a matrix and the thread index, xor a constant, plus padding. The part
/// that depends on the thread is computed once for each set of constant bits that overlap it; the other bits of a
/// constant become the immediate offset.
#[derive(Debug)]
pub struct LinearAddressEmitter {
    base: Value,
    thread_offset: Value,
    thread_bits: u64,
    element_bytes: u64,
    /// The paddings; interval and size are in bytes.
    padding: Vec<Padding>,
    pointers: Vec<(u64, Value)>,
}

impl LinearAddressEmitter {
    /// Creates addresses relative to `base`; `columns` has the byte offset that each bit of the thread index adds (over
    /// F2). Constant offsets are passed to [`Self::emit_offset`] in elements of `element_bytes` bytes.
    pub fn new(builder: &mut Builder, thread: ThreadIndices, base: Value, columns: &[u64], element_bytes: u64) -> Self {
        let thread_bits = columns.iter().fold(0, |all, column| all | column);
        let thread_offset = thread.emit_f2_product(builder, columns);
        Self { base, thread_offset, thread_bits, element_bytes, padding: Vec::new(), pointers: Vec::new() }
    }

    /// Returns the same addresses with padding between the elements; intervals of the padding are powers of two.
    pub(super) fn padded(mut self, padding: &[Padding]) -> Self {
        let bytes = |p: &Padding| Padding {
            interval: p.interval * self.element_bytes,
            padding: p.padding * self.element_bytes,
        };
        self.padding = padding.iter().map(bytes).collect();
        self
    }

    /// Emits the pointer and the immediate byte offset of the element at the constant offset `elements`, which is added
    /// over F2.
    ///
    /// Constant bits that no thread bit sets are added without a carry, so the padding of the sum is the sum of the
    /// paddings.
    pub fn emit_offset(&mut self, builder: &mut Builder, elements: u64) -> (Value, i32) {
        let bytes = elements * self.element_bytes;
        let (shared, disjoint) = (bytes & self.thread_bits, bytes & !self.thread_bits);
        let immediate = disjoint + self.padding.iter().map(|p| disjoint / p.interval * p.padding).sum::<u64>();
        let known = self.pointers.iter().find(|(common_bits, _)| *common_bits == shared).map(|&(_, pointer)| pointer);
        let pointer = known.unwrap_or_else(|| {
            let moved = match shared {
                0 => self.thread_offset,
                _ => builder.binary_const(Binary::Xor, self.thread_offset, shared as u32),
            };
            let moved = self.spaced(builder, moved);
            let pointer = builder.ptr_add(self.base, moved);
            self.pointers.push((shared, pointer));
            pointer
        });
        (pointer, immediate as i32)
    }

    /// Emits the byte offset `offset` plus the bytes of padding before it.
    fn spaced(&self, builder: &mut Builder, offset: Value) -> Value {
        let mut sum = offset;
        for p in &self.padding {
            let intervals = builder.binary_const(Binary::ShrU, offset, p.interval.trailing_zeros());
            let left_out = builder.binary_const(Binary::Mul, intervals, p.padding as u32);
            sum = builder.binary(Binary::Add, sum, left_out);
        }
        sum
    }
}

/// Returns the integer type of the given width in bits.
pub(super) fn integer(bits: u32) -> Type {
    Type::Scalar(Element::integer_of_width(bits).unwrap_or(Element::I32))
}
